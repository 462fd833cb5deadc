"""Plans as objects: text on a terminal, a table in a notebook."""

from __future__ import annotations

import html
import re


class Plan:
    """What an operation will do: ``str(plan)`` is the text, a notebook shows a table, and the numbers that count are attributes.

    Of sums of several terms, and of sparse products step by step, seconds and bytes are added up.
    """

    __slots__ = ("text", "seconds", "bytes_per_rank", "memory_bytes")

    def __init__(self, text: str) -> None:
        self.text = text
        blocks = _blocks(text)
        self.seconds: float = sum(_number(block, r"(?:predicted seconds|; seconds) ([\d.e+-]+)") for block in blocks)  #: predicted
        #: That the busiest rank sends and receives.
        self.bytes_per_rank: int = int(
            sum(_number(block, r"planned per rank[^)]*\) ([\d,]+) bytes") + _sparse_bytes(block) for block in blocks)
        )
        #: Working memory of a rank, beside the tensors.
        self.memory_bytes: int = int(max([_number(block, r"(?:working memory[^\d]*|; memory ~)([\d,]+)") for block in blocks], default=0))

    @property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.splitlines()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = []
        for line in self.lines:
            indent = len(line) - len(line.lstrip())
            cells = re.split(r"\s{2,}|:\s+", line.strip(), maxsplit=1) if line.strip() else [""]
            style = f' style="text-align:left;padding-left:{indent}ch"'
            if len(cells) == 1:
                rows.append(f'<tr><td colspan="2"{style}>{html.escape(cells[0])}</td></tr>')
            else:
                rows.append(f'<tr><th{style}>{html.escape(cells[0])}</th><td style="text-align:left">{html.escape(cells[1])}</td></tr>')
        return '<table class="arges-plan">' + "".join(rows) + "</table>"


def _blocks(text: str) -> list[str]:
    """The parts of a text that each tell of one product; of a chain of products what they are in all."""
    blocks: list[str] = []
    for line in text.splitlines():
        if line and not line.startswith((" ", "agreement", "note")):
            if line == "in all":
                blocks.pop()
                while blocks and blocks[-1].startswith("intermediate"):
                    blocks.pop()
            blocks.append(line)
        elif blocks:
            blocks[-1] += "\n" + line
    return blocks


def _number(block: str, pattern: str) -> float:
    found = re.search(pattern, block)
    return float(found.group(1).replace(",", "")) if found else 0.0


def _sparse_bytes(block: str) -> float:
    found = re.search(r"bytes to a rank: nonzeros ~([\d,]+), dense factors ~([\d,]+), result ~([\d,]+)", block)
    return sum(float(own.replace(",", "")) for own in found.groups()) if found else 0.0

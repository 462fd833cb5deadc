#!/usr/bin/env python3
"""Blocks of output in the documents are what programs print. A fence says which:

    ```output RANKS COMMAND          the block stands in what COMMAND prints on RANKS ranks, a line `...` for whatever is between
    ```timed RANKS COMMAND           likewise; what is measured is not compared: numbers before a unit of time or of memory, and in tables
                                     those that end under a heading that ends in `s` or `seconds`
    ```measured YYYY-MM-DD           a block that no check renews, and the day on which it was printed

Other numbers with a point or an exponent may differ by one in their last digit. A fence without a word is refused. `arges` and
build/fast/ are those of BUILD. Without BUILD only fences are looked at. RENEW=1 writes blocks without `...` anew: a block has the lines
from the one like its first to the one like its last.
"""
import datetime
import difflib
import os
import re
import shlex
import subprocess
import sys

LANGUAGES = {"cpp", "c", "fortran", "python", "bash", "diff", "text"}  # text: what readers write, or a drawing
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
UNIT = re.compile(NUMBER.pattern + r"(?= ?(?:s|ms|[kMGT]?B)\b)")
PIECES = re.compile(r"[-+.,A-Za-z0-9_]+|[^\s]")


def masked(lines):
    """The lines with what was measured as `#`."""
    ends, result = set(), []
    for line in lines:
        ends |= {m.end() for m in re.finditer(r"(?<=\s)(?:s|seconds)(?=\s|$)", line)}
        for match in reversed(list(re.finditer(r"(?<=\s)[\d.]+(?:e[-+]\d+)?(?=\s|$)", line))):
            if match.end() in ends:
                line = line[: match.start()] + "#" + line[match.end() :]
        result.append(UNIT.sub("#", line))
    return result


def unit(text):
    """One in the last digit of a number."""
    mantissa, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def alike(a, b):
    if a == b:
        return True
    a, b = PIECES.findall(a), PIECES.findall(b)
    return len(a) == len(b) and all(map(close, a, b))


def close(a, b):
    if a == b:
        return True
    if not re.search("[.e]", a + b) or not NUMBER.fullmatch(a) or not NUMBER.fullmatch(b):
        return False
    return abs(float(a) - float(b)) <= 1.001 * unit(a)


def find(block, printed):
    """None if the block stands in what was printed, else its first line that does not."""
    at, gap = 0, True
    starts = [i for i, line in enumerate(printed) if alike(block[0], line)]
    furthest = block[0]
    for start in starts:
        at, gap, missing = start, False, None
        for line in block:
            if line.strip() == "...":
                gap = True
                continue
            while gap and at < len(printed) and not alike(line, printed[at]):
                at += 1
            gap = False
            if at >= len(printed) or not alike(line, printed[at]):
                missing = line
                break
            at += 1
        if missing is None:
            return None
        furthest = missing
    return furthest


def run(ranks, command):
    words = shlex.split(command)
    build = os.environ["BUILD"]
    words[0] = f"{build}/arges" if words[0] == "arges" else words[0].replace("build/fast/", f"{build}/")
    call = ["bash", "-c", '. scripts/on_ranks.sh; on_ranks 120 "$@"', "outputs", ranks, *words]
    if ranks == "1":
        call = words
    settings = {"ARGES_MACHINE": "/dev/null", "ARGES_MEMORY_LIMIT": "4G", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **settings})
    return [line.rstrip() for line in done.stdout.splitlines()]


def bare(line):
    """A line without its numbers: by that the ends of a block are found when it is renewed."""
    return NUMBER.sub("#", " ".join(line.split()))


def renewed(block, printed):
    """What was printed from a line like the first of a block to one like its last; of several such parts the one most like the block. None
    where there is none, or the block leaves something out."""
    if any(line.strip() == "..." for line in block):
        return None
    count = sum(bare(line) == bare(block[-1]) for line in block)
    parts = []
    for start in (i for i, line in enumerate(printed) if bare(line) == bare(block[0])):
        ends = [i for i in range(start, len(printed)) if bare(printed[i]) == bare(block[-1])]
        if ends:
            parts.append(printed[start : ends[min(count, len(ends)) - 1] + 1])
    return max(parts, key=lambda part: difflib.SequenceMatcher(None, "\n".join(block), "\n".join(part)).ratio(), default=None)


class Check:
    def __init__(self):
        self.printed, self.wrong, self.compared, self.measured = {}, [], 0, 0

    def block(self, document, line, words, block):
        """Checks a block; returns what it should be."""
        place, kind = f"{document}:{line}", words[0] if words else ""
        if kind in LANGUAGES:
            return block
        if kind == "measured":
            self.measured += 1
            try:
                datetime.date.fromisoformat(words[1])
            except (IndexError, ValueError):
                self.wrong.append(f"{place}: measured when? write ```measured YYYY-MM-DD")
            return block
        if kind not in ("output", "timed") or len(words) < 3 or not words[1].isdigit():
            self.wrong.append(f"{place}: a block of output needs its command, ```output RANKS COMMAND, or a date, ```measured YYYY-MM-DD; "
                              f"what is no output is one of {' '.join(sorted(LANGUAGES))}")
            return block
        self.compared += 1
        if not os.environ.get("BUILD"):
            return block
        key = (words[1], " ".join(words[2:]))
        if key not in self.printed:
            self.printed[key] = run(*key)
        printed = self.printed[key]
        missing = find(masked(block), masked(printed)) if kind == "timed" else find(block, printed)
        if missing is None:
            return block
        new = renewed(block, printed) if os.environ.get("RENEW") else None
        if new is None:
            self.wrong.append(f"{place}: {key[1]} on {key[0]} ranks does not print\n{missing}\nbut" + "\n    ".join(["", *printed[:200]]))
        return new or block

    def document(self, name):
        with open(name) as file:
            lines = file.read().split("\n")
        result, at = [], 0
        while at < len(lines):
            result.append(lines[at])
            if not lines[at].startswith("```"):
                at += 1
                continue
            end = lines.index("```", at + 1)
            result += self.block(name, at + 1, lines[at][3:].split(), [line.rstrip() for line in lines[at + 1 : end]]
                                 if lines[at].startswith(("```output", "```timed")) else lines[at + 1 : end])
            result.append("```")
            at = end + 1
        if result != lines:
            with open(name, "w") as file:
                file.write("\n".join(result))


check = Check()
for document in sys.argv[1:]:
    check.document(document)
for line in check.wrong:
    print(line)
if check.wrong:
    sys.exit(1)
how = "are as printed" if os.environ.get("BUILD") else "have a command"
print(f"outputs: {check.compared} blocks {how}, {check.measured} are measured, with their day")

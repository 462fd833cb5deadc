"""Which symmetry the results of functions of elements have, and trees of permuted dimensions. Local."""

from __future__ import annotations

import re
from typing import Any, Callable, Sequence

import numpy as np

from ._tensor import Tensor
from ._types import is_number

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

# Functions of negated elements: the negative of what they are of the elements, or the same.
_ODD = {
    np.negative, np.positive, np.conjugate, np.sign, np.sin, np.tan, np.arcsin, np.arctan, np.sinh, np.tanh, np.arcsinh, np.arctanh, np.rint, np.trunc,
}  # fmt: skip
_EVEN = {np.absolute, np.square, np.cos, np.cosh, np.isfinite, np.isinf, np.isnan, np.logical_not}
# Functions of conjugates: the conjugate of what they are of the elements, to the bit.
_WITH_CONJUGATES = {np.negative, np.positive, np.conjugate, np.add, np.subtract, np.multiply, np.divide}
_REAL = {np.absolute, np.isfinite, np.isinf, np.isnan, np.logical_not}


def followed(f: Callable[..., Any], operands: Sequence[Any]) -> tuple[str, str] | None:
    """The tree that f of the elements has where all tensors among the operands have the same one, and its letters; None for none. Of other
    functions than those of NumPy only symmetric nodes are known to stay."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    first = tensors[0]
    if not first._h.has_symmetry or first.ndim > len(_LETTERS):
        return None
    letters = _LETTERS[: first.ndim]
    text = first._h.symmetry(letters)
    if any(x.shape != first.shape or x._h.symmetry(letters) != text for x in tensors[1:]):
        return None
    if any(not is_number(x) and not isinstance(x, Tensor) for x in operands):
        return None
    if "hermitian(" in text:
        if f in _REAL:
            text = text.replace("hermitian(", "sym(")
        elif f not in _WITH_CONJUGATES or any(is_number(x) and complex(x).imag != 0 for x in operands):
            return None
    if "antisym(" in text or "hollow(" in text:
        is_zero = is_zero_at_zeros(f, operands)
        parity = _parity(f, operands) if "antisym(" in text else 1
        if parity == 0 or parity < 0 and not is_zero:
            return None
        if parity > 0:
            text = text.replace("antisym(", "hollow(")
        if not is_zero:
            text = text.replace("hollow(", "sym(")
    return text, letters


def is_zero_at_zeros(f: Callable[..., Any], operands: Sequence[Any]) -> bool:
    """Is f zero where all tensors among its operands are?"""
    with np.errstate(all="ignore"):
        return bool(np.all(np.asarray(f(*(np.zeros(1, x.dtype) if isinstance(x, Tensor) else x for x in operands))) == 0))


def fitting(tree: tuple[str, str] | None, dtype: np.dtype) -> tuple[str, str] | None:
    """A tree for elements of a type, which may have no conjugates, or no negatives."""
    if tree is None:
        return None
    text, letters = tree
    if dtype.kind != "c":
        text = text.replace("hermitian(", "sym(")
    return text.replace("antisym(", "hollow(") if dtype.kind == "b" else text, letters


def _parity(f: Callable[..., Any], operands: Sequence[Any]) -> int:
    """-1: f of negated tensors is negated, 1: it is the same, 0: neither."""
    count = sum(isinstance(x, Tensor) for x in operands)
    if len(operands) == 1:
        return -1 if f in _ODD else 1 if f in _EVEN else 0
    if f in (np.add, np.subtract):
        return -1 if count == 2 else 0
    if f in (np.multiply, np.divide):
        return 1 if count == 2 else -1
    return 1 if f in (np.equal, np.not_equal, np.logical_and, np.logical_or, np.logical_xor) and count == 2 else 0


def permuted(x: Tensor, order: Sequence[int]) -> tuple[str, str] | None:
    """The tree of x with its dimensions in another order, and its letters; None for none."""
    if not x._h.has_symmetry or x.ndim > len(_LETTERS):
        return None
    names = _LETTERS[: x.ndim]
    letter = {names[old]: names[new] for new, old in enumerate(order)}
    text = re.sub(r"\b[a-zA-Z]\b", lambda found: letter[found[0]], x._h.symmetry(names))
    return " ".join(_in_order(node) for node in sorted(_parts(text), key=_first)), names


def _parts(text: str) -> list[str]:
    """The nodes that stand side by side in a text."""
    parts, depth, current = [], 0, ""
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and sign in ", ":
            parts.append(current)
            current = ""
        else:
            current += sign
    return [part for part in (*parts, current) if part.strip()]


def _first(node: str) -> int:
    """The first of a node's letters."""
    return min(_LETTERS.index(letter) for letter in re.findall(r"\b[a-zA-Z]\b", node))


def _in_order(node: str) -> str:
    """The same node with children that may be exchanged in the order of their letters."""
    kind, inside, rest = node.strip().partition("(")
    if not inside:
        return kind
    children = [_in_order(child) for child in _parts(rest[:-1])]
    return f"{kind}({','.join(children if kind == 'product' else sorted(children, key=_first))})"

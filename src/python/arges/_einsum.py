"""einsum with the call forms of NumPy and opt_einsum."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from . import _core
from ._tensor import Tensor, asarray, world_of
from ._types import DTYPES, int64, type_number

if TYPE_CHECKING:
    from typing_extensions import Unpack


@lru_cache(maxsize=4096)
def _parsed(subscripts: str, orders: tuple[int, ...]) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(orders):
        raise _core.InvalidArgument(f'einsum "{subscripts}" names {len(inputs)} operands, but {len(orders)} are given')
    dots = 0
    labels = []
    for position, (letters, order) in enumerate(zip(inputs, orders)):
        before, ellipsis, after = letters.partition("...")
        names = len(before) + len(after)
        if "." in before or "." in after or (names != order if not ellipsis else names > order):
            raise _core.InvalidArgument(
                f'einsum "{subscripts}": operand {position + 1} has {order} dimensions, but {names} labels'
                + (" beside the ellipsis" if ellipsis else "")
            )
        free = order - names if ellipsis else 0
        dots = max(dots, free)
        labels.append((before, free, after))
    for letters in inputs + ([right] if arrow else []):
        for letter in letters.replace("...", ""):
            if not letter.isalpha():
                raise _core.InvalidArgument(f"einsum \"{subscripts}\": '{letter}' is not a letter; labels are letters")

    def named(before: str, free: int, after: str) -> tuple[str, ...]:
        return tuple(map(_name, before)) + tuple(f"dot{d}" for d in range(dots - free, dots)) + tuple(map(_name, after))

    operands = tuple(named(*parts) for parts in labels)
    if arrow:
        before, ellipsis, after = right.partition("...")
        if dots and not ellipsis:
            raise _core.InvalidArgument(
                f'einsum "{subscripts}": the output lacks the {dots} dimensions of the ellipsis; write "..." in it, or labels for them in the '
                "operands if they are to be summed over"
            )
        output = named(before, dots if ellipsis else 0, after)
        if len(set(output)) != len(output):
            raise _core.InvalidArgument(f'einsum "{subscripts}": a label occurs twice in the output')
    else:
        flat = left.replace(",", "").replace(".", "")
        output = named("", dots, "".join(sorted(c for c in set(flat) if flat.count(c) == 1)))
    known = {name for names in operands for name in names}
    for name in output:
        if name not in known:
            raise _core.InvalidArgument(f'einsum "{subscripts}": the output has a label that no operand has')
    return operands, output


def _name(letter: str) -> str:
    """Labels of the library are ASCII."""
    return letter if letter.isascii() else f"u{ord(letter):x}"


def parsed(subscripts: str, orders: list[int]) -> tuple[list[list[str]], list[str]]:
    """Names of the labels of each operand and of the output."""
    operands, output = _parsed(subscripts, tuple(orders))
    return [list(names) for names in operands], list(output)


class Hints(TypedDict, total=False):
    """What other programs' functions of this name are told about the way to compute."""

    backend: Any
    casting: Any
    memory_limit: Any
    optimize: Any
    order: Any
    use_blas: Any


def einsum(
    *operands: Any,
    out: Tensor | None = None,
    dtype: Any = None,
    **hints: Unpack[Hints],
) -> Tensor:
    """Product of any number of tensors, as a new one. Collective.

    ``einsum("ijk,ja,ka->ia", X, A, B)``, or with lists of labels, ``einsum(X, [0, 1, 2], A, [1, 3], [0, 3])``. Without "->" the output has
    the labels that occur once, in alphabetical order. An ellipsis stands for further dimensions, which broadcast; the output has them. Arrays
    of NumPy are taken as tensors. Order, fusion and grid are chosen for the product as a whole, so that ``optimize`` and the other options of
    NumPy and opt_einsum are accepted and ignored.
    out: a tensor to write to. dtype: of the result; else NumPy's for such operands.
    The result is sparse if all operands are, or if one that is has the labels of the output and no others. It has no symmetry. Raises
    InvalidArgument if labels and operands do not fit together.
    """
    world = world_of(operands)

    def divide() -> tuple[list[Any], Any]:
        for name in hints.keys() - Hints.__annotations__.keys():
            raise TypeError(f"einsum() got an unexpected keyword argument '{name}'")
        if out is not None and not isinstance(out, Tensor):
            raise TypeError(f"einsum: out is a {type(out).__name__}, and must be a tensor")
        return _divided(operands)

    given, subscripts = world.agree(divide)
    tensors = [asarray(operand, world=world) for operand in given]

    def prepare() -> tuple[list[list[str]], list[str], list[list[int]], int | None, np.dtype]:
        inputs, output = parsed(subscripts, [tensor.ndim for tensor in tensors])
        number = None if dtype is None else type_number(dtype)
        common = np.result_type(*(tensor.dtype for tensor in tensors), *(() if number is None else (DTYPES[number],)))
        return inputs, output, _stretched(tensors, inputs), number, common

    labels, output, stretched, number, common = world.agree(prepare)
    # Dimensions of one element broadcast: they are summed away. 64-bit integers are converted beside fractions, as NumPy does.
    tensors = [tensor._without(gone) if gone else tensor for tensor, gone in zip(tensors, stretched)]
    handles = [(tensor.astype(common) if tensor.dtype == int64 and common.kind in "fc" else tensor)._h for tensor in tensors]
    labels = [[name for d, name in enumerate(names) if d not in gone] for names, gone in zip(labels, stretched)]
    if out is None:
        result = _core.einsum(handles, labels, output)
        own = Tensor._of(result)
        return own if number is None or result.element == number else own.astype(dtype)

    def product() -> Any:
        expression = _core.labelled(handles[0], labels[0])
        for handle, names in zip(handles[1:], labels[1:]):
            expression = expression.times(_core.labelled(handle, names))
        return expression

    _core.assign(out._h, output, world.agree(product), 0)
    return out


def _divided(operands: tuple[Any, ...]) -> tuple[list[Any], str]:
    """The tensors among the arguments of einsum(), and the labels as a text."""
    if not operands:
        raise _core.InvalidArgument("einsum without arguments; give a text and tensors")
    if isinstance(operands[0], str):
        return list(operands[1:]), operands[0]
    count = len(operands) // 2 * 2
    lists = list(operands[1:count:2])
    symbols: dict[Any, str] = {}

    def text(names: Any) -> str:
        return "".join("..." if name is Ellipsis else symbols.setdefault(name, _symbol(len(symbols))) for name in names)

    if len(operands) > count:
        return list(operands[:count:2]), ",".join(map(text, lists)) + "->" + text(operands[-1])
    for name in _in_order({n for names in lists for n in names if n is not Ellipsis}):
        symbols[name] = _symbol(len(symbols))
    return list(operands[:count:2]), ",".join(map(text, lists))


def _stretched(tensors: list[Tensor], labels: list[list[str]]) -> list[list[int]]:
    """Of each operand the dimensions of one element whose label is longer elsewhere."""
    extent: dict[str, int] = {}
    for tensor, names in zip(tensors, labels):
        for name, length in zip(names, tensor.shape):
            if extent.get(name, 1) == 1:
                extent[name] = length
    return [
        [d for d, (name, length) in enumerate(zip(names, tensor.shape)) if length == 1 and extent[name] != 1]
        for tensor, names in zip(tensors, labels)
    ]


def _in_order(labels: set[Any]) -> list[Any]:
    """Labels of lists in the order of an output that is not given: by their values, of whatever types they are, as NumPy's."""
    try:
        return sorted(labels)
    except TypeError:
        raise TypeError(
            f"einsum: the labels {', '.join(sorted(map(repr, labels)))} have no order among them; give the list of the output's labels as well"
        ) from None


def _symbol(count: int) -> str:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[count] if count < 52 else chr(0x4E00 + count)

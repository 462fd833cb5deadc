"""einsum with the call forms of NumPy and opt_einsum."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from . import _core
from ._tensor import Tensor, asarray, world_of
from ._types import type_number


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


# What other programs' functions of this name are told about the way to compute.
_HINTS = {"backend", "casting", "memory_limit", "optimize", "order", "use_blas"}


def einsum(*operands: Any, out: Tensor | None = None, dtype: Any = None, **hints: Any) -> Tensor:
    """Product of any number of tensors, as a new one. Collective.

    ``einsum("ijk,ja,ka->ia", X, A, B)``, or with lists of labels, ``einsum(X, [0, 1, 2], A, [1, 3], [0, 3])``. Without "->" the output has
    the labels that occur once, in alphabetical order. An ellipsis stands for further dimensions, which broadcast. Arrays of NumPy are taken
    as tensors. Order, fusion and grid are chosen for the product as a whole, so that ``optimize`` and other hints for NumPy and opt_einsum are
    accepted and ignored.
    out: a tensor to write to. dtype: of the result.
    The result is sparse if all operands are, and has no symmetry. Raises InvalidArgument if labels and operands do not fit together.
    """
    world = world_of(operands)

    def prepare() -> tuple[list[Any], list[list[str]], list[str], int | None]:
        for name in hints.keys() - _HINTS:
            raise TypeError(f"einsum() got an unexpected keyword argument '{name}'")
        if out is not None and not isinstance(out, Tensor):
            raise TypeError(f"einsum: out is a {type(out).__name__}, and must be a tensor")
        return _prepared(operands, world, dtype)

    handles, labels, output, number = world.agree(prepare)
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


def _prepared(operands: tuple[Any, ...], world: Any, dtype: Any) -> tuple[list[Any], list[list[str]], list[str], int | None]:
    if not operands:
        raise _core.InvalidArgument("einsum without arguments; give a text and tensors")
    number = None if dtype is None else type_number(dtype)
    if isinstance(operands[0], str):
        tensors = [asarray(operand, world=world) for operand in operands[1:]]
        inputs, output = parsed(operands[0], [tensor.ndim for tensor in tensors])
    else:
        tensors = [asarray(operand, world=world) for operand in operands[: len(operands) // 2 * 2 : 2]]
        lists = list(operands[1 : len(operands) // 2 * 2 : 2])
        symbols: dict[Any, str] = {}

        def text(names: Any) -> str:
            return "".join("..." if name is Ellipsis else symbols.setdefault(name, _symbol(len(symbols))) for name in names)

        # Without an output NumPy sorts labels as they are given.
        for name in sorted({n for names in lists for n in names if n is not Ellipsis}, key=lambda n: (str(type(n)), n)):
            symbols.setdefault(name, _symbol(len(symbols)))
        subscripts = ",".join(map(text, lists))
        if len(operands) % 2:
            subscripts += "->" + text(operands[-1])
        inputs, output = parsed(subscripts, [tensor.ndim for tensor in tensors])
    handles = []
    extent: dict[str, int] = {}
    for tensor, names in zip(tensors, inputs):
        for name, length in zip(names, tensor.shape):
            if extent.get(name, 1) == 1:
                extent[name] = length
    for position, tensor in enumerate(tensors):
        names = inputs[position]
        # Dimensions of one element broadcast: they are summed away.
        stretched = [d for d, (name, length) in enumerate(zip(names, tensor.shape)) if length == 1 and extent[name] != 1]
        if stretched:
            tensor = tensor._without(stretched)
            inputs[position] = [name for d, name in enumerate(names) if d not in stretched]
        handles.append(tensor._h)
    if number is not None:
        for handle in handles:
            _core.common_type(handle.element, number)
    return handles, inputs, output, number


def _symbol(count: int) -> str:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[count] if count < 52 else chr(0x4E00 + count)

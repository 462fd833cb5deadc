"""Products of tensors: einsum with the call forms of NumPy and opt_einsum, its plan, and products of matrices."""

from __future__ import annotations

import builtins
import operator
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, Sequence, TypedDict

import numpy as np

from . import _core
from ._elementwise import elementwise
from ._making import asarray, together, world_of
from ._places import _axes
from ._plan import Plan
from ._reductions import sum
from ._tensor import Tensor
from ._types import DTYPES, float64, int64, type_number
from ._world import World

if TYPE_CHECKING:
    from typing_extensions import Unpack


@lru_cache(maxsize=4096)
def _parsed(subscripts: str, orders: tuple[int, ...]) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Names of the labels of each operand and of the output; the library checks them against the operands."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = [letters.partition("...") for letters in left.split(",")]
    if len(parts) != len(orders):
        raise _core.InvalidArgument(f'einsum "{subscripts}" names {len(parts)} operands, but {len(orders)} are given')
    free = [order - len(before) - len(after) if dots else 0 for (before, dots, after), order in zip(parts, orders)]
    most = max(0, *free)

    def name(letter: str) -> str:
        if not letter.isalpha():
            raise _core.InvalidArgument(f"einsum \"{subscripts}\": '{letter}' is not a letter; labels are letters")
        return letter if letter.isascii() else f"u{ord(letter):x}"  # labels of the library are ASCII

    def names(before: str, count: int, after: str) -> tuple[str, ...]:
        return (*map(name, before), *(f"dot{d}" for d in range(most - count, most)), *map(name, after))

    operands = tuple(names(before, count, after) for (before, _, after), count in zip(parts, free))
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        return operands, names("", most, "".join(sorted(c for c in set(letters) if letters.count(c) == 1)))
    before, dots, after = right.partition("...")
    output = names(before, most if dots else 0, after)
    if most and not dots:
        raise _core.InvalidArgument(
            f'einsum "{subscripts}": the output lacks the {most} dimensions of the ellipsis; write "..." in it, or labels for them in the '
            "operands if they are to be summed over"
        )
    if len(set(output)) != len(output):
        raise _core.InvalidArgument(f'einsum "{subscripts}": a label occurs twice in the output')
    return operands, output


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

    def prepare() -> tuple[Any, Any, list[list[int]], int | None, np.dtype]:
        inputs, output = _parsed(subscripts, tuple(tensor.ndim for tensor in tensors))
        number = None if dtype is None else type_number(dtype)
        common = np.result_type(*(tensor.dtype for tensor in tensors), *(() if number is None else (DTYPES[number],)))
        return inputs, output, _stretched(tensors, inputs), number, common

    labels, output, stretched, number, common = world.agree(prepare)
    # Dimensions of one element broadcast: they are summed away. 64-bit integers are converted beside fractions, as NumPy does.
    tensors = [tensor._without(gone) if gone else tensor for tensor, gone in zip(tensors, stretched)]
    handles = [(tensor.astype(common) if tensor.dtype == int64 and common.kind in "fc" else tensor)._h for tensor in tensors]
    labels = [[name for d, name in enumerate(names) if d not in gone] for names, gone in zip(labels, stretched)]
    if out is None:
        own = Tensor._of(_core.einsum(handles, labels, output))
        return own if number is None else own.astype(dtype, copy=False)
    _core.assign(out._h, output, world.agree(lambda: _product(handles, labels)), 0)
    return out


def _product(handles: Sequence[_core.Handle], labels: Sequence[Sequence[str]]) -> _core.Expression:
    factors = map(_core.labelled, handles, labels)
    return reduce(lambda product, factor: product.times(factor), factors)


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


def _stretched(tensors: Sequence[Tensor], labels: Sequence[Sequence[str]]) -> list[list[int]]:
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


def plan(
    subscripts: str,
    *shapes: Sequence[int],
    ranks: int | None = None,
    symmetry: Sequence[str | None] | None = None,
    dtype: Any = float64,
    memory_limit: int | None = None,
    torus: Sequence[int] | None = None,
    world: World | None = None,
) -> Plan:
    """The plan of an einsum on any number of imaginary ranks, without data.

    subscripts: as for einsum(), e.g. "abef,efij->abij". shapes: one for each operand. symmetry: of each operand, e.g.
    "antisym(a,b) antisym(e,f)" in its own letters, or None. memory_limit: bytes on a rank.
    world: one of World.dry_run(), in the place of ranks and torus, for nodes, machine files and coordinates. Local. Returns a Plan.
    Raises InvalidArgument if these do not fit together; OutOfMemory, with the least that would do, if it does not fit.
    """
    if world is not None and (ranks is not None or torus is not None):
        raise _core.InvalidArgument("plan: ranks and torus are those of the world; leave them out, or leave the world out")
    world = world or World.dry_run(ranks, torus)
    if memory_limit is not None:
        world.memory_limit = memory_limit
    inputs, output = _parsed(subscripts, tuple(map(len, shapes)))

    def made(extents: list[int], letters: str | None, tree: str | None) -> _core.Handle:
        return _core.make(type_number(dtype), False, world._w, extents, letters, tree, "")

    trees = symmetry or [None] * len(shapes)
    handles = [made(list(n), tree and "".join(names), tree) for names, n, tree in zip(inputs, shapes, trees)]
    extent = {name: length for names, shape in zip(inputs, shapes) for name, length in zip(names, shape)}
    target = made([extent.get(name, 1) for name in output], None, None)
    return Plan(_core.explain(target, output, _product(handles, inputs), 0, 0))


def tensordot(x1: Any, x2: Any, /, *args: Any, axes: Any = 2) -> Tensor:
    """Sum of products over some axes of each, as numpy.tensordot. Collective."""
    if args:
        axes = args[0]
    a, b = together(x1, x2)

    def prepare() -> tuple[list[str], list[str], list[str]]:
        if isinstance(axes, (int, np.integer)):
            if not 0 <= axes <= builtins.min(a.ndim, b.ndim):
                raise ValueError(f"tensordot over {axes} axes of tensors of orders {a.ndim} and {b.ndim}")
            first, second = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
        else:
            first, second = (tuple(own) if isinstance(own, (list, tuple)) else (own,) for own in axes)
        first, second = _axes(a.ndim, tuple(first)), _axes(b.ndim, tuple(second))
        if len(first) != len(second):
            raise ValueError("tensordot with another number of axes on the left than on the right")
        if builtins.any(a.shape[i] != b.shape[j] for i, j in zip(first, second)):
            raise ValueError(f"tensordot of shapes {a.shape} and {b.shape} over the axes {first} and {second}")
        left = [f"a{d}" for d in range(a.ndim)]
        right = [f"b{d}" for d in range(b.ndim)]
        for i, j in zip(first, second):
            right[j] = left[i]
        return left, right, [n for n in left if n not in right] + [n for n in right if n not in left]

    left, right, output = a.world.agree(prepare)
    wide_a, wide_b = _promoted(a, b)
    return Tensor._of(_core.einsum([wide_a._h, wide_b._h], [left, right], output))


def _promoted(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    common = a.world.agree(lambda: np.result_type(a.dtype, b.dtype))
    return a.astype(common, copy=False), b.astype(common, copy=False)


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """Matrix product of the last two dimensions; those before broadcast, and vectors are as in numpy.matmul. Collective."""
    a, b = together(x1, x2)

    def prepare() -> str:
        if a.ndim == 0 or b.ndim == 0:
            raise ValueError("matmul of a tensor of order 0")
        left, right = ("...ik" if a.ndim > 1 else "k"), ("...kj" if b.ndim > 1 else "k")
        if a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
            raise ValueError(f"matmul of shapes {a.shape} and {b.shape}")
        return f"{left},{right}->...{'i' if a.ndim > 1 else ''}{'j' if b.ndim > 1 else ''}"

    text = a.world.agree(prepare)
    return einsum(text, *_promoted(a, b))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Sum of conj(x1) * x2 along an axis. Collective."""
    a, b = together(x1, x2)

    def prepare() -> np.dtype:
        place = operator.index(axis)
        if builtins.min(a.ndim, b.ndim) < (-place if place < 0 else place + 1) or place >= 0 and a.ndim != b.ndim:
            raise ValueError(f"vecdot along axis {place} of tensors of orders {a.ndim} and {b.ndim}")
        if a.shape[place] != b.shape[place]:
            raise ValueError(f"vecdot of shapes {a.shape} and {b.shape} along axis {place}")
        return np.result_type(a.dtype, b.dtype)

    common = a.world.agree(prepare)
    return sum(elementwise(lambda x, y: np.conj(x) * y, a, b), axis=axis, dtype=common)


__all__ = ["einsum", "plan", "tensordot", "matmul", "vecdot"]

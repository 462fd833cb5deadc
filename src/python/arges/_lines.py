"""Along lines: cumulative sums, sorting, searching. Elements are numbered with an axis fastest, and each rank takes a share of the numbers."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from ._creation import full
from ._elementwise import elementwise
from ._places import _axes, _indices, _keys_of, _of_all, _raise, _require_dense, reshape
from ._reductions import _sum_type
from ._shapes import concat, diff
from ._tensor import Tensor, asarray, world_of, zeros
from ._types import int64, type_number
from ._world import World


def _share(world: World, count: int, rank: int) -> int:
    """The first of the elements that a rank takes; the next rank's ends them."""
    return 0 if rank == 0 else count if world._is_single else count * rank // world.size


def _line_keys(numbers: np.ndarray, shape: Sequence[int], axis: int) -> np.ndarray:
    """Keys of the elements with such numbers."""
    others = [d for d in range(len(shape)) if d != axis]
    found = _indices(numbers, [shape[d] for d in (*others, axis)])
    return _keys_of([found[-1] if d == axis else found[others.index(d)] for d in range(len(shape))], shape, len(numbers))


def _joined(world: World, values: np.ndarray) -> Tensor:
    """A list of what the ranks give, one behind the other. Collective."""
    counts = _of_all(world, np.array([len(values)]))[:, 0]
    result = zeros((int(counts.sum()),), values.dtype, world=world)
    result.write(int(counts[: world.rank].sum()) + np.arange(len(values)), values)
    return result


def _scanned(x: Tensor, axis: int, ufunc: np.ufunc) -> Tensor:
    """The accumulated elements along an axis: each rank accumulates its share, then adds what comes before it on its first line."""
    world, length = x.world, x.shape[axis]
    result = zeros(x.shape, x.dtype, world=world)
    first, last = _share(world, x.size, world.rank), _share(world, x.size, world.rank + 1)
    keys = _line_keys(np.arange(first, last), x.shape, axis)
    values = x.read(keys).copy()
    # Up to the first whole line, whole lines, the rest.
    begin = builtins.min(last, -(-first // length) * length if length else 0) - first
    end = begin + (len(values) - begin) // length * length if length else 0
    with np.errstate(all="ignore"):
        values[:begin] = ufunc.accumulate(values[:begin])
        values[begin:end] = ufunc.accumulate(values[begin:end].reshape(-1, builtins.max(length, 1)), axis=1).ravel()
        values[end:] = ufunc.accumulate(values[end:])
        totals = _of_all(world, values[-1:] if len(values) else np.full(1, ufunc.identity, x.dtype))[:, 0]
        if begin > 0:
            before = [r for r in range(world.rank) if _share(world, x.size, r + 1) > first - first % length]
            values[:begin] = ufunc(ufunc.reduce(totals[before], dtype=x.dtype), values[:begin])
    result.write(keys, values)
    return result


def _cumulative(x: Any, axis: int | None, dtype: Any, include_initial: bool, ufunc: np.ufunc) -> Tensor:
    own = asarray(x)

    def prepare() -> tuple[int, np.dtype]:
        if axis is None and own.ndim != 1:
            raise ValueError("a cumulative sum or product needs an axis")
        wanted = _sum_type(own, dtype)
        type_number(wanted)
        return _axes(own.ndim, operator.index(axis or 0))[0], wanted

    place, wanted = own.world.agree(prepare)
    _require_dense(own, "a cumulative sum or product")
    result = _scanned(own.astype(wanted, copy=False), place, ufunc)
    if not include_initial:
        return result
    units = full([1 if d == place else n for d, n in enumerate(own.shape)], ufunc.identity, dtype=wanted, world=own.world)
    return concat([units, result], axis=place)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """Sums of the elements up to each along an axis. Collective."""
    return _cumulative(x, axis, dtype, include_initial, np.add)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """Products of the elements up to each along an axis. Collective."""
    return _cumulative(x, axis, dtype, include_initial, np.multiply)


def _reversed(values: np.ndarray) -> np.ndarray:
    """Values in the opposite order; applied twice they are themselves."""
    return np.invert(values) if values.dtype.kind in "ib" else np.negative(values)


def _ordered(x: Tensor, axis: int, descending: bool) -> tuple[int, np.ndarray, np.ndarray]:
    """This rank's part of the elements in the order of their lines, values and places: its first number, the values, their old numbers.

    Where there are at least as many lines as ranks, each sorts whole lines. Else elements go to ranks by splitters, which are chosen among
    samples of the sorted shares: no rank gets more than twice its share. Equal elements are in the order of their places.
    """
    world, length = x.world, x.shape[axis]
    ranks = 1 if world._is_single else world.size
    lines = x.size // length if length else 0
    is_whole = lines >= ranks
    first, last = (_share(world, lines, r) * length if is_whole else _share(world, x.size, r) for r in (world.rank, world.rank + 1))
    numbers = np.arange(first, last)
    values = x.read(_line_keys(numbers, x.shape, axis))
    if descending:
        values = _reversed(values)
    if is_whole:
        order = np.argsort(values.reshape(-1, length), axis=1, kind="stable") + np.arange(0, last - first, length)[:, np.newaxis]
        order = order.ravel()
    elif lines:
        order = np.lexsort((values, numbers // length))
    else:
        order = numbers
    values, numbers = values[order], numbers[order]
    if not is_whole and lines:
        first, values, numbers = _exchanged(world, values, numbers, length)
    return first, _reversed(values) if descending else values, numbers


def _exchanged(world: World, values: np.ndarray, numbers: np.ndarray, length: int) -> tuple[int, np.ndarray, np.ndarray]:
    """This rank's part of all elements in order; those given are in order on each rank."""
    ranks = world.size
    chosen = np.arange(ranks) * len(values) // ranks if len(values) else np.zeros(0, np.int64)
    missing = ranks - len(chosen)
    samples = _of_all(world, np.append(numbers[chosen], np.full(missing, -1))).ravel()
    sampled = _of_all(world, np.append(values[chosen], np.zeros(missing, values.dtype)).astype(values.dtype)).ravel()
    sampled, samples = sampled[samples >= 0], samples[samples >= 0]
    order = np.lexsort((samples, sampled, samples // length))
    split = order[np.arange(1, ranks) * len(order) // ranks]
    # Where the splitters are among the elements of this rank; they come before what is equal to them.
    both = np.append(numbers, samples[split])
    mixed = np.lexsort((np.arange(len(both)) < len(numbers), both, np.append(values, sampled[split]), both // length))
    bounds = np.flatnonzero(mixed >= len(numbers)) - np.arange(ranks - 1)
    counts = _of_all(world, np.diff(bounds, prepend=0, append=len(numbers)))
    starts = np.append(0, np.cumsum(counts.sum(axis=0)))
    places = np.arange(len(numbers)) + np.repeat(starts[:-1] + counts[: world.rank].sum(axis=0) - np.append(0, bounds), counts[world.rank])
    moved = [zeros((int(starts[-1]),), part.dtype, world=world) for part in (values, numbers)]
    moved[0].write(places, values)
    moved[1].write(places, numbers)
    mine = np.arange(starts[world.rank], starts[world.rank + 1])
    values, numbers = moved[0].read(mine), moved[1].read(mine)
    order = np.lexsort((numbers, values, numbers // length))
    return int(starts[world.rank]), values[order], numbers[order]


def _sorted(x: Any, axis: int, descending: bool, dtype: Any, of: Callable[[np.ndarray, np.ndarray, int], np.ndarray]) -> Tensor:
    own = asarray(x)
    place, descending = own.world.agree(lambda: (_axes(own.ndim, operator.index(axis))[0], bool(descending)))
    _require_dense(own, "sorting")
    first, values, numbers = _ordered(own, place, bool(descending))
    result = zeros(own.shape, dtype or own.dtype, world=own.world)
    result.write(_line_keys(first + np.arange(len(values)), own.shape, place), of(values, numbers, own.shape[place]))
    return result


def sort(x: Any, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Elements along an axis in order, complex ones by their real and then their imaginary part, NaN last. Always stable. Collective."""
    own = asarray(x)
    if own.world._is_single and not own.is_sparse and not own.world.is_dry_run:
        return asarray(_sorted_array(own.numpy(), _axes(own.ndim, operator.index(axis))[0], descending), copy=None, world=own.world)
    return _sorted(own, axis, descending, None, lambda values, numbers, length: values)


def _sorted_array(array: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """An array in order along an axis."""
    values = _reversed(array) if descending else array
    if values.dtype.kind == "c":
        result = np.sort(values, axis=axis, kind="stable")
    else:
        result = np.sort(values, axis=axis)
        # Of equal elements only zeros can be told apart, by their signs.
        if values.dtype.kind == "f" and _has_negative_zeros(result):
            lines, given = np.moveaxis(result, axis, -1), np.moveaxis(values, axis, -1)
            lines[lines == 0] = given[given == 0]
    return _reversed(result) if descending else result


def _has_negative_zeros(values: np.ndarray) -> bool:
    is_zero = values == 0
    return bool(is_zero.any()) and bool(np.signbit(values[is_zero]).any())


def argsort(x: Any, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Indices along an axis that put its elements in the order of sort(). Collective."""
    return _sorted(x, axis, descending, int64, lambda values, numbers, length: numbers % builtins.max(length, 1))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Where in a sorted list the elements of x2 belong: before ("left") or behind equal ones. sorter: indices that sort x1. Collective."""
    world = world_of((x1, x2))
    list_, wanted = asarray(x1, world=world), asarray(x2, world=world)
    order = None if sorter is None else asarray(sorter, world=world)

    def check() -> None:
        if list_.ndim != 1 or order is not None and (order.shape != list_.shape or order.dtype.kind != "i"):
            raise ValueError("searchsorted: the sorted elements are a list, its sorter one of as many indices")
        if side not in ("left", "right"):
            raise ValueError(f'searchsorted with side={side!r}; use "left" or "right"')

    world.agree(check)
    wanted = wanted.with_symmetry(None)
    keys, values = wanted.local_pairs()
    low, high = np.zeros(len(keys), np.int64), np.full(len(keys), list_.size)
    for _ in range(list_.size.bit_length()):
        middle = np.minimum((low + high) // 2, list_.size - 1)
        found = list_.read(middle if order is None else order.read(middle))
        before = _is_before(found, values) if side == "left" else ~_is_before(values, found)
        is_open = low < high
        low, high = np.where(is_open & before, middle + 1, low), np.where(is_open & ~before, middle, high)
    result = zeros(wanted.shape, int64, world=world)
    result.write(keys, low)
    return result


def _is_before(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a < b, with NaN behind all others."""
    return (a < b) | ((a == a) & (b != b))


def _true_places(mask: Tensor) -> np.ndarray:
    """Numbers of the true elements in this rank's share, last index fastest. Collective."""
    first, last = (_share(mask.world, mask.size, mask.world.rank + n) for n in (0, 1))
    numbers = np.arange(first, last)
    return numbers[mask.read(_keys_of(_indices(numbers, mask.shape), mask.shape, len(numbers)))]


def nonzero(x: Any, /) -> tuple[Tensor, ...]:
    """Indices of the elements that are not zero, a list for each dimension, last index fastest. Collective."""
    own = asarray(x)
    own.world.agree(lambda: None if own.ndim else _raise(ValueError("nonzero of a tensor of order 0")))
    _require_dense(own, "nonzero")
    found = _true_places(elementwise(lambda a: a != 0, own))
    return tuple(_joined(own.world, index) for index in _indices(found, own.shape))


class UniqueAll(NamedTuple):
    """What unique_all() gives."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What unique_counts() gives."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What unique_inverse() gives."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Any, /) -> UniqueAll:
    """Distinct elements in order; where each first occurs as if flat; for each element the number of its value; how often each occurs. NaN are
    all distinct. Collective."""
    own = asarray(x)
    world = own.world
    _require_dense(own, "distinct elements")
    flat = reshape(own, (-1,))
    first, values, numbers = _ordered(flat, 0, False)
    in_order = zeros(flat.shape, flat.dtype, world=world)
    in_order.write(first + np.arange(len(values)), values)
    has_before = first > 0 and len(values) > 0
    before = in_order.read([first - 1] if has_before else [])
    is_new = np.append(before, values)[1:] != np.append(before, values)[:-1]
    is_new = is_new if has_before else np.append(np.ones(builtins.min(len(values), 1), bool), is_new)
    ahead = int(_of_all(world, np.array([is_new.sum()]))[: world.rank, 0].sum())
    starts = _joined(world, first + np.flatnonzero(is_new))
    inverse = zeros(own.shape, int64, world=world)
    inverse.write(_keys_of(_indices(numbers, own.shape), own.shape, len(numbers)), ahead + np.cumsum(is_new) - 1)
    counts = diff(starts, append=np.array([flat.size]))
    return UniqueAll(_joined(world, values[is_new]), _joined(world, numbers[is_new]), inverse, counts)


def unique_counts(x: Any, /) -> UniqueCounts:
    """Distinct elements in order, and how often each occurs. Collective."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Distinct elements in order, and for each element the number of its value. Collective."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any, /) -> Tensor:
    """Distinct elements in order. Collective."""
    return unique_all(x).values


__all__ = [
    "cumulative_sum", "cumulative_prod", "sort", "argsort", "searchsorted", "nonzero", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip

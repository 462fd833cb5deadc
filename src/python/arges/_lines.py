"""Along lines: cumulative sums, sorting, searching. Elements are numbered with an axis fastest, and each rank takes a share of the numbers."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._creation import full
from ._elementwise import elementwise
from ._making import asarray, together, zeros
from ._places import _axes, _exchanged, _here, _indices, _keys_of, _of_all, _raise, _require_dense, reshape
from ._reductions import _sum_type
from ._shapes import concat, diff
from ._tensor import Tensor
from ._types import int64, type_number
from ._world import World


class _Shares(NamedTuple):
    """Elements in an order in which an axis is the fastest, then the last dimension; rank r has those from bounds[r] to bounds[r + 1]."""

    axis: int
    bounds: list[int]

    def numbers(self, world: World) -> np.ndarray:
        """Those of this rank."""
        rank = 0 if world._is_single else world.rank
        return np.arange(self.bounds[rank], self.bounds[rank + 1])

    def _order(self, x: Tensor) -> list[int]:
        return [self.axis, *(d for d in reversed(range(x.ndim)) if d != self.axis)] if x.ndim else []

    def read(self, x: Tensor) -> np.ndarray:
        """This rank's elements of a dense tensor. Collective."""
        return _core.read_share(x._h, self._order(x), self.bounds)

    def write(self, x: Tensor, values: np.ndarray) -> None:
        """Sets all elements, each rank its own. Collective."""
        _core.write_share(x._h, self._order(x), self.bounds, np.ascontiguousarray(values, x.dtype))


def _even_shares(world: World, axis: int, parts: int, length: int = 1) -> _Shares:
    """So many parts of a length, spread evenly."""
    return _Shares(axis, [parts * rank // world.size * length for rank in range(world.size + 1)])


def _shares_of(world: World, axis: int, count: int) -> _Shares:
    """Shares in the order of ranks, of which this one's has so many elements. Collective."""
    return _Shares(axis, [0, *np.cumsum(_of_all(world, np.array([count]))).tolist()])


def _joined(world: World, values: np.ndarray) -> Tensor:
    """A list of what the ranks give, one behind the other. Collective."""
    shares = _shares_of(world, 0, len(values))
    result = zeros((shares.bounds[-1],), values.dtype, world=world)
    shares.write(result, values)
    return result


def _scanned(x: Tensor, axis: int, ufunc: np.ufunc) -> Tensor:
    """The accumulated elements along an axis: each rank accumulates its share, then adds what comes before it on its first line."""
    world, length = x.world, x.shape[axis]
    result = zeros(x.shape, x.dtype, world=world)
    shares = _even_shares(world, axis, x.size)
    first, last = shares.bounds[world.rank : world.rank + 2]
    values = shares.read(x)
    # Up to the first whole line, whole lines, the rest.
    begin = builtins.min(last, -(-first // length) * length if length else 0) - first
    end = begin + (len(values) - begin) // length * length if length else 0
    with np.errstate(all="ignore"):
        values[:begin] = ufunc.accumulate(values[:begin])
        values[begin:end] = ufunc.accumulate(values[begin:end].reshape(-1, builtins.max(length, 1)), axis=1).ravel()
        values[end:] = ufunc.accumulate(values[end:])
        totals = _of_all(world, values[-1:] if len(values) else np.full(1, ufunc.identity, x.dtype))[:, 0]
        if begin > 0:
            before = [r for r in range(world.rank) if shares.bounds[r + 1] > first - first % length]
            values[:begin] = ufunc(ufunc.reduce(totals[before], dtype=x.dtype), values[:begin])
    shares.write(result, values)
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


def _reversed(values: np.ndarray) -> Any:
    """Values in the opposite order; applied twice they are themselves."""
    return np.invert(values) if values.dtype.kind in "ib" else np.negative(values)


def _ordered(x: Tensor, axis: int, descending: bool) -> tuple[_Shares, np.ndarray, np.ndarray]:
    """The elements in the order of their lines: shares, and of this rank's the values and their old numbers.

    Where there are at least as many lines as ranks, each sorts whole lines. Else elements go to ranks by splitters, which are chosen among
    samples of the sorted shares: no rank gets more than twice its share. Equal elements are in the order of their places.
    """
    world, length = x.world, x.shape[axis]
    lines = x.size // length if length else 0
    is_whole = lines >= world.size
    shares = _even_shares(world, axis, lines, length) if is_whole else _even_shares(world, axis, x.size)
    numbers, values = shares.numbers(world), shares.read(x)
    if descending:
        values = _reversed(values)
    if is_whole:
        order = np.argsort(values.reshape(-1, length), axis=1, kind="stable") + np.arange(0, len(values), length)[:, np.newaxis]
        order = order.ravel()
    else:
        order = np.lexsort((values, numbers // length)) if lines else numbers
    values, numbers = values[order], numbers[order]
    if not is_whole and lines:
        counts = _split(world, values, numbers, length)
        values, numbers = _exchanged(world, values, counts), _exchanged(world, numbers, counts)
        shares = _shares_of(world, axis, len(values))
        order = np.lexsort((numbers, values, numbers // length))
        values, numbers = values[order], numbers[order]
    return shares, _reversed(values) if descending else values, numbers


def _split(world: World, values: np.ndarray, numbers: np.ndarray, length: int) -> np.ndarray:
    """How many of this rank's elements, which are in order, go to each rank. Collective."""
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
    return np.diff(bounds, prepend=0, append=len(numbers))


def _sorted_list(x: Tensor, descending: bool) -> tuple[_Shares, np.ndarray] | None:
    """The elements of a tensor that is one line in order: shares, and the values of this rank's. None where equal elements can be told
    apart, as zeros of both signs can. Collective."""
    world, here = x.world, _here(x)
    values = _even_shares(world, 0, x.size).read(x) if here is None else here.array.ravel(order="K")[: None if here.is_first_copy else 0]
    given = _reversed(values) if descending else values
    values = np.sort(given)
    zeros_at = [np.searchsorted(values, 0, side) for side in ("left", "right")]
    signs = np.signbit(given[given == 0]) if values.dtype.kind == "f" and zeros_at[0] < zeros_at[1] else []
    has_both = _of_all(world, np.array([np.any(signs), not np.all(signs)]))
    if has_both.any(axis=0).all():
        return None
    # Ends of shares are at samples of all ranks; of what is equal to one, so much is before it that shares are even.
    lengths = _of_all(world, np.array([len(values)]))[:, 0]
    ranks, steps, total = world.size, 4 * world.size, int(lengths.sum())
    if total == 0:
        return _shares_of(world, 0, 0), values
    chosen = values[np.arange(steps) * len(values) // steps] if len(values) else np.zeros(steps, values.dtype)
    samples = np.sort(_of_all(world, chosen)[lengths > 0].ravel())
    splitters = samples[np.arange(1, ranks) * len(samples) // ranks]
    low, high = (np.searchsorted(values, splitters, side) for side in ("left", "right"))
    equal = _of_all(world, high - low)
    wanted = np.arange(1, len(splitters) + 1) * total // ranks - _of_all(world, low).sum(axis=0)
    ends = low + np.clip(np.clip(wanted, 0, None) - equal[: world.rank].sum(axis=0), 0, high - low)
    values = _exchanged(world, values, np.diff(ends, prepend=0, append=len(values)))
    return _shares_of(world, 0, len(values)), np.sort(values, kind="stable")


def _sorted(x: Any, axis: int, descending: bool, dtype: Any, of: Callable[[np.ndarray, np.ndarray, int], np.ndarray]) -> Tensor:
    own = asarray(x)
    place, descending = own.world.agree(lambda: (_axes(own.ndim, operator.index(axis))[0], bool(descending)))
    _require_dense(own, "sorting")
    shares, values, numbers = _ordered(own, place, bool(descending))
    result = zeros(own.shape, dtype or own.dtype, world=own.world)
    shares.write(result, of(values, numbers, own.shape[place]))
    return result


def sort(x: Any, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """Elements along an axis in order, complex ones by their real and then their imaginary part, NaN last. Always stable. Collective."""
    own = asarray(x)
    if own.world._is_single and not own.is_sparse and not own.world.is_dry_run:
        return asarray(_sorted_array(own.numpy(), _axes(own.ndim, operator.index(axis))[0], descending), copy=None, world=own.world)
    place, descending = own.world.agree(lambda: (_axes(own.ndim, operator.index(axis))[0], bool(descending)))
    _require_dense(own, "sorting")
    length, result = own.shape[place], None
    if own.size >= length * own.world.size:
        shares = _even_shares(own.world, place, own.size // builtins.max(length, 1), length)
        result = shares, _sorted_array(shares.read(own).reshape(-1, builtins.max(length, 1)), 1, descending).ravel()
    elif own.size == length and own.dtype.kind != "c":
        result = _sorted_list(own, descending)
        result = result and (result[0], _reversed(result[1]) if descending else result[1])
    if result is None:
        return _sorted(own, axis, descending, None, lambda values, numbers, length: values)
    sorted_ = zeros(own.shape, own.dtype, world=own.world)
    result[0].write(sorted_, result[1])
    return sorted_


def _sorted_array(array: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """An array in order along an axis."""
    values = _reversed(array) if descending else array
    if values.dtype.kind == "c":
        result = np.sort(values, axis=axis, kind="stable")
    else:
        result = np.sort(values, axis=axis)
        # Of equal elements only zeros can be told apart, by their signs, which sorting may lose.
        if values.dtype.kind == "f" and _has_negative_zeros(values):
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
    list_, wanted = together(x1, x2)
    order = None if sorter is None else asarray(sorter, world=list_.world)

    def check() -> None:
        if list_.ndim != 1 or order is not None and (order.shape != list_.shape or order.dtype.kind != "i"):
            raise ValueError("searchsorted: the sorted elements are a list, its sorter one of as many indices")
        if side not in ("left", "right"):
            raise ValueError(f'searchsorted with side={side!r}; use "left" or "right"')

    list_.world.agree(check)
    wanted = wanted.with_symmetry(None)
    keys, values = wanted.local_pairs()
    low, high = np.zeros(len(keys), np.int64), np.full(len(keys), list_.size)
    for _ in range(list_.size.bit_length()):
        middle = np.minimum((low + high) // 2, list_.size - 1)
        found = list_.read(middle if order is None else order.read(middle))
        before = _is_before(found, values) if side == "left" else ~_is_before(values, found)
        is_open = low < high
        low, high = np.where(is_open & before, middle + 1, low), np.where(is_open & ~before, middle, high)
    result = zeros(wanted.shape, int64, world=list_.world)
    result.write(keys, low)
    return result


def _is_before(a: np.ndarray, b: np.ndarray) -> Any:
    """a < b, with NaN behind all others."""
    return (a < b) | ((a == a) & (b != b))


def _true_places(mask: Tensor) -> np.ndarray:
    """Numbers of the true elements in this rank's share, last index fastest. Collective."""
    shares = _even_shares(mask.world, mask.ndim - 1, mask.size)
    return np.asarray(shares.numbers(mask.world)[shares.read(mask)])


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
    shares, values, numbers = _ordered(flat, 0, False)
    in_order = zeros(flat.shape, flat.dtype, world=world)
    shares.write(in_order, values)
    first = shares.bounds[world.rank]
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

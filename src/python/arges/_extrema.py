"""Where extrema are: argmax and argmin, of dense tensors over each rank's own elements, of sparse ones over what is stored."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Callable

import numpy as np

from . import _core
from ._elementwise import elementwise
from ._making import asarray, from_function
from ._places import _axes, _exchanged, _here, _indices, _is_whole, _Local, _number, _of_all, _raise, _sparse_of, _stored, reshape
from ._reductions import _require_elements, max, min
from ._tensor import Tensor
from ._types import int64
from ._world import World


def _extremal_index(x: Any, axis: Any, keepdims: bool, extremum: Callable[..., Tensor], what: str) -> Tensor:
    own = asarray(x)
    _require_elements(own, axis, what)
    place = own.world.agree(lambda: None if axis is None else _axes(own.ndim, operator.index(axis))[0])
    if own.is_sparse:
        return _sparse_extremal_index(own, place, keepdims, extremum is max)
    if own._h.has_symmetry:
        own = own.with_symmetry(None)
    local = _here(own)
    if _is_whole(own.ndim, place) and local is not None:
        found = asarray(np.asarray(_first_place(own, local, extremum is max), np.int64), world=own.world)
        return reshape(found, (1,) * own.ndim) if keepdims else found
    if local is not None and own.world._is_single:
        choose = np.argmax if extremum is max else np.argmin
        return asarray(np.asarray(choose(local.array, axis=place, keepdims=keepdims), np.int64), copy=True, world=own.world)
    shape = own.shape if place is None else tuple(n if d == place else 1 for d, n in enumerate(own.shape))
    numbers = from_function(shape, lambda *i: _number(i, shape), int64, world=own.world)
    best = extremum(own, axis=place, keepdims=True)
    none = np.iinfo(np.int64).max
    found = elementwise(lambda a, b, i: np.where((a == b) | (a != a), i, none), own, best, numbers, dtype=int64)
    return min(found, axis=place, keepdims=keepdims)


def _first_place(x: Tensor, local: _Local, is_largest: bool) -> int:
    """The number, last index fastest, of the first extremum among all elements. Collective."""
    none = np.iinfo(np.int64).max
    choose = np.argmax if is_largest else np.argmin
    flat = local.array.reshape(-1, order="F")
    at = int(choose(flat)) if flat.size else 0
    values, counts = _of_all(x.world, flat[at : at + 1] if flat.size else np.zeros(1, flat.dtype)), _of_all(x.world, np.array([flat.size]))
    best = (np.max if is_largest else np.min)(values[counts > 0])

    def is_best(values: Any) -> Any:
        return values == best if best == best else values != values

    places: list[int] = []
    while flat.size and at < flat.size and is_best(flat[at]) and len(places) < _TIES:
        places.append(at)
        at += 1
        at += int(choose(flat[at:])) if at < flat.size else 0
        if local.array.ndim <= 1:
            break  # the first by place is the first by number
    if len(places) < _TIES:
        found = local.numbers(np.unravel_index(places, local.array.shape, order="F"), x.shape) if places else []
        mine = builtins.min((int(n) for n in np.atleast_1d(found)), default=none)
    else:
        indices, mask = [], is_best(local.array)
        while mask.ndim:
            indices.append(int(np.argmax(mask.any(axis=tuple(range(1, mask.ndim))))))
            mask = mask[indices[-1]]
        mine = int(local.numbers(indices, x.shape))
    return int(_of_all(x.world, np.array([mine])).min())


_TIES = 8  # where there are more, a mask of all of them is made


def _sparse_extremal_index(x: Tensor, place: int | None, keepdims: bool, is_largest: bool) -> Tensor:
    """The same of a sparse tensor, where what is not stored is zero: along an axis a sparse one. Collective."""
    shape = x.shape
    too_many = f"argmax or argmin of {x.size} elements; 2^63 are too many"
    x.world.agree(lambda: None if x.size < 2**63 else _raise(_core.Unsupported(too_many)))
    indices, values = _stored(x)
    values = values.astype(np.int16) if values.dtype.kind == "b" else values
    if place is None:
        found = _first_number(x.world, indices, shape, values, x.size, is_largest)
        result = asarray(np.asarray(found, np.int64), world=x.world)
        return reshape(result, (1,) * x.ndim) if keepdims else result
    outer = tuple(n for d, n in enumerate(shape) if d != place)
    if not outer:
        return reshape(_sparse_extremal_index(x, None, True, is_largest), (1,) if keepdims else ())
    lines = _number([i for d, i in enumerate(indices) if d != place], outer)
    lines, within, values = _gathered_lines(x.world, lines, indices[place], values)
    lines, places = _places_of_lines(lines, within, values, shape[place], is_largest)
    wanted = tuple(1 if d == place else n for d, n in enumerate(shape)) if keepdims else outer
    kept = places > 0
    return _sparse_of(x, wanted, _indices(lines[kept], wanted), places[kept])


def _first_number(
    world: World, indices: list[np.ndarray], shape: tuple[int, ...], values: np.ndarray, count: int, is_largest: bool
) -> int:
    """The number of the first extremum of `count` elements, of which each rank gives some; the others are zeros. Collective."""
    choose = np.max if is_largest else np.min
    mine = np.full(1, choose(values) if len(values) else 0, values.dtype)
    best_of, counts = _of_all(world, mine), _of_all(world, np.array([len(values)]))
    best = choose(best_of[counts > 0]) if counts.any() else values.dtype.type(0)

    def numbers(chosen: np.ndarray) -> Any:
        return _number([own[chosen] for own in indices], shape)

    total = int(_of_all(world, np.array([np.count_nonzero(values)])).sum())
    if total == count or (best > 0 if is_largest else best < 0) or best != best:
        places = numbers(np.flatnonzero(values == best if best == best else values != values))
        return int(_of_all(world, np.array([places.min() if len(places) else np.iinfo(np.int64).max])).min())
    # The first zero: all numbers before it are those of nonzeros.
    nonzero = np.sort(numbers(np.flatnonzero(values)))
    low, high = 0, total
    while low < high:
        middle = (low + high) // 2
        if _of_all(world, np.searchsorted(nonzero, np.array([middle]), side="right")).sum() == middle + 1:
            low = middle + 1
        else:
            high = middle
    return low


def _gathered_lines(world: World, lines: np.ndarray, within: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Elements by line and place, those of a line brought to one rank: line l to rank l modulo their number. Collective."""
    if world._is_single:
        return lines, within, values
    to = lines % world.size
    order = np.argsort(to, kind="stable")
    counts = np.bincount(to, minlength=world.size)
    return tuple(_exchanged(world, part[order], counts) for part in (lines, within, values))


def _places_of_lines(lines: np.ndarray, within: np.ndarray, values: np.ndarray, count: int, is_largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The lines that have elements, and the first extremum of each; elements that are not given are zeros, `count` in a line."""
    order = np.lexsort((within, lines))
    lines, within, values = lines[order], within[order], values[order]
    begins = np.flatnonzero(np.append(True, lines[1:] != lines[:-1])) if len(lines) else np.zeros(0, np.int64)
    if not len(begins):
        return lines, within
    lengths = np.diff(np.append(begins, len(lines)))
    best = (np.maximum if is_largest else np.minimum).reduceat(values, begins)
    # The first zero of a line: where its nonzeros, in order, leave out a place.
    nonzero = values != 0
    rank = np.cumsum(nonzero) - nonzero
    rank = rank - np.repeat(rank[begins], lengths)
    is_gap = nonzero & (within != rank)
    first_gap = np.minimum.reduceat(np.where(is_gap, rank, np.iinfo(np.int64).max), begins)
    zeros_begin = np.minimum(first_gap, np.add.reduceat(nonzero.astype(np.int64), begins))
    has_zeros = zeros_begin < count
    beyond = best < 0 if is_largest else best > 0
    best = np.where(has_zeros & beyond, np.zeros((), values.dtype), best)
    wide = np.repeat(best, lengths)
    is_best = (values == wide) | ((values != values) & (wide != wide))
    first = np.minimum.reduceat(np.where(is_best & nonzero, within, np.iinfo(np.int64).max), begins)
    return lines[begins], np.where(best == 0, zeros_begin, first)


def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index of the first largest element along an axis; without, of all as if flat. NaN counts as largest. Collective."""
    return _extremal_index(x, axis, keepdims, max, "argmax")


def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index of the first smallest element along an axis; without, of all as if flat. NaN counts as smallest. Collective."""
    return _extremal_index(x, axis, keepdims, min, "argmin")


__all__ = ["argmax", "argmin"]

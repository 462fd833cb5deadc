"""Where elements go when a tensor gets another shape."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from . import _core
from ._making import asarray, sparse, zeros
from ._tensor import Tensor
from ._world import World


def _axes(ndim: int, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    result = []
    for own in given:
        index = operator.index(own)
        if not -ndim <= index < ndim:
            raise IndexError(f"axis {index} of a tensor of order {ndim}")
        result.append(index % ndim)
    if len(set(result)) != len(result):
        raise ValueError(f"an axis occurs twice in {axis}")
    return tuple(result)


def _is_whole(ndim: int, axis: Any) -> bool:
    """Are all dimensions among some axes? Local; wrong axes are for others to refuse."""
    return axis is None or ndim == 1 and axis in (0, -1, (0,), (-1,))


def _indices(flat: np.ndarray, shape: Sequence[int], order: str = "C") -> list[np.ndarray]:
    """Indices of elements that are numbered in an order: "C": last index fastest."""
    result = []
    for length in shape if order == "F" else shape[::-1]:
        result.append(flat % length if length else flat)
        flat = flat // length if length else flat
    return result if order == "F" else result[::-1]


def _number(indices: Sequence[Any], shape: Sequence[int], order: str = "C") -> Any:
    """The number of the element with such indices."""
    result, step = np.zeros((), np.int64), 1
    pairs = list(zip(indices, shape))
    for index, length in pairs if order == "F" else pairs[::-1]:
        result = result + step * np.asarray(index, np.int64)
        step *= length
    return result


def _keys_of(indices: Sequence[Any], shape: Sequence[int], count: int) -> np.ndarray:
    """Keys of `count` elements."""
    return np.broadcast_to(_number(indices, shape, "F"), (count,))


def _rearranged(
    x: Tensor, shape: Sequence[int], on_array: Callable[[np.ndarray], np.ndarray], source: Callable[..., Sequence[Any]]
) -> Tensor:
    """The tensor whose element at an index is that of x at source(index), a collective call.

    on_array does the same to a whole array, which serves where one rank has it; else every rank reads the elements that it will store.
    """
    _require_dense(x, "another shape")
    if x.world._is_single and not x.world.is_dry_run:
        return asarray(on_array(x.numpy()), dtype=x.dtype, copy=True, world=x.world)
    result = zeros(shape, x.dtype, world=x.world)
    keys = result.local_pairs()[0]
    result.write(keys, x.read(_keys_of(source(*_indices(keys, result.shape, "F")), x.shape, len(keys))))
    return result


class _Local(NamedTuple):
    """A rank's elements of a dense tensor as they lie: index i of dimension d of the array is first[d] + i * step[d] of the tensor."""

    array: np.ndarray
    first: Sequence[int]
    step: Sequence[int]
    is_first_copy: bool  # no rank before has the same elements

    def numbers(self, indices: Sequence[Any], shape: Sequence[int]) -> Any:
        """The numbers of elements, last index fastest, for indices in the array."""
        return _number([first + step * np.asarray(i) for i, first, step in zip(indices, self.first, self.step)], shape)


def _here(x: Tensor) -> _Local | None:
    """This rank's elements without a copy, for use at once; None, on all ranks, where they lie otherwise. Local."""
    found = None if x.is_sparse or x._h.has_symmetry else _core.local_array(x._h)
    return None if found is None else _Local(*found)


def _exchanged(world: World, values: np.ndarray, counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """counts[r] values for each rank r, one behind the other; what the ranks have for this one, likewise. Collective."""
    return values if world._is_single else _core.exchange(world._w, np.ascontiguousarray(values), [int(n) for n in counts])


def _of_all(world: World, values: np.ndarray) -> np.ndarray:
    """Row r: what rank r gave, as many values as every other. Collective."""
    return _exchanged(world, np.tile(values, world.size), [len(values)] * world.size).reshape(-1, len(values))


def _stored(x: Tensor) -> tuple[list[np.ndarray], np.ndarray]:
    """Indices, which cannot be written to, and values of what a sparse tensor stores, each rank its own, without symmetry. Collective."""
    indices, values = x.with_symmetry(None)._h.stored_here()
    for own in indices:
        own.flags.writeable = False
    return indices, values


def _sparse_of(x: Tensor, shape: Sequence[int], indices: Sequence[np.ndarray], values: np.ndarray) -> Tensor:
    """A sparse tensor in the world of x, of distinct elements, each rank's own. Collective."""
    return sparse(shape, indices, values, values.dtype, duplicates="keep_first", distributed=True, world=x.world)


def _require_dense(x: Tensor, what: str) -> None:
    def error() -> Exception:
        return _core.Unsupported(f"{what} of a sparse tensor{' ' + x.name if x.name else ''}; take coo(), and make another by sparse()")

    x.world.agree(lambda: _raise(error()) if x.is_sparse else None)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """The same elements in another shape, the last index fastest, as in NumPy. Collective."""
    own = asarray(x)

    def prepare() -> tuple[int, ...]:
        wanted = [operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
        open_ = [d for d, n in enumerate(wanted) if n == -1]
        if copy is False:
            raise ValueError("reshape without a copy; tensors are copied")
        known = math.prod(n for n in wanted if n != -1)
        if len(open_) == 1 and known > 0 and own.size % known == 0:
            wanted[open_[0]] = own.size // known
        if own.is_sparse and own.size >= 2**63:
            raise _core.Unsupported(f"reshape of {own.size} elements; 2^63 are too many")
        if len(open_) > 1 or math.prod(wanted) != own.size or -1 in wanted:
            raise ValueError(
                f"{own.size} elements of shape {own.shape} in the shape {tuple(shape) if isinstance(shape, (tuple, list)) else shape}"
            )
        return tuple(wanted)

    wanted = own.world.agree(prepare)
    if own.is_sparse:
        indices, values = _stored(own)
        return _sparse_of(own, wanted, _indices(_number(indices, own.shape), wanted), values)
    return Tensor._of(_core.reshaped(own._h, list(wanted)))


def _within(found: np.ndarray, keys: np.ndarray, x: Tensor, shape: Sequence[int], d: int) -> np.ndarray:
    """Keys in x of indices in another shape, of which those along dimension d are replaced; negative ones count from its end. Local."""
    length = x.shape[d]
    if len(found) and (found.min() < -length or found.max() >= length):
        raise IndexError(f"an index in dimension {d} is not within its extent {length}")
    at = [found % max(length, 1) if e == d else i % max(n, 1) for e, (i, n) in enumerate(zip(_indices(keys, shape, "F"), x.shape))]
    return _keys_of(at, x.shape, len(keys))


def _without(x: Tensor, dimensions: Sequence[int]) -> Tensor:
    """x without dimensions of one element; itself without any. Of a dense tensor the elements are kept as they are, to the sign of zeros."""
    if not dimensions:
        return x
    return x._without(dimensions) if x.is_sparse else reshape(x, tuple(n for d, n in enumerate(x.shape) if d not in dimensions))


def _raise(error: Exception) -> None:
    raise error


__all__ = ["reshape"]

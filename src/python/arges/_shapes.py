"""The same elements in other shapes and orders."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Callable, Sequence

import numpy as np

from . import _core
from ._elementwise import _labels, apply, elementwise
from ._making import asarray, from_function, together, world_of, zeros
from ._places import _axes, _indices, _number, _raise, _rearranged, _sparse_of, _stored, _within, _without, reshape
from ._symmetry import permuted
from ._tensor import Tensor
from ._types import bool_
from .statements import Indexed, broadcast


def permute_dims(x: Tensor, /, axes: Sequence[int] | None = None) -> Tensor:
    """Dimensions in another order: dimension d of the result is axes[d] of x; all reversed without axes. Collective."""
    own = asarray(x)
    order = own.world.agree(lambda: _axes(own.ndim, tuple(axes) if axes is not None else tuple(range(own.ndim))[::-1]))
    if len(order) != own.ndim:
        own.world.agree(lambda: _raise(ValueError(f"axes {axes} for a tensor of order {own.ndim}; name each once")))
    labels = [f"d{d}" for d in range(own.ndim)]
    tree = permuted(own, order)
    if tree is None:
        return Tensor._of(_core.einsum([own._h], [labels], [labels[d] for d in order]))
    shape = [own.shape[d] for d in order]
    result = Tensor._of(_core.make(own._h.element, own.is_sparse, own.world._w, shape, tree[1], tree[0], ""))
    Indexed(result, [labels[d] for d in order]).assign(Indexed(own, labels))
    return result


def transpose(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """permute_dims() under NumPy's name. Collective."""
    return permute_dims(x, axes)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two dimensions exchanged. Collective."""
    own = asarray(x)
    own.world.agree(lambda: None if own.ndim > 1 else _raise(ValueError(f"matrix_transpose of a tensor of order {own.ndim}")))
    return permute_dims(own, (*range(own.ndim - 2), own.ndim - 1, own.ndim - 2))


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Dimensions moved to other places, the others in their order. Collective."""
    own = asarray(x)

    def prepare() -> list[int]:
        source_axes = _axes(own.ndim, source)
        places = _axes(own.ndim, destination)
        if len(places) != len(source_axes):
            raise ValueError(f"moveaxis of {len(source_axes)} dimensions to {len(places)} places")
        order = [d for d in range(own.ndim) if d not in source_axes]
        for place, axis in sorted(zip(places, source_axes)):
            order.insert(place, axis)
        return order

    return permute_dims(own, own.world.agree(prepare))


def expand_dims(x: Any, /, axis: Any = 0) -> Tensor:
    """With dimensions of one element at some places of the result. Collective."""
    own = asarray(x)

    def prepare() -> list[int]:
        given = axis if isinstance(axis, tuple) else (axis,)
        shape = list(own.shape)
        for place in sorted(_axes(own.ndim + len(given), given)):
            shape.insert(place, 1)
        return shape

    return reshape(own, tuple(own.world.agree(prepare)))


def squeeze(x: Tensor, /, axis: Any = None) -> Tensor:
    """Without some dimensions of one element. Collective."""
    own = asarray(x)

    def prepare() -> tuple[int, ...]:
        axes = _axes(own.ndim, axis) if axis is not None else tuple(d for d, n in enumerate(own.shape) if n == 1)
        for d in axes:
            if own.shape[d] != 1:
                raise ValueError(f"squeeze of dimension {d}, which has {own.shape[d]} elements")
        return axes

    axes = own.world.agree(prepare)
    return _without(own, axes) if axes else own.copy()


def broadcast_to(x: Tensor, /, shape: Sequence[int]) -> Tensor:
    """Repeated to a shape, as shapes broadcast. Collective."""
    own = asarray(x)

    def prepare() -> tuple[int, ...]:
        wanted = tuple(operator.index(n) for n in shape)
        if np.broadcast_shapes(own.shape, wanted) != wanted:
            raise ValueError(f"a tensor of shape {own.shape} does not broadcast to {wanted}")
        return wanted

    wanted = own.world.agree(prepare)
    labels, narrow = _labels([own], wanted)
    tensor = _without(own, narrow[0])
    target = [f"d{d}" for d in range(len(wanted))]
    result = zeros(wanted, own.dtype, world=own.world)
    missing = [label for label in target if label not in labels[0]]
    source = Indexed(tensor, labels[0])
    Indexed(result, target).assign(broadcast(missing, source) if missing else source)
    return result


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    """All repeated to the shape that they broadcast to. Collective."""
    world = world_of(arrays)
    tensors = together(*arrays)
    shape = world.agree(lambda: np.broadcast_shapes(*(x.shape for x in tensors)))
    return [broadcast_to(x, shape) for x in tensors]


def concat(arrays: Sequence[Any], /, axis: int | None = 0) -> Tensor:
    """Tensors one behind the other along a dimension; flattened ones without. Collective."""
    world = world_of(arrays)
    tensors = together(*arrays)
    if axis is None:
        tensors = [reshape(x, (-1,)) for x in tensors]
        axis = 0

    def prepare() -> tuple[np.dtype, int]:
        if not tensors:
            raise ValueError("concat of no tensors")
        place = _axes(tensors[0].ndim, operator.index(axis))[0]
        around = {x.shape[:place] + x.shape[place + 1 :] for x in tensors}
        if len(around) > 1 or len({x.ndim for x in tensors}) > 1:
            raise ValueError(f"concat of shapes {', '.join(str(x.shape) for x in tensors)} along dimension {place}")
        return np.result_type(*(x.dtype for x in tensors)), place

    common, place = world.agree(prepare)
    if builtins.all(x.is_sparse for x in tensors):
        parts = [_stored(x.astype(common, copy=False)) for x in tensors]
        begins = np.cumsum([0, *(x.shape[place] for x in tensors)])
        for (indices, _), begin in zip(parts, begins):
            indices[place] = indices[place] + begin
        shape = (*tensors[0].shape[:place], int(begins[-1]), *tensors[0].shape[place + 1 :])
        modes = [np.concatenate(mode) for mode in zip(*(indices for indices, _ in parts))]
        return _sparse_of(tensors[0], shape, modes, np.concatenate([values for _, values in parts]))
    tensors = [x.to_dense() if x.is_sparse else x for x in tensors]
    return Tensor._of(_core.concatenated(place, [x.astype(common, copy=False)._h for x in tensors]))


def stack(arrays: Sequence[Any], /, axis: int = 0) -> Tensor:
    """Tensors along a new dimension. Collective."""
    world = world_of(arrays)
    tensors = together(*arrays)

    def prepare() -> int:
        if len({x.shape for x in tensors}) != 1:
            raise ValueError(f"stack of shapes {', '.join(str(x.shape) for x in tensors) or 'of no tensors'}; they must be one")
        return _axes(tensors[0].ndim + 1, operator.index(axis))[0]

    place = world.agree(prepare)
    return concat([expand_dims(x, axis=place) for x in tensors], axis=place)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension. Collective."""
    own = asarray(x)
    place = own.world.agree(lambda: _axes(own.ndim, operator.index(axis))[0])
    front = (slice(None),) * place
    return tuple(own[(*front, i)] for i in range(own.shape[place]))


def _outer(x: Tensor, places: Sequence[np.ndarray | None]) -> Tensor:
    """Elements at lists of indices of each dimension; None: all."""
    shape = [n if own is None else len(own) for n, own in zip(x.shape, places)]

    if x.is_sparse:
        indices, values = _stored(x)
        for d, own in enumerate(places):
            if own is None:
                continue
            # Where each stored element's index stands in the list: nowhere, once or more often.
            order = np.argsort(own, kind="stable")
            counts = np.bincount(own, minlength=x.shape[d])
            times = counts[indices[d]]
            rows = np.repeat(np.arange(len(values)), times)
            begins = (np.cumsum(counts) - counts)[indices[d]] - (np.cumsum(times) - times)
            place = order[begins[rows] + np.arange(len(rows))]
            values = values[rows]
            indices = [place if e == d else index[rows] for e, index in enumerate(indices)]
        return _sparse_of(x, shape, indices, values)

    def on_array(array: np.ndarray) -> np.ndarray:
        for d, own in enumerate(places):
            if own is not None:
                array = np.take(array, own, axis=d)
        return array

    def source(*indices: np.ndarray) -> Sequence[np.ndarray]:
        return [index if own is None else own[index] for index, own in zip(indices, places)]

    return _rearranged(x, shape, on_array, source)


def flip(x: Any, /, axis: Any = None) -> Tensor:
    """Elements in reverse order along some axes, or all. Collective."""
    own = asarray(x)
    axes = own.world.agree(lambda: _axes(own.ndim, axis))
    return _outer(own, [np.arange(n)[::-1] if d in axes else None for d, n in enumerate(own.shape)])


def roll(x: Any, /, shift: Any, axis: Any = None) -> Tensor:
    """Elements moved along some axes, those that leave the end coming in at the beginning; without axes as if flat. Collective."""
    own = asarray(x)
    if axis is None and own.is_sparse and own.size < 2**63:
        indices, values = _stored(own)
        by = own.world.agree(lambda: operator.index(shift) % builtins.max(own.size, 1))
        numbers = _number(indices, own.shape)  # a sum with `by` could be over 2^63
        return _sparse_of(own, own.shape, _indices(np.where(numbers < own.size - by, numbers + by, numbers - (own.size - by)), own.shape), values)
    if axis is None:
        return reshape(roll(reshape(own, (-1,)), shift, axis=0), own.shape)

    def prepare() -> list[np.ndarray | None]:
        total: dict[int, int] = {}
        for n, d in zip(*np.broadcast_arrays(shift, axis, subok=False), strict=True) if isinstance(axis, tuple) else [(shift, axis)]:
            place = _axes(own.ndim, int(d))[0]
            total[place] = total.get(place, 0) + operator.index(n)
        return [np.roll(np.arange(n), total[d]) if d in total else None for d, n in enumerate(own.shape)]

    return _outer(own, own.world.agree(prepare))


def take(x: Any, indices: Any, /, axis: int | None = None) -> Tensor:
    """Elements at a list of indices along an axis, which every rank holds. Collective."""
    own = asarray(x)
    list_ = _everywhere(indices)

    def prepare() -> tuple[Any, ...]:
        if axis is None and own.ndim != 1:
            raise ValueError("take needs an axis")
        if np.ndim(list_) != 1:
            raise IndexError("indices of take must be a list of integers")
        place = _axes(own.ndim, operator.index(axis or 0))[0]
        return (*[slice(None)] * place, list_)

    result: Tensor = own[own.world.agree(prepare)]
    return result


def _everywhere(values: Any) -> Any:
    """A tensor as an array on every rank, others as they are."""
    return values.numpy() if isinstance(values, Tensor) else values


def take_along_axis(x: Any, indices: Any, /, axis: int = -1) -> Tensor:
    """Elements at an index along an axis for each element of the result, as numpy.take_along_axis. Collective."""
    own = asarray(x)
    places = asarray(indices, world=own.world)

    def prepare() -> tuple[int, tuple[int, ...]]:
        place = _axes(own.ndim, operator.index(axis))[0]
        if places.dtype.kind != "i":
            raise IndexError(f"take_along_axis by indices of type {places.dtype}")
        if places.ndim != own.ndim:
            raise ValueError(f"take_along_axis by indices of order {places.ndim} from a tensor of order {own.ndim}")
        around = tuple(1 if d == place else n for d, n in enumerate(own.shape))
        return place, np.broadcast_shapes(around, places.shape)

    place, shape = own.world.agree(prepare)
    wide = broadcast_to(places, shape)
    result = zeros(shape, own.dtype, world=own.world)
    keys, found = wide.local_pairs()
    result.write(keys, own.read(own.world.agree(lambda: _within(found, keys, own, shape, place), same=False)))
    return result


def repeat(x: Any, repeats: Any, /, axis: int | None = None) -> Tensor:
    """Each element several times along an axis; flattened without. Collective."""
    own = asarray(x)
    if axis is None:
        own, axis = reshape(own, (-1,)), 0
    counts = _everywhere(repeats)

    def prepare() -> list[np.ndarray | None]:
        place = _axes(own.ndim, operator.index(axis))[0]
        list_ = np.repeat(np.arange(own.shape[place]), counts)
        return [list_ if d == place else None for d in range(own.ndim)]

    return _outer(own, own.world.agree(prepare))


def tile(x: Any, repetitions: Sequence[int], /) -> Tensor:
    """Copies of a tensor side by side. Collective."""
    own = asarray(x)

    def prepare() -> tuple[int, ...]:
        times = tuple(operator.index(n) for n in repetitions)
        if builtins.any(n < 0 for n in times):
            raise ValueError(f"tile with the repetitions {times}; they are not negative")
        return (1,) * (own.ndim - len(times)) + times

    times = own.world.agree(prepare)
    wide = reshape(own, (1,) * (len(times) - own.ndim) + own.shape)
    return _outer(wide, [np.tile(np.arange(n), count) for n, count in zip(wide.shape, times)])


def tril(x: Any, /, k: int = 0) -> Tensor:
    """The lower triangles of matrices, zeros elsewhere. Collective."""
    return _triangle(asarray(x), k, lambda difference, k: difference <= k)


def triu(x: Any, /, k: int = 0) -> Tensor:
    """The upper triangles of matrices, zeros elsewhere. Collective."""
    return _triangle(asarray(x), k, lambda difference, k: difference >= k)


def _triangle(x: Tensor, k: int, stays: Callable[[np.ndarray, int], np.ndarray]) -> Tensor:
    x.world.agree(lambda: None if x.ndim > 1 else _raise(ValueError(f"a triangle of a tensor of order {x.ndim}")))
    if x.is_sparse:
        indices, values = _stored(x)
        kept = stays(indices[-1] - indices[-2], _offset(k, x.shape[-2:]))
        return _sparse_of(x, x.shape, [index[kept] for index in indices], values[kept])
    mask = from_function(x.shape[-2:], lambda i, j: stays(j - i, _offset(k, x.shape[-2:])), bool_, world=x.world)
    return apply(lambda a, keep: np.where(keep, a, np.zeros((), a.dtype)), x, mask, dtype=x.dtype)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along an axis, n times. Collective."""
    own = asarray(x)
    place = own.world.agree(lambda: _axes(own.ndim, operator.index(axis))[0])
    own.world.agree(lambda: None if operator.index(n) >= 0 else _raise(ValueError(f"diff {n} times")))
    ends = [part for part in (prepend, own, append) if part is not None]
    result = concat(ends, axis=place) if len(ends) > 1 else own.copy()
    front = (slice(None),) * place
    for _ in range(n):
        result = elementwise(
            np.not_equal if result.dtype == bool_ else np.subtract, result[(*front, slice(1, None))], result[(*front, slice(-1))]
        )
    return result


def _offset(k: int, shape: Sequence[int]) -> int:
    """The number of a diagonal, or one that is outside of the matrix, too."""
    return builtins.max(-shape[0], builtins.min(operator.index(k), shape[1]))


__all__ = [
    "permute_dims", "transpose", "matrix_transpose", "moveaxis", "expand_dims", "squeeze", "broadcast_to", "broadcast_arrays",
    "concat", "stack", "unstack", "flip", "roll", "take", "take_along_axis", "repeat", "tile", "tril", "triu", "diff",
]  # fmt: skip

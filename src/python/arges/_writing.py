"""Elements that are replaced one by one, and NumPy's functions that write to their first argument."""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np

from . import _core
from ._elementwise import elementwise
from ._lines import _true_places
from ._making import asarray
from ._places import _axes, _indices, _keys_of, _of_all, _raise, _within, reshape
from ._shapes import broadcast_to
from ._tensor import Tensor
from ._types import bool_, complex128, int64, type_number


def set_elements(x: Tensor, keys: np.ndarray, values: np.ndarray) -> None:
    """Replaces elements, each rank those of its own keys (int64, first index fastest), and what their symmetry relates to them. Elements of a sparse
    tensor that are not stored stay so where they are set to zero. Raises InvalidArgument, and leaves the tensor as it was, where values
    contradict each other or the symmetry. Collective."""
    keys, values = np.ascontiguousarray(keys, np.int64), np.ascontiguousarray(values, x.dtype)
    if not x.is_sparse:
        x._h.write(keys, values, 0, 0.0)
        return
    before = x.copy()
    with np.errstate(all="ignore"):
        is_changed = x._h.read(keys) != values
    chosen = np.flatnonzero(is_changed)[_first_of_each(x, keys[is_changed])]
    x._h.accumulate(keys[chosen], values[chosen], 1, 0)
    found = x._h.read(keys)

    def check() -> None:
        wrong = np.flatnonzero((found != values) & ((found == found) | (values == values)))
        if len(wrong):
            first = wrong[np.argmin(keys[wrong])]
            index = tuple(int(np.asarray(i).item()) for i in _indices(keys[first : first + 1], x.shape, "F"))
            raise _core.InvalidArgument(
                f"{x.name or 'tensor'}: element {index} cannot become {values[first]}, since by its symmetry, or by another value that is given "
                f"for it, it is {found[first]}; correct the values, or take with_symmetry(None)"
            )

    try:
        x.world.agree(check, same=False)
    except _core.InvalidArgument:
        labels = [f"d{d}" for d in range(x.ndim)]
        x[labels] = before[labels]
        raise


def _first_of_each(x: Tensor, keys: np.ndarray) -> np.ndarray:
    """Places in this rank's keys that are the first over all ranks to name an element of a sparse tensor, or one related to it. Collective."""
    symmetry = x.symmetry() if x._h.has_symmetry else None
    kind = complex128 if x.dtype.kind == "c" else int64
    seen = Tensor._of(_core.make(type_number(kind), True, x.world._w, list(x.shape), None, symmetry, ""))
    numbers = (x.world.rank + x.world.size * np.arange(len(keys)) + 1).astype(kind)
    seen._h.write(keys, numbers, 2, 0.0)  # an element keeps the first
    return np.flatnonzero(np.abs(seen._h.read(keys)) == np.abs(numbers))


def _list(values: Any) -> np.ndarray:
    """Values as a flat array on every rank. Collective for tensors."""
    return (values.numpy() if isinstance(values, Tensor) else np.asarray(values)).ravel()


def _fitting(x: Tensor, values: np.ndarray, casting: Any = "same_kind") -> np.ndarray:
    if not np.can_cast(values.dtype, x.dtype, casting):
        raise TypeError(f"elements of type {values.dtype} in a tensor of {x.dtype}")
    return values.astype(x.dtype, copy=False)


def _set_numbered(x: Tensor, numbers: np.ndarray, values: np.ndarray) -> None:
    """Replaces elements that are numbered with the last index fastest; of values for one element the last. All ranks give the same. Collective."""
    distinct, last = np.unique(numbers[::-1], return_index=True)
    mine = slice(x.world.rank, None, x.world.size)
    own = distinct[mine]
    set_elements(x, _keys_of(_indices(own, x.shape), x.shape, len(own)), values[::-1][last][mine])


def put(a: Tensor, ind: Any, v: Any, mode: str = "raise") -> None:
    """numpy.put: elements that are numbered as if flat become values, which repeat. Collective."""
    given, values = _list(ind), _list(v)

    def prepare() -> tuple[np.ndarray, np.ndarray]:
        if given.size and given.dtype.kind not in "iub":
            raise TypeError(f"put with indices of type {given.dtype}; use integers")
        numbers = given.astype(np.int64)
        if mode not in ("raise", "wrap", "clip"):
            raise ValueError(f'put with mode={mode!r}; use "raise", "wrap" or "clip"')
        if mode == "raise":
            wrong = numbers[(numbers < -a.size) | (numbers >= a.size)]
            if len(wrong):
                raise IndexError(f"index {wrong[0]} of a tensor with {a.size} elements")
        numbers = np.clip(numbers, 0, a.size - 1) if mode == "clip" else numbers % builtins.max(a.size, 1)
        if values.size == 0:
            numbers = numbers[:0]
        return numbers, _fitting(a, np.resize(values, numbers.size))

    _set_numbered(a, *a.world.agree(prepare))


def fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> None:
    """numpy.fill_diagonal. Collective."""
    values = _list(val)

    def prepare() -> tuple[np.ndarray, np.ndarray]:
        if a.ndim < 2:
            raise ValueError("fill_diagonal of a tensor with less than two dimensions")
        if a.ndim > 2 and len(set(a.shape)) > 1:
            raise ValueError(f"fill_diagonal of a tensor of shape {a.shape}; its dimensions must be equal")
        step = builtins.sum(int(np.prod(a.shape[d + 1 :], dtype=np.int64)) for d in range(a.ndim))
        end = a.size if a.ndim > 2 or wrap else builtins.min(a.size, a.shape[1] ** 2)
        numbers = np.arange(0, end, builtins.max(step, 1))
        if len(numbers) and not values.size:
            raise ValueError("fill_diagonal with no values")
        return numbers, _fitting(a, np.resize(values, len(numbers)))

    _set_numbered(a, *a.world.agree(prepare))


def _same_size(a: Tensor, mask: Any, what: str) -> Tensor:
    own = asarray(mask, world=a.world)
    a.world.agree(lambda: None if own.size == a.size else _raise(ValueError(f"{what} with a mask of shape {own.shape} for shape {a.shape}")))
    own = own if own.shape == a.shape else reshape(own, a.shape)
    return own if own.dtype == bool_ else elementwise(lambda m: m != 0, own)


def putmask(a: Tensor, mask: Any, values: Any) -> None:
    """numpy.putmask: where a mask is true, elements become those of values at the same place, which repeat. Collective."""
    _set_masked(a, _same_size(a, mask, "putmask"), values, lambda numbers, first: numbers)


def place(arr: Tensor, mask: Any, vals: Any) -> None:
    """numpy.place: where a mask is true, elements become the values one after the other, which repeat. Collective."""
    _set_masked(arr, _same_size(arr, mask, "place"), vals, lambda numbers, first: first + np.arange(len(numbers)))


def _set_masked(x: Tensor, mask: Tensor, values: Any, which: Callable[[np.ndarray, int], np.ndarray]) -> None:
    """which(numbers, first): the values for the true elements of a rank's share, of which there are `first` on ranks before."""
    given = _list(values)
    numbers = _true_places(mask)
    counts = _of_all(x.world, np.array([len(numbers)]))[:, 0]

    def prepare() -> Any:
        if not given.size and counts.sum():
            raise ValueError("no values for the elements of a mask")
        return _fitting(x, given)[which(numbers, int(counts[: x.world.rank].sum())) % builtins.max(given.size, 1)]

    chosen = x.world.agree(prepare, same=False)
    set_elements(x, _keys_of(_indices(numbers, x.shape), x.shape, len(numbers)), chosen)


def copyto(dst: Tensor, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """numpy.copyto. Collective."""
    own = asarray(src, world=dst.world)

    def check() -> None:
        if not np.can_cast(own.dtype, dst.dtype, casting):
            raise TypeError(f"copyto: elements of type {own.dtype} in a tensor of {dst.dtype} by the rule {casting!r}")
        if np.broadcast_shapes(own.shape, dst.shape) != dst.shape:
            raise ValueError(f"copyto: a shape of {own.shape} in a tensor of shape {dst.shape}")

    dst.world.agree(check)
    own = own.astype(dst.dtype, copy=False)
    if where is True:
        dst[...] = own
        return
    mask = broadcast_to(where, dst.shape)
    keys, is_meant = mask.local_pairs()
    dst.world.agree(lambda: None if mask.dtype == bool_ else _raise(TypeError(f"copyto where {mask.dtype}; use a mask")))
    keys = keys[is_meant]
    set_elements(dst, keys, broadcast_to(own, dst.shape).read(keys))


def put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    """numpy.put_along_axis. Collective."""
    if axis is None:
        put(arr, indices, values)
        return
    places = asarray(indices, world=arr.world)
    own = asarray(values, world=arr.world)

    def prepare() -> tuple[int, tuple[int, ...]]:
        if places.dtype.kind != "i" or places.ndim != arr.ndim:
            raise IndexError(f"put_along_axis by indices of type {places.dtype} and order {places.ndim} in a tensor of order {arr.ndim}")
        d = _axes(arr.ndim, axis)[0]
        return d, np.broadcast_shapes(places.shape, tuple(1 if e == d else n for e, n in enumerate(arr.shape)))

    d, shape = arr.world.agree(prepare)
    keys, found = broadcast_to(places, shape).local_pairs()
    chosen = broadcast_to(own, shape).read(keys)

    set_elements(arr, *arr.world.agree(lambda: (_within(found, keys, arr, shape, d), _fitting(arr, chosen)), same=False))


def written(out: Tensor, result: Any) -> Tensor:
    """out, with the elements of a result of its shape. Collective."""
    own = asarray(result, world=out.world)

    def check() -> None:
        if own.shape != out.shape:
            raise ValueError(f"out has the shape {out.shape}, the result {own.shape}")
        if not np.can_cast(own.dtype, out.dtype, "same_kind"):
            raise TypeError(f"a result of type {own.dtype} in a tensor of {out.dtype}")

    out.world.agree(check)
    out[...] = own.astype(out.dtype, copy=False)
    return out


#: By the functions of NumPy whose part they take for a tensor as the first argument.
WRITING: dict[Any, Callable[..., None]] = {
    np.put: put, np.fill_diagonal: fill_diagonal, np.putmask: putmask, np.place: place, np.copyto: copyto,
    np.put_along_axis: put_along_axis,
}  # fmt: skip

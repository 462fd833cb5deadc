"""New tensors."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy as np

from ._making import asarray, from_function, sparse, together, world_of, zeros
from ._places import _raise, reshape
from ._shapes import _offset, broadcast_to
from ._symmetry import fitting, permuted
from ._tensor import Tensor
from ._types import DTYPES, bool_, complex128, float64, int64, number, type_number
from ._world import World, default_world


def empty(shape: Any, *, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """zeros(). Collective."""
    return zeros(shape, float64 if dtype is None else dtype, world=world)


def ones(shape: Any, *, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """Ones. Collective."""
    return zeros(shape, float64 if dtype is None else dtype, world=world).fill(1)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """One value everywhere. Collective."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    if dtype is None:
        dtype = {bool: bool_, int: int64, float: float64, complex: complex128}.get(type(value), getattr(fill_value, "dtype", float64))
    return zeros(shape, dtype, world=world).fill(value)


def zeros_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """Zeros in the shape, type, symmetry and world of x; sparse if x is. Collective."""
    own = asarray(x)
    make = sparse if own.is_sparse else zeros
    wanted = own.world.agree(lambda: DTYPES[type_number(own.dtype if dtype is None else dtype)])
    tree = fitting(permuted(own, range(own.ndim)), wanted)
    return make(own.shape, dtype=wanted, world=own.world, symmetry=tree and tree[0], letters=tree and tree[1])


def empty_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """zeros_like(). Collective."""
    return zeros_like(x, dtype=dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """Ones in the shape, type and world of x. Collective."""
    return full_like(x, 1, dtype=dtype)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """One value everywhere in the shape, type and world of x. Collective."""
    own = asarray(x)
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return zeros(own.shape, own.dtype if dtype is None else dtype, world=own.world).fill(value)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: str | None = None, world: World | None = None
) -> Tensor:
    """Ones on a diagonal. Collective."""
    shape = (n_rows, n_rows if n_cols is None else n_cols)
    return from_function(shape, lambda i, j: j == i + _offset(k, shape), float64 if dtype is None else dtype, world=world)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: str | None = None, world: World | None = None
) -> Tensor:
    """Numbers with even steps. Collective."""
    own = world or default_world()

    def prepare() -> tuple[Any, Any, int, Any]:
        numbers: list[Any] = [number(n) for n in ((start, stop, step) if stop is not None else (0, start, step))]
        first, last, by = numbers
        if by == 0:
            raise ValueError("arange with a step of 0")
        whole = builtins.all(isinstance(n, int) for n in (first, last, by))
        count = -((first - last) // by) if whole else math.ceil((last - first) / by)
        return first, by, builtins.max(count, 0), dtype if dtype is not None else int64 if whole else float64

    first, by, count, wanted = own.agree(prepare)
    return from_function((count,), lambda i: (first + by * i).astype(wanted), wanted, world=own)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: str | None = None, endpoint: bool = True, world: World | None = None
) -> Tensor:
    """Numbers at even distances. Collective."""
    own = world or default_world()

    def prepare() -> tuple[Any, Any, int, np.dtype]:
        first, last, count = number(start), number(stop), operator.index(num)
        if count < 0:
            raise ValueError(f"linspace of {count} numbers")
        is_complex = isinstance(first, complex) or isinstance(last, complex)
        return first, last, count, np.dtype(dtype) if dtype is not None else complex128 if is_complex else float64

    first, last, count, wanted = own.agree(prepare)
    steps = builtins.max(count - 1 if endpoint else count, 1)

    def values(i: np.ndarray) -> Any:
        found = first + i * ((last - first) / steps)
        if endpoint and count > 1:
            found = np.where(i == count - 1, last, found)
        return (np.floor(found) if wanted.kind == "i" else found).astype(wanted)

    return from_function((count,), values, wanted, world=own)


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid, one tensor for each dimension, as numpy.meshgrid. Collective."""
    world = world_of(arrays)
    tensors = together(*arrays)
    wrong = f'meshgrid with indexing={indexing!r}; use "xy" or "ij"'
    world.agree(lambda: None if indexing in ("xy", "ij") else _raise(ValueError(wrong)))
    places = list(range(len(tensors)))
    if indexing == "xy" and len(places) > 1:
        places[:2] = [1, 0]
    shape = [0] * len(tensors)
    for own, place in zip(tensors, places):
        shape[place] = own.size
    return [broadcast_to(reshape(own, [-1 if d == place else 1 for d in range(len(shape))]), shape) for own, place in zip(tensors, places)]


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor of the array of another library; see tensor(). Collective."""
    return asarray(x, copy=copy)


def astype(x: Tensor, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> Tensor:
    """The elements in another type; see Tensor.astype(). Collective."""
    return x.astype(dtype, copy=copy)


__all__ = [
    "empty", "ones", "full", "eye", "arange", "linspace", "meshgrid", "from_dlpack", "astype", "zeros_like", "ones_like",
    "full_like", "empty_like",
]  # fmt: skip

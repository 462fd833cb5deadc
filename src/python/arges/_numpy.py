"""NumPy's functions that the array API standard lacks, and what is said where one is not distributed."""

from __future__ import annotations

import builtins
import warnings
from typing import Any, Callable

import numpy as np

from ._elementwise import elementwise, multiply
from ._lines import cumulative_prod, cumulative_sum
from ._places import reshape
from ._products import tensordot, vecdot
from ._reductions import all, max, min, std, sum, var
from ._shapes import moveaxis, permute_dims
from ._tensor import Tensor, asarray, world_of


class GatherWarning(UserWarning):
    """A function of NumPy works on the full array, which every rank then holds; said once for each function."""


_said: set[Any] = set()


def say_gathered(function: Callable[..., Any], tensors: list[Tensor]) -> None:
    """Warns at the first call of a function for tensors that do not lie as arrays in one place. Local."""
    spread = [x for x in tensors if x.is_sparse or x._h.has_symmetry or not x.world._is_single]
    if spread and function not in _said:
        _said.add(function)
        name = f"{getattr(function, '__module__', 'numpy')}.{getattr(function, '__name__', function)}"
        size = builtins.max(x.nbytes for x in spread)
        text = f"{name}() works on the full array, which is gathered on every rank ({size:,} bytes); take numpy() where that is meant"
        warnings.warn(text, GatherWarning, stacklevel=5)


def _dot(a: Any, b: Any) -> Tensor:
    world = world_of((a, b))
    left, right = asarray(a, world=world), asarray(b, world=world)
    if left.ndim == 0 or right.ndim == 0:
        return multiply(left, right)
    return tensordot(left, right, axes=([-1], [-2 if right.ndim > 1 else -1]))


def _inner(a: Any, b: Any) -> Tensor:
    world = world_of((a, b))
    left, right = asarray(a, world=world), asarray(b, world=world)
    return multiply(left, right) if left.ndim == 0 or right.ndim == 0 else tensordot(left, right, axes=([-1], [-1]))


def _outer(a: Any, b: Any) -> Tensor:
    world = world_of((a, b))
    left, right = (reshape(asarray(x, world=world), (-1,)) for x in (a, b))
    return tensordot(left, right, axes=0)


def _vdot(a: Any, b: Any, /) -> Tensor:
    world = world_of((a, b))
    return vecdot(*(reshape(asarray(x, world=world), (-1,)) for x in (a, b)))


def _round(a: Any, decimals: int = 0) -> Tensor:
    return elementwise(lambda x: np.round(x, decimals), a)


def _cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    return cumulative_sum(reshape(a, (-1,)), dtype=dtype) if axis is None else cumulative_sum(a, axis=axis, dtype=dtype)


def _cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    return cumulative_prod(reshape(a, (-1,)), dtype=dtype) if axis is None else cumulative_prod(a, axis=axis, dtype=dtype)


def _ravel(a: Any) -> Tensor:
    return reshape(a, (-1,))


def _swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    own = asarray(a)

    def prepare() -> list[int]:
        order = list(range(own.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return order

    return permute_dims(own, own.world.agree(prepare))


def _rollaxis(a: Any, axis: int, start: int = 0) -> Tensor:
    return moveaxis(a, axis, start - 1 if start > axis >= 0 else start)


def _nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    found = elementwise(lambda a: np.nan_to_num(a, nan=nan, posinf=posinf, neginf=neginf), x)
    if copy or not isinstance(x, Tensor):
        return found
    x[...] = found
    return x


def _array_equal(a1: Any, a2: Any) -> bool:
    world = world_of((a1, a2))
    left, right = asarray(a1, world=world), asarray(a2, world=world)
    return left.shape == right.shape and bool(all(elementwise(lambda x, y: x == y, left, right)))


def _ptp(a: Any, axis: Any = None) -> Tensor:
    return max(a, axis=axis) - min(a, axis=axis)


def _std(a: Any, axis: Any = None, *, ddof: float = 0, correction: float | None = None, keepdims: bool = False) -> Tensor:
    return std(a, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims)


def _var(a: Any, axis: Any = None, *, ddof: float = 0, correction: float | None = None, keepdims: bool = False) -> Tensor:
    return var(a, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims)


def _nansum(a: Any, axis: Any = None) -> Tensor:
    return sum(elementwise(lambda x: np.where(np.isnan(x), np.zeros((), x.dtype), x), a), axis=axis)


#: By the functions of NumPy that they stand for.
OTHERS: dict[Any, Callable[..., Any]] = {
    np.dot: _dot, np.inner: _inner, np.outer: _outer, np.vdot: _vdot, np.round: _round, np.around: _round, np.cumsum: _cumsum,
    np.cumprod: _cumprod, np.ravel: _ravel, np.swapaxes: _swapaxes, np.rollaxis: _rollaxis, np.nan_to_num: _nan_to_num,
    np.array_equal: _array_equal, np.ptp: _ptp, np.nansum: _nansum,
    np.amax: max, np.amin: min, np.std: _std, np.var: _var,
}  # fmt: skip

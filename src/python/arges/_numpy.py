"""NumPy's functions of tensors: those with a namesake here, others that the array API standard lacks, and the rest, of gathered arrays."""

from __future__ import annotations

import builtins
import inspect
import warnings
from typing import Any, Callable

import numpy as np

from . import _creation, _elementwise, _extrema, _lines, _places, _products, _reductions, _shapes, linalg
from ._elementwise import clip, conj, elementwise, imag, multiply, real
from ._extrema import argmax, argmin
from ._lines import cumulative_prod, cumulative_sum, nonzero
from ._making import asarray, together
from ._operators import functions
from ._places import reshape
from ._products import matmul, tensordot, vecdot
from ._reductions import all, any, max, mean, min, prod, std, sum, var
from ._selection import selected, set_selected
from ._shapes import matrix_transpose, moveaxis, permute_dims, squeeze, take
from ._tensor import Tensor, without_tensors
from ._writing import WRITING, written


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
    left, right = together(a, b)
    axes = [-1], [-2 if right.ndim > 1 else -1]
    return multiply(left, right) if left.ndim == 0 or right.ndim == 0 else tensordot(left, right, axes=axes)


def _inner(a: Any, b: Any) -> Tensor:
    left, right = together(a, b)
    return multiply(left, right) if left.ndim == 0 or right.ndim == 0 else tensordot(left, right, axes=([-1], [-1]))


def _outer(a: Any, b: Any) -> Tensor:
    return tensordot(*(reshape(x, (-1,)) for x in together(a, b)), axes=0)


def _vdot(a: Any, b: Any, /) -> Tensor:
    return vecdot(*(reshape(x, (-1,)) for x in together(a, b)))


def _round(a: Any, decimals: int = 0) -> Tensor:
    return elementwise(lambda x: np.round(x, decimals), a)


def _flat(cumulative: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda a, axis=None, dtype=None: cumulative(reshape(a, (-1,)) if axis is None else a, axis=axis, dtype=dtype)


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
    left, right = together(a1, a2)
    return left.shape == right.shape and bool(all(elementwise(lambda x, y: x == y, left, right)))


def _ptp(a: Any, axis: Any = None) -> Tensor:
    return max(a, axis=axis) - min(a, axis=axis)


def _with_ddof(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def spread(a: Any, axis: Any = None, *, ddof: float = 0, correction: float | None = None, keepdims: bool = False) -> Tensor:
        return f(a, axis=axis, correction=ddof if correction is None else correction, keepdims=keepdims)

    return spread


def _nansum(a: Any, axis: Any = None) -> Tensor:
    return sum(elementwise(lambda x: np.where(np.isnan(x), np.zeros((), x.dtype), x), a), axis=axis)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.linalg.norm: of a vector, a matrix, or all elements. Collective."""
    axes = (axis,) if axis is not None and not isinstance(axis, tuple) else axis
    if axes is None and ord is None:
        return linalg.vector_norm(x, keepdims=keepdims)
    if len(axes or x.shape) == 2:
        own = "fro" if ord is None else ord
        if axes in (None, (0, 1), (-2, -1)) and x.ndim == 2:
            return linalg.matrix_norm(x, ord=own, keepdims=keepdims)
        result = linalg.matrix_norm(moveaxis(x, axes, (-2, -1)), ord=own, keepdims=keepdims)
        return moveaxis(result, (-2, -1), axes) if keepdims else result
    return linalg.vector_norm(x, axis=axis, ord=2 if ord is None else ord, keepdims=keepdims)


#: By the functions of NumPy that they stand for.
_OTHERS: dict[Any, Callable[..., Any]] = {
    np.dot: _dot, np.inner: _inner, np.outer: _outer, np.vdot: _vdot, np.round: _round, np.around: _round, np.cumsum: _flat(cumulative_sum),
    np.cumprod: _flat(cumulative_prod), np.ravel: lambda a: reshape(a, (-1,)), np.swapaxes: _swapaxes, np.rollaxis: _rollaxis, np.nan_to_num: _nan_to_num,
    np.array_equal: _array_equal, np.ptp: _ptp, np.nansum: _nansum,
    np.amax: max, np.amin: min, np.std: _with_ddof(std), np.var: _with_ddof(var),
}  # fmt: skip
# NumPy's functions of arrays (ufuncs apart) that have a namesake here, of the same meaning.
_NAMESAKES: dict[Any, Callable[..., Any]] = {
    getattr(np, name): getattr(module, name)
    for module in (_creation, _elementwise, _extrema, _lines, _places, _products, _reductions, _shapes)
    for name in module.__all__
    if hasattr(np, name) and not isinstance(getattr(np, name), (np.ufunc, type)) and name != "linspace"
} | {np.linalg.norm: _norm} | _OTHERS
# Those that ask for no elements.
_OF_SHAPES_AND_TYPES = {np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.common_type}


def in_place_of_numpy(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function of NumPy gives for tensors: that of its namesake, if it takes these arguments, else NumPy's own, for the full arrays,
    which are gathered on every rank, and cannot be written to. A tensor as out=, or as the first argument of a function that writes to it,
    gets the elements. Collective."""
    if isinstance(options.get("out"), Tensor):
        rest = {name: value for name, value in options.items() if name != "out"}
        return written(options["out"], function(*arguments, **rest))
    own = _NAMESAKES.get(function)
    writing = WRITING.get(function)
    if writing is not None:
        target = arguments[0] if arguments else next(iter(options.values()), None)
        own = writing if isinstance(target, Tensor) else None
    if own is not None and not isinstance(options.get("out"), np.ndarray):
        try:
            inspect.signature(own).bind(*arguments, **options)
        except TypeError:
            pass
        else:
            return own(*arguments, **options)
    if function in _OF_SHAPES_AND_TYPES:
        arguments, options = without_tensors((arguments, options), lambda a: np.broadcast_to(np.zeros((), a.dtype), a.shape))
        return function(*arguments, **options)
    gathered: list[Tensor] = []
    arguments, options = without_tensors((arguments, options), lambda a: _unwritable(a, gathered))
    say_gathered(function, gathered)
    try:
        return function(*arguments, **options)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise TypeError(
            f"numpy.{function.__name__}() writes to an array, and a tensor is not one; write A[...] = numpy.{function.__name__}(A.numpy(), ...)"
        ) from None


def _unwritable(x: Tensor, gathered: list[Tensor]) -> np.ndarray:
    """All elements as an array that nobody may write to: it could be a copy, and what is written to it be lost. Collective."""
    gathered.append(x)
    array = x.numpy().view()
    array.flags.writeable = False
    return array


functions.give(
    elementwise, selected, set_selected, written, in_place_of_numpy, matmul, permute_dims, matrix_transpose, real, imag, sum, prod, max, min,
    any, all, mean, std, var, argmax, argmin, nonzero, conj, squeeze, take, clip, reshape,
)  # fmt: skip

"""Sums, extrema, means over axes."""

from __future__ import annotations

import builtins
import math
from typing import Any, Callable

import numpy as np

from . import _core
from ._elementwise import apply, elementwise
from ._making import asarray, zeros
from ._places import _axes, _here, _is_whole, _Local, _of_all, reshape
from ._tensor import Tensor
from ._types import DTYPES, bool_, complex128, float64, int64, type_number


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """True if all elements are close, as numpy.allclose says. Collective."""
    return not any(elementwise(lambda x, y: ~np.isclose(x, y, rtol=rtol, atol=atol), a, b))


def _reduced(x: Tensor, axis: Any, keepdims: bool, reduce: Callable[[Tensor, list[str], list[str]], Tensor]) -> Tensor:
    axes = x.world.agree(lambda: _axes(x.ndim, axis))
    labels = [f"d{d}" for d in range(x.ndim)]
    result = reduce(x, labels, [label for d, label in enumerate(labels) if d not in axes])
    if result.ndim == 0 and not keepdims:
        return result._with_known_number()
    return reshape(result, tuple(1 if d in axes else n for d, n in enumerate(x.shape))) if keepdims else result


def _over(algebra: str, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """The sum of an algebra."""

    def reduce(own: Tensor, labels: list[str], left: list[str]) -> Tensor:
        wide = own.astype({"i": int64, "c": complex128}.get(own.dtype.kind, float64), copy=False)
        lengths = [n for n, label in zip(own.shape, labels) if label in left]
        result = zeros(lengths, wide.dtype, world=own.world)
        _core.run_algebra(algebra, result._h, left, _core.labelled(wide._h, labels), False)
        return result

    return _reduced(x, axis, keepdims, reduce)


def _with_zeros(f: Callable[[np.ndarray], Any], found: Tensor, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """What was found over the elements that a sparse tensor stores, f of it where it lacks some, which are zeros."""
    if not x.is_sparse:
        return found
    stored = sum(apply(lambda a: np.ones(a.shape, np.int64), x), axis=axis, keepdims=keepdims)
    count = _count(x, axis)
    return elementwise(lambda a, n: np.where(n < count, f(a), a), found, stored, dtype=found.dtype)


def _sum_type(x: Tensor, dtype: Any) -> np.dtype:
    if dtype is not None:
        return DTYPES[type_number(dtype)]
    return int64 if x.dtype.kind in "ib" else x.dtype


def _widened(x: Any, dtype: Any) -> tuple[Tensor, np.dtype]:
    """What is summed, integers as int64, and the type of the result."""
    own = asarray(x)
    wanted = own.world.agree(lambda: _sum_type(own, dtype))
    return own.astype(int64 if wanted.kind == "i" and own.dtype.kind in "ib" else wanted, copy=False), wanted


def sum(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum over some axes, or all. Collective. Raises InvalidArgument for a sum that is not within a given type of integers."""
    own, wanted = _widened(x, dtype)
    result = _reduced(own, axis, keepdims, lambda a, labels, left: Tensor._of(_core.einsum([a._h], [labels], left)))
    return result.astype(wanted, copy=False)


def prod(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Product over some axes, or all. Collective. Raises InvalidArgument for a product that is not within a given type of integers."""
    own, wanted = _widened(x, dtype)
    return _with_zeros(lambda a: a * 0, _over("product", own, axis, keepdims), own, axis, keepdims).astype(wanted, copy=False)


def _of_one_number(x: Tensor, value: Any, dtype: np.dtype, keepdims: bool) -> Tensor:
    """What a reduction of all elements of x gives. Collective."""
    result = asarray(np.asarray(value, dtype), world=x.world)
    return reshape(result, (1,) * x.ndim) if keepdims else result


def _require_elements(x: Tensor, axis: Any, what: str) -> None:
    def check() -> None:
        if builtins.any(x.shape[d] == 0 for d in _axes(x.ndim, axis)):
            raise ValueError(f"{what} of no elements")
        if x.dtype.kind == "c":
            raise TypeError(f"{what} of complex elements, which have no order")

    x.world.agree(check)


def _extremum(x: Tensor, axis: Any, keepdims: bool, what: str, sign: int, larger: np.ufunc) -> Tensor:
    _require_elements(x, axis, what)
    if _is_whole(x.ndim, axis) and not x.is_sparse and x.dtype != bool_:
        return _of_one_number(x, x._h.extremum(sign)[0], x.dtype, keepdims)
    found = _over(f"{what}_plus", x, axis, keepdims)
    return _with_zeros(lambda a: larger(a, 0), found, x, axis, keepdims).astype(x.dtype, copy=False)


def max(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Largest element over some axes, or all; NaN where there is one. Collective."""
    return _extremum(asarray(x), axis, keepdims, "max", 1, np.maximum)


def min(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Smallest element over some axes, or all; NaN where there is one. Collective."""
    return _extremum(asarray(x), axis, keepdims, "min", -1, np.minimum)


def any(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """True where an element along some axes is not zero. Collective."""
    own = asarray(x)
    own = own.astype(bool_, copy=False) if own.dtype.kind != "c" else elementwise(lambda a: a != 0, own)
    return _reduced(own, axis, keepdims, lambda a, labels, left: Tensor._of(_core.einsum([a._h], [labels], left)))


def all(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """True where no element along some axes is zero. Collective."""
    own = asarray(x)
    return elementwise(np.equal, count_nonzero(own, axis=axis, keepdims=keepdims), _count(own, axis))


def count_nonzero(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Number of elements that are not zero. Collective."""
    return sum(elementwise(lambda a: a != 0, asarray(x)), axis=axis, keepdims=keepdims)


def _count(x: Tensor, axis: Any) -> int:
    return math.prod(x.shape[d] for d in x.world.agree(lambda: _axes(x.ndim, axis)))


def _inverse(count: float) -> float:
    return 1 / count if count > 0 else float("nan")


def mean(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    """Mean over some axes, or all. Collective."""
    own = asarray(x)
    if own.dtype.kind not in "fc":
        own = own.astype(float64)
    return sum(own, axis=axis, keepdims=keepdims) * _inverse(_count(own, axis))


def var(x: Any, /, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance over some axes, or all: squared differences from the mean, divided by their number minus correction. Collective."""
    own = asarray(x)
    count = _count(own, axis)
    if own.is_sparse:
        return _sparse_var(own if own.dtype.kind in "fc" else own.astype(float64), axis, count, correction, keepdims)
    local = _here(own) if _is_whole(own.ndim, axis) else None
    if local is not None:
        wanted = np.dtype(own.dtype.char.lower()) if own.dtype.kind == "c" else own.dtype if own.dtype.kind == "f" else float64
        total = _of_all(own.world, np.array([_squares(local, mean(own).item())])).sum()
        return _of_one_number(own, total * _inverse(count - correction), wanted, keepdims)
    difference = own - mean(own, axis=axis, keepdims=True)
    squares = elementwise(_squared, difference)
    return sum(squares, axis=axis, keepdims=keepdims) * _inverse(count - correction)


def _squared(a: np.ndarray) -> Any:
    return a.real**2 + a.imag**2 if a.dtype.kind == "c" else a * a


def _squares(local: _Local, middle: Any) -> float:
    """The sum of squared differences of this rank's elements from a number, those that are here first; in blocks, so that they stay near."""
    if not local.is_first_copy:
        return 0.0
    flat = local.array.reshape(-1, order="F")
    middle = np.complex128(middle) if flat.dtype.kind == "c" else np.float64(middle)
    parts = []
    with np.errstate(all="ignore"):
        for begin in range(0, flat.size, _BLOCK):
            difference = flat[begin : begin + _BLOCK] - middle
            parts.append(np.vdot(difference, difference).real)
    return float(np.sum(parts))


_BLOCK = 1 << 14


def _sparse_var(x: Tensor, axis: Any, count: int, correction: float, keepdims: bool) -> Tensor:
    """Squares over what is stored, and for each zero that of the mean. Collective."""
    axes = x.world.agree(lambda: _axes(x.ndim, axis))
    labels = [f"d{d}" for d in range(x.ndim)]
    lines = [label for d, label in enumerate(labels) if d not in axes]
    middle = mean(x, axis=axis)
    places = apply(lambda a: np.ones(a.shape, x.dtype), x)
    if lines:
        wide = Tensor._of(_core.einsum([places._h, middle._h], [labels, lines], labels))
        stored = sum(apply(lambda a, m: _squared(a - m), x, wide, over="any"), axis=axis)
    else:
        number = middle.item()
        stored = sum(apply(lambda a: _squared(a - number), x))
    total = elementwise(lambda s, n, m: s + (count - n.real) * _squared(m), stored, sum(places, axis=axis), middle, dtype=stored.dtype)
    factor = x.world.agree(lambda: _checked_inverse(count - correction, total))
    result = total * factor
    return reshape(result, tuple(1 if d in axes else n for d, n in enumerate(x.shape))) if keepdims else result


def _checked_inverse(count: float, total: Tensor) -> float:
    if count <= 0 and total.is_sparse:
        raise _core.InvalidArgument("the variance of sparse lines of no elements, minus correction, is nowhere zero; use to_dense()")
    return _inverse(count)


def std(x: Any, /, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Root of var(). Collective."""
    return elementwise(np.sqrt, var(x, axis=axis, correction=correction, keepdims=keepdims))


__all__ = ["sum", "prod", "max", "min", "any", "all", "count_nonzero", "mean", "var", "std", "allclose"]

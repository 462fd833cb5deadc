"""Functions of tensors: element by element, reductions, other shapes. Names and rules of Python's array API standard (2023.12)."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Callable, Sequence

import numpy as np

from . import _core
from ._einsum import einsum
from ._tensor import Tensor, _extents, asarray, from_function, world_of, zeros
from ._types import DTYPES, WIDER, bool_, complex64, complex128, float32, float64, int16, int32, int64, is_number, number, type_number
from ._world import World, default_world
from .statements import repeated

Axis = "int | tuple[int, ...] | None"


# Element by element.


def apply(f: Callable[..., Any], *operands: Any, out: Tensor | None = None, dtype: Any = None, over: str = "all") -> Tensor:
    """f of the elements at the same indices, as a new tensor. Collective.

    f: a function of arrays, e.g. a ufunc of NumPy or one that Numba has vectorized; it is called with pieces of the operands, in any order, and
    must give the same on every rank. Operands are tensors, arrays and numbers; shapes broadcast. dtype: of the result; else that of f.
    Symmetric operands give a result without symmetry. With sparse operands f is called for the elements that all of them store ("all"), or
    any of them ("any"), and the result is sparse.
    out: a tensor to write to, which must have the resulting shape; its symmetry must follow from the operands'.
    """
    world = world_of(operands if out is None else (out, *operands))

    def prepare() -> tuple[list[Tensor], list[list[str]], Callable[..., Any], tuple[int, ...], np.dtype]:
        tensors = [x if is_number(x) else asarray(x, world=world) for x in operands]
        shape = np.broadcast_shapes(*(x.shape for x in tensors if isinstance(x, Tensor)))
        arrays = [np.ones(1, x.dtype) if isinstance(x, Tensor) else x for x in tensors]
        if dtype is None:
            with np.errstate(all="ignore"):
                found = np.asarray(f(*arrays)).dtype
            found = WIDER.get(found, found)
        else:
            found = np.dtype(dtype)
        if out is not None:
            if out.shape != shape:
                raise ValueError(f"out has the shape {out.shape}, the result {shape}")
            if not np.can_cast(found, out.dtype, "same_kind"):
                raise TypeError(f"a result of type {found} in a tensor of {out.dtype}")
            found = out.dtype
        type_number(found)
        return tensors, *_labels(tensors, shape), _bound(f, tensors), shape, found

    tensors, labels, narrow, call, shape, found = world.agree(prepare)
    handles = []
    for own, dimensions in zip((x for x in tensors if isinstance(x, Tensor)), narrow):
        handles.append((own._without(dimensions) if dimensions else own)._h)
    if not handles:
        return asarray(f(*tensors), dtype=found, world=world)
    is_sparse = builtins.any(handle.is_sparse for handle in handles)
    if out is None:
        out = Tensor._of(_core.make(type_number(found), is_sparse, world._w, list(shape), None, None, ""))
    target = [f"d{d}" for d in range(len(shape))]
    _core.apply(out._h, target, handles, labels, call, False, {"all": 0, "any": 1}[over])
    return out


def _labels(tensors: Sequence[Any], shape: tuple[int, ...]) -> tuple[list[list[str]], list[list[int]]]:
    """Labels of the operands, and their dimensions that are stretched and so left out."""
    labels, narrow = [], []
    for own in tensors:
        if not isinstance(own, Tensor):
            continue
        ahead = len(shape) - own.ndim
        out = [d for d, length in enumerate(own.shape) if length == 1 and shape[ahead + d] != 1]
        labels.append([f"d{ahead + d}" for d in range(own.ndim) if d not in out])
        narrow.append(out)
    return labels, narrow


def _bound(f: Callable[..., Any], tensors: Sequence[Any]) -> Callable[..., Any]:
    """f of the tensors among its arguments."""
    if builtins.all(isinstance(x, Tensor) for x in tensors):
        return _quiet(f)
    fixed = list(tensors)
    places = [i for i, x in enumerate(tensors) if isinstance(x, Tensor)]

    def call(*arrays: np.ndarray) -> Any:
        arguments = list(fixed)
        for place, array in zip(places, arrays):
            arguments[place] = array
        return f(*arguments)

    return _quiet(call)


def _quiet(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arrays: np.ndarray) -> Any:
        with np.errstate(all="ignore"):
            return f(*arrays)

    return call


def _unary(name: str, ufunc: Callable[..., Any]) -> Callable[[Any], Tensor]:
    def function(x: Any, /) -> Tensor:
        return apply(ufunc, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"numpy.{name} of each element, as a new tensor. Collective. Raises TypeError for types that it does not take."
    return function


def _binary(name: str, ufunc: Callable[..., Any]) -> Callable[[Any, Any], Tensor]:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return apply(ufunc, x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"numpy.{name} element by element, as a new tensor; shapes and types as NumPy's. Collective."
    return function


_UNARY = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
    "bitwise_invert": np.invert, "ceil": None, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "expm1": np.expm1, "floor": None,
    "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan, "log": np.log, "log1p": np.log1p, "log2": np.log2, "log10": np.log10,
    "logical_not": np.logical_not, "negative": np.negative, "positive": np.positive, "reciprocal": np.reciprocal, "round": None,
    "sign": None, "signbit": np.signbit, "sin": np.sin, "sinh": np.sinh, "square": np.square, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh, "trunc": None,
}  # fmt: skip
_BINARY = {
    "add": np.add, "atan2": np.arctan2, "bitwise_and": np.bitwise_and, "bitwise_left_shift": np.left_shift, "bitwise_or": np.bitwise_or,
    "bitwise_right_shift": np.right_shift, "bitwise_xor": np.bitwise_xor, "copysign": np.copysign, "divide": np.divide,
    "equal": np.equal, "floor_divide": np.floor_divide, "greater": np.greater, "greater_equal": np.greater_equal, "hypot": np.hypot,
    "less": np.less, "less_equal": np.less_equal, "logaddexp": np.logaddexp, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply, "nextafter": np.nextafter,
    "not_equal": np.not_equal, "pow": np.power, "remainder": np.remainder, "subtract": np.subtract,
}  # fmt: skip


def _whole_numbers_stay(ufunc: np.ufunc) -> Callable[..., Any]:
    """Integers are their own rounded values."""
    return lambda x: np.positive(x) if x.dtype.kind == "i" else ufunc(x)


def _round(x: np.ndarray) -> np.ndarray:
    return np.positive(x) if x.dtype.kind == "i" else np.round(x)


def _sign(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.sign(x)
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)


_UNARY.update(ceil=_whole_numbers_stay(np.ceil), floor=_whole_numbers_stay(np.floor), trunc=_whole_numbers_stay(np.trunc), round=_round, sign=_sign)
for _name, _f in _UNARY.items():
    globals()[_name] = _unary(_name, _f)
for _name, _f in _BINARY.items():
    globals()[_name] = _binary(_name, _f)


def conj(x: Any, /) -> Tensor:
    """Complex conjugate; keeps a symmetry. Collective."""
    own = asarray(x, world=world_of((x,)))
    if own.dtype.kind != "c":
        return own.copy()
    result = Tensor._of(own._h.copy())
    labels = [f"d{d}" for d in range(own.ndim)]
    result[labels] = own[labels].conj()
    return result


def real(x: Any, /) -> Tensor:
    """Real part; a hermitian tree becomes symmetric. Collective."""
    own = asarray(x)
    return Tensor._of(own._h.part_of_complex(False)) if own.dtype.kind == "c" else own.copy()


def imag(x: Any, /) -> Tensor:
    """Imaginary part; a hermitian node becomes antisymmetric. Collective."""
    return Tensor._of(asarray(x)._h.part_of_complex(True))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """Each element, or the bound that it is beyond. Collective."""
    own = asarray(x, world=world_of((x, min, max)))
    result = own
    if min is not None:
        result = apply(lambda a, b: np.where(a < b, b, a).astype(own.dtype), result, min, dtype=own.dtype)
    if max is not None:
        result = apply(lambda a, b: np.where(a > b, b, a).astype(own.dtype), result, max, dtype=own.dtype)
    return result.copy() if result is own else result


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    """Elements of x1 where a condition is true, else those of x2. Collective."""
    return apply(np.where, condition, x1, x2)


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Tensor:
    """numpy.isclose element by element. Collective."""
    return apply(lambda x, y: np.isclose(x, y, rtol=rtol, atol=atol), a, b)


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """True if all elements are close, as numpy.allclose says. Collective."""
    return bool(all(isclose(a, b, rtol, atol)))


# Reductions.


def _axes(ndim: int, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    result = []
    for own in given:
        index = operator.index(own)
        if not -ndim <= index < ndim:
            raise np.exceptions.AxisError(index, ndim)
        result.append(index % ndim)
    if len(set(result)) != len(result):
        raise ValueError(f"an axis occurs twice in {axis}")
    return tuple(result)


def _reduced(x: Tensor, axis: Any, keepdims: bool, reduce: Callable[[Tensor, list[str], list[str]], Tensor]) -> Tensor:
    axes = x.world.agree(lambda: _axes(x.ndim, axis))
    labels = [f"d{d}" for d in range(x.ndim)]
    result = reduce(x, labels, [label for d, label in enumerate(labels) if d not in axes])
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


def _sum_type(x: Tensor, dtype: Any) -> np.dtype:
    if dtype is not None:
        return np.dtype(dtype)
    return int64 if x.dtype.kind in "ib" else x.dtype


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum over some axes, or all. Collective."""
    own = asarray(x)
    wide = own.astype(own.world.agree(lambda: _sum_type(own, dtype)), copy=False)
    return _reduced(wide, axis, keepdims, lambda a, labels, left: Tensor._of(_core.einsum([a._h], [labels], left)))


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Product over some axes, or all. Collective."""
    own = asarray(x)
    wanted = own.world.agree(lambda: _sum_type(own, dtype))
    return _over("product", own.astype(wanted, copy=False), axis, keepdims).astype(wanted, copy=False)


def _require_elements(x: Tensor, axis: Any, what: str) -> None:
    def check() -> None:
        if builtins.any(x.shape[d] == 0 for d in _axes(x.ndim, axis)):
            raise ValueError(f"{what} of no elements")
        if x.dtype.kind == "c":
            raise TypeError(f"{what} of complex elements, which have no order")

    x.world.agree(check)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Largest element over some axes, or all; NaN where there is one. Collective."""
    own = asarray(x)
    _require_elements(own, axis, "max")
    return _over("max_plus", own, axis, keepdims).astype(own.dtype, copy=False)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest element over some axes, or all; NaN where there is one. Collective."""
    own = asarray(x)
    _require_elements(own, axis, "min")
    return _over("min_plus", own, axis, keepdims).astype(own.dtype, copy=False)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """True where an element along some axes is not zero. Collective."""
    own = asarray(x).astype(bool_, copy=False)
    return _reduced(own, axis, keepdims, lambda a, labels, left: Tensor._of(_core.einsum([a._h], [labels], left)))


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """True where no element along some axes is zero. Collective."""
    return apply(np.logical_not, any(apply(np.logical_not, asarray(x)), axis=axis, keepdims=keepdims))


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Number of elements that are not zero. Collective."""
    return sum(apply(lambda a: a != 0, asarray(x)), axis=axis, keepdims=keepdims)


def _count(x: Tensor, axis: Any) -> int:
    result = 1
    for d in x.world.agree(lambda: _axes(x.ndim, axis)):
        result *= x.shape[d]
    return result


def _inverse(count: float) -> float:
    return 1 / count if count > 0 else float("nan")


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Mean over some axes, or all. Collective."""
    own = asarray(x)
    if own.dtype.kind not in "fc":
        own = own.astype(float64)
    return sum(own, axis=axis, keepdims=keepdims) * _inverse(_count(own, axis))


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance over some axes, or all: squared differences from the mean, divided by their number minus correction. Collective."""
    own = asarray(x)
    difference = own - mean(own, axis=axis, keepdims=True)
    squares = apply(lambda a: (a * np.conj(a)).real if a.dtype.kind == "c" else a * a, difference)
    count = _count(own, axis) - correction
    return sum(squares, axis=axis, keepdims=keepdims) * _inverse(count)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Root of var(). Collective."""
    return apply(np.sqrt, var(x, axis=axis, correction=correction, keepdims=keepdims))


# Other shapes.


def _rearranged(x: Tensor, shape: Sequence[int], on_array: Callable[[np.ndarray], np.ndarray], source: Callable[..., Sequence[np.ndarray]]) -> Tensor:
    """The tensor whose element at an index is that of x at source(index).

    on_array does the same to a whole array, which serves where one rank has it; else every rank reads the elements that it will store.
    """
    if x.is_sparse:
        raise _core.Unsupported(f"{x.name or 'tensor'}: another shape of a sparse tensor; take coo(), change the indices, and make one by sparse()")
    if x.world._is_single and not x.world.is_dry_run:
        return asarray(on_array(x.numpy()), dtype=x.dtype, copy=True, world=x.world)
    result = zeros(shape, x.dtype, world=x.world)
    keys = result.local_pairs()[0]
    indices = np.unravel_index(keys, tuple(shape), order="F") if len(shape) and len(keys) else tuple(np.zeros(0, np.int64) for _ in shape)
    found = source(*indices)
    places = np.zeros(len(keys), np.int64)
    step = 1
    for own, length in zip(found, x.shape):
        places += step * np.asarray(own, dtype=np.int64)
        step *= length
    result.write(keys, x.read(places))
    return result


def reshape(x: Tensor, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """The same elements in another shape, the last index fastest, as in NumPy. Collective."""
    own = asarray(x)

    def prepare() -> tuple[int, ...]:
        wanted = [operator.index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
        open_ = [d for d, n in enumerate(wanted) if n == -1]
        if copy is False:
            raise ValueError("reshape without a copy; tensors are copied")
        known = 1
        for n in wanted:
            known *= n if n != -1 else 1
        if len(open_) == 1 and known > 0 and own.size % known == 0:
            wanted[open_[0]] = own.size // known
        total = 1
        for n in wanted:
            total *= n
        if len(open_) > 1 or total != own.size or -1 in wanted:
            raise ValueError(f"{own.size} elements of shape {own.shape} in the shape {tuple(shape) if isinstance(shape, (tuple, list)) else shape}")
        return tuple(wanted)

    wanted = own.world.agree(prepare)

    def source(*indices: np.ndarray) -> Sequence[np.ndarray]:
        flat = np.ravel_multi_index(indices, wanted) if indices else np.zeros(1, np.int64)
        return np.unravel_index(flat, own.shape) if own.ndim else ()

    return _rearranged(own, wanted, lambda array: array.reshape(wanted), source)


def permute_dims(x: Tensor, /, axes: Sequence[int] | None = None) -> Tensor:
    """Dimensions in another order: dimension d of the result is axes[d] of x; all reversed without axes. Collective."""
    own = asarray(x)
    order = own.world.agree(lambda: _axes(own.ndim, tuple(axes) if axes is not None else tuple(range(own.ndim))[::-1]))
    if len(order) != own.ndim:
        own.world.agree(lambda: _raise(ValueError(f"axes {axes} for a tensor of order {own.ndim}; name each once")))
    labels = [f"d{d}" for d in range(own.ndim)]
    return Tensor._of(_core.einsum([own._h], [labels], [labels[d] for d in order]))


def _raise(error: Exception) -> None:
    raise error


def transpose(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """permute_dims() under NumPy's name. Collective."""
    return permute_dims(x, axes)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two dimensions exchanged. Collective."""
    return permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Dimensions moved to other places, the others in their order. Collective."""
    own = asarray(x)

    def prepare() -> list[int]:
        source_axes = _axes(own.ndim, source)
        places = _axes(own.ndim, destination)
        order = [d for d in range(own.ndim) if d not in source_axes]
        for place, axis in sorted(zip(places, source_axes)):
            order.insert(place, axis)
        return order

    return permute_dims(own, own.world.agree(prepare))


def expand_dims(x: Tensor, /, *, axis: Any = 0) -> Tensor:
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
    return own._without(axes) if axes else own.copy()


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
    tensor = own._without(narrow[0]) if narrow[0] else own
    target = [f"d{d}" for d in range(len(wanted))]
    result = zeros(wanted, own.dtype, world=own.world)
    missing = [label for label in target if label not in labels[0]]
    result[target] = repeated(missing, tensor[labels[0]]) if missing else tensor[labels[0]]
    return result


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    """All repeated to the shape that they broadcast to. Collective."""
    world = world_of(arrays)
    tensors = [asarray(x, world=world) for x in arrays]
    shape = world.agree(lambda: np.broadcast_shapes(*(x.shape for x in tensors)))
    return [broadcast_to(x, shape) for x in tensors]


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Tensor:
    """Tensors one behind the other along a dimension; flattened ones without. Collective."""
    world = world_of(arrays)
    tensors = [asarray(x, world=world) for x in arrays]
    if axis is None:
        tensors = [reshape(x, (-1,)) for x in tensors]
        axis = 0
    common = world.agree(lambda: np.result_type(*(x.dtype for x in tensors)))
    place = world.agree(lambda: _axes(tensors[0].ndim, axis)[0])
    return Tensor._of(_core.concatenated(place, [x.astype(common, copy=False)._h for x in tensors]))


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Tensor:
    """Tensors along a new dimension. Collective."""
    world = world_of(arrays)
    tensors = [asarray(x, world=world) for x in arrays]
    place = world.agree(lambda: _axes(tensors[0].ndim + 1, axis)[0])
    return concat([expand_dims(x, axis=place) for x in tensors], axis=place)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension. Collective."""
    own = asarray(x)
    place = own.world.agree(lambda: _axes(own.ndim, axis)[0])
    front = (slice(None),) * place
    return tuple(own[(*front, i)] for i in range(own.shape[place]))


def _outer(x: Tensor, places: Sequence[np.ndarray | None]) -> Tensor:
    """Elements at lists of indices of each dimension; None: all."""
    shape = [n if own is None else len(own) for n, own in zip(x.shape, places)]

    def on_array(array: np.ndarray) -> np.ndarray:
        for d, own in enumerate(places):
            if own is not None:
                array = np.take(array, own, axis=d)
        return array

    def source(*indices: np.ndarray) -> Sequence[np.ndarray]:
        return [index if own is None else own[index] for index, own in zip(indices, places)]

    return _rearranged(x, shape, on_array, source)


def flip(x: Tensor, /, *, axis: Any = None) -> Tensor:
    """Elements in reverse order along some axes, or all. Collective."""
    own = asarray(x)
    axes = own.world.agree(lambda: _axes(own.ndim, axis))
    return _outer(own, [np.arange(n)[::-1] if d in axes else None for d, n in enumerate(own.shape)])


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """Elements moved along some axes, those that leave the end coming in at the beginning; without axes as if flat. Collective."""
    own = asarray(x)
    if axis is None:
        return reshape(roll(reshape(own, (-1,)), shift, axis=0), own.shape)

    def prepare() -> list[np.ndarray | None]:
        axes = [d % own.ndim for d in (axis if isinstance(axis, tuple) else (axis,))]
        shifts = list(shift) if isinstance(shift, tuple) else [shift] * len(axes)
        total = {}
        for d, n in zip(axes, shifts):
            total[d] = total.get(d, 0) + n
        return [np.roll(np.arange(n), total[d]) if d in total else None for d, n in enumerate(own.shape)]

    return _outer(own, own.world.agree(prepare))


def take(x: Tensor, indices: Any, /, *, axis: int | None = None) -> Tensor:
    """Elements at indices along an axis. Collective."""
    own = asarray(x)

    def prepare() -> list[np.ndarray | None]:
        place = _axes(own.ndim, 0 if axis is None and own.ndim == 1 else axis)
        if len(place) != 1:
            raise ValueError("take needs an axis")
        list_ = np.asarray(indices)
        length = own.shape[place[0]]
        if list_.ndim != 1 or (list_.size and (list_.min() < -length or list_.max() >= length)):
            raise IndexError(f"indices of take must be a list of numbers within a dimension of {length}")
        return [list_ % length if d == place[0] and length else list_ if d == place[0] else None for d in range(own.ndim)]

    return _outer(own, own.world.agree(prepare))


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element several times along an axis; flattened without. Collective."""
    own = asarray(x)
    if axis is None:
        own, axis = reshape(own, (-1,)), 0
    place = own.world.agree(lambda: _axes(own.ndim, axis)[0])
    counts = np.asarray(repeats.numpy() if isinstance(repeats, Tensor) else repeats)
    list_ = own.world.agree(lambda: np.repeat(np.arange(own.shape[place]), counts))
    return _outer(own, [list_ if d == place else None for d in range(own.ndim)])


def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """Copies of a tensor side by side. Collective."""
    own = asarray(x)
    times = tuple(repetitions)
    order = np.maximum(own.ndim, len(times))
    wide = reshape(own, (1,) * (int(order) - own.ndim) + own.shape)
    times = (1,) * (wide.ndim - len(times)) + times
    return _outer(wide, [np.tile(np.arange(n), count) for n, count in zip(wide.shape, times)])


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The lower triangles of matrices, zeros elsewhere. Collective."""
    return _triangle(asarray(x), lambda row, column: column <= row + k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The upper triangles of matrices, zeros elsewhere. Collective."""
    return _triangle(asarray(x), lambda row, column: column >= row + k)


def _triangle(x: Tensor, stays: Callable[..., np.ndarray]) -> Tensor:
    mask = from_function(x.shape[-2:], stays, bool_, world=x.world)
    return apply(lambda a, keep: np.where(keep, a, np.zeros((), a.dtype)), x, mask, dtype=x.dtype)


def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Tensor:
    """Sums of the elements up to each along an axis: a product with a triangle of ones. Collective."""
    own = asarray(x)
    place = own.world.agree(lambda: _axes(own.ndim, axis if axis is not None or own.ndim != 1 else 0)[0])
    wide = own.astype(_sum_type(own, dtype), copy=False)
    length = own.shape[place]
    ones_ = from_function((length + include_initial, length), lambda i, j: j < i + 1 - include_initial, wide.dtype, world=own.world)
    labels = [f"d{d}" for d in range(own.ndim)]
    target = ["sum" if d == place else label for d, label in enumerate(labels)]
    return Tensor._of(_core.einsum([ones_._h, wide._h], [["sum", labels[place]], labels], target))


# Products.


def tensordot(x1: Any, x2: Any, /, *args: Any, axes: Any = 2) -> Tensor:
    """Sum of products over some axes of each, as numpy.tensordot. Collective."""
    if args:
        axes = args[0]
    world = world_of((x1, x2))
    a, b = asarray(x1, world=world), asarray(x2, world=world)

    def prepare() -> tuple[list[str], list[str], list[str]]:
        if isinstance(axes, (int, np.integer)):
            first, second = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
        else:
            first, second = (tuple(own) if isinstance(own, (list, tuple)) else (own,) for own in axes)
        first, second = _axes(a.ndim, tuple(first)), _axes(b.ndim, tuple(second))
        if len(first) != len(second):
            raise ValueError("tensordot with another number of axes on the left than on the right")
        left = [f"a{d}" for d in range(a.ndim)]
        right = [f"b{d}" for d in range(b.ndim)]
        for i, j in zip(first, second):
            right[j] = left[i]
        return left, right, [n for n in left if n not in right] + [n for n in right if n not in left]

    left, right, output = world.agree(prepare)
    wide_a, wide_b = _promoted(a, b)
    return Tensor._of(_core.einsum([wide_a._h, wide_b._h], [left, right], output))


def _promoted(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    common = a.world.agree(lambda: np.result_type(a.dtype, b.dtype))
    return a.astype(common, copy=False), b.astype(common, copy=False)


def matmul(x1: Any, x2: Any, /) -> Tensor:
    """Matrix product of the last two dimensions; those before broadcast, and vectors are as in numpy.matmul. Collective."""
    world = world_of((x1, x2))
    a, b = asarray(x1, world=world), asarray(x2, world=world)

    def prepare() -> str:
        if a.ndim == 0 or b.ndim == 0:
            raise ValueError("matmul of a tensor of order 0")
        left, right = ("...ik" if a.ndim > 1 else "k"), ("...kj" if b.ndim > 1 else "k")
        if a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
            raise ValueError(f"matmul of shapes {a.shape} and {b.shape}")
        return f"{left},{right}->...{'i' if a.ndim > 1 else ''}{'j' if b.ndim > 1 else ''}"

    text = world.agree(prepare)
    return einsum(text, *_promoted(a, b))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """Sum of conj(x1) * x2 along an axis. Collective."""
    world = world_of((x1, x2))
    a, b = asarray(x1, world=world), asarray(x2, world=world)
    return sum(apply(lambda x, y: np.conj(x) * y, a, b), axis=axis, dtype=np.result_type(a.dtype, b.dtype))


# New ones.


def empty(shape: Any, *, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """zeros(). Collective."""
    return zeros(shape, float64 if dtype is None else dtype, world=world)


def ones(shape: Any, *, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """Ones. Collective."""
    return zeros(shape, float64 if dtype is None else dtype, world=world).fill(1)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """One value everywhere. Collective."""
    if dtype is None:
        dtype = {bool: bool_, int: int64, float: float64, complex: complex128}.get(type(fill_value), getattr(fill_value, "dtype", float64))
    return zeros(shape, dtype, world=world).fill(fill_value if not isinstance(fill_value, Tensor) else fill_value.item())


def _like(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(x: Tensor, /, *arguments: Any, dtype: Any = None, device: str | None = None) -> Tensor:
        own = asarray(x)
        return f(own.shape, *arguments, dtype=own.dtype if dtype is None else dtype, world=own.world)

    function.__name__ = function.__qualname__ = f.__name__ + "_like"
    function.__doc__ = f"{f.__name__}() of the shape, type and world of x. Collective."
    return function


zeros_like, ones_like, full_like, empty_like = _like(zeros), _like(ones), _like(full), _like(empty)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """Ones on a diagonal. Collective."""
    shape = (n_rows, n_rows if n_cols is None else n_cols)
    return from_function(shape, lambda i, j: j == i + k, float64 if dtype is None else dtype, world=world)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: str | None = None, world: World | None = None) -> Tensor:
    """Numbers with even steps. Collective."""
    return asarray(np.arange(*((0, start) if stop is None else (start, stop)), step, dtype=dtype), world=world)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: str | None = None, endpoint: bool = True, world: World | None = None
) -> Tensor:
    """Numbers at even distances. Collective."""
    return asarray(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint), world=world)


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid, one tensor for each dimension, as numpy.meshgrid. Collective."""
    world = world_of(arrays)
    tensors = [asarray(x, world=world) for x in arrays]
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


# Types.


def can_cast(from_: Any, to: Any, /) -> bool:
    """True if a type has all numbers of another, as NumPy counts."""
    return np.can_cast(from_.dtype if isinstance(from_, Tensor) else from_, to)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The type of results, as NumPy's."""
    return np.result_type(*(x.dtype if isinstance(x, Tensor) else x for x in arrays_and_dtypes))


def isdtype(dtype: Any, kind: Any) -> bool:
    """True if a type is of a kind: "bool", "signed integer", "integral", "real floating", "complex floating", "numeric", or a type."""
    return np.isdtype(dtype, kind)


def finfo(type: Any, /) -> Any:
    """Limits of a floating-point type."""
    return np.finfo(type.dtype if isinstance(type, Tensor) else type)


def iinfo(type: Any, /) -> Any:
    """Limits of an integer type."""
    return np.iinfo(type.dtype if isinstance(type, Tensor) else type)


class _Info:
    """What __array_namespace_info__() gives."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> str:
        return "cpu"

    def devices(self) -> list[str]:
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype]:
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, np.dtype]:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {str(d): d for d in DTYPES if kind is None or np.isdtype(d, tuple(k for k in kinds))}


def __array_namespace_info__() -> _Info:
    """What the namespace can do, as the array API standard asks."""
    return _Info()


# Selection.


def _places(x: Tensor, key: Any) -> tuple[list[Any], tuple[int, ...], list[int]]:
    """Of each dimension a range or a list of indices; the shape of the selection; and the dimensions that integers select from."""
    keys = list(key) if isinstance(key, tuple) else [key]
    used = len([k for k in keys if k is not None and k is not Ellipsis])
    if used > x.ndim:
        raise IndexError(f"{used} indices for a tensor of order {x.ndim}")
    if builtins.sum(k is Ellipsis for k in keys) > 1:
        raise IndexError("an index can have one ellipsis only")
    if not builtins.any(k is Ellipsis for k in keys):
        keys.append(Ellipsis)
    at = [k is Ellipsis for k in keys].index(True)
    keys[at : at + 1] = [slice(None)] * (x.ndim - used)
    places: list[Any] = []
    shape: list[int] = []
    gone: list[int] = []
    for k in keys:
        if k is None:
            shape.append(1)
            continue
        length = x.shape[len(places)]
        if isinstance(k, slice):
            start, stop, step = k.indices(length)
            count = len(range(start, stop, step))
            shape.append(count)
            places.append((start, start + count) if step == 1 else np.arange(start, stop, step))
        elif isinstance(k, (int, np.integer)) and not isinstance(k, bool) or isinstance(k, Tensor) and k.ndim == 0 and k.dtype.kind == "i":
            index = operator.index(k)
            if not -length <= index < length:
                raise IndexError(f"index {index} in dimension {len(places)} of extent {length}")
            index %= length
            gone.append(len(places))
            places.append((index, index + 1))
        elif isinstance(k, (list, np.ndarray)) and np.asarray(k).ndim == 1 and np.asarray(k).dtype.kind in "iu":
            list_ = np.asarray(k, dtype=np.int64)
            if list_.size and (list_.min() < -length or list_.max() >= length):
                raise IndexError(f"an index in dimension {len(places)} is not within its extent {length}")
            places.append(list_ % length if length else list_)
            shape.append(len(list_))
        else:
            raise IndexError(f"{type(k).__name__} as an index; use integers, slices, lists of integers, ..., None, or labels")
    return places, tuple(shape), gone


def selected(x: Tensor, key: Any) -> Tensor:
    """x[key] for integers, slices, lists of integers, None and ellipses. Collective."""
    places, shape, gone = x.world.agree(lambda: _places(x, key))
    if x.ndim == 0:
        return reshape(x, shape) if shape else x.copy()
    if x.is_sparse or not _has_list(places):
        if _has_list(places):
            raise _core.Unsupported("lists of indices, or steps, in a sparse tensor; take coo() and make another by sparse()")
        part = Tensor._of(x._h.slice([p[0] for p in places], [p[1] for p in places]))
    else:
        part = _outer(x, [np.arange(*p) if isinstance(p, tuple) else p for p in places])
    if part.shape == shape:
        return part
    return part._without(gone) if part.is_sparse else reshape(part, shape)


def set_selected(x: Tensor, key: Any, value: Any) -> None:
    """x[key] = value for integers, slices with steps of one, and ellipses. Collective."""
    places, shape, _ = x.world.agree(lambda: _places(x, key))
    if _has_list(places) or builtins.any(k is None for k in (key if isinstance(key, tuple) else (key,))):
        x.world.agree(lambda: _raise(IndexError("elements are replaced by integers, slices with a step of one, and ellipses")))
    own = asarray(value, world=x.world)
    x.world.agree(lambda: _check_assignable(own, x, shape))
    own = broadcast_to(own, shape) if own.shape != shape else own
    extents = tuple(p[1] - p[0] for p in places)
    if own.shape != extents:
        own = reshape(own, extents)
    if own.dtype != x.dtype:
        own = own.astype(x.dtype)
    if x.size and own.size:
        x._h.set_slice([p[0] for p in places], own._h)


def _check_assignable(value: Tensor, x: Tensor, shape: tuple[int, ...]) -> None:
    if not np.can_cast(value.dtype, x.dtype, "same_kind"):
        raise TypeError(f"elements of type {value.dtype} in a tensor of {x.dtype}")
    if np.broadcast_shapes(value.shape, shape) != tuple(shape):
        raise ValueError(f"a value of shape {value.shape} for a selection of shape {shape}")


def _has_list(places: Sequence[Any]) -> bool:
    """True if a dimension is selected by a list."""
    return builtins.any(isinstance(p, np.ndarray) for p in places)


# Operators.


def _operator(ufunc: np.ufunc, is_reflected: bool = False) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        if not (is_number(other) or isinstance(other, (Tensor, np.ndarray))):
            return NotImplemented
        return apply(ufunc, other, self) if is_reflected else apply(ufunc, self, other)

    return method


def _in_place(ufunc: np.ufunc) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        if not (is_number(other) or isinstance(other, (Tensor, np.ndarray))):
            return NotImplemented
        return apply(ufunc, self, other, out=self)

    return method


for _symbol, _f in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide, "mod": np.remainder,
    "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_symbol}__", _operator(_f))
    setattr(Tensor, f"__r{_symbol}__", _operator(_f, True))
    setattr(Tensor, f"__i{_symbol}__", _in_place(_f))
for _symbol, _f in {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_symbol}__", _operator(_f))
for _symbol, _f in {"neg": np.negative, "pos": np.positive, "abs": np.abs, "invert": np.invert}.items():
    setattr(Tensor, f"__{_symbol}__", lambda self, f=_f: apply(f, self))
Tensor.__hash__ = object.__hash__  # type: ignore[assignment]
Tensor.__matmul__ = lambda self, other: matmul(self, other)  # type: ignore[attr-defined]
Tensor.__rmatmul__ = lambda self, other: matmul(other, self)  # type: ignore[attr-defined]
Tensor.T = property(lambda self: permute_dims(self), doc="Dimensions reversed. Collective.")  # type: ignore[attr-defined]
Tensor.mT = property(lambda self: matrix_transpose(self), doc="The last two dimensions exchanged. Collective.")  # type: ignore[attr-defined]
for _name in ("sum", "prod", "max", "min", "any", "all", "mean", "std", "var", "reshape", "conj", "squeeze", "take", "clip"):
    setattr(Tensor, _name, (lambda f: lambda self, *a, **k: f(self, *a, **k))(globals()[_name]))
    getattr(Tensor, _name).__doc__ = globals()[_name].__doc__

_EXTRA = (
    "apply conj real imag clip where isclose allclose sum prod max min any all count_nonzero mean var std reshape permute_dims transpose "
    "matrix_transpose moveaxis expand_dims squeeze broadcast_to broadcast_arrays concat stack unstack flip roll take repeat tile tril triu "
    "cumulative_sum tensordot matmul vecdot empty ones full eye arange linspace meshgrid from_dlpack astype can_cast result_type isdtype "
    "finfo iinfo zeros_like ones_like full_like empty_like __array_namespace_info__"
).split()
__all__ = [*_UNARY, *_BINARY, *_EXTRA]

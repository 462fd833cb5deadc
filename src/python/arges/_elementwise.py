"""Functions of elements: apply(), and those of the array API standard (2023.12) that work element by element."""

from __future__ import annotations

import builtins
from math import prod
from types import FunctionType
from typing import Any, Callable, Sequence

import numpy as np

from . import _core
from ._making import asarray, world_of
from ._places import _without
from ._symmetry import fitting, followed, is_zero_at_zeros
from ._tensor import Tensor
from ._types import NUMBERS, WIDER, is_number, number, type_number
from .statements import Expression, Indexed


def apply(f: Callable[..., Any], *operands: Any, out: Tensor | None = None, dtype: Any = None, over: str = "all") -> Tensor:
    """f of the elements at the same indices, as a new tensor. Collective.

    f: a function of arrays, e.g. a ufunc of NumPy or one that Numba has vectorized; it is called with pieces of the operands, in any order, and
    must give the same on every rank. Operands are tensors, arrays and numbers; shapes broadcast. dtype: of the result; else that of f.
    Symmetric operands give a result without symmetry. With sparse operands f is called for the elements that all of them store ("all"), or
    any of them ("any"), and the result is sparse.
    out: a tensor to write to, which must have the resulting shape; its symmetry must follow from the operands'.
    """
    return _applied(f, operands, out, dtype, over)[0]


def explain_apply(f: Callable[..., Any], *operands: Any, out: Tensor | None = None, dtype: Any = None) -> str:
    """Where apply() would call f: on the device, which has functions of NumPy that it knows by name, or on the host, and why. Collective."""
    return _applied(f, operands, out, dtype, "all", explains=True)[1]


def _applied(
    f: Callable[..., Any], operands: Sequence[Any], out: Tensor | None, dtype: Any, over: str, explains: bool = False
) -> tuple[Tensor, str]:
    world = world_of((out, *operands))
    tensors = [x if is_number(x) else asarray(x, world=world) for x in operands]

    def prepare() -> tuple[list[list[str]], list[list[int]], Callable[..., Any], tuple[int, ...], np.dtype]:
        shape = np.broadcast_shapes(*(x.shape for x in tensors if isinstance(x, Tensor)))
        found = np.dtype(dtype) if dtype is not None else _found_type(f, tensors)
        if over not in _OVER:
            raise ValueError(f'over={over!r}; use "all" or "any"')
        if out is not None:
            if not isinstance(out, Tensor):
                raise TypeError(f"out: {type(out).__name__} where a tensor is expected")
            if out.shape != shape:
                raise ValueError(f"out has the shape {out.shape}, the result {shape}")
            if not np.can_cast(found, out.dtype, "same_kind"):
                raise TypeError(f"a result of type {found} in a tensor of {out.dtype}")
            found = out.dtype
        type_number(found)
        return *_labels(tensors, shape), _filling(f, tensors), shape, found

    labels, narrow, call, shape, found = world.agree(prepare)
    handles = []
    for own, dimensions in zip((x for x in tensors if isinstance(x, Tensor)), narrow):
        handles.append(_without(own, dimensions)._h)
    if not handles:
        return asarray(f(*tensors), dtype=found, world=world), "a number"
    is_sparse = builtins.any(handle.is_sparse for handle in handles)
    if out is None:
        out = Tensor._of(_core.make(type_number(found), is_sparse, world._w, list(shape), None, None, ""))
    target = [f"d{d}" for d in range(len(shape))]
    name, numbers = _name(f, tensors, found)
    return out, _core.apply(out._h, target, handles, labels, call, _OVER[over], name, numbers, explains)


def _name(f: Callable[..., Any], operands: Sequence[Any], found: np.dtype) -> tuple[str | None, list[Any]]:
    """Of a function that a device may have, and the numbers among its operands, where all are of the type that is found."""
    own, *others = {x.dtype for x in operands if isinstance(x, Tensor)}
    name = _NAMES.get(f) if isinstance(f, (np.ufunc, FunctionType)) else None
    if name is None or others or own.kind not in "fc" or found not in (own, own.type().real.dtype):
        return None, []
    return name, [None if isinstance(x, Tensor) else number(own.type(x)) for x in operands]


_OVER = {"all": 0, "any": 1}
# Zero where one operand is, or where the first is, whatever the others are; infinite and undefined elements do not count.
_ZERO_WITH_ANY = (np.multiply, np.logical_and, np.bitwise_and)
_ZERO_WITH_FIRST = (np.divide, np.floor_divide, np.remainder, np.left_shift, np.right_shift)


def elementwise(f: Callable[..., Any], *operands: Any, out: Tensor | None = None, dtype: Any = None) -> Tensor:
    """f of all elements, zeros where sparse operands store none: with a dense operand or out the result is dense, except for products and
    quotients, else sparse. Sparse operands that are stretched count as dense. Raises InvalidArgument where f of zeros is not zero and all
    operands are sparse. Collective."""
    if out is None and dtype is None and type(f) is np.ufunc:
        small = _of_small(f, operands)
        if small is not None:
            return small
    world = world_of((out, *operands))
    tensors = [x if is_number(x) else asarray(x, world=world) for x in operands]
    if out is None:
        tensors = [x._number if isinstance(x, Tensor) and x._number is not None else x for x in tensors]
        if builtins.all(map(is_number, tensors)):
            return _of_numbers(f, tensors, dtype, world)
    if builtins.any(isinstance(x, Tensor) and x.ndim for x in tensors):  # single elements beside tensors are numbers of their type
        tensors = [x.numpy()[()] if isinstance(x, Tensor) and x.ndim == 0 and not world.is_dry_run else x for x in tensors]
    given = [isinstance(x, Tensor) and x.is_sparse for x in tensors]
    if out is None:
        found = _with_symmetry(f, tensors, dtype)
        if found is not None:
            return found
    if not builtins.any(given):
        return apply(f, *tensors, out=out, dtype=dtype)
    shape = world.agree(lambda: np.broadcast_shapes(*(x.shape for x in tensors if isinstance(x, Tensor))))
    tensors = [x.to_dense() if is_sparse and x.shape != shape else x for x, is_sparse in zip(tensors, given)]
    stored = [isinstance(x, Tensor) and x.is_sparse for x in tensors]
    is_out_dense = isinstance(out, Tensor) and not out.is_sparse
    if (
        not is_out_dense
        and builtins.any(stored)
        and (f in _ZERO_WITH_ANY or (f in _ZERO_WITH_FIRST and stored[0] and isinstance(tensors[1], Tensor) and not given[1]))
    ):
        return apply(f, *tensors, out=out, dtype=dtype)
    if is_out_dense or not builtins.all(is_stored for x, is_stored in zip(tensors, stored) if isinstance(x, Tensor)):
        return apply(f, *(x.to_dense() if is_stored else x for x, is_stored in zip(tensors, stored)), out=out, dtype=dtype)

    def check() -> None:
        with np.errstate(all="ignore"):
            value = np.asarray(f(*(np.zeros(1, x.dtype) if isinstance(x, Tensor) else x for x in tensors))).item()
        if value != 0:
            raise _core.InvalidArgument(
                f"{getattr(f, '__name__', 'the function')} gives {value} where sparse operands store nothing, so that its result is not sparse; "
                "use to_dense(), or arges.apply(), which takes stored elements only"
            )

    world.agree(check)
    return apply(f, *tensors, out=out, dtype=dtype, over="any")


_SMALL = 4096


def _of_small(f: np.ufunc, operands: Sequence[Any]) -> Tensor | None:
    """f of small dense tensors of one shape and of numbers, on one rank, at once: the way by statements takes longer than the work. None for
    others."""
    world = shape = None
    arrays = []
    for x in operands:
        if type(x) is Tensor and x._number is None:
            handle = x._h
            if world is None:
                world, shape = x.world, handle.shape
                if not shape or not world._is_single or prod(shape) > _SMALL or world.is_dry_run:
                    return None
            elif handle.shape != shape:
                return None
            if handle.is_sparse or handle.has_symmetry:
                return None
            arrays.append(_core.to_array(handle))
        elif type(x) is Tensor:
            arrays.append(x._number)
        elif is_number(x):
            arrays.append(x)
        else:
            return None
    if world is None:
        return None
    try:
        with np.errstate(all="ignore"):
            found = f(*arrays)
    except Exception:  # which the other way tells of
        return None
    if type(found) is not np.ndarray or found.dtype not in NUMBERS:
        return None
    return Tensor._of(_core.from_array(world._w, found, found, ""), world)


def _of_numbers(f: Callable[..., Any], numbers: Sequence[Any], dtype: Any, world: Any) -> Tensor:
    """f of numbers that every rank has."""

    def value() -> Any:
        with np.errstate(all="ignore"):
            found = np.asarray(f(*(np.asarray(x) if isinstance(x, np.generic) else x for x in numbers)))
        wanted = np.dtype(dtype) if dtype is not None else WIDER.get(found.dtype, found.dtype)
        type_number(wanted)
        return found.astype(wanted)[()]

    return Tensor._of_number(world.agree(value), world)


def _linear(f: Callable[..., Any], operands: Sequence[Any], found: np.dtype) -> Expression | None:
    """f as the right-hand side of a statement: sums of two tensors of one type, and multiples by numbers; None for others."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    if builtins.any(x.dtype != found or x.shape != tensors[0].shape for x in tensors) or found.kind not in "fci":
        return None
    if found.kind == "c" and f is not np.add:  # products with complex numbers are not those with real ones where elements are infinite
        return None
    terms = [Indexed(x, [f"d{d}" for d in range(x.ndim)]) for x in tensors]
    if f in (np.add, np.subtract) and len(terms) == 2:
        return terms[0] + terms[1] if f is np.add else terms[0] - terms[1]
    if f is np.negative:
        return -1 * terms[0]
    factors = [x for x in operands if not isinstance(x, Tensor)]
    return number(factors[0]) * terms[0] if f is np.multiply and len(factors) == 1 and np.isfinite(factors[0]) else None


def _with_symmetry(f: Callable[..., Any], operands: Sequence[Any], dtype: Any) -> Tensor | None:
    """f of operands of one symmetry where the result has one, too, and sums of sparse tensors: both are statements where f is linear. None for
    others. Collective."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    if not tensors or len({x.is_sparse for x in tensors}) > 1:
        return None
    is_sum = tensors[0].is_sparse and f in (np.add, np.subtract) and len(tensors) == 2
    if not is_sum and not tensors[0]._h.has_symmetry:
        return None
    world, is_sparse = tensors[0].world, tensors[0].is_sparse

    def prepare() -> tuple[tuple[str | None, str | None], Expression | None, int] | None:
        found = np.dtype(dtype) if dtype is not None else _found_type(f, operands)
        right = _linear(f, operands, found)
        tree = fitting(followed(f, operands), found)
        if tree is None and not (is_sum and right is not None) or is_sparse and right is None and not is_zero_at_zeros(f, operands):
            return None
        return tree or (None, None), right, type_number(found)

    prepared = world.agree(prepare, same=False)
    if prepared is None:
        return None
    (text, letters), right, wanted = prepared
    result = Tensor._of(_core.make(wanted, is_sparse, world._w, list(tensors[0].shape), letters, text, ""))
    if right is None:
        return apply(f, *operands, out=result, over="all" if f in _ZERO_WITH_ANY else "any")
    Indexed(result, [f"d{d}" for d in range(result.ndim)]).assign(right)
    return result


def _found_type(f: Callable[..., Any], operands: Sequence[Any]) -> np.dtype:
    """The type of what f gives of elements of such types."""
    with np.errstate(all="ignore"):
        try:
            found = np.asarray(f(*(np.ones(1, x.dtype) if isinstance(x, Tensor) else x for x in operands))).dtype
        except TypeError as error:
            raise TypeError(str(error)) from None
    return WIDER.get(found, found)


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


def _filling(f: Callable[..., Any], operands: Sequence[Any]) -> Callable[..., None]:
    """f of the tensors among its arguments, into an array: g(out, arrays...)."""
    fixed = None if builtins.all(isinstance(x, Tensor) for x in operands) else list(operands)
    places = [i for i, x in enumerate(operands) if isinstance(x, Tensor)]
    is_ufunc = isinstance(f, np.ufunc)

    def call(out: np.ndarray, *arrays: np.ndarray) -> None:
        arguments: Sequence[Any] = arrays
        if fixed is not None:
            arguments = list(fixed)
            for place, array in zip(places, arrays):
                arguments[place] = array
        with np.errstate(all="ignore"):
            if is_ufunc:
                f(*arguments, out=out, casting="same_kind")
            else:
                np.copyto(out, f(*arguments), casting="same_kind")

    return call


def _unary(**named: Callable[..., Any]) -> list[Callable[[Any], Tensor]]:
    """Functions of one tensor by these of its elements."""

    def made(name: str, f: Callable[..., Any]) -> Callable[[Any], Tensor]:
        def function(x: Any, /) -> Tensor:
            return elementwise(f, x)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"numpy.{name} of each element, as a new tensor. Collective. Raises TypeError for types that it does not take."
        return function

    return [made(name, f) for name, f in named.items()]


def _binary(**named: Callable[..., Any]) -> list[Callable[[Any, Any], Tensor]]:
    """Functions of two tensors by these of their elements."""

    def made(name: str, f: Callable[..., Any]) -> Callable[[Any, Any], Tensor]:
        def function(x1: Any, x2: Any, /) -> Tensor:
            return elementwise(f, x1, x2)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"numpy.{name} element by element, as a new tensor; shapes and types as NumPy's. Collective."
        return function

    return [made(name, f) for name, f in named.items()]


def _whole_numbers_stay(ufunc: np.ufunc) -> Callable[..., Any]:
    """Integers are their own rounded values."""
    return lambda x: np.positive(x) if x.dtype.kind == "i" else ufunc(x)


_ceil, _floor, _trunc = map(_whole_numbers_stay, (np.ceil, np.floor, np.trunc))


def _round(x: np.ndarray) -> Any:
    return np.positive(x) if x.dtype.kind == "i" else np.round(x)


def _sign(x: np.ndarray) -> Any:
    if x.dtype.kind != "c":
        return np.sign(x)
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)


# Functions of NumPy, and of this file, that a device may have, with their names there.
_NAMES: dict[Any, str] = {
    **{f: f.__name__.replace("arc", "a") for f in (np.arccos, np.arccosh, np.arcsin, np.arcsinh, np.arctan, np.arctanh, np.arctan2)},
    **{f: f.__name__ for f in (np.add, np.cbrt, np.ceil, np.copysign, np.cos, np.cosh, np.divide, np.exp, np.exp2, np.expm1, np.floor, np.hypot)},
    **{f: f.__name__ for f in (np.log, np.log10, np.log1p, np.log2, np.maximum, np.minimum, np.multiply, np.negative, np.reciprocal, np.sign)},
    **{f: f.__name__ for f in (np.sin, np.sinh, np.sqrt, np.square, np.subtract, np.tan, np.tanh, np.trunc)},
    **{np.absolute: "abs", np.power: "pow", np.rint: "round", _round: "round", _sign: "sign", _ceil: "ceil", _floor: "floor", _trunc: "trunc"},
}
abs, acos, acosh, asin, asinh, atan = _unary(abs=np.abs, acos=np.arccos, acosh=np.arccosh, asin=np.arcsin, asinh=np.arcsinh, atan=np.arctan)
atanh, bitwise_invert, ceil, cos = _unary(atanh=np.arctanh, bitwise_invert=np.invert, ceil=_ceil, cos=np.cos)
cosh, exp, expm1, floor = _unary(cosh=np.cosh, exp=np.exp, expm1=np.expm1, floor=_floor)
isfinite, isinf, isnan, log, log1p = _unary(isfinite=np.isfinite, isinf=np.isinf, isnan=np.isnan, log=np.log, log1p=np.log1p)
log2, log10, logical_not, negative = _unary(log2=np.log2, log10=np.log10, logical_not=np.logical_not, negative=np.negative)
positive, reciprocal, round, sign = _unary(positive=np.positive, reciprocal=np.reciprocal, round=_round, sign=_sign)
signbit, sin, sinh, square, sqrt, tan = _unary(signbit=np.signbit, sin=np.sin, sinh=np.sinh, square=np.square, sqrt=np.sqrt, tan=np.tan)
tanh, trunc = _unary(tanh=np.tanh, trunc=_trunc)
add, atan2, bitwise_and = _binary(add=np.add, atan2=np.arctan2, bitwise_and=np.bitwise_and)
bitwise_left_shift, bitwise_or = _binary(bitwise_left_shift=np.left_shift, bitwise_or=np.bitwise_or)
bitwise_right_shift, bitwise_xor, copysign = _binary(bitwise_right_shift=np.right_shift, bitwise_xor=np.bitwise_xor, copysign=np.copysign)
divide, equal, floor_divide, greater = _binary(divide=np.divide, equal=np.equal, floor_divide=np.floor_divide, greater=np.greater)
greater_equal, hypot, less, less_equal = _binary(greater_equal=np.greater_equal, hypot=np.hypot, less=np.less, less_equal=np.less_equal)
logaddexp, logical_and, logical_or = _binary(logaddexp=np.logaddexp, logical_and=np.logical_and, logical_or=np.logical_or)
logical_xor, maximum, minimum, multiply = _binary(logical_xor=np.logical_xor, maximum=np.maximum, minimum=np.minimum, multiply=np.multiply)
nextafter, not_equal, pow = _binary(nextafter=np.nextafter, not_equal=np.not_equal, pow=np.power)
remainder, subtract = _binary(remainder=np.remainder, subtract=np.subtract)


def conj(x: Any, /) -> Tensor:
    """Complex conjugate; keeps a symmetry. Collective."""
    own = asarray(x)
    if own.dtype.kind != "c":
        return own.copy()
    result = Tensor._of(own._h.copy())
    labels = [f"d{d}" for d in range(own.ndim)]
    Indexed(result, labels).assign(Indexed(own, labels).conj())
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
        result = elementwise(lambda a, b: np.asarray(np.where(a < b, b, a), own.dtype), result, min, dtype=own.dtype)
    if max is not None:
        result = elementwise(lambda a, b: np.asarray(np.where(a > b, b, a), own.dtype), result, max, dtype=own.dtype)
    return result.copy() if result is own else result


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    """Elements of x1 where a condition is true, else those of x2. Collective."""
    return elementwise(np.where, condition, x1, x2)


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Tensor:
    """numpy.isclose element by element. Collective."""
    return elementwise(lambda x, y: np.isclose(x, y, rtol=rtol, atol=atol), a, b)


__all__ = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "cos", "cosh", "exp", "expm1", "floor",
    "isfinite", "isinf", "isnan", "log", "log1p", "log2", "log10", "logical_not", "negative", "positive", "reciprocal", "round", "sign",
    "signbit", "sin", "sinh", "square", "sqrt", "tan", "tanh", "trunc", "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less",
    "less_equal", "logaddexp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter", "not_equal",
    "pow", "remainder", "subtract", "apply", "explain_apply", "conj", "real", "imag", "clip", "where", "isclose",
]  # fmt: skip

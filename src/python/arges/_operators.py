"""Operators of tensors, and the functions of modules above the class that operators and methods call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from ._elements import Elements
from ._stored import Stored
from ._types import is_number

X = TypeVar("X", bound=Stored)

if TYPE_CHECKING:
    from typing_extensions import Protocol, Self

    class Function(Protocol):
        def __call__(self, x: X, /, *arguments: Any, **options: Any) -> X: ...


class Functions:
    """Functions of tensors by their names. Their modules import the class; its methods call them here, where the module _numpy puts them."""

    elementwise: Callable[..., Any]
    nonzero: Callable[..., Any]
    set_selected: Callable[..., None]
    in_place_of_numpy: Callable[..., Any]

    def give(self, *functions: Callable[..., Any]) -> None:
        """Adds functions."""
        vars(self).update({f.__name__: f for f in functions})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Function: ...


functions = Functions()


def _takes(x: Stored, other: Any, symbol: str) -> bool:
    """Is other an operand? Other classes are asked for their operator; the built-in ones have none for tensors."""
    if is_number(other) or isinstance(other, (Stored, np.ndarray)):
        return True

    def refuse() -> None:
        if type(other).__module__ == "builtins":
            raise TypeError(f"unsupported operand type for {symbol}: a tensor and {type(other).__name__}")

    x.world.agree(refuse)
    return False


def _binary(f: np.ufunc, x: X, other: Any, symbol: str) -> X:
    is_operand = type(other) is type(x) or _takes(x, other, symbol)
    result: X = functions.elementwise(f, x, other) if is_operand else NotImplemented
    return result


def _reflected(f: np.ufunc, x: X, other: Any, symbol: str) -> X:
    result: X = functions.elementwise(f, other, x) if _takes(x, other, symbol) else NotImplemented
    return result


def _in_place(f: np.ufunc, x: X, other: Any, symbol: str) -> X:
    result: X = functions.elementwise(f, x, other, out=x) if _takes(x, other, symbol) else NotImplemented
    return result


def _compared(f: np.ufunc, x: X, other: Any) -> X:
    is_operand = is_number(other) or isinstance(other, (Stored, np.ndarray))
    result: X = functions.elementwise(f, x, other) if is_operand else NotImplemented
    return result


def _unary(f: np.ufunc, x: X) -> X:
    result: X = functions.elementwise(f, x)
    return result


class Operators(Elements):
    """Operators, element by element with NumPy's rules for shapes and types. Collective."""

    __slots__ = ()

    # fmt: off
    def __add__(self, other: Any) -> Self: return _binary(np.add, self, other, "add")
    def __radd__(self, other: Any) -> Self: return _reflected(np.add, self, other, "add")
    def __iadd__(self, other: Any) -> Self: return _in_place(np.add, self, other, "add")
    def __sub__(self, other: Any) -> Self: return _binary(np.subtract, self, other, "sub")
    def __rsub__(self, other: Any) -> Self: return _reflected(np.subtract, self, other, "sub")
    def __isub__(self, other: Any) -> Self: return _in_place(np.subtract, self, other, "sub")
    def __mul__(self, other: Any) -> Self: return _binary(np.multiply, self, other, "mul")
    def __rmul__(self, other: Any) -> Self: return _reflected(np.multiply, self, other, "mul")
    def __imul__(self, other: Any) -> Self: return _in_place(np.multiply, self, other, "mul")
    def __truediv__(self, other: Any) -> Self: return _binary(np.divide, self, other, "truediv")
    def __rtruediv__(self, other: Any) -> Self: return _reflected(np.divide, self, other, "truediv")
    def __itruediv__(self, other: Any) -> Self: return _in_place(np.divide, self, other, "truediv")
    def __floordiv__(self, other: Any) -> Self: return _binary(np.floor_divide, self, other, "floordiv")
    def __rfloordiv__(self, other: Any) -> Self: return _reflected(np.floor_divide, self, other, "floordiv")
    def __ifloordiv__(self, other: Any) -> Self: return _in_place(np.floor_divide, self, other, "floordiv")
    def __mod__(self, other: Any) -> Self: return _binary(np.remainder, self, other, "mod")
    def __rmod__(self, other: Any) -> Self: return _reflected(np.remainder, self, other, "mod")
    def __imod__(self, other: Any) -> Self: return _in_place(np.remainder, self, other, "mod")
    def __pow__(self, other: Any) -> Self: return _binary(np.power, self, other, "pow")
    def __rpow__(self, other: Any) -> Self: return _reflected(np.power, self, other, "pow")
    def __ipow__(self, other: Any) -> Self: return _in_place(np.power, self, other, "pow")

    def __and__(self, other: Any) -> Self: return _binary(np.bitwise_and, self, other, "and")
    def __rand__(self, other: Any) -> Self: return _reflected(np.bitwise_and, self, other, "and")
    def __iand__(self, other: Any) -> Self: return _in_place(np.bitwise_and, self, other, "and")
    def __or__(self, other: Any) -> Self: return _binary(np.bitwise_or, self, other, "or")
    def __ror__(self, other: Any) -> Self: return _reflected(np.bitwise_or, self, other, "or")
    def __ior__(self, other: Any) -> Self: return _in_place(np.bitwise_or, self, other, "or")
    def __xor__(self, other: Any) -> Self: return _binary(np.bitwise_xor, self, other, "xor")
    def __rxor__(self, other: Any) -> Self: return _reflected(np.bitwise_xor, self, other, "xor")
    def __ixor__(self, other: Any) -> Self: return _in_place(np.bitwise_xor, self, other, "xor")
    def __lshift__(self, other: Any) -> Self: return _binary(np.left_shift, self, other, "lshift")
    def __rlshift__(self, other: Any) -> Self: return _reflected(np.left_shift, self, other, "lshift")
    def __ilshift__(self, other: Any) -> Self: return _in_place(np.left_shift, self, other, "lshift")
    def __rshift__(self, other: Any) -> Self: return _binary(np.right_shift, self, other, "rshift")
    def __rrshift__(self, other: Any) -> Self: return _reflected(np.right_shift, self, other, "rshift")
    def __irshift__(self, other: Any) -> Self: return _in_place(np.right_shift, self, other, "rshift")

    def __matmul__(self, other: Any) -> Self: return functions.matmul(self, other)
    def __rmatmul__(self, other: Any) -> Self:
        result: Self = functions.matmul(other, self)
        return result

    def __eq__(self, other: object) -> Self: return _compared(np.equal, self, other)  # type: ignore[override]  # a tensor, not a bool
    def __ne__(self, other: object) -> Self: return _compared(np.not_equal, self, other)  # type: ignore[override]  # a tensor, not a bool
    def __lt__(self, other: Any) -> Self: return _compared(np.less, self, other)
    def __le__(self, other: Any) -> Self: return _compared(np.less_equal, self, other)
    def __gt__(self, other: Any) -> Self: return _compared(np.greater, self, other)
    def __ge__(self, other: Any) -> Self: return _compared(np.greater_equal, self, other)
    def __hash__(self) -> int: return object.__hash__(self)

    def __neg__(self) -> Self: return _unary(np.negative, self)
    def __pos__(self) -> Self: return _unary(np.positive, self)
    def __abs__(self) -> Self: return _unary(np.abs, self)
    def __invert__(self) -> Self: return _unary(np.invert, self)
    # fmt: on

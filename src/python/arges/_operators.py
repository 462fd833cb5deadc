"""Operators and methods of tensors; their types stand in the class."""
# mypy: ignore-errors

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._elementwise import elementwise, clip, conj, imag, real
from ._extrema import argmax, argmin
from ._lines import nonzero
from ._places import reshape
from ._products import matmul
from ._reductions import all, any, max, mean, min, prod, std, sum, var
from ._shapes import matrix_transpose, permute_dims, squeeze, take
from ._tensor import Tensor
from ._types import is_number


def _takes(self: Tensor, other: Any, symbol: str) -> bool:
    """Is other an operand? Other classes are asked for their operator; the built-in ones have none for tensors."""
    if is_number(other) or isinstance(other, (Tensor, np.ndarray)):
        return True

    def refuse() -> None:
        if type(other).__module__ == "builtins":
            raise TypeError(f"unsupported operand type for {symbol}: a tensor and {type(other).__name__}")

    self.world.agree(refuse)
    return False


def _operator(ufunc: np.ufunc, symbol: str, is_reflected: bool = False) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        if type(other) is not Tensor and not _takes(self, other, symbol):
            return NotImplemented
        return elementwise(ufunc, other, self) if is_reflected else elementwise(ufunc, self, other)

    return method


def _in_place(ufunc: np.ufunc, symbol: str) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        return elementwise(ufunc, self, other, out=self) if _takes(self, other, symbol) else NotImplemented

    return method


def _comparison(ufunc: np.ufunc) -> Callable[[Tensor, Any], Any]:
    def method(self: Tensor, other: Any) -> Any:
        return elementwise(ufunc, self, other) if is_number(other) or isinstance(other, (Tensor, np.ndarray)) else NotImplemented

    return method


for _symbol, _f in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide, "mod": np.remainder,
    "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_symbol}__", _operator(_f, _symbol))
    setattr(Tensor, f"__r{_symbol}__", _operator(_f, _symbol, True))
    setattr(Tensor, f"__i{_symbol}__", _in_place(_f, _symbol))
for _symbol, _f in {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_symbol}__", _comparison(_f))
for _symbol, _f in {"neg": np.negative, "pos": np.positive, "abs": np.abs, "invert": np.invert}.items():
    setattr(Tensor, f"__{_symbol}__", lambda self, f=_f: elementwise(f, self))
Tensor.__hash__ = object.__hash__
Tensor.__matmul__ = lambda self, other: matmul(self, other)
Tensor.__rmatmul__ = lambda self, other: matmul(other, self)
Tensor.T = property(lambda self: permute_dims(self), doc="Dimensions reversed. Collective.")
Tensor.mT = property(lambda self: matrix_transpose(self), doc="The last two dimensions exchanged. Collective.")
Tensor.real = property(lambda self: real(self), doc="Real parts, as a new tensor. Collective.")
Tensor.imag = property(lambda self: imag(self), doc="Imaginary parts, as a new tensor. Collective.")
for _f in (sum, prod, max, min, any, all, mean, std, var, argmax, argmin, nonzero, conj, squeeze, take, clip):
    setattr(Tensor, _f.__name__, (lambda f: lambda self, *a, **k: f(self, *a, **k))(_f))
    getattr(Tensor, _f.__name__).__doc__ = _f.__doc__

Tensor.reshape = lambda self, *shape, copy=None: reshape(self, _unpacked(shape), copy=copy)
Tensor.transpose = lambda self, *axes: permute_dims(self, _unpacked(axes) if axes else None)
Tensor.reshape.__doc__, Tensor.transpose.__doc__ = reshape.__doc__, permute_dims.__doc__


def _unpacked(arguments: tuple[Any, ...]) -> Any:
    """The arguments of f(1, 2), and the one of f((1, 2))."""
    return arguments[0] if len(arguments) == 1 else arguments

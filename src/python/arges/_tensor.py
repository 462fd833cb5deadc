"""The tensor: labels, selections and methods, and the protocols of NumPy."""

from __future__ import annotations

import sys
from typing import Any, Callable, overload

import numpy as np

from ._operators import Operators, functions
from .statements import Indexed


class Tensor(Operators):
    """A dense or sparse tensor, spread over the ranks of a world and packed by its symmetry. It stands for the full tensor.

    Labels in brackets make statements: ``C["abij"] += 0.5 * V["abef"] * T["efij"]``. Integers and slices select elements as a new tensor.
    Operators and functions work element by element, with NumPy's rules for shapes and types; those of Python's array API standard are in the
    module ``arges``. Made by tensor(), zeros(), sparse(), ... Calls are collective over the world unless they are marked local.

    A single element, A[1, 2], and what functions of all elements give are tensors of order 0, whose number every rank knows: printing,
    formatting and converting them to a number is local.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: str) -> Indexed: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        if type(key) is str:
            return Indexed(self, key)
        if type(key) is tuple and self.world._is_single:
            value = self._h.element_at(key)  # None unless these are integers for all dimensions
            if value is not None:
                return Tensor._of_number(self.dtype.type(value), self.world)
        if isinstance(key, (list, tuple)) and key and all(type(label) is str for label in key):
            return Indexed(self, list(key))
        return functions.selected(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is str or (isinstance(key, (list, tuple)) and key and all(type(label) is str for label in key)):
            if isinstance(value, Indexed) and value._is_done and value.tensor is self:
                value._is_done = False
                return
            Indexed(self, key if type(key) is str else list(key)).assign(value)
            return
        functions.set_selected(self, key, value)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return sys.modules[__name__.partition(".")[0]]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        is_known = ufunc is np.matmul or ufunc.signature is None and ufunc.nout == 1
        if method != "__call__" or options or not is_known or out is not None and not isinstance(out[0], Tensor):
            return NotImplemented
        if ufunc is not np.matmul:
            return functions.elementwise(ufunc, *inputs, out=None if out is None else out[0])
        product = functions.matmul(*inputs)
        return product if out is None else functions.written(out[0], product)

    def __array_function__(self, function: Any, types: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return functions.in_place_of_numpy(function, arguments, options)

    @property
    def T(self) -> Tensor:
        """Dimensions reversed. Collective."""
        return functions.permute_dims(self)

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged. Collective."""
        return functions.matrix_transpose(self)

    @property
    def real(self) -> Tensor:
        """Real parts, as a new tensor. Collective."""
        return functions.real(self)

    @property
    def imag(self) -> Tensor:
        """Imaginary parts, as a new tensor. Collective."""
        return functions.imag(self)

    def conj(self) -> Tensor:
        """Complex conjugate; keeps a symmetry. Collective."""
        return functions.conj(self)

    def sum(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
        """Sum over some axes, or all. Collective. Raises InvalidArgument for a sum that is not within a given type of integers."""
        return functions.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
        """Product over some axes, or all. Collective. Raises InvalidArgument for a product that is not within a given type of integers."""
        return functions.prod(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        """Largest element over some axes, or all; NaN where there is one. Collective."""
        return functions.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        """Smallest element over some axes, or all; NaN where there is one. Collective."""
        return functions.min(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        """True where an element along some axes is not zero. Collective."""
        return functions.any(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        """True where no element along some axes is zero. Collective."""
        return functions.all(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        """Mean over some axes, or all. Collective."""
        return functions.mean(self, axis=axis, keepdims=keepdims)

    def std(self, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
        """Root of var(). Collective."""
        return functions.std(self, axis=axis, correction=correction, keepdims=keepdims)

    def var(self, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
        """Variance over some axes, or all: squared differences from the mean, divided by their number minus correction. Collective."""
        return functions.var(self, axis=axis, correction=correction, keepdims=keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Index of the first largest element along an axis; without, of all as if flat. NaN counts as largest. Collective."""
        return functions.argmax(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Index of the first smallest element along an axis; without, of all as if flat. NaN counts as smallest. Collective."""
        return functions.argmin(self, axis=axis, keepdims=keepdims)

    def nonzero(self) -> tuple[Tensor, ...]:
        """Indices of the elements that are not zero, a list for each dimension, last index fastest. Collective."""
        return tuple(functions.nonzero(self))

    def squeeze(self, axis: Any = None) -> Tensor:
        """Without some dimensions of one element. Collective."""
        return functions.squeeze(self, axis=axis)

    def take(self, indices: Any, /, axis: int | None = None) -> Tensor:
        """Elements at a list of indices along an axis, which every rank holds. Collective."""
        return functions.take(self, indices, axis=axis)

    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """Each element, or the bound that it is beyond. Collective."""
        return functions.clip(self, min, max)

    def reshape(self, *shape: Any, copy: bool | None = None) -> Tensor:
        """The same elements in another shape, the last index fastest, as in NumPy. Collective."""
        return functions.reshape(self, _unpacked(shape), copy=copy)

    def transpose(self, *axes: Any) -> Tensor:
        """Dimensions in another order: dimension d of the result is axes[d] of x; all reversed without axes. Collective."""
        return functions.permute_dims(self, _unpacked(axes) if axes else None)


def _unpacked(arguments: tuple[Any, ...]) -> Any:
    """The arguments of f(1, 2), and the one of f((1, 2))."""
    return arguments[0] if len(arguments) == 1 else arguments


def without_tensors(value: Any, array: Callable[[Tensor], np.ndarray] = Tensor.numpy) -> Any:
    """A value with arrays in the place of tensors, also in lists, tuples and dicts. Collective, as array is."""
    if isinstance(value, Tensor):
        return array(value)
    if isinstance(value, (list, tuple)):
        parts = (without_tensors(part, array) for part in value)
        return list(parts) if isinstance(value, list) else tuple(parts)
    if type(value) is dict:
        return {key: without_tensors(part, array) for key, part in value.items()}
    return value

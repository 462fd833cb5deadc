"""The tensor, and ways to make one."""

from __future__ import annotations

import operator
import sys
from typing import Any, Callable, Iterable, overload

import numpy as np

from . import _core
from ._operators import Operators, functions
from ._types import DTYPES, WIDER, bool_, float64, int64, type_number
from ._world import World, default_world
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
        if method != "__call__" or options or ufunc.nout != 1:
            return NotImplemented
        if out is not None and not isinstance(out[0], Tensor):
            return NotImplemented
        if ufunc.signature is not None:
            if ufunc is not np.matmul:
                return NotImplemented
            product = functions.matmul(*inputs)
            return product if out is None else functions.written(out[0], product)
        return functions.elementwise(ufunc, *inputs, out=None if out is None else out[0])

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


def world_of(values: Iterable[Any]) -> World:
    """The world of the first tensor among some values, else the default one."""
    for value in values:
        if isinstance(value, Tensor):
            return value.world
    return default_world()


def _extents(shape: Any) -> list[int]:
    extents = [operator.index(shape)] if not isinstance(shape, Iterable) else [operator.index(n) for n in shape]
    for length in extents:
        if length < 0:
            raise ValueError(f"a dimension of length {length}; lengths are not negative")
    return extents


def zeros(
    shape: Any,
    dtype: Any = float64,
    *,
    symmetry: str | None = None,
    letters: str | None = None,
    name: str = "",
    world: World | None = None,
    device: str | None = None,
) -> Tensor:
    """Zeros. Collective.

    symmetry: a tree over letters, one for each dimension: zeros((v, v, o, o), symmetry="antisym(a,b) antisym(i,j)", letters="abij"); without
    letters dimensions are a, b, c, ... Nodes: product, sym, antisym, hollow, hermitian.
    Raises InvalidArgument if these do not fit; OutOfMemory if a rank's part is over the limit.
    """
    return _made(False, shape, dtype, symmetry, letters, name, world)


def _made(is_sparse: bool, shape: Any, dtype: Any, symmetry: str | None, letters: str | None, name: str, world: World | None) -> Tensor:
    own = world or default_world()
    extents, wanted = own.agree(lambda: (_extents(shape), type_number(float64 if dtype is None else dtype)))
    return Tensor._of(_core.make(wanted, is_sparse, own._w, extents, letters, symmetry, name), own)


def tensor(
    data: Any,
    dtype: Any = None,
    *,
    symmetry: str | None = None,
    letters: str | None = None,
    name: str = "",
    world: World | None = None,
    copy: bool | None = True,
) -> Tensor:
    """A dense tensor of an array that every rank has: of NumPy, of others that speak DLPack or the buffer protocol, lists, numbers. Collective.

    The array must be the same on every rank, to the bit; else every rank raises InvalidArgument. A rank copies the elements that it stores; no
    element is sent. Of a tensor it is a copy, on another world if one is given that has the same ranks (else see transfer()). copy=None takes
    over the array's own memory instead where one rank has the world, the first index is fastest (order="F") and it can be written to: what is
    written to either is seen in the other. copy=False raises ValueError where that cannot be.
    symmetry: the elements must have it, to round-off; one of each orbit is stored.
    Types that tensors do not have become the next wider one (int8, uint8, uint16, uint32, float16), or raise TypeError.
    """
    own = world or (data.world if isinstance(data, Tensor) else default_world())
    if isinstance(data, Tensor):
        return _of_tensor(data, dtype, symmetry, letters, name, own, copy)
    data = without_tensors(data)

    def prepare() -> tuple[np.ndarray, bool]:
        array = np.from_dlpack(data) if hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray) else np.asarray(data)
        if dtype is not None:
            wanted = DTYPES[type_number(dtype)]
        else:
            wanted = WIDER.get(array.dtype, array.dtype.newbyteorder("="))
            type_number(wanted)
        fitting = array if array.dtype == wanted else array.astype(wanted)
        if any(stride % fitting.itemsize for stride in fitting.strides):
            fitting = fitting.copy()
        is_same = fitting is array and isinstance(data, np.ndarray) or hasattr(data, "__dlpack__") and fitting is array
        return fitting, bool(is_same and fitting.flags.writeable)

    array, may_share = own.agree(prepare, same=False)  # compared where it is copied
    owner = array if may_share and copy is not True and symmetry is None else None
    handle = _core.from_array(own._w, array, owner, name)
    result = Tensor._of(handle, own)
    if copy is False:
        shares = owner is not None and array.size > 0 and own._is_single and np.shares_memory(result.numpy(), array)
        if not shares:
            raise ValueError("this array cannot be taken over as it is; see tensor()")
    return result if symmetry is None else _checked_symmetry(result, symmetry, letters)


def _of_tensor(
    data: Tensor, dtype: Any, symmetry: str | None, letters: str | None, name: str, world: World, copy: bool | None
) -> Tensor:
    """tensor() of a tensor."""
    result = data if data.world == world else transfer(data, world, meeting=world)
    assert result is not None
    result = result if dtype is None or np.dtype(dtype) == result.dtype else result.astype(dtype)
    if symmetry is not None:
        result = _checked_symmetry(result, symmetry, letters)
    if copy is False and (result is not data or name):
        raise ValueError("this tensor cannot be taken over as it is; see tensor()")
    if result is data and (copy or name):
        result = data.copy()
    if name:
        result.name = name
    return result


def transfer(source: Tensor | None, world: World | None, *, meeting: World | None = None) -> Tensor | None:
    """A copy of a dense tensor on another world. Collective over the meeting world, which holds the ranks of both worlds.

    source: the tensor; None on ranks that are not in its world. world: where the copy is to be; None on ranks that are not in it, which
    get None. meeting: None: the default world.
    Raises InvalidArgument if no rank has the source, or a rank of it is not in the meeting world; Unsupported for sparse tensors.
    """
    handle = _core.transfer((meeting or default_world())._w, None if source is None else source._h, None if world is None else world._w)
    return None if handle is None else Tensor._of(handle, world)


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


def _checked_symmetry(whole: Tensor, symmetry: str, letters: str | None) -> Tensor:
    packed = whole.with_symmetry(symmetry, letters)
    labels = [f"d{d}" for d in range(whole.ndim)]
    difference = whole.with_symmetry(None)
    difference[labels] -= packed[labels]
    scale = whole.norm(np.inf) if whole.dtype != bool_ else 1.0
    allowed = 64 * float(np.finfo(whole.dtype).eps) * scale if whole.dtype.kind in "fc" else 0
    found = difference.norm(np.inf)
    if not found <= allowed:
        raise _core.InvalidArgument(f"the elements do not have the symmetry {symmetry}: they differ from it by up to {found:.3g}")
    return packed


def asarray(obj: Any, /, *, dtype: Any = None, device: str | None = None, copy: bool | None = None, world: World | None = None) -> Tensor:
    """A tensor of an array, a number, lists, or itself; see tensor(). Collective."""
    if isinstance(obj, Tensor) and dtype is None and not copy:
        return obj
    if dtype is None and isinstance(obj, (bool, int, float, complex)):
        dtype = bool_ if isinstance(obj, bool) else int64 if isinstance(obj, int) else None
    return tensor(obj, dtype, copy=copy, world=world)


def together(*values: Any) -> list[Tensor]:
    """Values as tensors in the world of the first tensor among them. Collective."""
    world = world_of(values)
    return [asarray(value, world=world) for value in values]


__all__ = ["Tensor", "asarray", "tensor", "transfer", "zeros"]

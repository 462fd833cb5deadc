"""The tensor, and ways to make one."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, overload

import numpy as np

from . import _core
from ._types import DTYPES, WIDER, bool_, float64, int64, number, type_number
from ._world import World, default_world
from .statements import Indexed

Shape = "int | Sequence[int]"


class Tensor:
    """A dense or sparse tensor, spread over the ranks of a world and packed by its symmetry. It stands for the full tensor.

    Labels in brackets make statements: ``C["abij"] += 0.5 * V["abef"] * T["efij"]``. Integers and slices select elements as a new tensor.
    Operators and functions work element by element, with NumPy's rules for shapes and types; those of Python's array API standard are in the
    module ``arges``. Made by tensor(), zeros(), sparse(), ... Calls are collective over the world unless they are marked local.
    """

    __slots__ = ("_h", "_world", "__weakref__")
    __array_priority__ = 100

    def __init__(self) -> None:
        raise TypeError("make tensors by arges.tensor(), arges.zeros(), arges.sparse(), ...")

    @classmethod
    def _of(cls, handle: _core.Handle, world: World | None = None) -> Tensor:
        self = cls.__new__(cls)
        self._h = handle
        self._world = world
        return self

    # What it is. Local.

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension. Local."""
        return self._h.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions. Local."""
        return self._h.ndim

    @property
    def size(self) -> int:
        """Elements of the full tensor. Local."""
        result = 1
        for length in self.shape:
            result *= length
        return result

    @property
    def nbytes(self) -> int:
        """Bytes of the full tensor. Local."""
        return self.size * self.dtype.itemsize

    @property
    def dtype(self) -> np.dtype:
        """Element type, as NumPy's. Local."""
        return DTYPES[self._h.element]

    @property
    def device(self) -> str:
        """Where the elements are: "cpu". Local."""
        return "cpu"

    @property
    def world(self) -> World:
        """The ranks that it lives on. Local."""
        if self._world is None:
            self._world = World._of(self._h.world)
        return self._world

    @property
    def is_sparse(self) -> bool:
        """True for a sparse tensor. Local."""
        return self._h.is_sparse

    @property
    def name(self) -> str:
        """For messages. Local."""
        return self._h.name

    @name.setter
    def name(self, name: str) -> None:
        self._h.set_name(name)

    def symmetry(self, letters: str = "abcdefghijklmnopqrstuvwxyz") -> str:
        """The symmetry tree as text over letters, e.g. "antisym(a,b) antisym(c,d)"; "none". Local."""
        return self._h.symmetry(letters[: self.ndim]) if self.ndim <= len(letters) else self._h.symmetry("")

    @property
    def stored(self) -> int:
        """Elements stored over all ranks: one of each orbit of the symmetry; of a sparse tensor its nonzeros. Local."""
        return self._h.stored()

    def layout(self) -> str:
        """How the dimensions of a dense tensor lie on the torus, as text. Local."""
        return self._h.layout()

    def __repr__(self) -> str:
        parts = [f"{self.shape}", str(self.dtype)]
        if self.is_sparse:
            parts.append("sparse")
        if self._h.has_symmetry:
            parts.append(self.symmetry())
        if self.name:
            parts.append(f"name={self.name!r}")
        return f"arges.Tensor({', '.join(parts)})"

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a tensor of order 0")
        return self.shape[0]

    # Elements.

    @overload
    def __getitem__(self, key: str) -> Indexed: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        if type(key) is str:
            return Indexed(self, key)
        if isinstance(key, (list, tuple)) and key and all(type(label) is str for label in key):
            return Indexed(self, list(key))
        from ._selection import selected

        return selected(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) is str or (isinstance(key, (list, tuple)) and key and all(type(label) is str for label in key)):
            if isinstance(value, Indexed) and value._is_done and value.tensor is self:
                value._is_done = False
                return
            Indexed(self, key if type(key) is str else list(key)).assign(value)
            return
        from ._selection import set_selected

        set_selected(self, key, value)

    def numpy(self, copy: bool | None = None) -> np.ndarray:
        """The full tensor as an array on every rank, of a symmetric or sparse one unpacked.

        On a world of one rank, without symmetry, it is a view of the tensor's own elements unless copy is True: what is written to either is
        seen in the other. Else elements are gathered, which takes their memory on every rank; copy=False then raises ValueError.
        """
        source = self._h.to_dense() if self.is_sparse else self._h
        is_view = not self.is_sparse and not self._h.has_symmetry and self.world._is_single and not self.world.is_dry_run
        if copy is False and not is_view:
            raise ValueError("this tensor has no array of all its elements in one place, so that they must be copied")
        array = _core.to_array(source)
        return array.copy(order="F") if copy and is_view else array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy(copy=copy)
        return array if dtype is None or dtype == array.dtype else array.astype(dtype)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any:
        return self.numpy(copy=copy).__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        import arges

        return arges

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from . import _functions
        from ._elementwise import elementwise

        out = options.pop("out", None)
        if method != "__call__" or options or ufunc.nout != 1:
            return NotImplemented
        if ufunc.signature is not None:
            return _functions.matmul(*inputs) if ufunc is np.matmul and out is None else NotImplemented
        if out is not None and not isinstance(out[0], Tensor):
            return NotImplemented
        return elementwise(ufunc, *inputs, out=None if out is None else out[0])

    def __array_function__(self, function: Any, types: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        from . import _functions

        return _functions.in_place_of_numpy(function, arguments, options)

    def tolist(self) -> Any:
        """The elements as nested lists of numbers."""
        return self.numpy().tolist()

    def item(self) -> Any:
        """The only element as a number."""
        if self.size != 1:
            raise ValueError(f"item() of a tensor with {self.size} elements")
        return self.read([0]).item()

    def write(self, keys: Any, values: Any, duplicates: str = "sum", tolerance: float = 0) -> None:
        """Writes elements by key (linear index, first index fastest); every rank may give any number of pairs, also none.

        duplicates: what to do with several values for an element of a sparse tensor: "refuse", "sum" or "keep_first"; dense tensors
        refuse values that differ by more than round-off plus tolerance.
        Raises InvalidArgument for keys out of range and values that contradict each other or the symmetry.
        """
        own, numbers, policy = self.world.agree(lambda: (_keys(keys), self._values(values), _policy(duplicates)))
        self._h.write(own, numbers, policy, float(tolerance))

    def accumulate(self, keys: Any, values: Any, alpha: Any = 1, beta: Any = 1) -> None:
        """element = beta * element + alpha * (sum of the values given for it), for the elements with keys."""
        own, numbers, a, b = self.world.agree(lambda: (_keys(keys), self._values(values), number(alpha), number(beta)))
        self._h.accumulate(own, numbers, a, b)

    def read(self, keys: Any) -> np.ndarray:
        """Values of any elements, in the order of the keys given on this rank."""
        return self._h.read(self.world.agree(lambda: _keys(keys)))

    def local_pairs(self) -> tuple[Any, np.ndarray]:
        """What this rank stores: keys (of a sparse tensor: a list of arrays of indices, one for each mode) and values. Local."""
        return self._h.local_pairs()

    def coo(self) -> tuple[list[np.ndarray], np.ndarray]:
        """All elements of a sparse tensor on every rank: arrays of indices, one for each mode, and values, in the order of keys."""
        indices, values = self._h.gather_sparse()
        return list(indices), values

    def fill(self, value: Any) -> Tensor:
        """Sets every element, of a sparse tensor every stored one."""
        self._h.fill(self.world.agree(lambda: number(value)))
        return self

    def fill_random(self, seed: int, low: float = -0.5, high: float = 0.5) -> Tensor:
        """Uniform random values in [low, high), the same on any number of ranks."""
        self._h.fill_random(int(seed), float(low), float(high))
        return self

    def drop(self, cutoff: float = 0) -> Tensor:
        """Removes the stored elements of a sparse tensor whose magnitude is at most cutoff."""
        self._h.drop(float(cutoff))
        return self

    # Other forms.

    def copy(self) -> Tensor:
        """A tensor with elements of its own."""
        return Tensor._of(self._h.copy())

    def __copy__(self) -> Tensor:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a tensor is spread over ranks and cannot be pickled; use arges.save() and arges.load(), or numpy()")

    def astype(self, dtype: Any, copy: bool = True) -> Tensor:
        """The elements in another type, rounded where it holds less. Raises InvalidArgument for complex elements as real ones."""
        wanted = self.world.agree(lambda: type_number(dtype))
        if wanted == self._h.element and not copy:
            return self
        return Tensor._of(self._h.converted(wanted))

    def to_dense(self) -> Tensor:
        """All elements of a sparse tensor."""
        return Tensor._of(self._h.to_dense())

    def to_sparse(self, cutoff: float | None = None) -> Tensor:
        """The elements that are not zero, or those whose magnitude is over cutoff."""
        return Tensor._of(self._h.to_sparse(-1.0 if cutoff is None else float(cutoff)))

    def with_symmetry(self, symmetry: str | None, letters: str | None = None) -> Tensor:
        """The same elements with another symmetry tree; None unpacks all. Of a dense tensor one element of each orbit is taken."""
        return Tensor._of(self._h.with_symmetry(letters, symmetry))

    def _without(self, dimensions: Sequence[int]) -> Tensor:
        """Without dimensions of one element."""
        names = [f"d{d}" for d in range(self.ndim)]
        return Tensor._of(_core.einsum([self._h], [names], [name for d, name in enumerate(names) if d not in dimensions]))

    def _values(self, values: Any) -> np.ndarray:
        array = np.asarray(values)
        if array.dtype != self.dtype and not np.can_cast(array.dtype, self.dtype, "same_kind") and array.size > 0:
            raise TypeError(f"values of type {array.dtype} for a tensor of {self.dtype}")
        return np.ascontiguousarray(array.ravel(), dtype=self.dtype)

    # Numbers.

    def norm(self, order: float = 2) -> float:
        """Root of the sum of squared magnitudes; order 1: their sum, order infinity: the largest."""
        which = self.world.agree(lambda: {1: 1, 2: 2, np.inf: 0}[order])
        return self._h.norm(which)

    def largest_magnitude(self) -> tuple[Any, tuple[int, ...]]:
        """The element of largest magnitude, and its index."""
        value, index = self._h.extremum(0)
        return value, tuple(index)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.kind != "i":
            raise TypeError(f"a tensor of {self.dtype} as an index")
        return operator.index(self.item())

    if TYPE_CHECKING:  # these are made of functions, in _operators

        def __add__(self, other: Any) -> Tensor: ...

        __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = __mul__ = __rmul__ = __imul__ = __add__
        __truediv__ = __rtruediv__ = __itruediv__ = __floordiv__ = __rfloordiv__ = __ifloordiv__ = __add__
        __mod__ = __rmod__ = __imod__ = __pow__ = __rpow__ = __ipow__ = __and__ = __rand__ = __iand__ = __add__
        __or__ = __ror__ = __ior__ = __xor__ = __rxor__ = __ixor__ = __lshift__ = __rlshift__ = __ilshift__ = __add__
        __rshift__ = __rrshift__ = __irshift__ = __matmul__ = __rmatmul__ = __lt__ = __le__ = __gt__ = __ge__ = __add__

        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __neg__(self) -> Tensor: ...

        __pos__ = __abs__ = __invert__ = __neg__

        @property
        def T(self) -> Tensor: ...
        @property
        def mT(self) -> Tensor: ...
        @property
        def real(self) -> Tensor: ...
        @property
        def imag(self) -> Tensor: ...
        def conj(self) -> Tensor: ...
        def sum(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor: ...
        def prod(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor: ...
        def max(self, axis: Any = None, *, keepdims: bool = False) -> Tensor: ...
        def min(self, axis: Any = None, *, keepdims: bool = False) -> Tensor: ...
        def any(self, axis: Any = None, *, keepdims: bool = False) -> Tensor: ...
        def all(self, axis: Any = None, *, keepdims: bool = False) -> Tensor: ...
        def mean(self, axis: Any = None, *, keepdims: bool = False) -> Tensor: ...
        def std(self, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor: ...
        def var(self, axis: Any = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor: ...
        def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor: ...
        def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor: ...
        def nonzero(self) -> tuple[Tensor, ...]: ...
        def squeeze(self, axis: Any = None) -> Tensor: ...
        def take(self, indices: Any, /, axis: int | None = None) -> Tensor: ...
        def clip(self, min: Any = None, max: Any = None) -> Tensor: ...
        def reshape(self, *shape: Any, copy: bool | None = None) -> Tensor: ...
        def transpose(self, *axes: Any) -> Tensor: ...

    def to_device(self, device: str, /, *, stream: Any = None) -> Tensor:
        """Itself: there is the device "cpu"."""
        if device != "cpu":
            raise ValueError(f'there is the device "cpu", not {device!r}')
        return self


def _keys(keys: Any) -> np.ndarray:
    array = np.asarray(keys)
    if array.size > 0 and array.dtype.kind not in "iu":
        raise TypeError(f"keys of type {array.dtype}; give integers")
    if array.ndim > 1:
        raise ValueError(
            f"keys of shape {array.shape}; give one number for each element: numpy.ravel_multi_index(indices, shape, order='F')"
        )
    return np.ascontiguousarray(array.ravel(), dtype=np.int64)


_POLICIES = {"refuse": 0, "sum": 1, "keep_first": 2}


def _policy(duplicates: str) -> int:
    if duplicates not in _POLICIES:
        raise ValueError(f'duplicates={duplicates!r}; use "refuse", "sum" or "keep_first"')
    return _POLICIES[duplicates]


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


def sparse(
    shape: Any,
    indices: Sequence[Any] | None = None,
    values: Any = None,
    dtype: Any = None,
    *,
    duplicates: str = "sum",
    symmetry: str | None = None,
    letters: str | None = None,
    name: str = "",
    world: World | None = None,
) -> Tensor:
    """A sparse tensor, empty or of nonzeros. Collective.

    indices: an array for each mode, as those of scipy.sparse.coo_array's coords; values: one for each nonzero. Each rank gives its own, any
    number of any of them; give them on one rank, or divide them, else they are summed over the ranks.
    ``sparse(array)`` takes an array of scipy.sparse that every rank has, each rank its share.
    """
    if hasattr(shape, "tocoo"):
        whole = shape.tocoo()
        place = world or default_world()
        mine = slice(place.rank, None, place.size)
        coordinates = getattr(whole, "coords", None) or (whole.row, whole.col)
        given = [np.asarray(mode)[mine] for mode in coordinates]
        return sparse(
            whole.shape, given, whole.data[mine], dtype, duplicates=duplicates, symmetry=symmetry, letters=letters, name=name, world=place
        )
    if indices is None:
        return _made(True, shape, float64 if dtype is None else dtype, symmetry, letters, name, world)
    own = world or default_world()

    def prepare() -> tuple[list[int], list[np.ndarray], np.ndarray, int, int]:
        array = np.asarray(values)
        wanted = type_number(dtype if dtype is not None else WIDER.get(array.dtype, array.dtype))
        return _extents(shape), [_keys(mode) for mode in indices], array.ravel().astype(DTYPES[wanted]), wanted, _policy(duplicates)

    extents, modes, numbers, wanted, policy = own.agree(prepare)
    handle = _core.from_entries(own._w, extents, modes, numbers, wanted, policy, name)
    return Tensor._of(handle if symmetry is None else handle.with_symmetry(letters, symmetry))


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

    A rank copies the elements that it stores; nothing is sent. copy=None takes over the array's own memory instead where one rank has the
    world, the first index is fastest (order="F") and it can be written to: what is written to either is seen
    in the other. copy=False raises ValueError where that cannot be.
    symmetry: the elements must have it, to round-off; one of each orbit is stored.
    Types that tensors do not have become the next wider one (int8, uint8, uint16, uint32, float16), or raise TypeError.
    """
    own = world or (data.world if isinstance(data, Tensor) else default_world())
    data = data if isinstance(data, Tensor) else without_tensors(data)
    if isinstance(data, Tensor):
        result = data if dtype is None or np.dtype(dtype) == data.dtype else data.astype(dtype)
        if symmetry is not None:
            return _checked_symmetry(result, symmetry, letters)
        if result is not data:
            return result
        if copy is False or copy is None:
            return data
        return data.copy()

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

    array, may_share = own.agree(prepare)
    owner = array if may_share and copy is not True and symmetry is None else None
    handle = _core.from_array(own._w, array, owner, name)
    result = Tensor._of(handle, own)
    if copy is False:
        shares = owner is not None and array.size > 0 and own._is_single and np.shares_memory(result.numpy(), array)
        if not shares:
            raise ValueError("this array cannot be taken over as it is; see tensor()")
    return result if symmetry is None else _checked_symmetry(result, symmetry, letters)


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


def from_function(shape: Any, f: Callable[..., np.ndarray], dtype: Any = float64, *, world: World | None = None) -> Tensor:
    """A dense tensor of elements f(i, j, ...), where f takes an array of indices for each dimension; each rank makes its own. Collective."""
    result = zeros(shape, dtype, world=world)
    keys = result.local_pairs()[0]
    indices = np.unravel_index(keys, result.shape, order="F") if result.ndim else ()
    values = result.world.agree(lambda: np.broadcast_to(np.asarray(f(*indices)), keys.shape))
    result.write(keys, values)
    return result


def random(shape: Any, seed: int = 1, low: float = 0.0, high: float = 1.0, dtype: Any = float64, **options: Any) -> Tensor:
    """Uniform random elements in [low, high), the same on any number of ranks; options as for zeros(). Collective."""
    return zeros(shape, dtype, **options).fill_random(seed, low, high)


__all__ = ["Tensor", "asarray", "from_function", "random", "sparse", "tensor", "zeros"]

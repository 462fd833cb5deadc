"""The tensor, and ways to make one."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, overload

import numpy as np

from . import _core
from ._keys import keys_of, own_share, policy_number
from ._signatures import Signatures
from ._types import DTYPES, WIDER, bool_, float64, int64, number, type_number
from ._world import World, default_world
from .statements import Indexed

Shape = "int | Sequence[int]"


class Tensor(Signatures):
    """A dense or sparse tensor, spread over the ranks of a world and packed by its symmetry. It stands for the full tensor.

    Labels in brackets make statements: ``C["abij"] += 0.5 * V["abef"] * T["efij"]``. Integers and slices select elements as a new tensor.
    Operators and functions work element by element, with NumPy's rules for shapes and types; those of Python's array API standard are in the
    module ``arges``. Made by tensor(), zeros(), sparse(), ... Calls are collective over the world unless they are marked local.

    A single element, A[1, 2], and what functions of all elements give are tensors of order 0, whose number every rank knows: printing,
    formatting and converting them to a number is local.
    """

    __slots__ = ("_h", "_world", "_number", "_seed", "__weakref__")
    _h: _core.Handle
    _world: World | None
    _number: Any  # the element, where only that is known, else None
    __array_priority__ = 100

    def __init__(self) -> None:
        raise TypeError("make tensors by arges.tensor(), arges.zeros(), arges.sparse(), ...")

    @classmethod
    def _of(cls, handle: _core.Handle, world: World | None = None) -> Tensor:
        self = cls.__new__(cls)
        self._h = handle
        self._world = world
        self._number = None
        return self

    @classmethod
    def _of_number(cls, value: np.generic, world: World) -> Tensor:
        """A tensor of order 0 of a number that every rank has: its element is stored when somebody asks for the handle. Local."""
        self = cls.__new__(cls)
        self._world = world
        self._number = value
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "_h":  # a slot that is empty as long as only the number is known
                own = self._world
                handle = _core.make(type_number(self._number.dtype), False, own._w, [], None, None, "")
                handle.fill(number(self._number))
                self._h, self._number = handle, None
                return handle
            raise AttributeError(f"a tensor has no attribute {name!r}", name=name, obj=self)

    def _with_known_number(self) -> Tensor:
        """A tensor of order 0 whose number every rank knows. Collective."""
        own = self.world
        return self if own.is_dry_run or self._number is not None else Tensor._of_number(self._h.read(np.zeros(1, np.int64))[0], own)

    # What it is. Local.

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension. Local."""
        return self._h.shape if self._number is None else ()

    @property
    def ndim(self) -> int:
        """Number of dimensions. Local."""
        return self._h.ndim if self._number is None else 0

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
        return DTYPES[self._h.element] if self._number is None else self._number.dtype

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
        return self._number is None and self._h.is_sparse

    @property
    def name(self) -> str:
        """For messages. Local."""
        return self._h.name if self._number is None else ""

    @property
    def seed(self) -> int | None:
        """The seed of the random elements that random() or fill_random() gave it; else None. Local."""
        return getattr(self, "_seed", None)

    @name.setter
    def name(self, name: str) -> None:
        self._h.set_name(name)

    def symmetry(self, letters: str = "abcdefghijklmnopqrstuvwxyz") -> str:
        """The symmetry tree as text over letters, e.g. "antisym(a,b) antisym(c,d)"; "none". Local."""
        return self._h.symmetry(letters[: self.ndim]) if self.ndim <= len(letters) else self._h.symmetry("")

    @property
    def stored(self) -> int:
        """Elements stored over all ranks: one of each orbit of the symmetry; of a sparse tensor its nonzeros. Local."""
        return self._h.stored() if self._number is None else 1

    def layout(self) -> str:
        """How the dimensions of a dense tensor lie on the torus, as text. Local."""
        return self._h.layout()

    def __repr__(self) -> str:
        if self._number is not None:
            return f"arges.Tensor({self._number}, {self.dtype})"
        parts = [f"{self.shape}", str(self.dtype)]
        if self.is_sparse:
            parts.append("sparse")
        if self._h.has_symmetry:
            parts.append(self.symmetry())
        if self.name:
            parts.append(f"name={self.name!r}")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"arges.Tensor({', '.join(parts)})"

    def __str__(self) -> str:
        """A number where every rank knows it, else as repr(). Local."""
        if self._number is not None:
            return str(self._number)
        return str(self.item()) if self.ndim == 0 and self.world._is_single and not self.world.is_dry_run else repr(self)

    def __format__(self, spec: str) -> str:
        """Of a tensor with one element its number, which is collective where that is not known."""
        if not spec:
            return str(self)
        if self.ndim > 0:
            raise TypeError(f"the format {spec!r} of a tensor of shape {self.shape}; only tensors of order 0 have one")
        return format(self.item(), spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.item(), digits) if digits is not None else round(self.item())

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
        if type(key) is tuple and self.world._is_single:
            value = self._h.element_at(key)  # None unless these are integers for all dimensions
            if value is not None:
                return Tensor._of_number(self.dtype.type(value), self.world)
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
        if self._number is not None and not self.world._is_single and copy is not False:
            return np.array(self._number)
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
        if out is not None and not isinstance(out[0], Tensor):
            return NotImplemented
        if ufunc.signature is not None:
            if ufunc is not np.matmul:
                return NotImplemented
            product = _functions.matmul(*inputs)
            return product if out is None else _functions.written(out[0], product)
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
        return self.read([0]).item() if self._number is None else self._number.item()

    def write(
        self,
        keys: Any,
        values: Any,
        duplicates: str = "sum",
        tolerance: float = 0,
        order: str | None = None,
        *,
        distributed: bool | None = None,
    ) -> None:
        """Writes elements by key; every rank may give any number of pairs, also none.

        keys: linear indices with the first index fastest, with order="C" the last, as argmax() and NumPy count; or indices, a tuple of
        an array for each dimension. Tensors of keys, which functions make, are taken with an order only.
        duplicates: what to do with several values for an element of a sparse tensor: "refuse", "sum" or "keep_first"; dense tensors
        refuse values that differ by more than round-off plus tolerance. distributed: as in sparse(), of a sparse tensor.
        Raises InvalidArgument for keys out of range and values that contradict each other or the symmetry.
        """
        own, numbers, policy = self.world.agree(
            lambda: (keys_of(keys, self.shape, order), self._values(values), policy_number(duplicates)), same=False
        )
        if self.is_sparse:
            (own,), numbers = own_share(self.world, "write", [own], numbers, distributed, duplicates)
        self._h.write(own, numbers, policy, float(tolerance))

    def accumulate(
        self, keys: Any, values: Any, alpha: Any = 1, beta: Any = 1, order: str | None = None, *, distributed: bool | None = None
    ) -> None:
        """element = beta * element + alpha * (sum of the values given for it), for the elements with keys; see write()."""
        own, numbers, a, b = self.world.agree(
            lambda: (keys_of(keys, self.shape, order), self._values(values), number(alpha), number(beta)), same=False
        )
        (own,), numbers = own_share(self.world, "accumulate", [own], numbers, distributed, "sum")
        self._h.accumulate(own, numbers, a, b)

    def read(self, keys: Any, order: str | None = None) -> np.ndarray:
        """Values of any elements, in the order of the keys given on this rank; keys as for write()."""
        return self._h.read(self.world.agree(lambda: keys_of(keys, self.shape, order), same=False))

    def local_pairs(self) -> tuple[Any, np.ndarray]:
        """What this rank stores: keys, first index fastest (of a sparse tensor: a list of arrays of indices, one for each mode) and values. Local."""
        return self._h.local_pairs()

    def coo(self) -> tuple[list[np.ndarray], np.ndarray]:
        """All elements of a sparse tensor on every rank: arrays of indices, one for each mode, and values, the last index fastest."""
        indices, values = self._h.gather_sparse()
        return list(indices), values

    def fill(self, value: Any) -> Tensor:
        """Sets every element, of a sparse tensor every stored one."""
        self._h.fill(self.world.agree(lambda: number(value)))
        return self

    def fill_random(self, seed: int, low: float = -0.5, high: float = 0.5) -> Tensor:
        """Uniform random values in [low, high), the same on any number of ranks."""
        own = self.world.agree(lambda: (operator.index(seed), float(low), float(high)))
        self._h.fill_random(*own)
        self._seed = own[0]
        return self

    def drop(self, cutoff: float = 0) -> Tensor:
        """Removes the stored elements of a sparse tensor whose magnitude is at most cutoff."""
        self._h.drop(float(cutoff))
        return self

    # Other forms.

    def copy(self) -> Tensor:
        """A tensor with elements of its own."""
        return Tensor._of(self._h.copy()) if self._number is None else Tensor._of_number(self._number, self.world)

    def __copy__(self) -> Tensor:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a tensor is spread over ranks and cannot be pickled; use arges.save() and arges.load(), or numpy()")

    def astype(self, dtype: Any, copy: bool = True) -> Tensor:
        """The elements in another type, rounded where it holds less. Raises InvalidArgument for complex elements as real ones."""
        wanted = self.world.agree(lambda: type_number(dtype))
        if DTYPES[wanted] == self.dtype and not copy:
            return self
        if self._number is not None and (self.dtype.kind != "c" or DTYPES[wanted].kind == "c") and DTYPES[wanted].kind != "i":
            return Tensor._of_number(self._number.astype(DTYPES[wanted]), self.world)
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
        return self._h.norm(self.world.agree(lambda: _norm_number(order)))

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

    def to_device(self, device: str, /, *, stream: Any = None) -> Tensor:
        """Itself: there is the device "cpu"."""
        if device != "cpu":
            raise ValueError(f'there is the device "cpu", not {device!r}')
        return self


def _norm_number(order: Any) -> int:
    for known, which in ((1, 1), (2, 2), (np.inf, 0)):
        if order == known:
            return which
    raise _core.InvalidArgument(f"norm of order {order!r}; there are 1, 2 and infinity, and any in arges.linalg.vector_norm()")


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
    result = data if data.world == world else _checked_present(transfer(data, world, meeting=world))
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


def _checked_present(result: Tensor | None) -> Tensor:
    assert result is not None
    return result


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


__all__ = ["Tensor", "asarray", "tensor", "transfer", "zeros"]

"""Tensors of zeros, arrays, other tensors, nonzeros, functions of indices, and random ones."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Iterable, Sequence

import numpy as np

from . import _core
from ._keys import flat_keys, own_share, policy_number
from ._tensor import Tensor, without_tensors
from ._types import DTYPES, WIDER, bool_, float64, int64, type_number
from ._world import World, default_world


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
    if hasattr(data, "__cuda_array_interface__"):
        found = own.agree(lambda: _on_device(data, dtype, copy), same=False)
        whole = Tensor._of(_core.from_device_array(own._w, *found, name), own)
        return whole if symmetry is None else _checked_symmetry(whole, symmetry, letters)

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
        is_given = fitting is array and (isinstance(data, np.ndarray) or hasattr(data, "__dlpack__"))
        return fitting, is_given and fitting.flags.writeable

    array, may_share = own.agree(prepare, same=False)  # compared where it is copied
    owner = array if may_share and copy is not True and symmetry is None else None
    handle = _core.from_array(own._w, array, owner, name)
    result = Tensor._of(handle, own)
    is_shared = owner is not None and array.size > 0 and own._is_single
    if copy is False and not (is_shared and np.shares_memory(result.numpy(), array)):
        raise ValueError("this array cannot be taken over as it is; see tensor()")
    return result if symmetry is None else _checked_symmetry(result, symmetry, letters)


def _on_device(data: Any, dtype: Any, copy: bool | None) -> tuple[int, int, list[int], list[int]]:
    """Address, element type, shape, and steps in elements of an array on a device, by CUDA's array interface."""
    if copy is False:
        raise ValueError("an array on a device is copied; see tensor()")
    has = data.__cuda_array_interface__
    own = np.dtype(has["typestr"])
    if dtype is not None and np.dtype(dtype) != own:
        raise TypeError(f"an array of {own} on a device as {np.dtype(dtype)}; convert it there, or the tensor by astype()")
    shape = [int(n) for n in has["shape"]]
    steps = has.get("strides")
    if steps is None:
        steps = [own.itemsize * math.prod(shape[d + 1 :]) for d in range(len(shape))]
    if any(step % own.itemsize for step in steps):
        raise ValueError("an array on a device whose elements do not lie at multiples of their size; copy it there")
    return has["data"][0], type_number(own), shape, [int(step) // own.itemsize for step in steps]


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
    """A copy of a tensor on another world, dense or sparse as it is. Collective over the meeting world, which holds the ranks of both worlds.

    source: the tensor; None on ranks that are not in its world. world: where the copy is to be; None on ranks that are not in it, which
    get None. meeting: None: the default world.
    Raises InvalidArgument if no rank has the source, or a rank of it is not in the meeting world, or for a sparse tensor of more
    elements than there are 64-bit keys.
    """
    handle = _core.transfer((meeting or default_world())._w, None if source is None else source._h, None if world is None else world._w)
    return None if handle is None else Tensor._of(handle, world)


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


def sparse(
    shape: Any,
    indices: Sequence[Any] | None = None,
    values: Any = None,
    dtype: Any = None,
    *,
    duplicates: str = "sum",
    distributed: bool | None = None,
    symmetry: str | None = None,
    letters: str | None = None,
    name: str = "",
    world: World | None = None,
) -> Tensor:
    """A sparse tensor, empty or of nonzeros. Collective.

    indices: an array for each mode, as those of scipy.sparse.coo_array's coords; values: one for each nonzero. ``sparse(array)`` takes an
    array of scipy.sparse.
    distributed: True: each rank gives nonzeros of its own, any number of any of them, and those of all ranks together are the tensor's.
    False: every rank gives all of them, the same, and takes its share. None: for arrays of scipy.sparse as False, else as True, except that
    the same nonzeros on every rank, which would be summed over the ranks, raise InvalidArgument.
    Raises InvalidArgument for nonzeros that are not the same where they must be.
    """
    if hasattr(shape, "tocoo"):
        whole = shape.tocoo()
        coordinates = getattr(whole, "coords", None) or (whole.row, whole.col)
        return sparse(
            whole.shape, coordinates, whole.data, dtype, duplicates=duplicates, distributed=bool(distributed), symmetry=symmetry,
            letters=letters, name=name, world=world,
        )  # fmt: skip
    if indices is None:
        return _made(True, shape, float64 if dtype is None else dtype, symmetry, letters, name, world)
    own = world or default_world()

    def prepare() -> tuple[list[int], list[np.ndarray], np.ndarray, int, int]:
        array = np.asarray(values)
        wanted = type_number(dtype if dtype is not None else WIDER.get(array.dtype, array.dtype))
        return _extents(shape), [flat_keys(mode) for mode in indices], array.ravel().astype(DTYPES[wanted]), wanted, policy_number(duplicates)

    extents, modes, numbers, wanted, policy = own.agree(prepare, same=False)
    modes, numbers = own_share(own, "sparse", modes, numbers, distributed, duplicates)
    handle, joined = _core.from_entries(own._w, extents, modes, numbers, wanted, policy, name)
    return Tensor._of(handle if symmetry is None else handle.with_symmetry(letters, symmetry), joined=joined)


def from_function(shape: Any, f: Callable[..., np.ndarray], dtype: Any = float64, *, world: World | None = None) -> Tensor:
    """A dense tensor of elements f(i, j, ...), where f takes an array of indices for each dimension; each rank makes its own. Collective."""
    result = zeros(shape, dtype, world=world)
    if result.size > 0 and not result.world._is_single:
        some = np.unravel_index(np.linspace(0, result.size - 1, 4).astype(np.int64), result.shape, order="F") if result.ndim else ()
        found = result.world.agree(lambda: np.asarray(f(*some)), same=False)
        if not result.world._w.all_equal(found):
            raise _core.InvalidArgument("from_function: the function does not give the same on every rank; it may depend on indices only")
    here = _core.local_array(result._h)
    if here is not None and result.ndim:
        array, first, step, _ = here

        def fill() -> None:
            own = [np.arange(n) * by + begin for n, begin, by in zip(array.shape, first, step)]
            wide = [np.broadcast_to(index.reshape((-1,) + (1,) * d), array.shape[::-1]) for d, index in enumerate(own)]
            found = np.asarray(f(*(index.ravel() for index in wide)))
            np.copyto(array.reshape(-1, order="F"), result._values(np.broadcast_to(found, (array.size,))))

        result.world.agree(fill, same=False)
        return result
    keys = result.local_pairs()[0]
    indices = np.unravel_index(keys, result.shape, order="F") if result.ndim else ()
    values = result.world.agree(lambda: np.broadcast_to(np.asarray(f(*indices)), keys.shape), same=False)
    result.write(keys, values)
    return result


_last_seed = 0


def random(
    shape: Any,
    seed: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
    dtype: Any = float64,
    *,
    symmetry: str | None = None,
    letters: str | None = None,
    name: str = "",
    world: World | None = None,
) -> Tensor:
    """Uniform random elements in [low, high), the same on any number of ranks; other options as for zeros(). Collective.

    seed: without, the calls of a program have the seeds 1, 2, 3, ...; the result's is in its attribute ``seed``.
    """
    result = zeros(shape, dtype, symmetry=symmetry, letters=letters, name=name, world=world)
    return result.fill_random(_next_seed(result.world) if seed is None else seed, low, high)


def _next_seed(world: World) -> int:
    """Another number at each call: that of the first rank, since others may have made more calls in worlds of their own. Collective."""
    global _last_seed
    _last_seed += 1
    if world._is_single:
        return _last_seed
    of_first = zeros((1,), int64, world=world)
    of_first.write(*(([0], [_last_seed]) if world.rank == 0 else ([], [])))
    seed = int(of_first.read([0])[0])
    _last_seed = max(_last_seed, seed)
    return seed

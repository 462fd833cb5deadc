"""Sparse tensors of nonzeros, tensors of functions of indices, random tensors."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _core
from ._keys import flat_keys, own_share, policy_number
from ._tensor import Tensor, _extents, _made, zeros
from ._types import DTYPES, WIDER, float64, int64, type_number
from ._world import World, default_world


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
    handle = _core.from_entries(own._w, extents, modes, numbers, wanted, policy, name)
    return Tensor._of(handle if symmetry is None else handle.with_symmetry(letters, symmetry))


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

"""What ranks give of a tensor's elements: keys, what to do with several values for one, and whose they are."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core
from ._stored import Stored
from ._world import World


def flat_keys(keys: Any) -> np.ndarray:
    """Keys as a list of int64. Local."""
    array = np.asarray(keys)
    if array.size > 0 and array.dtype.kind not in "iu":
        raise TypeError(f"keys of type {array.dtype}; give integers")
    if array.ndim > 1:
        raise ValueError(
            f"keys of shape {array.shape}; give one number for each element: numpy.ravel_multi_index(indices, shape, order='F')"
        )
    return np.ascontiguousarray(array.ravel(), dtype=np.int64)


def keys_of(keys: Any, shape: Sequence[int], order: str | None) -> np.ndarray:
    """What a caller names elements of a tensor by, as linear indices with the first index fastest: such indices, with order="C" those with the
    last index fastest, or a tuple of an array of indices for each dimension. Local."""
    if order not in (None, "F", "C"):
        raise ValueError(f'keys with order={order!r}; use "F", first index fastest, or "C", last index fastest')
    if isinstance(keys, tuple) and keys and all(isinstance(own, (list, np.ndarray)) for own in keys):
        modes = tuple(flat_keys(own) for own in keys)
        if len(modes) != len(shape):
            raise ValueError(f"indices of {len(modes)} dimensions for a tensor of order {len(shape)}")
        return np.ravel_multi_index(modes, tuple(shape), order="F").astype(np.int64)
    parts = keys if isinstance(keys, (list, tuple)) else (keys,)
    if order is None and len(shape) > 1 and any(isinstance(key, Stored) for key in parts):
        raise TypeError(
            'a tensor as a key: argmax() and other functions count elements with the last index fastest, keys with the first; give order="C" '
            'for numbers of such functions, or order="F"'
        )
    own = flat_keys(keys)
    if order == "C" and len(shape) > 1:
        own = np.ravel_multi_index(np.unravel_index(own, tuple(shape)), tuple(shape), order="F").astype(np.int64)
    return own


_POLICIES = {"refuse": 0, "sum": 1, "keep_first": 2, "keep_last": 3, "mean": 4}


def policy_number(duplicates: str, in_file: bool = False) -> int:
    """The number of a policy in the library; the mean is for files only."""
    known = [name for name in _POLICIES if in_file or name != "mean"]
    if duplicates not in known:
        raise ValueError(f"duplicates={duplicates!r}; use one of " + ", ".join(f'"{name}"' for name in known))
    return _POLICIES[duplicates]


def own_share(
    world: World, what: str, modes: list[np.ndarray], numbers: np.ndarray, distributed: bool | None, duplicates: str
) -> tuple[list[np.ndarray], np.ndarray]:
    """What this rank is to give of the nonzeros that it was given, by the rule of sparse(). Collective."""
    world.agree(lambda: (distributed, duplicates))
    if world._is_single or distributed or (distributed is None and duplicates != "sum"):
        return modes, numbers
    is_same = world._w.all_equal((modes, numbers))
    if distributed is None and is_same and numbers.size > 0:
        raise _core.InvalidArgument(
            f"{what}: every rank gives the same {numbers.size} elements, which would be summed over the ranks; give distributed=False if every "
            "rank has all of them, distributed=True if they are to be summed"
        )
    if distributed is None:
        return modes, numbers
    if not is_same:
        raise _core.InvalidArgument(
            f"{what}: the elements differ between ranks; give the same ones on every rank, or distributed=True if each rank has its own"
        )
    mine = slice(world.rank, None, world.size)
    return [np.ascontiguousarray(mode[mine]) for mode in modes], np.ascontiguousarray(numbers[mine])

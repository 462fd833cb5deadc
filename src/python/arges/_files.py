"""Files: dense and sparse tensors of other programs, checkpoints."""

from __future__ import annotations

import os
from typing import Any, Sequence

import numpy as np

from . import _core
from ._keys import policy_number
from ._making import world_of
from ._places import _raise
from ._tensor import Tensor
from ._types import float64, type_number
from ._world import World, default_world


def read(
    path: str | os.PathLike[str],
    dtype: Any = None,
    *,
    index_base: int | None = None,
    shape: Sequence[int] | None = None,
    duplicates: str = "sum",
    world: World | None = None,
) -> Tensor:
    """Reads a tensor; what the file begins with tells its form, not its name. Every rank reads its part. Collective.

    Dense: .npy, or an HDF5 file with one dataset, or "file.h5:/group/name". Sparse: text (.tns, .tns.gz), MatrixMarket (.mtx), .atns, SPLATT's
    .bin. dtype: of the elements; that of a dense file, else float64. index_base: what the first index of text is called; found without.
    shape: expected of a sparse file; without, the largest indices. duplicates: what several values for an element
    mean: "refuse", "sum", "mean", "keep_first" or "keep_last".
    Raises InvalidArgument with the place for a file that is damaged, cut or something else; OutOfMemory if it does not fit.
    """
    own = world or default_world()
    number = own.agree(lambda: None if dtype is None else type_number(dtype))
    name = os.fspath(path)
    if _core.is_tensor_file(own._w, name):
        return Tensor._of(_core.read_tensor(own._w, name, number))
    base = own.agree(lambda: {None: 0, 0: 1, 1: 2}[index_base])
    policy = own.agree(lambda: policy_number(duplicates, in_file=True))
    handle, found = _core.read_sparse(own._w, name, type_number(float64) if number is None else number, base, list(shape or ()), policy)
    return Tensor._of(handle, joined=found["duplicates"] if duplicates == "sum" else 0)


def write(tensor: Tensor, path: str | os.PathLike[str], *, index_base: int = 1) -> None:
    """Writes a dense tensor as .npy, a sparse one in the form that the name asks for: .tns, .tns.gz, .mtx, .atns. Collective.

    The file appears under its name when it is complete, else not at all.
    """
    name = os.fspath(path)
    if tensor.is_sparse:
        _core.write_sparse(tensor._h, name, tensor.world.agree(lambda: {0: 1, 1: 2}[index_base]))
        return
    wrong = f"{name}: dense tensors are written as .npy, or into a checkpoint by save()"
    tensor.world.agree(lambda: None if name.endswith(".npy") else _raise(_core.InvalidArgument(wrong)))
    _core.write_npy(tensor._h, name)


def save(path: str | os.PathLike[str], **things: Any) -> None:
    """Writes a checkpoint: dense tensors, numbers, texts and lists of numbers by name, in one HDF5 file with checksums. Collective.

    A file that was there before stays whole until the new one is complete. ``save("state.h5", T2=T2, iteration=7)``
    """
    world = world_of(things.values())

    def prepare() -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
        tensors: list[tuple[str, Any]] = []
        values: list[tuple[str, Any]] = []
        for name, thing in things.items():
            if isinstance(thing, Tensor):
                tensors.append((name, thing._h))
            elif isinstance(thing, (np.ndarray, list, tuple)):
                values.append((name, [float(v) for v in thing]))
            elif isinstance(thing, (int, np.integer)):
                values.append((name, int(thing)))
            elif isinstance(thing, (float, str)):
                values.append((name, thing))
            else:
                raise TypeError(f"{name}: {type(thing).__name__} in a checkpoint; give tensors, numbers, texts and lists of numbers")
        return tensors, values

    tensors, values = world.agree(prepare)
    _core.save(world._w, os.fspath(path), tensors, values)


def load(path: str | os.PathLike[str], *, world: World | None = None) -> dict[str, Any]:
    """Reads all of a checkpoint, on any number of ranks: tensors and values by name. Collective.

    Raises InvalidArgument if the file is no checkpoint, or differs from its checksums.
    """
    tensors, values = _core.load((world or default_world())._w, os.fspath(path))
    return {**{name: Tensor._of(handle) for name, handle in tensors.items()}, **values}

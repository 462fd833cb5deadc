"""Random tensors."""

from __future__ import annotations

from typing import Any

from ._tensor import Tensor, zeros
from ._types import float64, int64
from ._world import World

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


__all__ = ["random"]

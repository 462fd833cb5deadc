"""What coupled-cluster methods are made of, for methods of one's own: blocks of integrals, DIIS, denominators, the solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from . import _core
from ._decompose import progress_shown
from ._tensor import Tensor
from ._world import World

Amplitudes = Mapping[str, Tensor]


def tensors_of(handles: Mapping[str, Any], world: World) -> dict[str, Tensor]:
    """Tensors of handles by name. Local."""
    return {name: Tensor._of(handle, world) for name, handle in handles.items()}


def _handles(tensors: Amplitudes) -> dict[str, Any]:
    for name, one in tensors.items():
        if not isinstance(one, Tensor):
            raise TypeError(f"{name}: {type(one).__name__} where a tensor is expected; make one by arges.tensor()")
    return {name: one._h for name, one in tensors.items()}


@dataclass
class Blocks:
    """Blocks of the integrals and of the Fock matrix as tensors, over semicanonical orbitals; ``H["oovv"]`` or ``H.oovv``.

    Of spin_integrals(): antisymmetrised <pq||rs> named by what their indices count, o for occupied and v for virtual spin orbitals: oovv, oooo,
    ooov, ovvo, ovvv, vvvv; f_oo, f_ov, f_vv. An index counts all alpha orbitals, then all beta ones.
    Of spatial_integrals(), closed shells: V(abij) = (ai|bj), L(abij) = 2 (ai|bj) - (bi|aj), M(abij) = 2 (ai|bj) - (ab|ij), J(abij) = (ab|ij),
    K(ijka) = (ij|ka), N(ijka) = 2 (ij|ka) - (kj|ia); f_oo, f_ov, f_vv; and of <pq|rs> the halves that are symmetric and antisymmetric in pairs:
    oovv_plus, oovv_minus, oooo_plus, ..., ovvv, vvvv.
    """

    e_hf: float  #: total energy of the reference
    occupied: list[float]  #: orbital energies, in the order of the index
    virtuals: list[float]  #: likewise of virtual orbitals
    tensors: dict[str, Tensor] = field(repr=False)  #: by name
    first_order: dict[str, Tensor] = field(repr=False)  #: T1(ai) and T2(abij) of first order, whose energy is that of MP2

    def __getitem__(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise _core.InvalidArgument(f"no block {name!r}; there are {', '.join(self.tensors)}")
        return self.tensors[name]

    def __getattr__(self, name: str) -> Tensor:
        if name.startswith("_") or name not in self.tensors:
            raise AttributeError(f"no block {name!r}")
        return self.tensors[name]

    def divide_by_denominators(self, residual: Tensor) -> None:
        """Divides R(ab..ij..) by e_i + e_j + ... - e_a - e_b - ..., in place. Local."""
        divide_by_denominators(residual, self.occupied, self.virtuals)


def divide_by_denominators(residual: Tensor, occupied: list[float], virtuals: list[float]) -> None:
    """Divides R(ab..ij..), virtual indices first, by e_i + e_j + ... - e_a - e_b - ..., in place. Local.

    Raises InvalidArgument if there is not one energy for each index.
    """
    _core.divide_by_denominators(residual._h, list(occupied), list(virtuals))


class Diis:
    """Direct inversion in the iterative subspace (Pulay, 1980), over several tensors together. vectors: how many iterates are kept."""

    def __init__(self, vectors: int = 8) -> None:
        self._diis = _core.Diis(vectors)

    def extrapolate(self, iterate: Amplitudes, error: Amplitudes) -> dict[str, Tensor]:
        """Adds an iterate and its error, which are not changed; returns the best combination of those that are kept. Collective."""
        world = next(iter(iterate.values())).world
        return tensors_of(self._diis.extrapolate(_handles(iterate), _handles(error)), world)


@dataclass
class Solution:
    """Converged amplitudes."""

    e_corr: float  #: correlation energy
    amplitudes: dict[str, Tensor] = field(repr=False)  #: of the names of the start
    iterations: int  #: evaluations of the residuals


def solve_amplitudes(
    integrals: Blocks,
    residuals: Callable[[dict[str, Tensor]], Amplitudes],
    energy: Callable[[dict[str, Tensor]], Any],
    *,
    start: Amplitudes | None = None,
    name: str = "amplitudes",
    max_iterations: int = 100,
    tolerance: float = 1e-8,
    diis_vectors: int = 8,
    progress: Callable[[dict[str, Any]], None] | bool | None = None,
) -> Solution:
    """Amplitudes whose residuals are zero, by quasi-Newton steps (division by denominators) with DIIS. Collective.

    residuals: of a dict of amplitudes, tensors of the same names; energy: their correlation energy, a number. Both are called on every rank and
    must not differ. start: None for integrals.first_order. Raises NotConverged; InvalidArgument for residuals that do not fit.
    """
    first = integrals.first_order if start is None else start
    if not first:
        raise _core.InvalidArgument("solve_amplitudes: there are no amplitudes to start from")
    world = next(iter(first.values())).world
    with progress_shown(progress, name, world.rank) as shown:
        e_corr, found, iterations = _core.solve_amplitudes(
            world._w, name,
            (lambda t: _handles(residuals(tensors_of(t, world))), lambda t: float(energy(tensors_of(t, world)))),
            _handles(first), (list(integrals.occupied), list(integrals.virtuals)), (max_iterations, tolerance, diis_vectors), shown,
        )  # fmt: skip
    return Solution(e_corr, tensors_of(found, world), iterations)

"""Coupled cluster from mean-field objects of PySCF, from integrals in memory, or from files.

``arges.cc.rccsd(mf)`` after ``mf = pyscf.scf.RHF(mol).run()``. All ranks call it; ``mf`` is the same on all, e.g. because every rank has run the
mean field. Energies are in hartree.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from . import _core
from ._decompose import progress_shown, table
from ._world import World, default_world


@dataclass
class Energies:
    """What a calculation has found."""

    e_hf: float  #: total energy of the reference
    e_corr: float  #: correlation energy of the method that was asked for
    correlation: dict[str, float]  #: correlation energies by method, those on the way too: "mp2", "ccsd", "ccsd(t)", ...
    report: dict[str, Any] = field(default_factory=dict, repr=False)  #: iterations, seconds, forecast_seconds, memory and its forecast

    @property
    def e_tot(self) -> float:
        """Total energy."""
        return self.e_hf + self.e_corr

    def _repr_html_(self) -> str:
        rows = {"reference": self.e_hf, **{f"{name} correlation": e for name, e in self.correlation.items()}, "total": self.e_tot}
        return table({name: f"{energy:.10f}" for name, energy in rows.items()})


@dataclass
class Forecast:
    """What a calculation will take, per rank."""

    method: str
    ranks: int
    memory_bytes: int  #: the most that a rank holds at once
    seconds: dict[str, float]  #: of "preparation", an "iteration", "triples"

    def _repr_html_(self) -> str:
        rows = {"method": self.method, "ranks": self.ranks, "memory of a rank": f"{self.memory_bytes:,} bytes"}
        return table(rows | {name: f"{seconds:.3g} s" for name, seconds in self.seconds.items() if seconds > 0})


@dataclass
class Integrals:
    """A Hamiltonian over real orthonormal orbitals, occupied ones first. Energies in hartree.

    h: (n, n). eri: (pq|rs) in chemists' notation, of any of the forms n x n x n x n, pairs x pairs, or packed (8-fold).
    Unrestricted: h_beta, eri_beta (all beta), and eri_mixed with pq alpha and rs beta (pairs x pairs or n x n x n x n).
    """

    core_energy: float
    h: np.ndarray
    eri: np.ndarray
    electrons: int
    ms2: int = 0
    h_beta: np.ndarray | None = None
    eri_beta: np.ndarray | None = None
    eri_mixed: np.ndarray | None = None


def _pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.tril_indices(n)


def _packed_one(h: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    p, q = _pairs(n)
    return np.ascontiguousarray(p + n * q, dtype=np.int64), np.ascontiguousarray(np.asarray(h)[p, q], dtype=np.float64)


def _packed_two(eri: np.ndarray, n: int, is_joint: bool) -> tuple[np.ndarray, np.ndarray]:
    """Keys and values of one element of each orbit: of 8 elements, or of 4 where pq and rs are of different spins."""
    p, q = _pairs(n)
    count = len(p)
    own = np.asarray(eri)
    if own.shape == (n,) * 4:
        own = own[p, q][:, p, q]
    if own.shape == (count, count):
        values = own[np.tril_indices(count)] if is_joint else own.ravel()
    elif is_joint and own.shape == (count * (count + 1) // 2,):
        values = own
    else:
        raise _core.InvalidArgument(f"two-electron integrals of shape {own.shape} over {n} orbitals; see Integrals")
    pair_key = p + n * q
    if is_joint:
        first, second = np.tril_indices(count)
        keys = pair_key[first] + n * n * pair_key[second]
    else:
        keys = (pair_key[:, None] + n * n * pair_key[None, :]).ravel()
    return np.ascontiguousarray(keys, dtype=np.int64), np.ascontiguousarray(values, dtype=np.float64)


def _given(integrals: Integrals) -> dict[str, Any]:
    n = np.asarray(integrals.h).shape[0]
    is_unrestricted = integrals.h_beta is not None
    given: dict[str, Any] = dict(
        orbitals=n, electrons=int(integrals.electrons), ms2=int(integrals.ms2), unrestricted=is_unrestricted,
        core_energy=float(integrals.core_energy), h=_packed_one(integrals.h, n), eri=_packed_two(integrals.eri, n, True),
    )  # fmt: skip
    if is_unrestricted:
        given.update(
            h_beta=_packed_one(integrals.h_beta, n), eri_beta=_packed_two(integrals.eri_beta, n, True),
            eri_mixed=_packed_two(integrals.eri_mixed, n, False),
        )  # fmt: skip
    return given


def integrals_of(mf: Any) -> Integrals:
    """The integrals over the orbitals of a mean field of PySCF: RHF, ROHF or UHF, in memory. Local."""
    if not all(hasattr(mf, name) for name in ("mol", "mo_coeff", "mo_occ", "get_hcore")):
        raise TypeError(f"{type(mf).__name__} where a mean field of PySCF, arges.cc.Integrals or the name of a file is expected")
    if mf.mo_coeff is None:
        raise _core.InvalidArgument("a mean field without orbitals; call its kernel() first")
    from pyscf import ao2mo

    mol = mf.mol
    hcore = mf.get_hcore()
    ms2 = mol.spin

    def ordered(coefficients: np.ndarray, occupation: np.ndarray) -> np.ndarray:
        return coefficients[:, np.argsort(-np.asarray(occupation), kind="stable")]

    def one(c: np.ndarray) -> np.ndarray:
        return c.T @ hcore @ c

    source = mf._eri if getattr(mf, "_eri", None) is not None else mol
    core = mf.energy_nuc()
    coefficients, occupation = np.asarray(mf.mo_coeff), np.asarray(mf.mo_occ)
    if np.iscomplexobj(coefficients):
        raise _core.Unsupported("complex orbitals; coupled cluster is over real ones")
    if coefficients.ndim == 3:
        a, b = (ordered(c, o) for c, o in zip(coefficients, occupation))
        mixed = ao2mo.general(source, (a, a, b, b), compact=True)
        return Integrals(core, one(a), ao2mo.kernel(source, a), mol.nelectron, ms2, one(b), ao2mo.kernel(source, b), mixed)
    c = ordered(coefficients, occupation)
    return Integrals(core, one(c), ao2mo.kernel(source, c), mol.nelectron, ms2)


def run(
    method: str,
    source: Any,
    *,
    frozen_core: int = 0,
    frozen_virtuals: int = 0,
    max_iterations: int = 100,
    tolerance: float = 1e-8,
    diis_vectors: int = 8,
    checkpoint: str | os.PathLike[str] = "",
    restart: bool = False,
    progress: Callable[[dict[str, Any]], None] | bool | None = None,
    world: World | None = None,
) -> Energies:
    """Correlation energies by a method: "mp2", "ccsd", "ccsd(t)", "rccsd", "rccsd(t)", "ccsdt" or "ccsdtq". Collective.

    source: a mean-field object of PySCF, Integrals, or the name of a file (FCIDUMP, TREXIO). Methods that begin with r are for closed shells,
    over spatial orbitals; others take any reference. frozen_core: doubly occupied orbitals of the lowest energies to leave out.
    tolerance: for the norm of the residuals, and the change of the energy. checkpoint: a file for amplitudes; restart: go on from it.
    progress: called on every rank after each iteration with a dict of number, energy, residual and seconds; None: a line on a terminal.
    Ctrl-C on any rank ends it on all.
    Raises InvalidArgument for integrals or orbitals that do not fit the method; NotConverged; OutOfMemory before the start.
    """
    own = world or default_world()
    options = own.agree(
        lambda: dict(
            method=str(method), max_iterations=int(max_iterations), tolerance=float(tolerance), diis_vectors=int(diis_vectors),
            frozen_core=int(frozen_core), frozen_virtuals=int(frozen_virtuals), checkpoint=os.fspath(checkpoint), restart=bool(restart),
        )
    )  # fmt: skip
    in_file = isinstance(source, (str, os.PathLike))
    given = None if in_file else own.agree(lambda: _given(source if isinstance(source, Integrals) else integrals_of(source)))
    with progress_shown(progress, method, own.rank) as shown:
        if in_file:
            found = _core.coupled_cluster_file(own._w, os.fspath(source), options, shown)
        else:
            found = _core.coupled_cluster(own._w, given, options, shown)
    energies = found.pop("energies")
    return Energies(found.pop("scf"), energies[method.lower()], energies, found)


def plan(
    method: str, orbitals: int, electrons: int, *, ms2: int = 0, unrestricted: bool = False, ranks: int = 1, world: World | None = None
) -> Forecast:
    """Memory and time that a calculation takes on any number of ranks, without integrals. Collective."""
    own = world or default_world()
    header = dict(orbitals=int(orbitals), electrons=int(electrons), ms2=int(ms2), unrestricted=bool(unrestricted))
    options = dict(
        method=method, max_iterations=100, tolerance=1e-8, diis_vectors=8, frozen_core=0, frozen_virtuals=0, checkpoint="", restart=False
    )
    found = _core.plan_coupled_cluster(own._w, header, options, int(ranks))
    return Forecast(method, found["ranks"], found["forecast_memory_bytes"], found["forecast_seconds"])


def mp2(source: Any, **options: Any) -> Energies:
    """MP2; options of run(). Collective."""
    return run("mp2", source, **options)


def rccsd(source: Any, **options: Any) -> Energies:
    """Closed-shell CCSD over spatial orbitals; options of run(). Collective."""
    return run("rccsd", source, **options)


def rccsd_t(source: Any, **options: Any) -> Energies:
    """Closed-shell CCSD(T) over spatial orbitals; options of run(). Collective."""
    return run("rccsd(t)", source, **options)


def ccsd(source: Any, **options: Any) -> Energies:
    """CCSD over spin orbitals, any reference; options of run(). Collective."""
    return run("ccsd", source, **options)


def ccsd_t(source: Any, **options: Any) -> Energies:
    """CCSD(T) over spin orbitals, any reference; options of run(). Collective."""
    return run("ccsd(t)", source, **options)


def ccsdt(source: Any, **options: Any) -> Energies:
    """CCSDT over spin orbitals; options of run(). Collective."""
    return run("ccsdt", source, **options)


def ccsdtq(source: Any, **options: Any) -> Energies:
    """CCSDTQ over spin orbitals; options of run(). Collective."""
    return run("ccsdtq", source, **options)

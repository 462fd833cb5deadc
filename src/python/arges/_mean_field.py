"""Integrals over the orbitals of a mean field of PySCF. All of this is local."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._hamiltonian import Integrals

#: The largest difference, in hartree, between the energy of a mean field and that of the determinant from its integrals.
ENERGY_TOLERANCE = 1e-6

#: By a class that PySCF's objects have among their bases: what they are, and what to give instead.
_REFUSED = {
    "GHF": ("orbitals that mix both spins", "run scf.RHF, scf.ROHF or scf.UHF of the molecule"),
    "DHF": ("orbitals of four components", "run scf.RHF, scf.ROHF or scf.UHF of the molecule, with .x2c() if it is to be relativistic"),
    "KohnShamDFT": ("orbitals of a density functional", "run scf.RHF, scf.ROHF or scf.UHF of the molecule; mf.to_hf() makes one that starts from these orbitals"),
}  # fmt: skip


def _refuse(mf: Any, what: str, cure: str) -> None:
    raise _core.Unsupported(f"{type(mf).__name__}: {what}; {cure}")


def check_mean_field(mf: Any, allow_unconverged: bool) -> None:
    """Raises TypeError for other than mean fields, Unsupported for those that coupled cluster is not for, InvalidArgument for unfinished ones."""
    bases = type(mf).__mro__
    names = {base.__name__ for base in bases}
    for name, (what, cure) in _REFUSED.items():
        if name in names:
            _refuse(mf, what, cure)
    if hasattr(mf, "_scf") and "SCF" not in names:
        _refuse(mf, "not a mean field, but made from one", "give that, ._scf, or a Hamiltonian over other orbitals as arges.cc.Integrals")
    if any(base.__module__.startswith("pyscf.pbc") for base in bases) or hasattr(mf, "kpts"):
        _refuse(mf, "a lattice", "coupled cluster is for molecules here: run the mean field of a molecule")
    if not all(hasattr(mf, name) for name in ("mol", "mo_coeff", "mo_occ", "get_hcore", "energy_nuc")):
        raise TypeError(f"{type(mf).__name__} where a mean field of PySCF, arges.cc.Integrals or the name of a file is expected")
    if mf.mo_coeff is None or mf.mo_occ is None:
        raise _core.InvalidArgument("a mean field without orbitals; call its kernel() first")
    if getattr(mf, "with_solvent", None) is not None:
        _refuse(mf, "a solvent", "its energy is not in the integrals: run the mean field without it")
    if getattr(mf, "with_df", None) and getattr(mf, "only_dfj", False):
        _refuse(mf, "Coulomb integrals are fitted and exchange integrals are not", "run the mean field with only_dfj=False, or without density_fit()")
    if not allow_unconverged and not getattr(mf, "converged", True):
        raise _core.InvalidArgument(
            "a mean field that has not converged; run it with more cycles (mf.max_cycle) or mf.newton(), or say allow_unconverged=True"
        )


def occupations(mf: Any) -> np.ndarray:
    """Occupied or not, of alpha and beta orbitals: 2 x n. Raises Unsupported for parts of electrons."""
    given = np.asarray(mf.mo_occ, dtype=float)
    whole = np.rint(given)
    if np.abs(given - whole).max(initial=0) > 1e-8 or whole.min(initial=0) < 0 or whole.max(initial=0) > (1 if given.ndim == 2 else 2):
        _refuse(mf, "orbitals that are occupied in part", "run it without smearing or fractional occupations, then its determinant has whole electrons")
    return whole > 0 if given.ndim == 2 else np.array([whole > 0, whole > 1])


def orbital_order(mf: Any) -> list[np.ndarray]:
    """For each set of orbitals (unrestricted ones have two) its columns, occupied ones first, then by energy."""
    occupied = occupations(mf)
    sets = list(occupied) if np.ndim(mf.mo_occ) == 2 else [occupied.sum(axis=0)]
    energies = np.asarray(getattr(mf, "mo_energy", None), dtype=float) if getattr(mf, "mo_energy", None) is not None else None
    result = []
    for k, own in enumerate(sets):
        key = np.zeros(len(own))
        if energies is not None:
            given = energies[k] if energies.ndim == 2 else energies
            key = given if given.shape == own.shape else key
        result.append(np.lexsort((key, -own.astype(int))))
    return result


def _two_electron(mf: Any, *orbitals: np.ndarray) -> np.ndarray:
    """(pq|rs) over two sets of orbitals, pairs x pairs: of what the mean field itself goes by."""
    from pyscf import ao2mo  # type: ignore[import-untyped]  # PySCF has no types

    four = (orbitals[0], orbitals[0], orbitals[-1], orbitals[-1])
    fitted = getattr(mf, "with_df", None)
    if fitted:
        return np.asarray(fitted.ao2mo(four, compact=True))
    own = getattr(mf, "_eri", None)
    source = mf.mol if own is None else own
    return np.asarray(ao2mo.kernel(source, four[0]) if len(orbitals) == 1 else ao2mo.general(source, four, compact=True))


def integrals_of(mf: Any, *, allow_unconverged: bool = False) -> Integrals:
    """The integrals over the orbitals of a mean field of PySCF: RHF, ROHF or UHF, in memory; occupied orbitals first, then by energy. Local.

    All is taken from the mean field, nothing from its molecule: get_hcore(), energy_nuc(), mo_coeff, mo_occ, and the two-electron integrals
    that it was made with (with_df where it is density-fitted, else _eri). allow_unconverged: takes one that has not converged.
    Raises InvalidArgument if the energy from the integrals is not e_tot, Unsupported for other kinds of states, both with the cure.
    """
    check_mean_field(mf, allow_unconverged)
    if np.iscomplexobj(mf.mo_coeff):
        raise _core.Unsupported("complex orbitals; coupled cluster is over real ones")
    coefficients = np.asarray(mf.mo_coeff)
    occupied = occupations(mf)
    if coefficients.ndim != np.ndim(mf.mo_occ) + 1:
        raise _core.InvalidArgument(f"mo_coeff of shape {coefficients.shape} and mo_occ of shape {np.shape(mf.mo_occ)} do not belong together")
    sets = coefficients if coefficients.ndim == 3 else coefficients[None]
    a, *beta = (c[:, order] for c, order in zip(sets, orbital_order(mf)))
    hcore = np.asarray(mf.get_hcore())
    alpha_count, beta_count = (int(own.sum()) for own in occupied)
    found = Integrals(float(mf.energy_nuc()), a.T @ hcore @ a, _two_electron(mf, a), alpha_count + beta_count, alpha_count - beta_count)
    for b in beta:
        found.h_beta, found.eri_beta, found.eri_mixed = b.T @ hcore @ b, _two_electron(mf, b), _two_electron(mf, a, b)
    _check_energy(mf, found)
    return found


def _check_energy(mf: Any, found: Integrals) -> None:
    """Is the energy of the determinant from the integrals that of the mean field?"""
    energy, own = found.energy(), getattr(mf, "e_tot", None)
    if own is None or not abs(energy - own) <= ENERGY_TOLERANCE:
        raise _core.InvalidArgument(
            f"the integrals of the mean field give its determinant the energy {energy:.8f}, but e_tot is {own}: what else is in e_tot (a "
            "correction, a field that is not in get_hcore() or energy_nuc(), another get_veff()) cannot be correlated, run the mean field without "
            "it; if orbitals or occupations were changed after the calculation on purpose, set mf.e_tot = mf.energy_tot()"
        )

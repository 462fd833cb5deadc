"""What coupled cluster takes from a mean field, and what it refuses: random Hamiltonians as mean fields, one for each rank."""

import os

import numpy as np
import pytest
from conftest import seeds, warns_once

import arges

pyscf = pytest.importorskip("pyscf")
from pyscf import ao2mo, cc, gto, mcscf, scf  # noqa: E402

WATER = "O 0 0 0; H 0 0.757 0.587; H 0 -0.757 0.587"


def hamiltonian(rng, n):
    """h and (pq|rs) with the symmetry of real orbitals; orbital energies far apart, so that any determinant of the lowest is a reference."""
    h = rng.uniform(-0.05, 0.05, (n, n))
    h = h + h.T + np.diag(np.arange(n) - 0.5 * n)
    part = rng.uniform(-0.03, 0.03, (n,) * 4)
    part = part + part.transpose(1, 0, 2, 3)
    part = part + part.transpose(0, 1, 3, 2)
    return h, part + part.transpose(2, 3, 0, 1)


class Molecule:
    """Knows nothing of its electrons: all is asked of the mean field."""

    nelectron = 2
    spin = 0


class MeanField:
    """A determinant of any orthonormal orbitals in a basis, as PySCF's mean fields show it."""

    def __init__(self, h, eri, mo_coeff, mo_occ, core=0.7):
        self.mol, self._h, self._eri, self._core = Molecule(), h, ao2mo.restore(8, eri, len(h)), core
        self.mo_coeff, self.mo_occ, self.converged = mo_coeff, np.asarray(mo_occ, dtype=float), True
        self.e_tot = self.energy(h, eri)

    def get_hcore(self):
        return self._h

    def energy_nuc(self):
        return self._core

    def energy(self, h, eri):
        orbitals = self.mo_coeff if np.ndim(self.mo_occ) == 2 else [self.mo_coeff] * 2
        occupied = self.mo_occ > 0 if np.ndim(self.mo_occ) == 2 else [self.mo_occ > 0, self.mo_occ > 1]
        densities = [c[:, o] @ c[:, o].T for c, o in zip(orbitals, occupied)]
        total = sum(densities)
        energy = self._core + np.sum(total * h) + 0.5 * np.einsum("pqrs,pq,rs", eri, total, total)
        return energy - 0.5 * sum(np.einsum("pqrs,ps,rq", eri, d, d) for d in densities)


def rotated(rng, n):
    return np.linalg.qr(rng.uniform(-1, 1, (n, n)))[0]


def fock_orbitals(h, eri, counts):
    """Self-consistent orbitals of each spin for so many electrons."""
    densities = [np.diag((np.arange(len(h)) < count).astype(float)) for count in counts]
    for _ in range(300):
        total, coefficients = sum(densities), []
        for d, count in zip(densities, counts):
            fock = h + np.einsum("pqrs,rs->pq", eri, total) - np.einsum("psrq,rs->pq", eri, d)
            coefficients.append(np.linalg.eigh(fock)[1])
        densities = [c[:, :count] @ c[:, :count].T for c, count in zip(coefficients, counts)]
    return coefficients


def own_orbitals(world, rng, c, occupied):
    """The same determinant as each rank may have it: other signs, occupied and virtual orbitals mixed among themselves."""
    mine = np.random.default_rng(100 * world.rank + int(rng.integers(1000)))
    c = c * mine.choice([-1.0, 1.0], c.shape[1])
    for own in (np.flatnonzero(occupied), np.flatnonzero(~occupied)):
        c[:, own] = c[:, own] @ rotated(mine, len(own))
    return c


@seeds()
def test_orbitals_that_differ_between_ranks(world, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 7))
    counts = (int(rng.integers(1, n)),) * 2 if seed % 2 else (int(rng.integers(2, n)), int(rng.integers(1, n - 1)))
    h, eri = hamiltonian(rng, n)
    basis = rotated(rng, n)
    coefficients = fock_orbitals(h, eri, counts)
    occupied = [np.arange(n) < count for count in counts]
    h, eri = basis @ h @ basis.T, np.einsum("ap,bq,cr,ds,pqrs->abcd", basis, basis, basis, basis, eri, optimize=True)
    coefficients = [basis @ c for c in coefficients]
    shuffled = rng.permutation(n)

    def made(change):
        both = [change(c, o)[:, shuffled] for c, o in zip(coefficients, occupied)]
        occupations = [o[shuffled].astype(float) for o in occupied]
        if seed % 2:
            return MeanField(h, eri, both[0], 2 * occupations[0])
        return MeanField(h, eri, np.array(both), np.array(occupations))

    method = "ccsd" if seed < 2 and world.size < 3 else "mp2"
    expected = arges.cc.run(method, made(lambda c, o: c) if world.rank == 0 else None, tolerance=1e-9)
    found = arges.cc.run(method, made(lambda c, o: own_orbitals(world, rng, c, o)), tolerance=1e-9)
    assert abs(found.e_hf - expected.e_hf) < 1e-8 and abs(found.e_corr - expected.e_corr) < 1e-7
    given = arges.cc.integrals_of(made(lambda c, o: own_orbitals(world, rng, c, o)))
    assert abs(arges.cc.run("mp2", given).e_tot - expected.e_hf - expected.correlation["mp2"]) < 1e-7
    assert abs(given.energy() - expected.e_hf) < 1e-8


def other_on_last(world, a, b):
    return b if world.size > 1 and world.rank == world.size - 1 else a


def test_sources_and_options_that_differ(world):
    rng = np.random.default_rng(5)
    h, eri = hamiltonian(rng, 4)
    near = MeanField(h, eri, np.eye(4), [2, 2, 0, 0])
    far = MeanField(1.01 * h, eri, np.eye(4), [2, 2, 0, 0])
    if world.size > 1:
        with pytest.raises(arges.InvalidArgument, match="first rank gives"):
            arges.cc.ccsd(other_on_last(world, near, far))
        with pytest.raises(arges.InvalidArgument, match="first rank gives"):
            arges.cc.ccsd(other_on_last(world, arges.cc.integrals_of(near), arges.cc.integrals_of(far)))
        with pytest.raises(arges.InvalidArgument, match="first rank gives"):
            arges.cc.ccsd(other_on_last(world, near, "file.fcidump"))
        with pytest.raises(TypeError, match="int where a mean field"):
            arges.cc.ccsd(other_on_last(world, near, 3))
        for name, values in (("tolerance", (1e-8, 1e-7)), ("frozen_core", (0, 1)), ("max_iterations", (50, 51)), ("frozen_virtuals", ([3], [2])),
                             ("keep_amplitudes", (False, True)), ("diis_vectors", (8, 0)), ("checkpoint", ("a.h5", "b.h5"))):  # fmt: skip
            with pytest.raises(arges.InvalidArgument, match=f"{name} is .* on the first rank"):
                arges.cc.ccsd(near, **{name: other_on_last(world, *values)})
        with pytest.raises(arges.InvalidArgument, match="method is"):
            arges.cc.run(other_on_last(world, "ccsd", "rccsd"), near)
        with pytest.raises(arges.InvalidArgument, match="electrons is"):
            arges.cc.plan("ccsd", 20, other_on_last(world, 4, 6))
    with pytest.raises(arges.InvalidArgument, match="first rank gives None"):
        arges.cc.ccsd(None if world.rank == 0 else near)


@seeds(6)
def test_frozen_orbitals_by_list(world, seed):
    rng = np.random.default_rng(seed)
    n = 6
    h, eri = hamiltonian(rng, n)
    open_shell = seed % 3 == 2
    counts = (3, 2) if open_shell else (3, 3)
    c = fock_orbitals(h, eri, counts)
    core, virtuals = [int(rng.integers(2))], [int(rng.integers(3, n))]
    if open_shell:
        mf = MeanField(h, eri, np.array(c), np.array([np.arange(n) < count for count in counts], dtype=float))
    else:
        mf = MeanField(h, eri, c[0], 2.0 * (np.arange(n) < 3))
    integrals = arges.cc.integrals_of(mf)
    found = [arges.cc.mp2(source, frozen_core=core, frozen_virtuals=virtuals).e_tot for source in (mf, integrals)]
    if seed % 2:
        integrals.eri = ao2mo.restore(8, integrals.eri, n)
        found.append(arges.cc.mp2(integrals, frozen_core=core, frozen_virtuals=virtuals).e_tot)
    order = core + [p for p in range(n) if p not in core + virtuals] + virtuals
    if open_shell:
        mf.mo_coeff = mf.mo_coeff[:, :, order]
        mf.mo_occ = mf.mo_occ[:, order]
    else:
        mf.mo_coeff, mf.mo_occ = mf.mo_coeff[:, order], mf.mo_occ[order]
    found.append(arges.cc.mp2(mf, frozen_core=1, frozen_virtuals=1).e_tot)
    assert max(found) - min(found) < 1e-8
    with pytest.raises(arges.InvalidArgument, match="not occupied by two"):
        arges.cc.ccsd(mf, frozen_core=[4])
    with pytest.raises(arges.InvalidArgument, match="not empty"):
        arges.cc.ccsd(mf, frozen_virtuals=[0])


def test_frozen_core_of_a_molecule(world):
    mf = scf.RHF(gto.M(atom=WATER, basis="sto-3g", verbose=0)).run(conv_tol=1e-12)
    one = arges.cc.mp2(mf, frozen_core=1).e_corr
    automatic = arges.cc.mp2(mf, frozen_core="auto")
    listed = arges.cc.mp2(mf, frozen_core=[0])
    assert max(abs(found.e_corr - one) for found in (automatic, listed)) < 1e-9 and automatic.report["frozen_core"] == 1
    for wrong, error in ((1.7, TypeError), (True, TypeError), ([0.5], TypeError), ("all", ValueError), (-1, ValueError), ([0, 0], ValueError), (99, ValueError)):
        with pytest.raises(error, match="frozen"):
            arges.cc.rccsd(mf, frozen_core=wrong)
    own = cc.CCSD(mf, frozen=[1, 6])
    own.conv_tol, own.conv_tol_normt = 1e-11, 1e-8
    expected = world.from_first(lambda: float(own.run().e_corr))
    assert abs(arges.cc.rccsd(mf, frozen_core=[1], frozen_virtuals=[6], tolerance=1e-9).e_corr - expected) < 1e-8


def test_state_comes_from_the_mean_field(world):
    oxygen = gto.M(atom="O 0 0 0; O 0 0 1.2", basis="sto-3g", spin=0, verbose=0)
    mf = scf.UHF(oxygen)
    mf.nelec, mf.conv_tol = (9, 7), 1e-12
    mf.kernel()
    found = arges.cc.mp2(mf)
    assert abs(found.e_hf - mf.e_tot) < 1e-8 and abs(mf.e_tot + 147.6335) < 1e-3
    water = gto.M(atom=WATER, basis="sto-3g", verbose=0)
    fitted = scf.RHF(water).density_fit().run(conv_tol=1e-12)
    own = cc.CCSD(fitted)
    own.conv_tol, own.conv_tol_normt = 1e-11, 1e-8
    expected = world.from_first(lambda: float(own.run().e_corr))
    found = arges.cc.rccsd(fitted, tolerance=1e-9)
    assert abs(found.e_hf - fitted.e_tot) < 1e-8 and abs(found.e_corr - expected) < 1e-8
    field = scf.RHF(water)
    hcore = field.get_hcore() + 0.1 * water.intor("int1e_r")[2]
    field.get_hcore = lambda *_: hcore
    field.run(conv_tol=1e-12)
    assert abs(arges.cc.mp2(field).e_hf - field.e_tot) < 1e-8


def test_other_states_are_refused():
    water = gto.M(atom=WATER, basis="sto-3g", verbose=0)
    mf = scf.RHF(water).run(conv_tol=1e-12)
    with pytest.raises(arges.Unsupported, match="GHF.*scf.UHF"):
        arges.cc.ccsd(scf.GHF(water).run())
    with pytest.raises(arges.Unsupported, match="_scf"):
        arges.cc.ccsd(mcscf.CASSCF(mf, 2, 2))
    with pytest.raises(arges.Unsupported, match="_scf"):
        arges.cc.ccsd(cc.CCSD(mf))
    with pytest.raises(arges.Unsupported, match="functional.*to_hf"):
        arges.cc.ccsd(water.RKS(xc="lda,vwn").run(max_cycle=2))
    with pytest.raises(arges.Unsupported, match="in part"):
        arges.cc.ccsd(mf.smearing(0.3).run())
    with pytest.raises(arges.Unsupported, match="solvent"):
        arges.cc.ccsd(mf.ddCOSMO())
    rough = scf.RHF(water).run(max_cycle=2)
    with pytest.raises(arges.InvalidArgument, match="allow_unconverged"):
        arges.cc.rccsd(rough)
    assert abs(arges.cc.mp2(rough, allow_unconverged=True).e_hf - rough.e_tot) < 1e-8
    mf.e_tot += 2e-6
    with pytest.raises(arges.InvalidArgument, match="energy_tot"):
        arges.cc.rccsd(mf)
    mf.e_tot -= 2e-6
    assert abs(arges.cc.mp2(mf.newton().run()).e_hf - mf.e_tot) < 1e-8


def test_integrals_without_symmetry_are_refused():
    h, eri = hamiltonian(np.random.default_rng(1), 4)
    arges.cc.mp2(arges.cc.Integrals(0, h, eri, 4))
    for change in ("h", "eri"):
        given = arges.cc.Integrals(0, h.copy(), eri.copy(), 4)
        getattr(given, change)[(0, 1) if change == "h" else (0, 1, 2, 3)] += 1e-3
        with pytest.raises(arges.InvalidArgument, match="equal by symmetry"):
            arges.cc.ccsd(given)
    pairs = ao2mo.restore(4, eri, 4)
    pairs[0, 1] += 1e-3
    with pytest.raises(arges.InvalidArgument, match="equal by symmetry"):
        arges.cc.ccsd(arges.cc.Integrals(0, h, pairs, 4))
    with pytest.raises(arges.InvalidArgument, match="finite"):
        arges.cc.ccsd(arges.cc.Integrals(0, h, np.nan * ao2mo.restore(8, eri, 4), 4))
    with pytest.raises(arges.InvalidArgument, match="do not fit"):
        arges.cc.ccsd(arges.cc.Integrals(0, h, eri, 5))


def shared_folder(world, tmp_path):
    return world.from_first(lambda: os.fspath(tmp_path))


def test_amplitudes(world, tmp_path):
    mf = scf.RHF(gto.M(atom=WATER, basis="sto-3g", verbose=0)).run(conv_tol=1e-12)
    own = cc.CCSD(mf)
    own.conv_tol, own.conv_tol_normt = 1e-12, 1e-9
    own.run()
    found = arges.cc.rccsd_t(mf, tolerance=1e-9, keep_amplitudes=True)
    t1, t2 = found.t1, found.t2
    if world.rank == 0:
        assert np.abs(t1 - own.t1).max() < 1e-7 and np.abs(t2 - own.t2).max() < 1e-7
    again = arges.cc.rccsd(mf, tolerance=1e-7, start=found)
    assert again.report["iterations"] <= 2 and abs(again.e_corr - found.correlation["rccsd"]) < 1e-8
    arrays = {"T1": t1.T, "T2": t2.transpose(2, 3, 0, 1)}
    assert arges.cc.rccsd(mf, tolerance=1e-7, start=arrays).report["iterations"] <= 2
    longer = scf.RHF(gto.M(atom=WATER.replace("0.757", "0.77"), basis="sto-3g", verbose=0)).run(conv_tol=1e-12)
    next_one = arges.cc.rccsd(longer, tolerance=1e-9, start=found)
    expected = cc.CCSD(longer)
    expected.conv_tol, expected.conv_tol_normt = 1e-11, 1e-8
    expected = world.from_first(lambda: float(expected.run().e_corr))
    assert abs(next_one.e_corr - expected) < 1e-8
    with pytest.raises(arges.InvalidArgument, match="keep_amplitudes"):
        next_one.t1
    with pytest.raises(arges.InvalidArgument, match="keep_amplitudes"):
        arges.cc.rccsd(mf, start=next_one)
    with pytest.raises(arges.InvalidArgument, match="the guess: T1"):
        arges.cc.rccsd(mf, start=found, frozen_core=1)
    path = shared_folder(world, tmp_path) + "/amplitudes.h5"
    with pytest.raises(arges.InvalidArgument, match="restart=True without checkpoint"):
        arges.cc.rccsd(mf, restart=True)
    with warns_once(world, "afresh"):
        arges.cc.rccsd(mf, checkpoint=path, restart=True, start=found)
    assert arges.cc.rccsd(mf, checkpoint=path, restart=True, tolerance=1e-7).report["iterations"] <= 2
    file = shared_folder(world, tmp_path) + "/water.fcidump"
    arges.cc.write_integrals(mf, file)
    assert abs(arges.cc.rccsd(file, start=found).e_tot - found.e_hf - found.correlation["rccsd"]) < 1e-8
    with pytest.raises(arges.InvalidArgument, match="not lists"):
        arges.cc.rccsd(file, frozen_core=[2])


def ccd(H):
    """Coupled cluster doubles over spin orbitals (Stanton et al., 1991, without t1): residuals and energy."""

    def residuals(amplitudes):
        t = amplitudes["T2"]
        F_ae, F_mi, W_mnij, W_mbej, R = (x.copy() for x in (H.f_vv, H.f_oo, H.oooo, H.ovvo, t))
        F_ae["ae"] -= 0.5 * t["afmn"] * H.oovv["mnef"]
        F_mi["mi"] += 0.5 * t["efin"] * H.oovv["mnef"]
        W_mnij["mnij"] += 0.5 * t["efij"] * H.oovv["mnef"]
        W_mbej["mbej"] -= 0.5 * t["fbjn"] * H.oovv["mnef"]
        R["abij"] = H.oovv["ijab"]
        R["abij"] += arges.antisymmetrized(t["aeij"] * F_ae["be"])
        R["abij"] -= arges.antisymmetrized(t["abim"] * F_mi["mj"])
        R["abij"] += 0.5 * t["abmn"] * W_mnij["mnij"]
        R["abij"] += 0.5 * t["efij"] * H.vvvv["abef"]
        R["abij"] += arges.antisymmetrized(t["aeim"] * W_mbej["mbej"])
        return {"T2": R}

    return residuals, lambda t: float((0.25 * H.oovv["ijab"] * t["T2"]["abij"]).sum())


def test_pieces_for_methods():
    mf = scf.RHF(gto.M(atom=WATER, basis="sto-3g", verbose=0)).run(conv_tol=1e-12)
    H = arges.cc.spin_integrals(mf)
    residuals, energy = ccd(H)
    start = {"T2": H.first_order["T2"]}
    mp2 = arges.cc.run("mp2", mf).e_corr
    assert abs(H.e_hf - mf.e_tot) < 1e-8 and abs(energy(start) - mp2) < 1e-9
    solution = arges.cc.solve_amplitudes(H, residuals, energy, start=start, name="ccd", tolerance=1e-9)
    t, diis = {"T2": start["T2"].copy()}, arges.cc.Diis(6)
    for _ in range(14):
        step = residuals(t)
        H.divide_by_denominators(step["T2"])
        t["T2"] += step["T2"]
        t = diis.extrapolate(t, step)
    assert abs(energy(t) - solution.e_corr) < 1e-7 and abs(energy(start) - mp2) < 1e-9
    S = arges.cc.spatial_integrals(mf, frozen_core=1)
    t = S.first_order["T2"]
    assert abs(float((S.L["abij"] * t["abij"]).sum()) - arges.cc.run("mp2", mf, frozen_core=1).e_corr) < 1e-9
    with pytest.raises(arges.InvalidArgument, match="no block"):
        H["vooo"]

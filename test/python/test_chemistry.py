"""Coupled cluster from PySCF's mean fields: energies beside PySCF's own."""

import numpy as np
import pytest
from conftest import close

import arges

pyscf = pytest.importorskip("pyscf")
from pyscf import cc, fci, gto, mp, scf  # noqa: E402

MOLECULES = {
    "water": ("O 0 0 0; H 0 0.757 0.587; H 0 -0.757 0.587", "6-31g", 0),
    "nitrogen": ("N 0 0 0; N 0 0 1.1", "6-31g", 0),
    "lithium hydride": ("Li 0 0 0; H 0 0 1.6", "6-31g", 0),
    "hydrogen fluoride": ("H 0 0 0; F 0 0 0.92", "cc-pvdz", 0),
    "beryllium": ("Be 0 0 0", "cc-pvdz", 0),
}


def mean_field(atoms, basis, spin, kind=scf.RHF):
    mol = gto.M(atom=atoms, basis=basis, spin=spin, verbose=0)
    return kind(mol).run(conv_tol=1e-13, conv_tol_grad=1e-9)


@pytest.mark.parametrize("name", MOLECULES)
def test_closed_shells(name):
    mf = mean_field(*MOLECULES[name])
    own = cc.CCSD(mf)
    own.conv_tol, own.conv_tol_normt = 1e-12, 1e-9
    own.run()
    found = arges.cc.rccsd_t(mf, tolerance=1e-10)
    close(found.e_hf, mf.e_tot)
    assert abs(found.correlation["mp2"] - mp.MP2(mf).run().e_corr) < 1e-9
    assert abs(found.correlation["rccsd"] - own.e_corr) < 1e-9
    assert abs(found.e_corr - own.e_corr - own.ccsd_t()) < 1e-9
    assert abs(found.e_tot - own.e_tot - own.ccsd_t()) < 1e-9
    assert "<table" in found._repr_html_() and found.report["forecast_memory_bytes"] > 0


def test_open_shells():
    mf = mean_field("O 0 0 0; O 0 0 1.2", "6-31g", 2, scf.UHF)
    own = cc.UCCSD(mf)
    own.conv_tol, own.conv_tol_normt = 1e-12, 1e-9
    own.run()
    found = arges.cc.ccsd_t(mf, tolerance=1e-10)
    close(found.e_hf, mf.e_tot)
    assert abs(found.correlation["ccsd"] - own.e_corr) < 1e-9
    assert abs(found.e_corr - own.e_corr - own.ccsd_t()) < 1e-9


def test_frozen_orbitals_and_full_ci():
    mf = mean_field("Li 0 0 0; H 0 0 1.6", "sto-3g", 0)
    own = cc.CCSD(mf, frozen=1)
    own.conv_tol, own.conv_tol_normt = 1e-12, 1e-9
    assert abs(arges.cc.rccsd(mf, frozen_core=1, tolerance=1e-10).e_corr - own.run().e_corr) < 1e-9
    assert abs(arges.cc.ccsdtq(mf, tolerance=1e-10).e_tot - fci.FCI(mf).kernel()[0]) < 1e-8


def test_integrals_in_memory():
    mf = mean_field(*MOLECULES["lithium hydride"])
    expected = arges.cc.rccsd(mf).e_corr
    own = arges.cc.integrals_of(mf)
    from pyscf import ao2mo

    n = own.h.shape[0]
    for form in (1, 4, 8):
        own.eri = ao2mo.restore(form, own.eri, n)
        assert abs(arges.cc.rccsd(own).e_corr - expected) < 1e-10
    with pytest.raises(arges.InvalidArgument, match="two-electron"):
        own.eri = np.zeros((3, 3))
        arges.cc.rccsd(own)


def test_errors_progress_and_plans():
    mf = mean_field(*MOLECULES["water"])
    seen = []
    with pytest.raises(arges.NotConverged):
        arges.cc.rccsd(mf, max_iterations=2, progress=seen.append)
    assert [now["number"] for now in seen] == [1, 2]
    with pytest.raises(arges.InvalidArgument, match="unknown method"):
        arges.cc.run("ccsdtq5", mf)
    with pytest.raises(arges.InvalidArgument, match="missing"):
        arges.cc.rccsd("missing.fcidump")
    plan = arges.cc.plan("rccsd", 120, 20, ranks=64)
    assert plan.memory_bytes > 0 and plan.seconds["iteration"] > 0 and plan.ranks == 64 and "bytes" in plan._repr_html_()
    with pytest.raises(TypeError, match="mean field of PySCF"):
        arges.cc.rccsd(3)
    with pytest.raises(arges.InvalidArgument, match="kernel"):
        arges.cc.rccsd(scf.RHF(mf.mol))

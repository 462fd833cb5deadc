"""CCSD(T) of water from a mean field of PySCF, without a file between, beside PySCF's own."""

import arges

try:
    from pyscf import cc, gto, scf
except ImportError:
    raise SystemExit("this example needs PySCF: pip install pyscf")

molecule = gto.M(atom="O 0 0 0; H 0 0.757 0.587; H 0 -0.757 0.587", basis="cc-pvdz", verbose=0)
mf = scf.RHF(molecule).run(conv_tol=1e-12)

forecast = arges.cc.plan("rccsd(t)", orbitals=mf.mo_coeff.shape[1], electrons=molecule.nelectron, ranks=16)
found = arges.cc.rccsd_t(mf, frozen_core=1)

own = cc.CCSD(mf, frozen=1)
own.conv_tol = 1e-10
own.run()
reference = own.e_tot + own.ccsd_t()
if arges.default_world().rank == 0:
    print(f"on 16 ranks each would need {forecast.memory_bytes / 1e6:.1f} MB")
    print(f"CCSD(T) {found.e_tot:.9f} hartree, PySCF {reference:.9f}, {found.report['iterations']} iterations")
assert abs(found.e_tot - reference) < 1e-7

"""RCCSD and (T) of a chain of water molecules beside PySCF's own: energies, and seconds of an iteration and of (T).

Usage: rccsd.py [MOLECULES]; four have 96 orbitals in cc-pVDZ. OMP_NUM_THREADS sets the threads of both.
"""

import sys
import time

from pyscf import cc, gto, lib, scf

import arges

count = int(sys.argv[1]) if len(sys.argv) > 1 else 4
atoms = "; ".join(f"O 0 0 {2.9 * i}; H 0 0.757 {2.9 * i + 0.587}; H 0 -0.757 {2.9 * i + 0.587}" for i in range(count))
mf = scf.RHF(gto.M(atom=atoms, basis="cc-pvdz", verbose=0)).run(conv_tol=1e-12)
orbitals, electrons = mf.mo_coeff.shape[1], mf.mol.nelectron
print(f"{orbitals} orbitals, {electrons // 2} occupied, {lib.num_threads()} threads, {arges.default_world().size} ranks")

own = cc.CCSD(mf)
own.conv_tol, own.conv_tol_normt = 1e-8, 1e-6
marks = []
update = own.update_amps


def timed(*arguments):
    start = time.perf_counter()
    result = update(*arguments)
    marks.append(time.perf_counter() - start)
    return result


own.update_amps = timed
start = time.perf_counter()
own.run()
pyscf_all = time.perf_counter() - start
start = time.perf_counter()
triples = own.ccsd_t()
pyscf_triples = time.perf_counter() - start

start = time.perf_counter()
found = arges.cc.rccsd_t(mf, tolerance=1e-6, progress=False)
arges_all = time.perf_counter() - start
seconds = found.report["seconds"]
print(f"CCSD    {found.correlation['rccsd']:.9f}  PySCF {own.e_corr:.9f}")
print(f"CCSD(T) {found.e_corr:.9f}  PySCF {own.e_corr + triples:.9f}")
print(f"{'':24s} {'arges':>9s} {'PySCF':>9s}")
print(f"{'an iteration, s':24s} {seconds['iteration']:9.3f} {sorted(marks)[len(marks) // 2]:9.3f}")
print(f"{'(T), s':24s} {seconds['triples']:9.3f} {pyscf_triples:9.3f}")
print(f"{'all, integrals too, s':24s} {arges_all:9.3f} {pyscf_all + pyscf_triples:9.3f}")
print(
    f"peak memory of a rank {found.report['peak_memory_bytes'] / 1e9:.2f} GB, forecast {found.report['forecast_memory_bytes'] / 1e9:.2f} GB"
)

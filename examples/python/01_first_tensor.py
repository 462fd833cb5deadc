"""A first tensor: symmetry, elements, a statement, NumPy. Run it as it is, or by mpiexec -n 4."""

import numpy as np

import arges

v, o = 20, 8
V = arges.zeros((v, v, v, v), symmetry="antisym(a,b) antisym(e,f)", letters="abef", name="V").fill_random(1)
T = arges.zeros((v, v, o, o), symmetry="antisym(e,f) antisym(i,j)", letters="efij", name="T").fill_random(2)
Z = arges.zeros((v, v, o, o), symmetry="antisym(a,b) antisym(i,j)", letters="abij", name="Z")

plan = Z["abij"].explain(0.5 * V["abef"] * T["efij"])  # what would be moved and computed
Z["abij"] += 0.5 * V["abef"] * T["efij"]  # sums over e and f

# The full tensor as an array on every rank; signs of the symmetry are in it.
expected = 0.5 * np.einsum("abef,efij->abij", V.numpy(), T.numpy(), optimize=True)
error = abs(Z.numpy() - expected).max()
norm = Z.norm()

if arges.default_world().rank == 0:
    print(plan)
    print(f"{Z.stored} of {Z.size} elements are stored; norm {norm:.3f}, largest difference from NumPy {error:.1e}")
assert error < 1e-12 and abs(norm - 167.925) < 1e-3

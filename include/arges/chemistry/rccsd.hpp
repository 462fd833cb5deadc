/// @file chemistry/rccsd.hpp
/// Spin-adapted coupled cluster with single and double excitations for closed shells.
#pragma once

#include "arges/chemistry/solver.hpp"
#include "arges/chemistry/spatial_integrals.hpp"
#include "arges/chemistry/tensor_set.hpp"

namespace arges::chemistry {

/// MP2 amplitudes over spatial orbitals: T1(ai), v x o, is f_ia / (f_ii - f_aa), zero for
/// Hartree-Fock orbitals; T2(abij), v x v x o x o with sym(product(a,i),product(b,j)), is (ai|bj) /
/// (f_ii + f_jj - f_aa - f_bb). Collective.
TensorSet rmp2_amplitudes(const SpatialIntegrals& integrals);

/// MP2 correlation energy over canonical or semicanonical orbitals, with the term of f(i,a).
/// Collective.
double rmp2_energy(const SpatialIntegrals& integrals);

/// Residuals of the closed-shell amplitude equations, zero for the solution; of the shapes and
/// names of the amplitudes T1 and T2. They are residuals of the spin-orbital equations, R1(ai) =
/// R(a up, i up) and R2(abij) = R(a up, b down, i up, j down), for amplitudes of the same form.
/// Most work: v^4 o^2 / 2 + 9 v^3 o^3 operations. Collective.
TensorSet rccsd_residuals(const SpatialIntegrals& integrals, const TensorSet& t);

/// Correlation energy of any closed-shell amplitudes. Collective.
double rccsd_energy(const SpatialIntegrals& integrals, const TensorSet& t);

/// What solve_amplitudes() needs; `integrals` must outlive it.
AmplitudeEquations rccsd_equations(const SpatialIntegrals& integrals);

}  // namespace arges::chemistry

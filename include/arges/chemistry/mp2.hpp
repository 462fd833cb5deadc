/// @file chemistry/mp2.hpp
/// Second-order Moller-Plesset perturbation theory.
#pragma once

#include "arges/chemistry/integrals.hpp"
#include "arges/chemistry/tensor_set.hpp"

namespace arges::chemistry {

/// First-order amplitudes over semicanonical orbitals, T1(ai) = f_ia / (f_ii - f_aa), zero for RHF
/// and UHF orbitals, and T2(abij) = <ij||ab> / (f_ii + f_jj - f_aa - f_bb); higher ones are zero.
/// Collective.
/// @param integrals  of either IntegralSet
/// @param rank       2 for T1 and T2, 3 with T3, 4 with T4
TensorSet first_order_amplitudes(const SpinIntegrals& integrals, int rank);

/// Correlation energy sum f_ia t(ai) + 1/4 sum <ij||ab> t(abij) of first-order amplitudes; Szabo
/// and Ostlund, Modern Quantum Chemistry (1989), eq. 6.74, and the singles of other than RHF and
/// UHF orbitals. Collective.
double mp2_energy(const SpinIntegrals& integrals);

}  // namespace arges::chemistry

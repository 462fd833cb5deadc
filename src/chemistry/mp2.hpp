/// Second-order Moller-Plesset perturbation theory.
#pragma once

#include "chemistry/integrals.hpp"

namespace arges::chemistry {

/// First-order doubles amplitudes t(abij) = <ij||ab> / (f_ii + f_jj - f_aa - f_bb). Collective.
Tensor<double> first_order_doubles(const SpinIntegrals& integrals);

/// Correlation energy 1/4 sum <ij||ab> t(abij) of canonical orbitals; Szabo and Ostlund, Modern
/// Quantum Chemistry (1989), eq. 6.74. Collective.
double mp2_energy(const SpinIntegrals& integrals);

}  // namespace arges::chemistry

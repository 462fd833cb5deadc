/// The amplitude equations of CCSD in the form with the fewest operations.
#pragma once

#include "arges/chemistry/integrals.hpp"
#include "arges/chemistry/tensor_set.hpp"

namespace arges::chemistry {

/// Residuals of the equations for T1 and T2 over spin orbitals: the values of cc_residuals() for
/// two excitations, in the form of Stanton, Gauss, Watts and Bartlett, J. Chem. Phys. 94, 4334
/// (1991), which neither changes nor copies the integrals over four virtual orbitals. Collective.
TensorSet ccsd_residuals(const SpinIntegrals& integrals, const TensorSet& t);

}  // namespace arges::chemistry

/// The perturbative triples correction for closed shells.
#pragma once

#include "chemistry/spatial_integrals.hpp"
#include "chemistry/tensor_set.hpp"

namespace arges::chemistry {

/// The (T) energy of converged closed-shell amplitudes over canonical orbitals: Rendell, Lee and
/// Komornicki, Chem. Phys. Lett. 178, 462 (1991). Connected triples are formed for one batch of
/// occupied orbitals in each of their three places at a time, as large as the memory limit allows.
/// Collective.
double rtriples_energy(const SpatialIntegrals& integrals, const TensorSet& t);

}  // namespace arges::chemistry

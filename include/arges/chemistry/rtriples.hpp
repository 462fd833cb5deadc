/// @file chemistry/rtriples.hpp
/// The perturbative triples correction for closed shells.
#pragma once

#include "arges/chemistry/spatial_integrals.hpp"
#include "arges/chemistry/tensor_set.hpp"

#include <functional>

namespace arges::chemistry {

/// Called now and then with the part of the work that is done, 0 to 1, on every rank.
using PartDone = std::function<void(double)>;

/// The (T) energy of converged closed-shell amplitudes over canonical orbitals: Rendell, Lee and
/// Komornicki, Chem. Phys. Lett. 178, 462 (1991). Each rank computes triples of occupied orbitals by
/// itself, with virtual orbitals in ranges that are as long as the memory limit allows, and reads
/// what it needs for them from the other ranks. Collective.
/// @throws OutOfMemory on every rank if not even the shortest ranges fit
double rtriples_energy(const SpatialIntegrals& integrals, const TensorSet& t, const PartDone& done = {});

}  // namespace arges::chemistry

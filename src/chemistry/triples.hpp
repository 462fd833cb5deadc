/// The perturbative correction for connected triple excitations.
#pragma once

#include "chemistry/amplitudes.hpp"
#include "chemistry/integrals.hpp"

namespace arges::chemistry {

/// The (T) of CCSD(T): Raghavachari, Trucks, Pople and Head-Gordon, Chem. Phys. Lett. 157, 479
/// (1989). Collective.
/// @param t  converged CCSD amplitudes over canonical orbitals
/// @return   energy in hartree, to be added to that of CCSD
double triples_energy(const SpinIntegrals& integrals, const Amplitudes& t);

}  // namespace arges::chemistry

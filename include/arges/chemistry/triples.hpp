/// @file chemistry/triples.hpp
/// The perturbative correction for connected triple excitations.
#pragma once

#include "arges/chemistry/integrals.hpp"
#include "arges/chemistry/tensor_set.hpp"

namespace arges::chemistry {

/// The (T) of CCSD(T): Raghavachari, Trucks, Pople and Head-Gordon, Chem. Phys. Lett. 157, 479
/// (1989); with the term of f(i,a) for ROHF orbitals, Watts, Gauss and Bartlett, J. Chem. Phys. 98,
/// 8718 (1993). Collective.
/// @param integrals  of IntegralSet::coupled_cluster
/// @param t          converged CCSD amplitudes over semicanonical orbitals
/// @return           energy in hartree, to be added to that of CCSD
double triples_energy(const SpinIntegrals& integrals, const TensorSet& t);

}  // namespace arges::chemistry

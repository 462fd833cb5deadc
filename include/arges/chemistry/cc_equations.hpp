/// @file chemistry/cc_equations.hpp
/// The amplitude equations of CCSD, CCSDT and CCSDTQ over spin orbitals.
#pragma once

#include "arges/chemistry/integrals.hpp"
#include "arges/chemistry/solver.hpp"
#include "arges/chemistry/tensor_set.hpp"

namespace arges::chemistry {

/// Zero amplitudes T1(ai), T2(abij), T3(abcijk), ... up to `rank`, antisymmetric in virtual and in
/// occupied indices. Collective.
/// @param integrals  whose orbital spaces and world the amplitudes have
/// @param rank       2 for CCSD, 3 for CCSDT, 4 for CCSDTQ
/// @throws InvalidArgument for another rank
TensorSet zero_amplitudes(const SpinIntegrals& integrals, int rank);

/// Residuals <Phi| exp(-T) H exp(T) |0> of the amplitude equations, zero for the solution, for as
/// many excitations as there are amplitudes. Most work in one term: o^2 v^4 for two, o^3 v^5 for
/// three, o^4 v^6 for four. The terms are those of Noga and Bartlett, J. Chem. Phys. 86, 7041
/// (1987), and Kucharski and Bartlett, J. Chem. Phys. 97, 4282 (1992), derived and arranged anew
/// over the Hamiltonian that T1 dresses; docs/coupled_cluster.md tells how. Collective.
/// @param integrals  of IntegralSet::coupled_cluster
/// @param t          T1 and T2; with T3; or with T3 and T4
/// @throws InvalidArgument for other amplitudes
TensorSet cc_residuals(const SpinIntegrals& integrals, const TensorSet& t);

/// Correlation energy of any amplitudes. Collective.
double cc_energy(const SpinIntegrals& integrals, const TensorSet& t);

/// What solve_amplitudes() needs; `integrals` must outlive it.
/// @param integrals  of IntegralSet::coupled_cluster
/// @param rank       2 for CCSD, 3 for CCSDT, 4 for CCSDTQ
/// @throws InvalidArgument for another rank
AmplitudeEquations cc_equations(const SpinIntegrals& integrals, int rank);

}  // namespace arges::chemistry

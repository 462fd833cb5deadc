/// The dressed Hamiltonian with double and triple excitations folded into it, and the equations of CCSD in the form with the fewest
/// operations.
#pragma once

#include "arges/chemistry/integrals.hpp"
#include "arges/chemistry/tensor_set.hpp"
#include "chemistry/equations/dressed_hamiltonian.hpp"

namespace arges::chemistry {

/// Blocks of exp(-T) H exp(T) as the equations for triples and quadruples need them: X is
/// multiplied by the highest amplitudes, W by those below.
struct EffectiveHamiltonian {
    Tensor<double> X_vv = {};    ///< X(a,e)
    Tensor<double> X_oo = {};    ///< X(m,i)
    Tensor<double> X_oooo = {};  ///< X(mnij), antisym(m,n) antisym(i,j)
    Tensor<double> X_vvvv = {};  ///< X(abef), antisym(a,b) antisym(e,f); of CCSDT and CCSDTQ
    Tensor<double> X_ovvo = {};  ///< X(mbej)
    Tensor<double> W_vvvo = {};  ///< W(bcek), antisym(b,c); of CCSDT and CCSDTQ
    Tensor<double> W_ovoo = {};  ///< W(mcjk), antisym(j,k), without the term of f(m,e); likewise
};

/// The blocks that the equations of these amplitudes need. Collective.
/// @param open_t3  T3(abeijm) as (abmeij), antisymmetric in a, b and in i, j alone; empty without T3
EffectiveHamiltonian effective_hamiltonian(const DressedHamiltonian& H, const TensorSet& t, const Tensor<double>& open_t3);

/// Adds the terms of T2, T3 and T4 in the equation of quadruples to R4(abcdijkl). Collective.
void add_quadruples(const DressedHamiltonian& H, const EffectiveHamiltonian& E, const TensorSet& t, Tensor<double>& R4);

/// Residuals of the equations for T1 and T2 over spin orbitals: the values of cc_residuals() for
/// two excitations, in the form of Stanton, Gauss, Watts and Bartlett, J. Chem. Phys. 94, 4334
/// (1991), which neither changes nor copies the integrals over four virtual orbitals. Collective.
TensorSet ccsd_residuals(const SpinIntegrals& integrals, const TensorSet& t);

}  // namespace arges::chemistry

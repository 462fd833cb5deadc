/// The Hamiltonian over spin orbitals that single excitations are folded into.
#pragma once

#include "arges/chemistry/integrals.hpp"

namespace arges::chemistry {

/// Blocks of exp(-T1) H exp(T1), in normal order. It has a one- and a two-electron part like H
/// itself, so equations for it are those without T1; Koch, Christiansen, Kobayashi, Jorgensen and
/// Helgaker, Chem. Phys. Lett. 228, 233 (1994). T1 changes two of the four kinds of lines:
///   a virtual index of the bra:    <..a..|| -> <..a..|| - sum_m t_m^a <..m..||
///   an occupied index of the ket:  ||..i..> -> ||..i..> + sum_e t_i^e ||..e..>
/// The blocks keep <pq||rs> = -<qp||rs> = -<pq||sr>, but <pq||rs> is not <rs||pq> any more.
struct DressedHamiltonian {
    SpinSpaces spaces;         ///< extents
    Tensor<double> oovv = {};  ///< <mn||ef>, as in H
    Tensor<double> ooov = {};  ///< <mn||ie>
    Tensor<double> oooo = {};  ///< <mn||ij>
    Tensor<double> ovvv = {};  ///< <ma||ef>
    Tensor<double> vvvv = {};  ///< <ab||ef>
    Tensor<double> ovvo = {};  ///< <mb||ej>
    Tensor<double> vvvo = {};  ///< <ab||ej>
    Tensor<double> ovoo = {};  ///< <mb||ij>
    Tensor<double> vvoo = {};  ///< <ab||ij>
    Tensor<double> f_ov = {};  ///< f(m,e)
    Tensor<double> f_oo = {};  ///< f(m,i)
    Tensor<double> f_vv = {};  ///< f(a,e)
    Tensor<double> f_vo = {};  ///< f(a,i): the residual of the singles equation without doubles
};

/// Dresses the Hamiltonian; o v^4 operations. Collective.
/// @param t1  singles t1(ai), v x o
DressedHamiltonian dress(const SpinIntegrals& integrals, const Tensor<double>& t1);

}  // namespace arges::chemistry

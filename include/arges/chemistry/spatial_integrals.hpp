/// @file chemistry/spatial_integrals.hpp
/// Integrals and Fock blocks over spatial orbitals, for closed shells.
#pragma once

#include "arges/chemistry/integrals.hpp"
#include "arges/chemistry/reference.hpp"

#include <string_view>
#include <vector>

namespace arges::chemistry {

/// One index letter for each of i j k l m n (occupied) and a b c d e f (virtual) spatial orbitals.
struct SpatialSpaces {
    std::int64_t occupied = 0;  ///< number of occupied orbitals
    std::int64_t virtuals = 0;  ///< number of virtual orbitals

    /// Number of orbitals that a letter counts.
    std::int64_t extent(char letter) const { return letter >= 'i' ? occupied : virtuals; }
    /// Zeros with these letters, e.g. tensor(world, "abij", pairs_abij, "T2").
    Tensor<double> tensor(const World& world, std::string_view letters, std::string_view symmetry, const std::string& name) const;
};

/// The pair symmetry of closed-shell doubles: t(abij) = t(baji).
inline constexpr const char* pairs_abij = "sym(product(a,i),product(b,j))";

/// A block of <pq|rs> = (pr|qs), real orbitals, in two halves that are packed in both pairs:
/// plus(pq,rs) = (<pq|rs> + <pq|sr>) / 2 and minus(pq,rs) = (<pq|rs> - <pq|sr>) / 2.
/// They do not mix in a sum over pairs: sum_rs <pq|rs> tau(rs,ij) = plus tau+ + minus tau-.
struct SplitBlock {
    Tensor<double> plus = {};   ///< symmetric in both pairs
    Tensor<double> minus = {};  ///< antisymmetric in both pairs
};

/// Blocks of the two-electron integrals and of the Fock matrix.
struct SpatialIntegrals {
    SpatialSpaces spaces;               ///< extents
    Tensor<double> V = {};              ///< V(abij) = (ai|bj), pair-symmetric
    Tensor<double> L = {};              ///< L(abij) = 2 (ai|bj) - (bi|aj), pair-symmetric
    Tensor<double> M = {};              ///< M(abij) = 2 (ai|bj) - (ab|ij), pair-symmetric
    Tensor<double> J = {};              ///< J(abij) = (ab|ij), sym(a,b) sym(i,j)
    Tensor<double> K = {};              ///< K(ijka) = (ij|ka), sym(i,j)
    Tensor<double> N = {};              ///< N(ijka) = 2 (ij|ka) - (kj|ia)
    SplitBlock oovv = {};               ///< (mn,ef), pairs packed
    SplitBlock oooo = {};               ///< (mn,ij), pairs packed
    SplitBlock ovvv = {};               ///< (ma,ef), ef packed
    SplitBlock vvvv = {};               ///< (ab,ef), pairs packed
    Tensor<double> f_oo = {};           ///< f(m,i)
    Tensor<double> f_ov = {};           ///< f(m,e)
    Tensor<double> f_vv = {};           ///< f(a,e)
    std::vector<double> occupied = {};  ///< diagonal of f_oo: orbital energies, on every rank
    std::vector<double> virtuals = {};  ///< diagonal of f_vv
};

/// Cuts the blocks out of the integrals over all orbitals. For IntegralSet::second_order V, L, f_ov
/// and the orbital energies only. Collective. On a dry run the blocks have shapes only.
/// @throws InvalidArgument for an open shell or unrestricted orbitals
SpatialIntegrals build_spatial_integrals(const Fcidump& data, const Reference& reference, IntegralSet set);

}  // namespace arges::chemistry

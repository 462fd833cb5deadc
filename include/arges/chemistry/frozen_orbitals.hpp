/// @file chemistry/frozen_orbitals.hpp
/// Orbitals that take no part in a correlated calculation.
#pragma once

#include "arges/chemistry/fcidump.hpp"

#include <array>
#include <cstdint>

namespace arges::chemistry {

/// h(p,q) with the mean field of electrons in the first so many orbitals of each spin, for electrons
/// of a spin: F_pq = h_pq + sum_k over both spins (pq|kk) - sum_k over this spin (pk|qk). Szabo and
/// Ostlund, Modern Quantum Chemistry (1989), eqs. 3.348 and 3.349. n x n, sym(p,q). Collective.
Tensor<double> fock_matrix(const Fcidump& data, const std::array<std::int64_t, 2>& electrons, int spin);

/// How many orbitals are left out.
struct FrozenOrbitals {
    std::int64_t core = 0;      ///< doubly occupied ones of the lowest energies
    std::int64_t virtuals = 0;  ///< virtual ones of the highest energies

    /// True if some are.
    bool any() const { return core != 0 || virtuals != 0; }
};

/// Number of core orbitals by their energies: those below -2 hartree, the inner shells of the atoms up
/// to argon (neon's 2s lies at -1.9, lithium's 1s at -2.5), at least one occupied orbital of each
/// spin being left. Of both spins the smaller number. Collective.
/// @throws InvalidArgument as build_reference()
std::int64_t core_orbitals(const Fcidump& data, const std::string& source);

/// The same molecule without these orbitals: the core's mean field is in the one-electron integrals,
/// its energy in the core energy. The first orbitals of the file are frozen and the last ones, so
/// they should ascend in energy. Collective.
/// @throws InvalidArgument if more orbitals are to be frozen than are occupied by both spins, or are
/// virtual in one of them
Fcidump without_frozen(const Fcidump& data, const FrozenOrbitals& frozen);

}  // namespace arges::chemistry

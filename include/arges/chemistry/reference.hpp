/// @file chemistry/reference.hpp
/// The reference determinant: Fock matrices and energy.
#pragma once

#include "arges/chemistry/fcidump.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace arges::chemistry {

/// The orbitals of one spin. Energies in hartree.
struct SpinReference {
    std::int64_t occupied = 0;      ///< the first orbitals, with an electron each
    std::int64_t virtuals = 0;      ///< empty orbitals
    std::vector<double> fock = {};  ///< F(p,q), column by column, on every rank

    /// F(p,q).
    double f(std::int64_t p, std::int64_t q) const { return fock[p + q * (occupied + virtuals)]; }
};

/// The determinant in which the first orbitals of each spin are occupied.
struct Reference {
    std::array<SpinReference, 2> spin = {};  ///< of alpha and beta
    double energy = 0;                       ///< total energy of the determinant
    double off_diagonal = 0;                 ///< largest |F(i,j)|, |F(a,b)| off the diagonal, of both spins
    double brillouin = 0;                    ///< largest |F(i,a)| of both spins: 0 for RHF and UHF orbitals

    /// True if F is diagonal among occupied and among virtual orbitals: they have energies, and
    /// quasi-Newton steps and perturbation theory are what they should be.
    bool is_semicanonical() const { return off_diagonal <= 1e-6; }
    /// True if the orbitals are, besides, those of a converged RHF or UHF calculation.
    bool is_canonical() const { return is_semicanonical() && brillouin <= 1e-6; }
};

/// Builds the Fock matrices from the integrals. Collective. On a dry run all energies are zero, and
/// orbitals count as semicanonical unless they are those of an open shell that both spins share.
/// @param data    the Hamiltonian, occupied orbitals first
/// @param source  name of the file for messages
/// @throws InvalidArgument if orbital energies in the file contradict the Fock matrix by more than
///         1e-5 hartree, or no gap lies between occupied and virtual orbitals
Reference build_reference(const Fcidump& data, const std::string& source);

/// The same Hamiltonian over semicanonical orbitals: eigenvectors of the occupied and of the
/// virtual block of each Fock matrix. An open shell gets unrestricted orbitals by this. Collective.
Fcidump semicanonical(const Fcidump& data, const Reference& reference);

}  // namespace arges::chemistry

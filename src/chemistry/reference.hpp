/// The closed-shell reference determinant: Fock matrix and energy.
#pragma once

#include "chemistry/fcidump.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::chemistry {

/// The determinant with the first NELEC/2 orbitals doubly occupied. Spatial orbitals, hartree.
struct Reference {
    std::int64_t occupied = 0;      ///< doubly occupied orbitals
    std::int64_t virtuals = 0;      ///< empty orbitals
    double energy = 0;              ///< total energy of the determinant
    std::vector<double> fock = {};  ///< F(p,q), column by column, on every rank
    double off_diagonal =
        0;  ///< largest |F(i,j)|, |F(a,b)| off the diagonal: 0 for canonical orbitals
    double brillouin = 0;  ///< largest |F(i,a)|: 0 for converged RHF orbitals

    /// F(p,q).
    double f(std::int64_t p, std::int64_t q) const {
        return fock[static_cast<std::size_t>(p + q * (occupied + virtuals))];
    }
    /// True if the orbitals are those of a converged RHF calculation in canonical form, as
    /// perturbation theory needs.
    bool is_canonical() const { return off_diagonal <= 1e-6 && brillouin <= 1e-6; }
};

/// Builds the Fock matrix from the integrals. Collective. On a dry run all energies are zero.
/// @param source  name of the file for messages
/// @throws InvalidArgument if orbital energies in the file contradict the Fock matrix by more than
///         1e-5 hartree, or no gap lies between occupied and virtual orbitals
Reference build_reference(const Fcidump& data, const std::string& source);

/// @throws InvalidArgument if the orbitals are not canonical; `method` is named
void require_canonical(const Reference& reference, const std::string& method);

}  // namespace arges::chemistry

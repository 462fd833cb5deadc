/// Integrals in the format of Knowles and Handy, Comput. Phys. Commun. 54, 75 (1989).
#pragma once

#include "arges/tensor.hpp"
#include "chemistry/fcidump_header.hpp"
#include "io/parallel_file.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace arges::chemistry {

/// Integrals of beta orbitals that are not the alpha orbitals.
struct BetaIntegrals {
    std::vector<double> orbital_energies = {};  ///< one for each orbital, or empty
    Tensor<double> one_electron = {};           ///< h(p,q), sym(p,q)
    Tensor<double> two_electron = {};           ///< (pq|rs), all beta, sym(sym(p,q),sym(r,s))
    Tensor<double> mixed = {};  ///< (pq|rs), pq alpha and rs beta, sym(p,q) sym(r,s)
};

/// The Hamiltonian of a molecule over real spatial orbitals, occupied ones first. Where `beta` is
/// set, what stands outside it belongs to alpha orbitals; else to the orbitals of both spins.
/// Energies in hartree.
struct Fcidump {
    FcidumpHeader header;                       ///< numbers of orbitals and electrons
    double core_energy = 0;                     ///< nuclear repulsion and frozen core
    std::vector<double> orbital_energies = {};  ///< one for each orbital, or empty: not in the file
    Tensor<double> one_electron = {};           ///< h(p,q), sym(p,q)
    Tensor<double> two_electron = {};           ///< (pq|rs), sym(sym(p,q),sym(r,s))
    std::optional<BetaIntegrals> beta = {};     ///< of unrestricted (UHF) orbitals
    std::int64_t round_off_repeats = 0;  ///< entries of the file that repeat an integral up to round-off

    /// h(p,q) of a spin, 0 for alpha and 1 for beta.
    const Tensor<double>& one(int spin) const {
        return spin == 1 && beta ? beta->one_electron : one_electron;
    }
    /// (pq|rs) with pq and rs of one spin.
    const Tensor<double>& two(int spin) const {
        return spin == 1 && beta ? beta->two_electron : two_electron;
    }
    /// (pq|rs) with pq of spin alpha and rs of spin beta.
    const Tensor<double>& mixed() const { return beta ? beta->mixed : two_electron; }
};

/// Zeros of the shapes that a file with this header gives. Local.
Fcidump empty_fcidump(const World& world, const FcidumpHeader& header);

class EntrySource;

/// The entries of FCIDUMP text. Collective; `file` must outlive them.
/// @throws InvalidArgument with file, line and cure, for a header that is not complete and consistent
std::unique_ptr<EntrySource> fcidump_entries(const io::InputFile& file);

/// Writes FCIDUMP text that is read back to the same bits (17 digits), integrals of
/// magnitude `cutoff` or above; unrestricted orbitals in blocks (IUHF=1), without their energies.
/// Rank 0 writes under a temporary name in the same folder and renames; it holds a slice of the
/// integrals at a time. Collective.
/// @throws InvalidArgument if the file cannot be written
void write_fcidump(const std::string& path, const Fcidump& data, double cutoff = 0);

}  // namespace arges::chemistry

/// @file chemistry/fcidump.hpp
/// The Hamiltonian of a molecule: integrals over its orbitals, from files and into files.
#pragma once

#include "arges/tensor.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arges::chemistry {

/// Which orbitals the indices of a file count.
enum class OrbitalForm {
    restricted,    ///< spatial orbitals, the same for both spins
    spin_blocks,   ///< IUHF=1: spatial orbitals of one spin, in five blocks that lines of zeros end:
                   ///< (aa|aa), (bb|bb), (aa|bb), h(a), h(b); as Molpro and Block write
    spin_orbitals  ///< UHF=.TRUE.: spin orbitals, alpha 1, 3, 5, ... and beta 2, 4, 6, ...; as
                   ///< Psi4, HANDE and NECI write
};

/// What the header says, checked: the electrons of both spins fit into the orbitals.
struct FcidumpHeader {
    std::int64_t orbitals = 0;                   ///< spatial orbitals, of each spin
    std::int64_t electrons = 0;                  ///< NELEC
    std::vector<int> orbital_symmetries{};       ///< ORBSYM, one for each orbital, or empty
    int state_symmetry = 1;                      ///< ISYM
    std::int64_t data_begin = 0;                 ///< position of the first line behind the header
    std::int64_t ms2 = 0;                        ///< MS2, alpha minus beta electrons
    OrbitalForm form = OrbitalForm::restricted;  ///< IUHF and UHF
    /// By orbital, its number in the file, from 1, where OCC and CLOSED of the file name the occupied ones and these do not come first in
    /// it; empty: 1, 2, 3, ...
    std::vector<std::int64_t> file_orbitals{};

    /// Electrons of a spin: 0 for alpha, 1 for beta.
    std::int64_t electrons_of(int spin) const { return (electrons + (spin == 0 ? ms2 : -ms2)) / 2; }
    /// True if every occupied orbital has two electrons and both spins have the same orbitals.
    bool closed_shell() const { return form == OrbitalForm::restricted && ms2 == 0; }
};

/// Integrals of beta orbitals that are not the alpha orbitals.
struct BetaIntegrals {
    std::vector<double> orbital_energies = {};  ///< one for each orbital, or empty
    Tensor<double> one_electron = {};           ///< h(p,q), sym(p,q)
    Tensor<double> two_electron = {};           ///< (pq|rs), all beta, sym(sym(p,q),sym(r,s))
    Tensor<double> mixed = {};                  ///< (pq|rs), pq alpha and rs beta, sym(p,q) sym(r,s)
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
    std::int64_t round_off_repeats = 0;         ///< entries of the file that repeat an integral up to round-off

    /// h(p,q) of a spin, 0 for alpha and 1 for beta.
    const Tensor<double>& one(int spin) const { return spin == 1 && beta ? beta->one_electron : one_electron; }
    /// (pq|rs) with pq and rs of one spin.
    const Tensor<double>& two(int spin) const { return spin == 1 && beta ? beta->two_electron : two_electron; }
    /// (pq|rs) with pq of spin alpha and rs of spin beta.
    const Tensor<double>& mixed() const { return beta ? beta->mixed : two_electron; }
};

/// What a file of integrals does not say.
struct IntegralOptions {
    /// Core energy of a file that has none, as of a model without nuclei: 0. Without it such a file is refused, because truncated files
    /// look like that; one that gives another energy is refused, too.
    std::optional<double> core_energy = {};
};

/// Zeros of the shapes that a file with this header gives. Local.
Fcidump empty_fcidump(const World& world, const FcidumpHeader& header);

/// What a file of integrals is. The same on every rank.
struct IntegralFileInfo {
    std::string form;        ///< "FCIDUMP" or "TREXIO": what the file begins with tells, not its name
    std::int64_t bytes = 0;  ///< of the file
    FcidumpHeader header{};  ///< numbers of orbitals and electrons
};

/// Reads the header of a file of integrals. Collective.
/// @throws InvalidArgument with file, place and cure, and on a dry run
IntegralFileInfo integral_file_info(const World& world, const std::string& path);

/// True if a file to be written is one of integrals by its name, see write_integrals(). Local.
bool is_integral_name(const std::string& path);

/// Reads a file of integrals: FCIDUMP text (Knowles and Handy, Comput. Phys. Commun. 54, 75 (1989)), or TREXIO in HDF5
/// (Posenitskiy et al., J. Chem. Phys. 158, 174801 (2023)). What it begins with tells which, not its name. Every rank reads its
/// own part, straight into distributed tensors. Integrals without an entry are zero; but the core energy has an entry, and so have all
/// diagonal one-electron integrals (or none of them, beside a core energy). Where a text file names the occupied orbitals (OCC and CLOSED,
/// as Molpro does), these come first in the tensors. Collective.
/// @throws InvalidArgument with file, place and cure, for anything that is not a complete and consistent file, and on a dry run
Fcidump read_integrals(const World& world, const std::string& path, const IntegralOptions& options = {});

/// Writes a file of the form that its name tells: .fcidump is FCIDUMP text, .h5, .hdf5 and .trexio are TREXIO in HDF5. It is read
/// back to the same bits. Unrestricted orbitals go into text as blocks (IUHF=1), without their energies. The file gets its name
/// when it is whole. Collective.
/// @throws InvalidArgument if the name tells no form, the tensors are not those of the header, or the file cannot be written, and
///         on a dry run
void write_integrals(const std::string& path, const Fcidump& data);

}  // namespace arges::chemistry

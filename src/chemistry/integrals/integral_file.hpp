/// Files of integrals in either form: FCIDUMP text (Knowles and Handy, Comput. Phys. Commun. 54, 75 (1989)), and TREXIO in HDF5
/// (Posenitskiy et al., J. Chem. Phys. 158, 174801 (2023), and trexio.org).
///
/// What is used of TREXIO: electron_up_num and electron_dn_num, nucleus_repulsion, mo_num, mo_1e_int_core_hamiltonian, mo_2e_int_eri in its
/// sparse form (four indices, counted from 0, and a value for each integral <pq|rs> = (pr|qs), of equal ones any number),
/// mo_energy if it is there, and mo_spin for unrestricted orbitals. mo_occupation is checked: occupied orbitals come first. mo_symmetry is
/// ORBSYM where it is whole numbers; names of irreducible representations are left alone.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "chemistry/integrals/entry_source.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace arges::chemistry {

/// A file of integrals whose header has been read. What it begins with tells its form, not its name.
class IntegralFile {
public:
    /// Collective. @throws InvalidArgument with file, place and cure
    IntegralFile(const World& world, const std::string& path);

    const FcidumpHeader& header() const { return source_->header(); }
    /// "FCIDUMP" or "TREXIO".
    const char* form() const { return hdf5_ ? "TREXIO" : "FCIDUMP"; }
    /// Length in bytes.
    std::int64_t size() const { return file_.size(); }
    /// Bytes that read() takes on a rank beside the tensors, about. Local.
    std::int64_t reading_memory() const { return source_->memory(); }
    /// Seconds that read() takes on so many ranks, about. Local.
    double reading_seconds(std::int64_t ranks) const;
    /// Reads the file straight into distributed tensors: every rank reads its own part, in pieces of bounded size. Collective.
    /// @throws InvalidArgument with file, place and cure, for anything that is not a complete and consistent file
    Fcidump read(const IntegralOptions& options = {});

private:
    World world_;
    io::InputFile file_;
    bool hdf5_ = false;
    std::unique_ptr<EntrySource> source_;
};

/// Bytes within which a header must end.
inline constexpr std::int64_t max_header_bytes = std::int64_t(1) << 20;

/// Reads the namelist at the beginning of `text`: `&FCI NORB=7, NELEC=10, ORBSYM=7*1 &END` (or
/// `/`), over any number of lines, in any order; names that coupled cluster has no use for are
/// skipped.
/// @throws InvalidArgument "line N: ..." with the cure; the same for the same text
FcidumpHeader parse_fcidump_header(std::string_view text);

/// The entries of FCIDUMP text. Collective; `file` must outlive them.
/// @throws InvalidArgument with file, line and cure, for a header that is not complete and consistent
std::unique_ptr<EntrySource> fcidump_entries(const io::InputFile& file);

/// Writes FCIDUMP text that is read back to the same bits (17 digits), integrals of
/// magnitude `cutoff` or above, and all diagonal one-electron ones; unrestricted orbitals in blocks (IUHF=1), without their energies.
/// Every rank formats and writes a part of the lines; the bytes are the same on all numbers of
/// ranks. The file gets its name when it is whole. Collective.
/// @throws InvalidArgument if the file cannot be written
void write_fcidump(const std::string& path, const Fcidump& data, double cutoff = 0);

/// The entries of a TREXIO file. Elements between orbitals of different spin are not used: they are zero, or have no meaning.
/// Collective; `file` must outlive them.
/// @throws InvalidArgument with the group and the cure, for a file that is damaged, lacks integrals, or contradicts itself
std::unique_ptr<EntrySource> trexio_entries(const io::InputFile& file);

/// Writes a TREXIO file with all integrals that are not zero, of equal ones one; unrestricted orbitals as alpha, then beta ones.
/// Every rank writes the elements that it stores. The file gets its name when it is whole. Collective.
/// @throws InvalidArgument if the file cannot be written
void write_trexio(const std::string& path, const Fcidump& data);

}  // namespace arges::chemistry

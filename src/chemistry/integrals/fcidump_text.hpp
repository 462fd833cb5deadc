/// Integrals in the text of Knowles and Handy, Comput. Phys. Commun. 54, 75 (1989), and the namelist that begins it.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "io/file/parallel_file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace arges::chemistry {

/// Bytes within which a header must end.
inline constexpr std::int64_t max_header_bytes = std::int64_t(1) << 20;

/// Reads the namelist at the beginning of `text`: `&FCI NORB=7, NELEC=10, ORBSYM=7*1 &END` (or
/// `/`), over any number of lines, in any order; names that coupled cluster has no use for are
/// skipped.
/// @throws InvalidArgument "line N: ..." with the cure; the same for the same text
FcidumpHeader parse_fcidump_header(std::string_view text);

class EntrySource;

/// The entries of FCIDUMP text. Collective; `file` must outlive them.
/// @throws InvalidArgument with file, line and cure, for a header that is not complete and consistent
std::unique_ptr<EntrySource> fcidump_entries(const io::InputFile& file);

/// Writes FCIDUMP text that is read back to the same bits (17 digits), integrals of
/// magnitude `cutoff` or above, and all diagonal one-electron ones; unrestricted orbitals in blocks (IUHF=1), without their energies.
/// Every rank formats and writes a part of the lines; the bytes are the same on all numbers of
/// ranks. The file gets its name when it is whole. Collective.
/// @throws InvalidArgument if the file cannot be written
void write_fcidump(const std::string& path, const Fcidump& data, double cutoff = 0);

}  // namespace arges::chemistry

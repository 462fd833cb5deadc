/// The namelist that begins an FCIDUMP file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace arges::chemistry {

/// What the header says, checked: an even number of electrons, MS2 = 0, restricted orbitals.
struct FcidumpHeader {
    std::int64_t orbitals = 0;              ///< NORB, spatial orbitals
    std::int64_t electrons = 0;             ///< NELEC
    std::vector<int> orbital_symmetries{};  ///< ORBSYM, one for each orbital, or empty
    int state_symmetry = 1;                 ///< ISYM
    std::int64_t data_begin = 0;            ///< position of the first line behind the header
};

/// Bytes within which a header must end.
inline constexpr std::int64_t max_header_bytes = std::int64_t(1) << 20;

/// Reads the namelist at the beginning of `text`: `&FCI NORB=7, NELEC=10, ORBSYM=7*1 &END` (or
/// `/`), over any number of lines, in any order; names that coupled cluster has no use for are
/// skipped.
/// @throws InvalidArgument "line N: ..." with the cure; the same for the same text
FcidumpHeader parse_fcidump_header(std::string_view text);

}  // namespace arges::chemistry

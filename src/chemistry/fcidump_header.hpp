/// The namelist that begins an FCIDUMP file.
#pragma once

#include "arges/chemistry/fcidump.hpp"

#include <cstdint>
#include <string_view>

namespace arges::chemistry {

/// Bytes within which a header must end.
inline constexpr std::int64_t max_header_bytes = std::int64_t(1) << 20;

/// Reads the namelist at the beginning of `text`: `&FCI NORB=7, NELEC=10, ORBSYM=7*1 &END` (or
/// `/`), over any number of lines, in any order; names that coupled cluster has no use for are
/// skipped.
/// @throws InvalidArgument "line N: ..." with the cure; the same for the same text
FcidumpHeader parse_fcidump_header(std::string_view text);

}  // namespace arges::chemistry

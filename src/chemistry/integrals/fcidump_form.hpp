/// How the lines of an FCIDUMP file name integrals over unrestricted orbitals.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "chemistry/integrals/fcidump_entry.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace arges::chemistry {

/// Number of a spin orbital, counted from 1: alpha and beta orbitals in turn, as in files with
/// UHF=.TRUE. Example: orbital 3 is 5 with spin alpha (0) and 6 with spin beta (1).
constexpr std::int64_t spin_index(std::int64_t orbital, std::int64_t spin) { return 2 * orbital - 1 + spin; }
/// Spin of a spin orbital.
constexpr std::int64_t spin_of(std::int64_t index) { return (index - 1) % 2; }
/// Orbital of a spin orbital, counted from 1.
constexpr std::int64_t orbital_of(std::int64_t index) { return (index + 1) / 2; }

/// Reads lines of one file into entries. Where orbitals are unrestricted, entries have numbers of
/// spin orbitals; see spin_index().
class FcidumpForm {
public:
    /// @param zero_lines  positions of the lines whose indices are all zero, ascending; needed for
    ///                    files with spin blocks only
    FcidumpForm(const FcidumpHeader& header, std::vector<std::int64_t> zero_lines);

    /// Reads the line that begins at `position` of the file.
    ParsedLine parse(std::string_view line, std::int64_t position) const;
    /// An entry as the file names it: "(3 1|2 1)", with the spins as in "(3a 1a|2b 1b)" for blocks.
    std::string name(std::uint64_t code) const;

    /// Lines of zeros in a file with spin blocks: one behind each of five blocks, and the core
    /// energy.
    static constexpr std::size_t zero_lines_of_blocks = 6;

private:
    ParsedLine parse_in_block(ParsedLine parsed, std::int64_t position) const;

    OrbitalForm form_;
    std::int64_t indices_;  ///< largest index in the file
    std::vector<std::int64_t> zero_lines_;
    std::vector<std::int64_t> in_file_, from_file_;  ///< numbers of orbitals where the file has another order, by the other one
};

}  // namespace arges::chemistry

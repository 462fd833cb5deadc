/// One line of integrals of an FCIDUMP file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace arges::chemistry {

/// What an entry is a value of.
enum class EntryKind { two_electron, one_electron, orbital_energy, core_energy };

/// A value with the canonical place that it belongs to, and the position of its line in the file.
struct Entry {
    std::uint64_t code = 0;     ///< the canonical indices, see entry_code()
    double value = 0;           ///< in hartree
    std::int64_t position = 0;  ///< first byte of the line
};

/// What stands on a line.
struct ParsedLine {
    bool blank = false;                     ///< nothing
    std::string problem;                    ///< what is wrong with the line; empty if nothing
    Entry entry{};                          ///< the entry, position not set
    std::array<std::int64_t, 4> indices{};  ///< as they stand on the line
};

/// Indices counted from 1, 0 for none, sorted so that equal integrals have equal indices, 16 bits
/// each: i >= j, k >= l, ij >= kl.
/// Example: (1 2|3 1), (2 1|1 3) and (1 3|2 1) have the code of {3, 1, 2, 1}.
std::uint64_t entry_code(std::array<std::int64_t, 4> indices);
/// Indices of a code.
std::array<std::int64_t, 4> entry_indices(std::uint64_t code);
/// Kind of an entry.
EntryKind entry_kind(std::uint64_t code);
/// "(3 1|2 1)", "h(2 1)", "the energy of orbital 3" or "the core energy". @param orbital  how an index is written
std::string entry_name(
    std::uint64_t code, std::string (*orbital)(std::int64_t index) = [](std::int64_t index) { return std::to_string(index); });

/// Reads `value i j k l`; the value may have a D or E exponent. Indices are checked against the
/// number of orbitals.
ParsedLine parse_fcidump_line(std::string_view line, std::int64_t orbitals);

/// Largest difference between two values for one integral that counts as round-off, in hartree; for values above one hartree
/// that part of them. Programs that write (ij|kl) and (kl|ij) have transformed both from integrals over basis functions that
/// they cut off (Psi4: at 1e-12), by sums of some 10^4 terms in different orders: with diffuse functions values of Psi4 1.3.2
/// differ by up to 3.4e-10 (ethylene, aug-cc-pVDZ, 82 orbitals). This is thirty times that, and far below what a wrong index
/// or file makes of an integral that counts.
inline constexpr double integral_round_off = 1e-8;

/// True if two values for the same integral differ by integral_round_off at most.
bool same_integral(double a, double b);

}  // namespace arges::chemistry

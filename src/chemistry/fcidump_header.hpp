/// The namelist that begins an FCIDUMP file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace arges::chemistry {

/// Which orbitals the indices of a file count.
enum class OrbitalForm {
    restricted,   ///< spatial orbitals, the same for both spins
    spin_blocks,  ///< IUHF=1: spatial orbitals of one spin, in five blocks that lines of zeros end:
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

    /// Electrons of a spin: 0 for alpha, 1 for beta.
    std::int64_t electrons_of(int spin) const { return (electrons + (spin == 0 ? ms2 : -ms2)) / 2; }
    /// True if every occupied orbital has two electrons and both spins have the same orbitals.
    bool closed_shell() const { return form == OrbitalForm::restricted && ms2 == 0; }
};

/// Bytes within which a header must end.
inline constexpr std::int64_t max_header_bytes = std::int64_t(1) << 20;

/// Reads the namelist at the beginning of `text`: `&FCI NORB=7, NELEC=10, ORBSYM=7*1 &END` (or
/// `/`), over any number of lines, in any order; names that coupled cluster has no use for are
/// skipped.
/// @throws InvalidArgument "line N: ..." with the cure; the same for the same text
FcidumpHeader parse_fcidump_header(std::string_view text);

}  // namespace arges::chemistry

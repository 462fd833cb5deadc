#include "chemistry/integrals/fcidump_form.hpp"

#include <algorithm>
#include <array>

namespace arges::chemistry {

namespace {

/// A block of a file with spin blocks: what it holds, the spins of its indices, and its name.
struct FcidumpBlock {
    EntryKind kind;
    std::array<int, 4> spins;
    const char* name;
};

constexpr std::array<FcidumpBlock, 5> fcidump_blocks{{
    {EntryKind::two_electron, {0, 0, 0, 0}, "(alpha alpha|alpha alpha)"},
    {EntryKind::two_electron, {1, 1, 1, 1}, "(beta beta|beta beta)"},
    {EntryKind::two_electron, {0, 0, 1, 1}, "(alpha alpha|beta beta)"},
    {EntryKind::one_electron, {0, 0, 0, 0}, "h(alpha)"},
    {EntryKind::one_electron, {1, 1, 0, 0}, "h(beta)"},
}};

/// The code of an integral with other numbers of its orbitals.
std::uint64_t renumbered(std::uint64_t code, const std::vector<std::int64_t>& numbers) {
    auto x = entry_indices(code);
    for (std::int64_t& index : x)
        if (index > 0) index = numbers[index - 1];
    return entry_code(x);
}

bool mixes_spins(std::uint64_t code) {
    const auto x = entry_indices(code);
    const auto differ = [](std::int64_t p, std::int64_t q) { return p > 0 && q > 0 && spin_of(p) != spin_of(q); };
    return differ(x[0], x[1]) || differ(x[2], x[3]);
}

}  // namespace

FcidumpForm::FcidumpForm(const FcidumpHeader& header, std::vector<std::int64_t> zero_lines)
    : form_(header.form), indices_(header.form == OrbitalForm::spin_orbitals ? 2 * header.orbitals : header.orbitals),
      zero_lines_(std::move(zero_lines)), in_file_(header.file_orbitals), from_file_(in_file_.size()) {
    for (std::size_t p = 0; p < in_file_.size(); ++p) from_file_[in_file_[p] - 1] = static_cast<std::int64_t>(p) + 1;
}

ParsedLine FcidumpForm::parse(std::string_view line, std::int64_t position) const {
    ParsedLine parsed = parse_fcidump_line(line, indices_);
    if (parsed.blank || !parsed.problem.empty()) return parsed;
    parsed.entry.position = position;
    if (form_ == OrbitalForm::spin_blocks) return parse_in_block(std::move(parsed), position);
    if (!from_file_.empty()) parsed.entry.code = renumbered(parsed.entry.code, from_file_);
    if (form_ == OrbitalForm::spin_orbitals && mixes_spins(parsed.entry.code)) {
        parsed.blank = parsed.entry.value == 0;
        if (!parsed.blank)
            parsed.problem = name(parsed.entry.code) + " pairs an alpha orbital (odd number) with a beta orbital (even), " +
                             "which is zero; is UHF=.TRUE. right, or does the file count spatial " + "orbitals (IUHF=1)?";
    }
    return parsed;
}

ParsedLine FcidumpForm::parse_in_block(ParsedLine parsed, std::int64_t position) const {
    const std::size_t number = std::lower_bound(zero_lines_.begin(), zero_lines_.end(), position) - zero_lines_.begin();
    const EntryKind kind = entry_kind(parsed.entry.code);
    if (kind == EntryKind::core_energy) {
        parsed.blank = number + 1 < zero_lines_of_blocks;
        return parsed;
    }
    const bool energy = kind == EntryKind::orbital_energy && number >= 3;
    if (number >= fcidump_blocks.size() || (kind != fcidump_blocks[number].kind && !energy)) {
        parsed.problem =
            "this line does not belong into " +
            (number < fcidump_blocks.size() ? std::string("the block ") + fcidump_blocks[number].name : std::string("the last block")) +
            " of a file with IUHF=1; lines of zeros end the blocks (aa|aa), " + "(bb|bb), (aa|bb), h(a), h(b), in this order";
        return parsed;
    }
    // Not the indices of the code: sorting has lost which pair came first, and so its spin.
    std::array<std::int64_t, 4> x = parsed.indices;
    for (std::size_t d = 0; d < 4; ++d)
        if (x[d] > 0) x[d] = spin_index(x[d], fcidump_blocks[number].spins[d]);
    parsed.entry.code = entry_code(x);
    return parsed;
}

std::string FcidumpForm::name(std::uint64_t code) const {
    if (form_ != OrbitalForm::spin_blocks) return entry_name(in_file_.empty() ? code : renumbered(code, in_file_));
    return entry_name(code, [](std::int64_t index) { return std::to_string(orbital_of(index)) + (spin_of(index) == 0 ? "a" : "b"); });
}

}  // namespace arges::chemistry

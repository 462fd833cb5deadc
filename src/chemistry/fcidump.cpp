#include "chemistry/fcidump.hpp"

#include "arges/error.hpp"
#include "chemistry/fcidump_entry.hpp"
#include "chemistry/fcidump_store.hpp"
#include "chemistry/text_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace arges::chemistry {

namespace {

/// Entries that a rank reads before all ranks store what they have.
constexpr std::size_t entries_per_round = std::size_t(1) << 16;

/// The header text is read by rank 0 and parsed by all, so that all see the same errors.
FcidumpHeader header_of(const TextFile& file) {
    const std::string text = broadcast_text(file.comm(), file.beginning(max_header_bytes), 0);
    try {
        return parse_fcidump_header(text);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(file.path() + ", " + error.what());
    }
}

/// The next entries of this rank; an error ends them.
std::vector<Entry> next_entries(LineReader& lines, const TextFile& file, std::int64_t orbitals,
                                LocatedError& error) {
    std::vector<Entry> entries;
    while (entries.size() < entries_per_round && error.position == LocatedError::none &&
           lines.next()) {
        ParsedLine parsed = parse_fcidump_line(lines.line(), orbitals);
        if (parsed.blank) continue;
        const auto end = lines.position() + static_cast<std::int64_t>(lines.line().size());
        if (!parsed.problem.empty()) {
            if (end >= file.size() - 1)
                parsed.problem += "; the file ends here, it may be truncated: write it again";
            error.note(lines.position(), parsed.problem);
            break;
        }
        parsed.entry.position = lines.position();
        entries.push_back(parsed.entry);
    }
    return entries;
}

std::string number(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.15g", value);
    return text.data();
}

/// Looks through the whole file for the entries of one integral, and throws with the lines of two
/// that differ.
[[noreturn]] void throw_contradiction(const TextFile& file, const FcidumpHeader& header,
                                      std::uint64_t code) {
    std::vector<Entry> mine;
    for (LineReader lines = file.lines_from(header.data_begin); lines.next();) {
        ParsedLine parsed = parse_fcidump_line(lines.line(), header.orbitals);
        if (parsed.blank || !parsed.problem.empty() || parsed.entry.code != code) continue;
        parsed.entry.position = lines.position();
        mine.push_back(parsed.entry);
    }
    const std::vector<Entry> all =
        from_bytes<Entry>(file.comm().all_gather(to_bytes(mine)));  // in the order of the file
    const auto other = std::find_if(all.begin(), all.end(), [&](const Entry& entry) {
        return !same_integral(entry.value, all[0].value);
    });
    if (other == all.end())
        throw InvalidArgument(file.path() + ": the file changed while it was read");
    throw InvalidArgument(file.where(other->position) + entry_name(code) + " = " +
                          number(other->value) + " contradicts line " +
                          std::to_string(file.line_number(all[0].position)) + ", where it is " +
                          number(all[0].value) + "; keep the right one");
}

void throw_first_contradiction(const TextFile& file, const FcidumpHeader& header,
                               const Contradiction& mine) {
    LocatedError located;
    located.note(mine.position, std::to_string(mine.code));
    located = first_error(file.comm(), located);
    if (located.position != LocatedError::none)
        throw_contradiction(file, header, std::stoull(located.message));
}

void read_entries(const TextFile& file, const FcidumpHeader& header, EntryStore& store) {
    LineReader lines = file.lines_from(header.data_begin);
    LocatedError error;
    for (bool more = true; more;) {
        const std::vector<Entry> entries = next_entries(lines, file, header.orbitals, error);
        const Contradiction contradiction = store.merge(entries);
        file.throw_first(error);
        throw_first_contradiction(file, header, contradiction);
        more = file.comm().maximum(entries.size() == entries_per_round) != 0;
    }
}

void refuse_incomplete(const TextFile& file, const FcidumpHeader& header, const EntryStore& store) {
    if (store.count(EntryKind::two_electron) == 0)
        throw InvalidArgument(
            file.path() +
            ": there are no two-electron integrals (lines `value i j k l` without zero " +
            "indices); the file is truncated or was written without them");
    if (store.count(EntryKind::one_electron) == 0)
        throw InvalidArgument(
            file.path() +
            ": there are no one-electron integrals (lines `value i j 0 0`); the file is " +
            "truncated or was written without them");
    const std::int64_t energies = store.count(EntryKind::orbital_energy);
    if (energies != 0 && energies != header.orbitals)
        throw InvalidArgument(file.path() + ": there are energies for " + std::to_string(energies) +
                              " of " + std::to_string(header.orbitals) +
                              " orbitals; give all of them (lines `value i 0 0 0`) " +
                              "or none, or the file is truncated");
}

}  // namespace

FcidumpHeader read_fcidump_header(const World& world, const std::string& path) {
    return header_of(TextFile(world, path));
}

Fcidump read_fcidump(const World& world, const std::string& path) {
    const TextFile file(world, path);
    Fcidump data{header_of(file)};
    EntryStore store(world, file.comm(), data.header.orbitals);
    read_entries(file, data.header, store);
    refuse_incomplete(file, data.header, store);
    store.finish();
    for (const auto& [code, value] : store.small_entries(EntryKind::core_energy))
        data.core_energy = value;
    for (const auto& [code, value] : store.small_entries(EntryKind::orbital_energy))
        data.orbital_energies.push_back(value);  // codes ascend with the orbital
    data.one_electron = std::move(store.one_electron);
    data.two_electron = std::move(store.two_electron);
    return data;
}

}  // namespace arges::chemistry

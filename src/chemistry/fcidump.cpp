#include "chemistry/fcidump.hpp"

#include "arges/error.hpp"
#include "chemistry/fcidump_entry.hpp"
#include "chemistry/fcidump_form.hpp"
#include "chemistry/fcidump_store.hpp"
#include "chemistry/text_file.hpp"
#include "comm/values.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace arges::chemistry {

namespace {

/// Entries that a rank reads before all ranks store what they have.
constexpr std::size_t entries_per_round = std::size_t(1) << 17;

/// Bytes of a line at least: `0 1 1 1 1`.
constexpr std::int64_t shortest_line = 10;
/// Bytes that an entry takes while it goes from its line over its owner to a tensor.
constexpr std::int64_t bytes_of_entry = 160;

/// The header text is read by rank 0 and parsed by all, so that all see the same errors.
FcidumpHeader header_of(const TextFile& file) {
    const std::string text = broadcast_text(file.comm(), file.beginning(max_header_bytes), 0);
    try {
        return parse_fcidump_header(text);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(file.path() + ", " + error.what());
    }
}

/// Positions of the lines with zero indices of a file in blocks, on every rank.
std::vector<std::int64_t> find_zero_lines(const TextFile& file, const FcidumpHeader& header) {
    if (header.form != OrbitalForm::spin_blocks) return {};
    std::vector<std::int64_t> mine;
    file.comm().agree([&] {
        for (LineReader lines = file.lines_from(header.data_begin); lines.next();) {
            const ParsedLine parsed = parse_fcidump_line(lines.line(), header.orbitals);
            if (!parsed.blank && parsed.problem.empty() && parsed.entry.code == 0)
                mine.push_back(lines.position());
        }
    });
    std::vector<std::int64_t> all = gathered(file.comm(), mine);
    if (all.size() != FcidumpForm::zero_lines_of_blocks)
        throw InvalidArgument(
            file.path() +
            ": a file with IUHF=1 has five blocks, (aa|aa), (bb|bb), (aa|bb), h(a) and " +
            "h(b), each ended by a line `0.0 0 0 0 0`, and the core energy in a sixth such line; " +
            "this one has " + std::to_string(all.size()) +
            (all.size() < FcidumpForm::zero_lines_of_blocks
                 ? ": a block is missing, or the file is truncated"
                 : " of them: remove the others"));
    return all;
}

/// The next entries of this rank; an error ends them.
std::vector<Entry> next_entries(LineReader& lines, const TextFile& file, const FcidumpForm& form,
                                LocatedError& error) {
    std::vector<Entry> entries;
    entries.reserve(std::min<std::size_t>(entries_per_round, static_cast<std::size_t>(file.size() / shortest_line + 1)));
    while (entries.size() < entries_per_round && error.position == LocatedError::none &&
           lines.next()) {
        ParsedLine parsed = form.parse(lines.line(), lines.position());
        const auto end = lines.position() + static_cast<std::int64_t>(lines.line().size());
        if (!parsed.problem.empty()) {
            if (end >= file.size() - 1)
                parsed.problem += "; the file ends here, it may be truncated: write it again";
            error.note(lines.position(), parsed.problem);
            break;
        }
        if (!parsed.blank) entries.push_back(parsed.entry);
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
                                      const FcidumpForm& form, std::uint64_t code) {
    std::vector<Entry> mine;
    file.comm().agree([&] {
        for (LineReader lines = file.lines_from(header.data_begin); lines.next();) {
            const ParsedLine parsed = form.parse(lines.line(), lines.position());
            if (!parsed.blank && parsed.problem.empty() && parsed.entry.code == code)
                mine.push_back(parsed.entry);
        }
    });
    const std::vector<Entry> all = gathered(file.comm(), mine);  // in the order of the file
    const auto other = std::find_if(all.begin(), all.end(), [&](const Entry& entry) {
        return !same_integral(entry.value, all[0].value);
    });
    if (other == all.end())
        throw InvalidArgument(file.path() + ": the file changed while it was read");
    throw InvalidArgument(file.where(other->position) + form.name(code) + " = " +
                          number(other->value) + " contradicts line " +
                          std::to_string(file.line_number(all[0].position)) + ", where it is " +
                          number(all[0].value) + "; keep the right one");
}

void read_entries(const TextFile& file, const FcidumpHeader& header, EntryStore& store) {
    const FcidumpForm form(header, find_zero_lines(file, header));
    std::unique_ptr<LineReader> lines;
    file.comm().agree([&] { lines.reset(new LineReader(file.lines_from(header.data_begin))); });
    LocatedError error;
    for (bool more = true; more;) {
        std::vector<Entry> entries;
        file.comm().agree([&] { entries = next_entries(*lines, file, form, error); });
        const EntryStore::Found contradiction = store.merge(entries);
        file.throw_first(error);
        if (contradiction) throw_contradiction(file, header, form, *contradiction);
        more = file.comm().maximum(entries.size() == entries_per_round) != 0;
    }
    if (const EntryStore::Found contradiction = store.merge_small())
        throw_contradiction(file, header, form, *contradiction);
}

void refuse_missing_group(const TextFile& file, const EntryStore& store, EntryStore::Group group,
                          const std::string& kind, const std::string& lines) {
    if (store.count(group) == 0)
        throw InvalidArgument(file.path() + ": there are no " + kind + " integrals (lines " +
                              lines + "); the file is truncated or was written without them");
}

void refuse_incomplete(const TextFile& file, const FcidumpHeader& header, const EntryStore& store) {
    const std::string two = "`value i j k l` without zero indices", one = "`value i j 0 0`";
    if (header.form == OrbitalForm::restricted) {
        refuse_missing_group(file, store, EntryStore::two_alpha, "two-electron", two);
        refuse_missing_group(file, store, EntryStore::one_alpha, "one-electron", one);
    } else {
        refuse_missing_group(file, store, EntryStore::two_alpha, "two-electron alpha", two);
        refuse_missing_group(file, store, EntryStore::two_beta, "two-electron beta", two);
        refuse_missing_group(file, store, EntryStore::two_mixed, "two-electron alpha-beta", two);
        refuse_missing_group(file, store, EntryStore::one_alpha, "one-electron alpha", one);
        refuse_missing_group(file, store, EntryStore::one_beta, "one-electron beta", one);
    }
    const std::int64_t wanted = header.orbitals * (header.form == OrbitalForm::restricted ? 1 : 2);
    const auto energies =
        static_cast<std::int64_t>(store.small_entries(EntryKind::orbital_energy).size());
    if (energies != 0 && energies != wanted)
        throw InvalidArgument(file.path() + ": there are energies for " + std::to_string(energies) +
                              " of " + std::to_string(wanted) +
                              " orbitals; give all of them (lines `value i 0 0 0`) " +
                              "or none, or the file is truncated");
}

}  // namespace

FcidumpHeader read_fcidump_header(const World& world, const std::string& path) {
    return header_of(TextFile(world, path));
}

Fcidump empty_fcidump(const World& world, const FcidumpHeader& header) {
    const std::int64_t n = header.orbitals;
    const auto one = [&](const char* name) {
        return Tensor<double>(world, {n, n}, "pq", "sym(p,q)", name);
    };
    const auto two = [&](const char* symmetry, const char* name) {
        return Tensor<double>(world, {n, n, n, n}, "pqrs", symmetry, name);
    };
    const char* const all = "sym(sym(p,q),sym(r,s))";
    Fcidump data{header, 0.0, {}, one("h"), two(all, "(pq|rs)"), {}};
    if (header.form != OrbitalForm::restricted)
        data.beta = BetaIntegrals{{},
                                  one("h of beta"),
                                  two(all, "(pq|rs) of beta"),
                                  two("sym(p,q) sym(r,s)", "(pq|rs) of alpha and beta")};
    return data;
}

std::int64_t reading_memory(std::int64_t file_bytes, std::int64_t ranks) {
    const std::int64_t lines = file_bytes / ranks / shortest_line + 1;
    const std::int64_t header = 2 * std::min(file_bytes, max_header_bytes);
    const std::int64_t entries = std::min<std::int64_t>(lines, entries_per_round);
    return header + static_cast<std::int64_t>(LineReader::buffer_bytes) + entries * bytes_of_entry;
}

Fcidump read_fcidump(const World& world, const std::string& path) {
    const TextFile file(world, path);
    const FcidumpHeader header = header_of(file);
    EntryStore store(world, file.comm(), header);
    read_entries(file, header, store);
    refuse_incomplete(file, header, store);
    Fcidump data = std::move(store.finish());
    for (const auto& [code, value] : store.small_entries(EntryKind::core_energy))
        data.core_energy = value;
    for (const auto& [code, value] : store.small_entries(EntryKind::orbital_energy)) {
        const bool beta = data.beta && spin_of(entry_indices(code)[0]) == 1;
        (beta ? data.beta->orbital_energies : data.orbital_energies).push_back(value);
    }  // codes ascend with the orbital
    return data;
}

}  // namespace arges::chemistry

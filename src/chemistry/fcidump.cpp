#include "chemistry/fcidump.hpp"

#include "arges/error.hpp"
#include "chemistry/fcidump_entry.hpp"
#include "chemistry/fcidump_form.hpp"
#include "chemistry/fcidump_store.hpp"
#include "comm/values.hpp"
#include "io/parallel_file.hpp"
#include "io/text_lines.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

namespace arges::chemistry {

namespace {

/// Entries that a rank reads before all ranks store what they have.
constexpr std::size_t entries_per_round = std::size_t(1) << 17;

/// Bytes of a line at least: `0 1 1 1 1`.
constexpr std::int64_t shortest_line = 10;
/// Bytes that an entry takes while it goes from its line over its owner to a tensor.
constexpr std::int64_t bytes_of_entry = 160;

/// The header text is read by rank 0 and parsed by all, so that all see the same errors.
FcidumpHeader header_of(const io::InputFile& file) {
    std::string text;
    file.comm().agree([&] {
        if (file.comm().rank() != 0) return;
        text.resize(static_cast<std::size_t>(std::min(max_header_bytes, file.size())));
        text.resize(file.read(0, text.data(), text.size()));
    });
    file.comm().broadcast(text, 0);
    try {
        return parse_fcidump_header(text);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(file.path() + ", " + error.what());
    }
}

/// This rank's part of the lines behind the header.
io::FileLines entry_lines(const io::InputFile& file, const FcidumpHeader& header) {
    return io::FileLines::part_of(file, header.data_begin);
}

/// "name, line 7: " for the line that begins at `position`. Collective.
std::string where(const io::InputFile& file, std::int64_t position) {
    return file.path() + ", line " + std::to_string(io::line_number(file, position)) + ": ";
}

/// Positions of the lines with zero indices of a file in blocks, on every rank.
std::vector<std::int64_t> find_zero_lines(const io::InputFile& file, const FcidumpHeader& header) {
    if (header.form != OrbitalForm::spin_blocks) return {};
    std::vector<std::int64_t> mine;
    file.comm().agree([&] {
        for (io::LineReader lines(entry_lines(file, header)); lines.next();) {
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

/// What a rank has read in a round.
struct Round {
    static constexpr std::int64_t nowhere = INT64_MAX;
    std::vector<Entry> entries{};
    std::int64_t wrong = nowhere;  ///< position of the line behind them that is wrong
    std::string problem{};         ///< what is wrong with it and what to do
};

Round next_round(io::LineReader& lines, const io::InputFile& file, const FcidumpForm& form) {
    Round round;
    round.entries.reserve(std::min<std::size_t>(entries_per_round, static_cast<std::size_t>(file.size() / shortest_line + 1)));
    while (round.entries.size() < entries_per_round && lines.next()) {
        const ParsedLine parsed = form.parse(lines.line(), lines.position());
        const auto end = lines.position() + static_cast<std::int64_t>(lines.line().size());
        if (!parsed.problem.empty()) {
            round.wrong = lines.position();
            round.problem = parsed.problem;
            if (end >= file.size() - 1)
                round.problem += "; the file ends here, it may be truncated: write it again";
            break;
        }
        if (!parsed.blank) round.entries.push_back(parsed.entry);
    }
    return round;
}

/// Throws InvalidArgument with the first wrong line of all ranks, if there is one. Collective.
void throw_first(const io::InputFile& file, const Round& mine) {
    const std::int64_t position = file.comm().minimum(mine.wrong);
    if (position == Round::nowhere) return;
    const std::string place = where(file, position);
    file.comm().agree([&] {
        if (mine.wrong == position) throw InvalidArgument(place + mine.problem);
    });
}

std::string number(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.15g", value);
    return text.data();
}

/// Looks through the whole file for the entries of one integral, and throws with the lines of two
/// that differ.
[[noreturn]] void throw_contradiction(const io::InputFile& file, const FcidumpHeader& header,
                                      const FcidumpForm& form, std::uint64_t code) {
    std::vector<Entry> mine;
    file.comm().agree([&] {
        for (io::LineReader lines(entry_lines(file, header)); lines.next();) {
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
    throw InvalidArgument(where(file, other->position) + form.name(code) + " = " +
                          number(other->value) + " contradicts line " +
                          std::to_string(io::line_number(file, all[0].position)) + ", where it is " +
                          number(all[0].value) + "; keep the right one");
}

void read_entries(const io::InputFile& file, const FcidumpHeader& header, EntryStore& store) {
    const FcidumpForm form(header, find_zero_lines(file, header));
    std::unique_ptr<io::LineReader> lines;
    file.comm().agree([&] { lines = std::make_unique<io::LineReader>(entry_lines(file, header)); });
    for (bool more = true; more;) {
        Round round;
        file.comm().agree([&] { round = next_round(*lines, file, form); });
        const EntryStore::Found contradiction = store.merge(round.entries);
        throw_first(file, round);
        if (contradiction) throw_contradiction(file, header, form, *contradiction);
        more = file.comm().maximum(round.entries.size() == entries_per_round) != 0;
    }
    if (const EntryStore::Found contradiction = store.merge_small())
        throw_contradiction(file, header, form, *contradiction);
}

void refuse_missing_group(const io::InputFile& file, const EntryStore& store, EntryStore::Group group,
                          const std::string& kind, const std::string& lines) {
    if (store.count(group) == 0)
        throw InvalidArgument(file.path() + ": there are no " + kind + " integrals (lines " +
                              lines + "); the file is truncated or was written without them");
}

void refuse_incomplete(const io::InputFile& file, const FcidumpHeader& header, const EntryStore& store) {
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
    return header_of(io::InputFile(Communicator(world.communicator()), path));
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
    return header + static_cast<std::int64_t>(io::LineReader::block_bytes) + entries * bytes_of_entry;
}

Fcidump read_fcidump(const World& world, const std::string& path) {
    const io::InputFile file(Communicator(world.communicator()), path);
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

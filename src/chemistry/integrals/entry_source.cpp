// Entries of a file of integrals in rounds: every rank reads a part, then all store it; errors and
// contradictions are the same on all ranks.
#include "chemistry/integrals/entry_source.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "chemistry/integrals/fcidump_form.hpp"
#include "chemistry/integrals/fcidump_store.hpp"
#include "comm/values.hpp"

#include <algorithm>
#include <utility>

namespace arges::chemistry {

namespace {

std::string number(double value) { return printed("%.15g", value); }

/// Throws InvalidArgument with the first wrong entry of all ranks, if there is one. Collective.
void throw_first(const io::InputFile& file, const EntrySource& source, const EntryRound& mine) {
    const std::int64_t position = file.comm().minimum(mine.wrong);
    if (position == EntryRound::nowhere) return;
    const std::string place = source.place(position);
    file.comm().agree([&] {
        if (mine.wrong == position) throw InvalidArgument(file.path() + ", " + place + ": " + mine.problem);
    });
}

/// Looks through the whole file for the entries of one integral, and throws with the places of two
/// that differ. Collective.
[[noreturn]] void throw_contradiction(const io::InputFile& file, EntrySource& source, std::uint64_t code) {
    std::vector<Entry> mine;
    source.rewind();
    file.comm().agree([&] {
        EntryRound round;
        do {
            source.next(round);
            std::copy_if(round.entries.begin(), round.entries.end(), std::back_inserter(mine),
                         [&](const Entry& entry) { return entry.code == code; });
        } while (round.more);
    });
    std::vector<Entry> all = gathered(file.comm(), mine);
    std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.position < b.position; });
    const auto other = std::find_if(all.begin(), all.end(), [&](const Entry& entry) { return !same_integral(entry.value, all[0].value); });
    if (other == all.end()) throw InvalidArgument(file.path() + ": the file changed while it was read");
    throw InvalidArgument(file.path() + ", " + source.place(other->position) + ": " + source.name(code) + " = " + number(other->value) +
                          " contradicts " + source.place(all[0].position) + ", where it is " + number(all[0].value) +
                          "; keep the right one");
}

void store_entries(const io::InputFile& file, EntrySource& source, EntryStore& store) {
    source.rewind();
    EntryRound round;
    for (bool more = true; more;) {
        file.comm().agree([&] { source.next(round); });
        const EntryStore::Found contradiction = store.merge(round.entries);
        throw_first(file, source, round);
        if (contradiction) throw_contradiction(file, source, *contradiction);
        more = file.comm().maximum(round.more) != 0;
    }
    if (const EntryStore::Found contradiction = store.merge_small()) throw_contradiction(file, source, *contradiction);
}

/// The core energy, of the file or of the options. @throws InvalidArgument for none, and for two
double core_energy_of(const io::InputFile& file, const EntrySource& source, const EntryStore& store, const IntegralOptions& options) {
    const auto found = store.small_entries(EntryKind::core_energy);
    if (found.empty() && !options.core_energy)
        throw InvalidArgument(file.path() + ": the core energy is missing (" + source.part(EntryKind::core_energy) +
                              "), with which a file ends; the file is truncated: write it again, or if it is of a model without " +
                              "nuclei, give the core energy as an option (--core-energy 0)");
    if (found.empty()) return *options.core_energy;
    const double core = found.begin()->second;
    if (options.core_energy && !same_integral(core, *options.core_energy))
        throw InvalidArgument(file.path() + ": the file has the core energy " + number(core) + ", but " + number(*options.core_energy) +
                              " is given as an option (--core-energy); leave one of them out");
    return core;
}

/// Refuses a file without a diagonal one-electron integral: those of molecules are not zero. A model may have none at all, where a core
/// energy shows that the file did not end before them.
void refuse_missing_diagonal(const io::InputFile& file, const EntrySource& source, EntryStore& store, EntryStore::Group group) {
    const auto missing = store.missing_diagonals(group);
    const std::int64_t orbitals = source.header().orbitals, count = std::ssize(missing);
    if (count == 0 || (count == orbitals && !store.small_entries(EntryKind::core_energy).empty())) return;
    throw InvalidArgument(file.path() + ": there is no " + source.name(missing.front()) +
                          (count > 1 ? " and no other one of " + std::to_string(count) + " diagonal one-electron integrals" : "") + " (" +
                          source.part(EntryKind::one_electron) + "); the file is truncated: write it again, or add what is zero as 0.0");
}

void refuse_incomplete(const io::InputFile& file, const EntrySource& source, EntryStore& store) {
    using enum EntryStore::Group;
    constexpr std::pair<EntryStore::Group, const char*> wanted_groups[] = {
        {two_alpha, " alpha"}, {two_beta, " beta"}, {two_mixed, " alpha-beta"}, {one_alpha, " alpha"}, {one_beta, " beta"}};
    const bool restricted = source.header().form == OrbitalForm::restricted;
    for (const auto& [group, spins] : wanted_groups) {
        const bool is_one = group == one_alpha || group == one_beta;
        if ((restricted && group != one_alpha && group != two_alpha) || store.count(group) > 0) continue;
        throw InvalidArgument(file.path() + ": there are no " + (is_one ? "one" : "two") + "-electron" + (restricted ? "" : spins) +
                              " integrals (" + source.part(is_one ? EntryKind::one_electron : EntryKind::two_electron) +
                              "); the file is truncated or was written without them");
    }
    refuse_missing_diagonal(file, source, store, one_alpha);
    if (!restricted) refuse_missing_diagonal(file, source, store, one_beta);
    const std::int64_t wanted = source.header().orbitals * (restricted ? 1 : 2);
    const auto energies = std::ssize(store.small_entries(EntryKind::orbital_energy));
    if (energies != 0 && energies != wanted)
        throw InvalidArgument(file.path() + ": there are energies for " + std::to_string(energies) + " of " + std::to_string(wanted) +
                              " orbitals; give all of them (" + source.part(EntryKind::orbital_energy) +
                              ") or none, or the file is truncated");
}

}  // namespace

Fcidump read_entries(const World& world, const io::InputFile& file, EntrySource& source, const IntegralOptions& options) {
    EntryStore store(world, file.comm(), source.header());
    store_entries(file, source, store);
    refuse_incomplete(file, source, store);
    const double core_energy = core_energy_of(file, source, store, options);
    Fcidump data = std::move(store.finish());
    data.core_energy = core_energy;
    for (const auto& [code, value] : store.small_entries(EntryKind::orbital_energy)) {
        const bool beta = data.beta && spin_of(entry_indices(code)[0]) == 1;
        (beta ? data.beta->orbital_energies : data.orbital_energies).push_back(value);
    }  // codes ascend with the orbital
    return data;
}

}  // namespace arges::chemistry

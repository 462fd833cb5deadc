#include "chemistry/fcidump_store.hpp"

#include "chemistry/fcidump_form.hpp"
#include "comm/values.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace arges::chemistry {

namespace {

/// Marks an element that no entry has given yet; no integral is that large.
constexpr double unset = std::numeric_limits<double>::max();

/// A well-mixed number of a code, so that owners get equal shares.
std::uint64_t hash(std::uint64_t code) {
    code ^= code >> 31;
    code *= 0x9e3779b97f4a7c15u;
    return code ^ code >> 29;
}

void note(Contradiction& found, const Entry& entry) {
    if (entry.position < found.position) found = {entry.position, entry.code};
}

/// One entry for each code, the first in the file; others must agree with it.
std::vector<Entry> distinct(std::vector<Entry> entries, Contradiction& found) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.code, a.position) < std::tie(b.code, b.position);
    });
    std::vector<Entry> result;
    for (const Entry& entry : entries) {
        if (result.empty() || result.back().code != entry.code)
            result.push_back(entry);
        else if (!same_integral(result.back().value, entry.value))
            note(found, entry);
    }
    return result;
}

}  // namespace

EntryStore::EntryStore(const World& world, const Communicator& comm, const FcidumpHeader& header)
    : comm_(comm), data_(empty_fcidump(world, header)) {
    for (Group group : {one_alpha, two_alpha}) tensor(group).fill(unset);
    if (data_.beta)
        for (Group group : {one_beta, two_beta, two_mixed}) tensor(group).fill(unset);
}

Tensor<double>& EntryStore::tensor(Group group) {
    switch (group) {
    case one_alpha:
        return data_.one_electron;
    case two_alpha:
        return data_.two_electron;
    case one_beta:
        return data_.beta->one_electron;
    case two_beta:
        return data_.beta->two_electron;
    default:
        return data_.beta->mixed;
    }
}

/// The group of a one- or two-electron integral.
EntryStore::Group EntryStore::group_of(std::uint64_t code) const {
    const auto x = entry_indices(code);
    const bool two = entry_kind(code) == EntryKind::two_electron;
    if (!data_.beta) return two ? two_alpha : one_alpha;
    const bool beta = spin_of(x[0]) == 1;
    if (!two) return beta ? one_beta : one_alpha;
    if (spin_of(x[0]) != spin_of(x[2])) return two_mixed;
    return beta ? two_beta : two_alpha;
}

/// Indices of an integral in its tensor; an alpha pair comes before a beta pair.
std::vector<std::int64_t> EntryStore::element_of(std::uint64_t code) const {
    auto x = entry_indices(code);
    if (data_.beta) {
        if (x[2] > 0 && spin_of(x[0]) > spin_of(x[2])) x = {x[2], x[3], x[0], x[1]};
        for (std::int64_t& index : x) index = orbital_of(index);
    }
    std::vector<std::int64_t> element;
    for (std::int64_t index : x)
        if (index > 0) element.push_back(index - 1);
    return element;
}

std::vector<Entry> EntryStore::bring_to_owners(const std::vector<Entry>& entries) const {
    const auto ranks = static_cast<std::uint64_t>(comm_.size());
    std::vector<std::vector<Entry>> lists(ranks);
    comm_.agree([&] {
        for (const Entry& entry : entries) lists[hash(entry.code) % ranks].push_back(entry);
    });
    lists = exchanged(comm_, std::move(lists));
    std::vector<Entry> received;
    comm_.agree([&] {
        for (const auto& list : lists) received.insert(received.end(), list.begin(), list.end());
    });
    return received;
}

Contradiction EntryStore::merge(const std::vector<Entry>& entries) {
    Contradiction found;
    std::array<std::vector<Entry>, groups> integrals;
    std::vector<Entry> small;
    const std::vector<Entry> received = bring_to_owners(entries);
    comm_.agree([&] {
        for (const Entry& entry : distinct(received, found)) {
            const EntryKind kind = entry_kind(entry.code);
            const bool integral =
                kind == EntryKind::one_electron || kind == EntryKind::two_electron;
            (integral ? integrals[group_of(entry.code)] : small).push_back(entry);
        }
    });
    for (int group = 0; group < (data_.beta ? groups : one_beta); ++group)
        store(static_cast<Group>(group), integrals[static_cast<std::size_t>(group)], found);
    store_small(small, found);
    return found;
}

void EntryStore::store(Group group, const std::vector<Entry>& entries, Contradiction& found) {
    Tensor<double>& target = tensor(group);
    std::vector<std::int64_t> keys;
    comm_.agree([&] {
        for (const Entry& entry : entries) keys.push_back(target.key(element_of(entry.code)));
    });
    const std::vector<double> before = target.read(keys);
    std::vector<std::int64_t> new_keys;
    std::vector<double> new_values;
    comm_.agree([&] {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (before[i] == unset) {
                new_keys.push_back(keys[i]);
                new_values.push_back(entries[i].value);
            } else if (!same_integral(before[i], entries[i].value)) {
                note(found, entries[i]);
            }
        }
    });
    target.write(new_keys, new_values);
    counts_[group] += static_cast<std::int64_t>(new_keys.size());
}

void EntryStore::store_small(const std::vector<Entry>& entries, Contradiction& found) {
    for (const Entry& entry : entries) {
        const auto [place, is_new] = small_.emplace(entry.code, entry.value);
        if (!is_new && !same_integral(place->second, entry.value)) note(found, entry);
    }
}

Fcidump& EntryStore::finish() {
    for (int group = 0; group < (data_.beta ? groups : one_beta); ++group)
        tensor(static_cast<Group>(group)).for_each_local([](Index, double& value) {
            value = value == unset ? 0.0 : value;
        });
    return data_;
}

std::map<std::uint64_t, double> EntryStore::small_entries(EntryKind kind) const {
    std::vector<Entry> mine;
    for (const auto& [code, value] : small_)
        if (entry_kind(code) == kind) mine.push_back({code, value, 0});
    std::map<std::uint64_t, double> all;
    for (const Entry& entry : gathered(comm_, mine))
        all[entry.code] = entry.value;
    return all;
}

}  // namespace arges::chemistry

#include "chemistry/fcidump_store.hpp"

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

EntryStore::EntryStore(const World& world, const Communicator& comm, std::int64_t orbitals)
    : one_electron(world, {orbitals, orbitals}, "pq", "sym(p,q)", "h"),
      two_electron(world, {orbitals, orbitals, orbitals, orbitals}, "pqrs",
                   "sym(sym(p,q),sym(r,s))", "(pq|rs)"),
      comm_(comm) {
    one_electron.fill(unset);
    two_electron.fill(unset);
}

std::vector<Entry> EntryStore::bring_to_owners(const std::vector<Entry>& entries) const {
    const auto ranks = static_cast<std::uint64_t>(comm_.size());
    std::vector<std::vector<Entry>> to(ranks);
    for (const Entry& entry : entries) to[hash(entry.code) % ranks].push_back(entry);
    std::vector<std::vector<std::byte>> bytes;
    for (const auto& part : to) bytes.push_back(to_bytes(part));
    std::vector<Entry> received;
    for (const auto& part : comm_.all_to_all(bytes)) {
        const std::vector<Entry> from_one = from_bytes<Entry>(part);
        received.insert(received.end(), from_one.begin(), from_one.end());
    }
    return received;
}

Contradiction EntryStore::merge(const std::vector<Entry>& entries) {
    Contradiction found;
    std::map<EntryKind, std::vector<Entry>> by_kind;
    for (const Entry& entry : distinct(bring_to_owners(entries), found))
        by_kind[entry_kind(entry.code)].push_back(entry);
    store(EntryKind::two_electron, by_kind[EntryKind::two_electron], found);
    store(EntryKind::one_electron, by_kind[EntryKind::one_electron], found);
    store_small(by_kind[EntryKind::orbital_energy], found);
    store_small(by_kind[EntryKind::core_energy], found);
    return found;
}

void EntryStore::store(EntryKind kind, const std::vector<Entry>& entries, Contradiction& found) {
    Tensor<double>& tensor = kind == EntryKind::two_electron ? two_electron : one_electron;
    std::vector<std::int64_t> keys;
    for (const Entry& entry : entries) {
        const auto x = entry_indices(entry.code);
        std::vector<std::int64_t> index;
        for (int d = 0; d < tensor.order(); ++d)
            index.push_back(x[static_cast<std::size_t>(d)] - 1);
        keys.push_back(tensor.key(index));
    }
    const std::vector<double> before = tensor.read(keys);
    std::vector<std::int64_t> new_keys;
    std::vector<double> new_values;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (before[i] == unset) {
            new_keys.push_back(keys[i]);
            new_values.push_back(entries[i].value);
        } else if (!same_integral(before[i], entries[i].value)) {
            note(found, entries[i]);
        }
    }
    tensor.write(new_keys, new_values);
    counts_[kind] += static_cast<std::int64_t>(new_keys.size());
}

void EntryStore::store_small(const std::vector<Entry>& entries, Contradiction& found) {
    for (const Entry& entry : entries) {
        const auto [place, is_new] = small_.emplace(entry.code, entry.value);
        if (is_new)
            ++counts_[entry_kind(entry.code)];
        else if (!same_integral(place->second, entry.value))
            note(found, entry);
    }
}

void EntryStore::finish() {
    for (Tensor<double>* tensor : {&one_electron, &two_electron})
        tensor->for_each_local([](Index, double& value) { value = value == unset ? 0.0 : value; });
}

std::int64_t EntryStore::count(EntryKind kind) const {
    const auto entry = counts_.find(kind);
    return comm_.sum(entry == counts_.end() ? 0 : entry->second);
}

std::map<std::uint64_t, double> EntryStore::small_entries(EntryKind kind) const {
    std::vector<Entry> mine;
    for (const auto& [code, value] : small_)
        if (entry_kind(code) == kind) mine.push_back({code, value, 0});
    std::map<std::uint64_t, double> all;
    for (const Entry& entry : from_bytes<Entry>(comm_.all_gather(to_bytes(mine))))
        all[entry.code] = entry.value;
    return all;
}

}  // namespace arges::chemistry

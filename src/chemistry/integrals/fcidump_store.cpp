// Integrals go to the ranks that store their elements, which compare what comes twice and count what is missing.
#include "chemistry/integrals/fcidump_store.hpp"

#include "chemistry/integrals/fcidump_form.hpp"
#include "comm/values.hpp"
#include "interface/dense/pair_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace arges::chemistry {

namespace {

/// Marks an element that no entry has given yet; no integral is that large.
constexpr double unset = std::numeric_limits<double>::max();

/// Of two values for one integral the one to keep, whichever comes first.
double kept_of(double a, double b) { return std::pair(std::abs(a), a) < std::pair(std::abs(b), b) ? b : a; }

void note(EntryStore::Found& found, std::uint64_t code) {
    if (!found || code < *found) found = code;
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
    case one_alpha: return data_.one_electron;
    case two_alpha: return data_.two_electron;
    case one_beta: return data_.beta->one_electron;
    case two_beta: return data_.beta->two_electron;
    default: return data_.beta->mixed;
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

/// Indices of an integral in its tensor, as many as that has; an alpha pair comes before a beta pair.
std::array<std::int64_t, 4> EntryStore::element_of(std::uint64_t code) const {
    auto x = entry_indices(code);
    if (data_.beta) {
        if (x[2] > 0 && spin_of(x[0]) > spin_of(x[2])) x = {x[2], x[3], x[0], x[1]};
        for (std::int64_t& index : x) index = orbital_of(index);
    }
    for (std::int64_t& index : x) --index;
    return x;
}

/// The integral that this rank stores at an offset.
std::uint64_t EntryStore::code_at(Group group, std::int64_t offset) {
    std::array<std::int64_t, 4> x{};
    const auto& state = *tensor(group).state();
    for_each_element(state.shape(), state.rank(), [&](std::int64_t at, const std::vector<std::int64_t>& index) {
        if (at == offset) std::copy(index.begin(), index.end(), x.begin());
    });
    const bool two = group == two_alpha || group == two_beta || group == two_mixed;
    const std::int64_t first = group == one_beta || group == two_beta, second = first || group == two_mixed;
    for (std::size_t d = 0; d < (two ? 4 : 2); ++d) {
        ++x[d];
        if (data_.beta) x[d] = spin_index(x[d], d < 2 ? first : second);
    }
    return entry_code(x);
}

EntryStore::Found EntryStore::lowest(Found mine) const {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    const std::int64_t code = comm_.minimum(mine ? static_cast<std::int64_t>(*mine) : none);
    return code == none ? Found() : static_cast<std::uint64_t>(code);
}

void EntryStore::add_small(const Entry& entry, Found& found) {
    const auto [place, is_new] = small_.emplace(entry.code, entry.value);
    if (is_new) return;
    if (!same_integral(place->second, entry.value)) note(found, entry.code);
    place->second = kept_of(place->second, entry.value);
}

EntryStore::Found EntryStore::merge(const std::vector<Entry>& entries) {
    Found found;
    comm_.agree([&] {
        for (auto& entries_of_group : merging_) entries_of_group.clear();
        for (const Entry& entry : entries) {
            const EntryKind kind = entry_kind(entry.code);
            if (kind == EntryKind::one_electron || kind == EntryKind::two_electron) {
                merging_[group_of(entry.code)].push_back(entry);
                continue;
            }
            add_small(entry, found);
        }
    });
    for (int group = 0; group < (data_.beta ? groups : one_beta); ++group) store(static_cast<Group>(group), merging_[group], found);
    return lowest(found);
}

void EntryStore::store(Group group, const std::vector<Entry>& entries, Found& found) {
    TensorState& state = *tensor(group).state();
    const Layout& layout = state.shape();
    const bool counts = layout.is_first_copy(state.rank());
    std::optional<std::int64_t> contradiction;  // where the first one is
    const PairBatches batches(*state.world, std::ssize(entries), 0, 0, 3 * layout.copies() * 16, [] {});
    const ElementLocator locator(layout);
    ChangedHostElements changed(state);
    double* const elements = changed.of<double>();
    deliver_pairs(
        *state.world, layout, batches, sizeof(double), [&](std::int64_t i) { return locator.locate(element_of(entries[i].code).data()); },
        [&](std::int64_t i, const ElementLocation&, std::byte* to) { copy_element(to, &entries[i].value, sizeof(double)); },
        [elements](std::int64_t offset) { __builtin_prefetch(elements + offset, 1); },
        [&](std::int64_t offset, const std::byte* bytes) {
            double value = 0;
            copy_element(&value, bytes, sizeof value);
            double& element = elements[offset];
            if (element == unset) {
                element = value;
                counts_[group] += counts ? 1 : 0;
            } else if (element != value) {
                if (!same_integral(element, value) && !contradiction) contradiction = offset;
                element = kept_of(element, value);
                repeats_ += counts ? 1 : 0;
            }
        });
    if (contradiction) note(found, code_at(group, *contradiction));
}

EntryStore::Found EntryStore::merge_small() {
    Found found;
    std::vector<Entry> mine;
    comm_.agree([&] {
        for (const auto& [code, value] : small_) mine.push_back({code, value, 0});
    });
    const std::vector<Entry> all = gathered(comm_, mine);
    comm_.agree([&] {
        small_.clear();
        for (const Entry& entry : all) add_small(entry, found);
    });
    return lowest(found);
}

std::vector<std::uint64_t> EntryStore::missing_diagonals(Group group) {
    const std::int64_t n = tensor(group).extents()[0];
    std::vector<std::int64_t> keys;
    for (std::int64_t p = 0; p < n; ++p) keys.push_back(p * (n + 1));
    const std::vector<double> values = tensor(group).read(keys);
    std::vector<std::uint64_t> missing;
    for (std::int64_t p = 0; p < n; ++p) {
        const std::int64_t index = data_.beta ? spin_index(p + 1, group == one_beta ? 1 : 0) : p + 1;
        if (values[p] == unset) missing.push_back(entry_code({index, index, 0, 0}));
    }
    return missing;
}

Fcidump& EntryStore::finish() {
    for (int group = 0; group < (data_.beta ? groups : one_beta); ++group) {
        auto& state = *tensor(static_cast<Group>(group)).state();
        ChangedHostElements changed(state);
        std::replace(changed.of<double>(), changed.of<double>() + state.count(), unset, 0.0);
    }
    data_.round_off_repeats = round_off_repeats();
    return data_;
}

std::map<std::uint64_t, double> EntryStore::small_entries(EntryKind kind) const {
    std::map<std::uint64_t, double> result;
    for (const auto& [code, value] : small_)
        if (entry_kind(code) == kind) result.emplace(code, value);
    return result;
}

}  // namespace arges::chemistry

// Words that the busiest rank lacks of a working layout, from short tables for each slot, over all ranks or a fixed sample of them.
#include "plan/movement/moved_words.hpp"

#include "base/math.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges {

namespace {

/// Number of I in [0, n) with I = a mod p and I = b mod q. Example: n = 12, I = 1 mod 2 and I = 2 mod 3: 5 and 11, so 2.
std::int64_t count_common(std::int64_t n, std::int64_t a, std::int64_t p, std::int64_t b, std::int64_t q) {
    if (q % p == 0) return b % p == a ? count_residues(n, b, q) : 0;
    if (p % q == 0) return a % q == b ? count_residues(n, a, p) : 0;
    if ((a - b) % std::gcd(p, q) != 0) return 0;
    for (std::int64_t x = a, steps = 0; steps < q; x += p, ++steps)
        if (x % q == b) return count_residues(n, x, std::lcm(p, q));
    return 0;
}

/// Ranks to look at: all where they are few, else a fixed sample without a pattern that a torus could share.
std::vector<std::int64_t> sample_ranks(std::int64_t ranks) {
    constexpr std::int64_t all = 32;
    constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15U;
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < std::min(ranks, all); ++i)
        result.push_back(ranks <= all ? i
                                      : static_cast<std::int64_t>(((static_cast<std::uint64_t>(i) * multiplier) >> 32U) %
                                                                  static_cast<std::uint64_t>(ranks)));
    return result;
}

/// Each label once, ascending.
std::vector<int> distinct(std::vector<int> labels) {
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return labels;
}

std::vector<int> slot_labels(const Layout& layout, const std::vector<int>& labels, int s) {
    std::vector<int> result;
    for (int d : layout.slot_dimensions(s)) result.push_back(labels[d]);
    return result;
}

NodeKind kind_of(const Layout& layout, int s) { return layout.symmetry().slots()[s].kind; }

}  // namespace

CountedRanks::CountedRanks(const RankGrid& grid) : lengths_(grid.lengths), ranks_(sample_ranks(grid.ranks())) {
    coordinates_.reserve(ranks_.size() * lengths_.size());
    for (auto rank : ranks_)
        for (const auto length : lengths_) {
            coordinates_.push_back(rank % length);
            rank /= length;
        }
}

std::int64_t CountedRanks::coordinate(std::size_t r, const std::vector<int>& torus) const {
    const auto* const own = coordinates_.data() + r * lengths_.size();
    std::int64_t result = 0, stride = 1;
    for (int t : torus) {
        result += own[t] * stride;
        stride *= lengths_[t];
    }
    return result;
}

std::int64_t CountedRanks::grid_length(const std::vector<int>& torus) const {
    std::int64_t product = 1;
    for (int t : torus) product *= lengths_[t];
    return product;
}

std::int64_t RanksAlong::count() const {
    std::int64_t product = 1;
    for (const int t : torus) product *= grid.lengths[t];
    return product;
}

SourceRanks source_ranks(const RanksAlong& from, const RanksAlong& to, std::int64_t size) {
    const bool is_one_grid = from.grid == to.grid;
    if (is_one_grid && from.torus == to.torus) return {};
    const auto sources = from.count(), own = to.count(), common = std::gcd(sources, own);
    SourceRanks result{static_cast<double>(std::clamp<std::int64_t>(ceil_div(size, own), 1, sources / common)), false};
    if (!is_one_grid || size / own < sources / common) return result;
    // Coordinates agree modulo the ranks along the dimensions with which both begin, for every rank.
    const auto same = std::mismatch(from.torus.begin(), from.torus.end(), to.torus.begin(), to.torus.end()).first;
    std::int64_t alike = 1;
    std::for_each(from.torus.begin(), same, [&](int t) { alike *= from.grid.lengths[t]; });
    result.has_itself = alike == common;
    return result;
}

double occupied_ranks(double ranks, double elements) { return std::max(1.0, ranks * (1 - std::exp(-elements / ranks))); }

MovedWords::MovedWords(const Operand& tensor, const RankGrid& grid, const CountedRanks& ranks)
    : present_(tensor.layout), tensor_labels_(tensor.labels), grid_(grid), ranks_(ranks), one_rank_(grid.ranks() == 1),
      one_grid_(tensor.layout.grid() == grid), present_ranks_(tensor.layout.grid().ranks()) {
    for (int s = 0; s < present_.slots(); ++s) {
        labels_.push_back(distinct(slot_labels(present_, tensor.labels, s)));
        auto& coordinates = coordinates_.emplace_back();
        for (std::size_t r = 0; r < ranks.count() && !one_rank_; ++r)
            coordinates.push_back(ranks.rank(r) < present_ranks_ ? present_.coordinate(ranks.rank(r), s) : 0);
    }
}

SlotMatch MovedWords::match(std::vector<int> labels, NodeKind tree) const {
    labels = distinct(std::move(labels));
    int within = -1;
    for (int m = 0; m < present_.slots(); ++m) {
        if (labels_[m] == labels && kind_of(present_, m) == tree) return {m, -1, m};
        if (std::includes(labels_[m].begin(), labels_[m].end(), labels.begin(), labels.end())) within = m;
        const auto& slot = present_.slot(m);
        if (labels.size() != 1 || !slot.is_blocks() || !one_grid_ || slot.width() != std::ssize(labels_[m])) continue;
        const auto in_slot = slot_labels(present_, tensor_labels_, m);
        const auto found = std::find(in_slot.begin(), in_slot.end(), labels[0]);
        if (found != in_slot.end()) return {m, static_cast<int>(found - in_slot.begin()), m};
    }
    return {-1, -1, within};
}

/// Of a group in blocks, elements that symmetry relates to each stored one, about: a rank stores so much less than the box that it is in.
double MovedWords::images(int slot) const {
    double box = 1 / static_cast<double>(present_.slot(slot).grid_length());
    for (const int d : present_.slot_dimensions(slot)) box *= present_.extents()[d];
    return std::max(1.0, box / static_cast<double>(std::max<std::int64_t>(1, present_.slot(slot).max_local_size())));
}

WantedSlot::WantedSlot(const CountedRanks& ranks, SlotMapping mapped, std::int64_t indices, const SlotLayout* layout)
    : mapping(std::move(mapped)), size(indices), is_uneven(layout != nullptr && (layout->is_blocks() || layout->is_rows())) {
    const auto torus = mapping.all();
    grid_length = ranks.grid_length(torus);
    coordinate.reserve(ranks.count());
    count.reserve(ranks.count());
    const auto all_have = size / grid_length, longer = size % grid_length;
    for (std::size_t r = 0; r < ranks.count(); ++r) {
        const auto own = coordinate.emplace_back(ranks.coordinate(r, torus));
        count.push_back(layout != nullptr ? layout->local_size(own) : all_have + (own < longer ? 1 : 0));
        largest = std::max(largest, count.back());
    }
}

SlotShare MovedWords::share(const SlotMatch& match, const WantedSlot& slot) const {
    SlotShare result{match, &slot, {}, {}};
    if (match.slot < 0) return result;
    result.present.reserve(ranks_.count());
    if (match.position >= 0) {  // values of a label that a rank has in the tensor, of those in its working copy
        const auto& there = present_.mapping(match.slot).torus_by_position[match.position];
        const auto other = ranks_.grid_length(there);
        result.sources = source_ranks({grid_, there}, {grid_, slot.mapping.torus}, slot.size);
        for (std::size_t r = 0; r < ranks_.count(); ++r)
            result.present.push_back(count_common(slot.size, slot.coordinate[r], slot.grid_length, ranks_.coordinate(r, there), other));
        return result;
    }
    if (one_grid_ && slot.mapping == present_.mapping(match.slot)) return result;
    const auto& other = present_.slot(match.slot);
    const bool estimated = slot.is_uneven || other.is_blocks() || other.is_rows();
    if (estimated)
        result.sources.count = static_cast<double>(other.grid_length());
    else
        result.sources = source_ranks({present_.grid(), present_.mapping(match.slot).torus}, {grid_, slot.mapping.torus}, slot.size);
    for (std::size_t r = 0; r < ranks_.count(); ++r) {
        if (ranks_.rank(r) >= present_ranks_)
            result.present.push_back(0);
        else if (estimated)
            result.present.push_back(slot.count[r] / static_cast<double>(other.grid_length()));
        else
            result.present.push_back(
                count_common(slot.size, slot.coordinate[r], slot.grid_length, coordinates_[match.slot][r], other.grid_length()));
    }
    return result;
}

Moved MovedWords::count(std::span<const SlotShare* const> slots, double copies) const {
    double words = 0, sources = copies;
    if (one_rank_) return {};
    bool has_itself = one_grid_;
    double cut = 1;  // coordinates along the tensor's slots that match none, images of elements of those that are taken apart
    const bool takes_apart = std::any_of(slots.begin(), slots.end(), [](const auto* slot) { return slot->match.position >= 0; });
    std::vector<bool> is_apart(takes_apart ? present_.slots() : 0, false);
    for (int m = 0; m < present_.slots(); ++m) {
        const auto count_of_slot = [&](bool apart) {
            return std::count_if(slots.begin(), slots.end(),
                                 [&](const auto* slot) { return slot->match.slot == m && (slot->match.position >= 0) == apart; });
        };
        if (takes_apart && count_of_slot(true) == present_.slot(m).width()) {
            is_apart[m] = true;
            cut *= images(m);
        } else if (count_of_slot(false) == 0) {
            cut *= present_.slot(m).grid_length();
            double elements = 1;
            for (const auto* slot : slots)
                if (slot->match.within == m) elements *= slot->wanted->largest;
            sources *= occupied_ranks(present_.slot(m).grid_length(), elements);
        }
    }
    for (const auto* slot : slots) {
        if (slot->match.position >= 0 && !is_apart[slot->match.slot]) continue;
        sources *= slot->sources.count;
        has_itself = has_itself && slot->sources.has_itself;
    }
    for (std::size_t r = 0; r < ranks_.count(); ++r) {
        double wanted = 1, present = 1;
        for (const auto* slot : slots) {
            wanted *= slot->wanted->count[r];
            const bool counts = slot->match.position < 0 || is_apart[slot->match.slot];
            present *= counts ? slot->owned()[r] : slot->wanted->count[r];
        }
        words = std::max(words, ranks_.rank(r) >= present_ranks_ ? wanted : wanted - present / cut);
    }
    return {words, sources - (has_itself ? 1 : 0)};
}

Moved MovedWords::count_lacking(std::span<const WantedSlot* const> wanted, std::span<const WantedSlot* const> owned) const {
    double words = 0, sources = 1;
    for (const auto* slot : owned) sources *= slot->grid_length;
    for (const auto* slot : wanted) sources /= slot->grid_length;
    for (std::size_t r = 0; r < ranks_.count(); ++r) {
        double all = 1, own = 1;
        for (const auto* slot : wanted) all *= slot->count[r];
        for (const auto* slot : owned) own *= slot->count[r];
        words = std::max(words, all - own);
    }
    return {words, sources - 1};
}

Moved moved_words(const Operand& tensor, const WorkingOperand& working) {
    const auto& layout = working.layout;
    if (layout.grid().ranks() == 1) return {};
    const CountedRanks ranks(layout.grid());
    const MovedWords moved(tensor, layout.grid(), ranks);
    std::vector<WantedSlot> wanted;
    std::vector<SlotShare> shares;
    for (int s = 0; s < layout.slots(); ++s) wanted.emplace_back(ranks, layout.mapping(s), layout.slot(s).size(), &layout.slot(s));
    for (int s = 0; s < layout.slots(); ++s)
        shares.push_back(moved.share(moved.match(slot_labels(layout, working.labels, s), kind_of(layout, s)), wanted[s]));
    std::vector<const SlotShare*> slots;
    for (const auto& share : shares) slots.push_back(&share);
    double copies = 1;
    if (tensor.layout.grid() == layout.grid())
        for (int t = 0; t < layout.grid().dimensions(); ++t)
            if (layout.is_partial(t) && tensor.layout.slot_of_torus(t) < 0) copies *= layout.grid().lengths[t];
    return moved.count(slots, copies);
}

}  // namespace arges

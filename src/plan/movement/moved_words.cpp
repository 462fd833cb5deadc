// Words that the busiest rank lacks of a working layout, from short tables for each slot, over all ranks or a fixed sample of them.
#include "plan/movement/moved_words.hpp"

#include "base/math.hpp"

#include <algorithm>
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

MovedWords::MovedWords(const OperandSpec& tensor, const RankGrid& grid, const CountedRanks& ranks)
    : present_(tensor.layout), tensor_labels_(tensor.labels), ranks_(ranks), one_rank_(grid.ranks() == 1),
      one_grid_(tensor.layout.grid() == grid), present_ranks_(tensor.layout.grid().ranks()) {
    for (int s = 0; s < present_.slots(); ++s) labels_.push_back(distinct(slot_labels(present_, tensor.labels, s)));
}

SlotMatch MovedWords::match(std::vector<int> labels, NodeKind tree) const {
    labels = distinct(std::move(labels));
    for (int m = 0; m < present_.slots(); ++m) {
        if (labels_[m] == labels && kind_of(present_, m) == tree) return {m, -1};
        const auto& slot = present_.slot(m);
        if (labels.size() != 1 || !slot.is_blocks() || !one_grid_ || slot.width() != std::ssize(labels_[m])) continue;
        const auto in_slot = slot_labels(present_, tensor_labels_, m);
        const auto found = std::find(in_slot.begin(), in_slot.end(), labels[0]);
        if (found != in_slot.end()) return {m, static_cast<int>(found - in_slot.begin())};
    }
    return {};
}

/// Of a group in blocks, elements that symmetry relates to each stored one, about: a rank stores so much less than the box that it is in.
double MovedWords::images(int slot) const {
    double box = 1 / static_cast<double>(present_.slot(slot).grid_length());
    for (const int d : present_.slot_dimensions(slot)) box *= present_.extents()[d];
    return std::max(1.0, box / static_cast<double>(std::max<std::int64_t>(1, present_.slot(slot).max_local_size())));
}

/// Values of a label that a rank has in the tensor, of those in its working copy.
std::vector<double> MovedWords::present_of_label(const SlotMatch& match, const WantedSlot& slot) const {
    const auto& there = present_.mapping(match.slot).torus_by_position[match.position];
    const auto torus = slot.mapping.all();
    const auto length = ranks_.grid_length(torus), other = ranks_.grid_length(there);
    std::vector<double> result;
    for (std::size_t r = 0; r < ranks_.count(); ++r)
        result.push_back(
            static_cast<double>(count_common(slot.size, ranks_.coordinate(r, torus), length, ranks_.coordinate(r, there), other)));
    return result;
}

SlotShare MovedWords::share(const SlotMatch& match, const WantedSlot& slot) const {
    SlotShare result;
    result.match = match;
    const auto torus = slot.mapping.all();
    const auto length = ranks_.grid_length(torus), all_have = slot.size / length, longer = slot.size % length;
    std::vector<std::int64_t> coordinate(ranks_.count());
    result.wanted.reserve(ranks_.count());
    for (std::size_t r = 0; r < ranks_.count(); ++r) {
        coordinate[r] = ranks_.coordinate(r, torus);
        result.wanted.push_back(slot.layout != nullptr ? slot.layout->local_size(coordinate[r])
                                                       : all_have + (coordinate[r] < longer ? 1 : 0));
    }
    if (match.position >= 0) {
        result.present = present_of_label(match, slot);
        return result;
    }
    if (match.slot < 0 || (one_grid_ && slot.mapping == present_.mapping(match.slot))) return result;
    const auto& other = present_.slot(match.slot);
    const bool estimated =
        other.is_blocks() || other.is_rows() || (slot.layout != nullptr && (slot.layout->is_blocks() || slot.layout->is_rows()));
    result.present.reserve(ranks_.count());
    for (std::size_t r = 0; r < ranks_.count(); ++r) {
        const auto rank = ranks_.rank(r);
        if (rank >= present_ranks_)
            result.present.push_back(0);
        else if (estimated)
            result.present.push_back(result.wanted[r] / static_cast<double>(other.grid_length()));
        else
            result.present.push_back(
                count_common(slot.size, coordinate[r], length, present_.coordinate(rank, match.slot), other.grid_length()));
    }
    return result;
}

double MovedWords::count(std::span<const SlotShare* const> slots) const {
    double words = 0;
    if (one_rank_) return words;
    double cut = 1;  // coordinates along the tensor's slots that match none, images of elements of those that are taken apart
    std::vector<bool> is_apart(present_.slots(), false);
    for (int m = 0; m < present_.slots(); ++m) {
        const auto of_slot = [m](bool apart) {
            return [m, apart](const SlotShare* slot) { return slot->match.slot == m && (slot->match.position >= 0) == apart; };
        };
        const auto apart = std::count_if(slots.begin(), slots.end(), of_slot(true));
        const bool matched = std::any_of(slots.begin(), slots.end(), of_slot(false));
        is_apart[m] = apart == present_.slot(m).width();
        if (is_apart[m])
            cut *= images(m);
        else if (!matched)
            cut *= present_.slot(m).grid_length();
    }
    for (std::size_t r = 0; r < ranks_.count(); ++r) {
        double wanted = 1, present = 1;
        for (const auto* slot : slots) {
            wanted *= slot->wanted[r];
            const bool counts = slot->match.position < 0 || is_apart[slot->match.slot];
            present *= counts ? slot->owned()[r] : slot->wanted[r];
        }
        words = std::max(words, ranks_.rank(r) >= present_ranks_ ? wanted : wanted - present / cut);
    }
    return words;
}

double MovedWords::count_lacking(std::span<const SlotShare* const> wanted, std::span<const SlotShare* const> owned, double cut) const {
    double words = 0;
    for (std::size_t r = 0; r < ranks_.count(); ++r) {
        double all = 1, own = 1;
        for (const auto* slot : wanted) all *= slot->wanted[r];
        for (const auto* slot : owned) own *= slot->wanted[r];
        words = std::max(words, all - own / cut);
    }
    return words;
}

double moved_words(const OperandSpec& tensor, const WorkingOperand& working) {
    const auto& layout = working.layout;
    if (layout.grid().ranks() == 1) return 0;
    const CountedRanks ranks(layout.grid());
    const MovedWords moved(tensor, layout.grid(), ranks);
    std::vector<SlotShare> shares;
    for (int s = 0; s < layout.slots(); ++s)
        shares.push_back(moved.share(moved.match(slot_labels(layout, working.labels, s), kind_of(layout, s)),
                                     {layout.mapping(s), layout.slot(s).size(), &layout.slot(s)}));
    std::vector<const SlotShare*> slots;
    for (const auto& share : shares) slots.push_back(&share);
    return moved.count(slots);
}

}  // namespace arges

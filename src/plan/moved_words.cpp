#include "plan/moved_words.hpp"

#include "base/math.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Number of I in [0, n) with I = a mod p and I = b mod q. Example: n = 12, I = 1 mod 2 and I = 2 mod 3: 5 and 11, so 2.
std::int64_t count_common(std::int64_t n, std::int64_t a, std::int64_t p, std::int64_t b, std::int64_t q) {
    if (p == q) return a == b ? count_residues(n, a, p) : 0;
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
    for (int d : layout.slot_dimensions(s)) result.push_back(labels[static_cast<std::size_t>(d)]);
    return result;
}

NodeKind kind_of(const Layout& layout, int s) { return layout.symmetry().slots()[static_cast<std::size_t>(s)].kind; }

}  // namespace

MovedWords::MovedWords(const OperandSpec& tensor, const RankGrid& grid)
    : present_(tensor.layout), one_rank_(grid.ranks() == 1), one_grid_(tensor.layout.grid() == grid), ranks_(sample_ranks(grid.ranks())) {
    for (int s = 0; s < present_.slots(); ++s) labels_.push_back(distinct(slot_labels(present_, tensor.labels, s)));
}

SlotShare MovedWords::share(std::vector<int> labels, NodeKind tree, const Layout& layout, int s) const {
    labels = distinct(std::move(labels));
    SlotShare result;
    for (int m = 0; m < present_.slots() && result.match < 0; ++m)
        if (labels_[static_cast<std::size_t>(m)] == labels && kind_of(present_, m) == tree) result.match = m;
    const auto& slot = layout.slot(s);
    const bool alike = result.match < 0 || (one_grid_ && layout.mapping(s) == present_.mapping(result.match));
    result.wanted.reserve(ranks_.size());
    for (const auto rank : ranks_) result.wanted.push_back(static_cast<double>(slot.local_size(layout.place(rank, s))));
    if (alike) {
        result.present = result.wanted;
        return result;
    }
    const auto& other = present_.slot(result.match);
    const bool estimated = slot.is_blocks() || other.is_blocks() || slot.is_rows() || other.is_rows();
    result.present.reserve(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const auto rank = ranks_[r];
        if (present_.grid().is_idle(rank))
            result.present.push_back(0);
        else if (estimated)
            result.present.push_back(result.wanted[r] / static_cast<double>(other.places()));
        else
            result.present.push_back(static_cast<double>(
                count_common(slot.size(), layout.place(rank, s), slot.places(), present_.place(rank, result.match), other.places())));
    }
    return result;
}

double MovedWords::count(std::span<const SlotShare* const> slots) const {
    double words = 0;
    if (one_rank_) return words;
    std::vector<double> cut;  // places along the tensor's slots that match none
    for (int m = 0; m < present_.slots(); ++m)
        if (present_.slot(m).places() > 1 && std::none_of(slots.begin(), slots.end(), [m](const auto* slot) { return slot->match == m; }))
            cut.push_back(static_cast<double>(present_.slot(m).places()));
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        double wanted = 1, present = 1;
        for (const auto* slot : slots) {
            wanted *= slot->wanted[r];
            present *= slot->present[r];
        }
        for (const double places : cut) present /= places;
        words = std::max(words, present_.grid().is_idle(ranks_[r]) ? wanted : wanted - present);
    }
    return words;
}

double MovedWords::count_lacking(std::span<const SlotShare* const> wanted, std::span<const SlotShare* const> owned, double cut) const {
    double words = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
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
    const MovedWords moved(tensor, layout.grid());
    std::vector<SlotShare> shares;
    for (int s = 0; s < layout.slots(); ++s) shares.push_back(moved.share(slot_labels(layout, working.labels, s), kind_of(layout, s), layout, s));
    std::vector<const SlotShare*> slots;
    for (const auto& share : shares) slots.push_back(&share);
    return moved.count(slots);
}

}  // namespace arges

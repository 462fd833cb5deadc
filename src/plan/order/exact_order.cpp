// The cheapest order by dynamic programming over connected subsets, the pairs as DPccp enumerates them (Moerkotte and Neumann, VLDB 2006).
#include "plan/order/order_searches.hpp"

#include <unordered_map>

namespace arges {

namespace {

constexpr double bound_slack = 1 + 1e-9;  // the tree that the bound is of must be found again

/// Best trees of all connected subsets of the leaves.
class SubsetTable {
public:
    SubsetTable(const PricedNetwork& network, const std::vector<OperandSet>& leaves, double bound)
        : network_(network), bound_(bound * bound_slack) {
        for (std::size_t i = 0; i < leaves.size(); ++i)
            subsets_[std::uint64_t{1} << i] = {leaves[i], network.labels(leaves[i]), {}, {0, 0}, true};
    }

    /// Looks at the product of the best trees of two subsets.
    void join(std::uint64_t first, std::uint64_t second) {
        const auto *a = find(first), *b = find(second);
        if (!a || !b || a->tally.cost + b->tally.cost > bound_) return;
        auto& both = subsets_.try_emplace(first | second).first->second;
        if (both.operands == 0) {
            both.operands = a->operands | b->operands;
            both.labels = network_.joined(a->labels, b->labels, both.operands);
        }
        Tally tally = a->tally;
        tally += b->tally;
        if (both.is_known && tally.cost > both.tally.cost * bound_slack) return;
        tally += network_.price(a->labels, b->labels, both.labels);
        if (tally.cost > bound_ || (both.is_known && !is_better(tally, both.tally))) return;
        both.tally = tally;
        both.halves = {first, second};
        both.is_known = true;
    }

    /// The tree of a subset.
    std::optional<PairTree> tree(std::uint64_t set) const {
        const auto* found = find(set);
        if (!found) return std::nullopt;
        PairTree result;
        result.tally = found->tally;
        add_steps(set, result);
        return result;
    }

private:
    struct Subset {
        OperandSet operands = 0;
        LabelSet labels;
        Tally tally;
        std::array<std::uint64_t, 2> halves{};
        bool is_known = false;  ///< a tree within the bound was found
    };

    const Subset* find(std::uint64_t set) const {
        const auto place = subsets_.find(set);
        return place != subsets_.end() && place->second.is_known ? &place->second : nullptr;
    }

    void add_steps(std::uint64_t set, PairTree& result) const {
        const auto& halves = subsets_.at(set).halves;
        if (halves[0] == 0) return;
        for (auto half : halves) add_steps(half, result);
        result.steps.push_back({subsets_.at(halves[0]).operands, subsets_.at(halves[1]).operands});
    }

    const PricedNetwork& network_;
    double bound_;
    std::unordered_map<std::uint64_t, Subset> subsets_;  // looked up, never walked
};

}  // namespace

std::optional<PairTree> exact_order(const PricedNetwork& network, const std::vector<OperandSet>& leaves, const ConnectedPairs& pairs,
                                    double bound) {
    SubsetTable table(network, leaves, bound);
    pairs.for_each([&](std::uint64_t first, std::uint64_t second) {
        table.join(first, second);
        return true;
    });
    return table.tree(~std::uint64_t{0} >> (64 - leaves.size()));
}

}  // namespace arges

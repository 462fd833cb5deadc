/// Searches for an order of products: the cheapest one, greedy ones, and a few steps at a time.
#pragma once

#include "plan/order/connected_pairs.hpp"
#include "plan/order/priced_network.hpp"

#include <map>
#include <optional>

namespace arges {

/// The best tree over the leaves, which are disjoint sets of operands, among those whose every step joins one of
/// `pairs` (of positions of leaves). None if all cost more than `bound`; a low bound spares calls of the cost function.
std::optional<PairTree> exact_order(const PricedNetwork& network, const std::vector<OperandSet>& leaves, const ConnectedPairs& pairs,
                                    double bound);

/// Trees over the leaves, which are disjoint sets of operands and connected, best first; as many as trials, at least 2.
/// One trial joins next the pair that frees most memory, one the cheapest pair; the others mix sizes and chance.
std::vector<PairTree> greedy_orders(const PricedNetwork& network, const std::vector<OperandSet>& leaves, int trials, std::uint64_t seed);

/// Appends to `tree` the products of its disconnected parts, always of the two that have the fewest elements.
void join_smallest(const PricedNetwork& network, std::vector<OperandSet> parts, PairTree& tree);

/// Replaces subtrees of up to 8 leaves by the best ones over the same leaves, until nothing changes or the budget is
/// spent. One improver serves several trees of a network: what it found out once it does not search again.
class OrderImprover {
public:
    /// `budget`: pairs of subsets to look at, over all trees.
    OrderImprover(const PricedNetwork& network, std::int64_t budget) : network_(network), budget_(budget) {}

    /// A tree over the same operands that is as good or better.
    PairTree improved(const PairTree& tree);

private:
    const PricedNetwork& network_;
    std::int64_t budget_;
    std::map<std::vector<OperandSet>, PairTree> best_;  ///< by leaves
};

}  // namespace arges

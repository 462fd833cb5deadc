/// Orders of products found greedily, with randomness.
#pragma once

#include "plan/order/priced_network.hpp"

namespace arges {

/// Trees over the leaves, which are disjoint sets of operands and connected, best first; as many as trials, at least 2.
/// One trial joins next the pair that frees most memory, one the cheapest pair; the others mix sizes and chance.
std::vector<PairTree> greedy_orders(const PricedNetwork& network, const std::vector<OperandSet>& leaves, int trials, std::uint64_t seed);

/// Appends to `tree` the products of its disconnected parts, always of the two that have the fewest elements.
void join_smallest(const PricedNetwork& network, std::vector<OperandSet> parts, PairTree& tree);

}  // namespace arges

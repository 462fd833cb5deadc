/// The cheapest order of products, by dynamic programming over connected subsets.
#pragma once

#include "plan/order/connected_pairs.hpp"
#include "plan/order/priced_network.hpp"

#include <optional>

namespace arges {

/// The best tree over the leaves, which are disjoint sets of operands, among those whose every step joins one of
/// `pairs` (of positions of leaves). None if all cost more than `bound`; a low bound spares calls of the cost function.
std::optional<PairTree> exact_order(const PricedNetwork& network, const std::vector<OperandSet>& leaves, const ConnectedPairs& pairs,
                                    double bound);

}  // namespace arges

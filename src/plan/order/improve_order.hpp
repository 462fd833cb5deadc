/// Makes an order of products better, a few of its steps at a time.
#pragma once

#include "plan/order/priced_network.hpp"

#include <map>

namespace arges {

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

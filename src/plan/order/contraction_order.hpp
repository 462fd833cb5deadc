/// In which order a product of many tensors is contracted pair by pair.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace arges {

/// A product of tensors to be contracted pair by pair. A label that is neither in the output nor in another operand is
/// summed in the step that consumes its operand.
struct Network {
    std::vector<std::vector<int>> operands;  ///< labels of each operand, unique within an operand; none for a scalar
    std::vector<int> output;                 ///< labels that stay
    std::vector<double> extents;             ///< by label
};

/// Sizes of one pairwise product: products of the extents of its labels, cut off at 1e75 so that none overflows.
struct PairShape {
    double batch = 1;  ///< in both and kept
    double m = 1;      ///< in the first only and kept
    double n = 1;      ///< in the second only and kept
    double k = 1;      ///< summed
};

/// Cost of a step, for example modelled seconds: not negative, added up over the steps, the same with m and n swapped.
using PairCost = std::function<double(const PairShape&)>;

/// How long to search. Everything is deterministic, so that all ranks find the same order.
struct OrderOptions {
    std::int64_t pair_budget = 1'000'000;       ///< pairs up to which a connected part is searched exhaustively
    std::int64_t improvement_budget = 200'000;  ///< pairs to look at to improve greedy orders
    int greedy_trials = 128;                    ///< at least 2 are made
    int improved_trials = 16;                   ///< greedy orders that are improved, best first
    std::uint64_t seed = 1;                     ///< of the greedy trials
};

/// An order found.
struct ContractionOrder {
    /// Step s multiplies the nodes first < second into node operands.size() + s; lower nodes are operands.
    std::vector<std::array<int, 2>> steps;
    double cost = 0;     ///< sum over the steps
    bool exact = false;  ///< found by exhaustive dynamic programming
};

/// The cheapest order; among equals the one of fewer flops, then of the smaller largest intermediate. Up to 8 operands
/// it is the best of all orders. With more it is the best without outer products of operands that are connected through
/// others, while there are few enough pairs to look at; disconnected parts are ordered each by itself and joined at
/// the end, smallest first. Beyond, it is the best of improved greedy orders.
/// @throws InvalidArgument for more than 64 operands
ContractionOrder find_contraction_order(const Network& network, const PairCost& cost, const OrderOptions& options = {});

}  // namespace arges

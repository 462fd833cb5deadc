/// The ways to give torus dimensions to the labels of a fused product, the most promising first. Pure.
#pragma once

#include "plan/fused_plan.hpp"

#include <vector>

namespace arges {

/// An assignment of torus dimensions to labels.
struct FusedGrid {
    std::vector<int> label;  ///< by torus dimension; -1: none
    double seconds = 0;      ///< from block sizes, and from the share of what a rank owns that lies in its block
};

/// Assignments by ascending seconds, found by a beam search over the torus dimensions; at least one, at most `most`.
std::vector<FusedGrid> ranked_fused_grids(const Product& spec, const PairOrder& order, const RankGrid& grid, const PlanOptions& options,
                                          std::size_t most);

}  // namespace arges

/// The ways to give torus dimensions to the axes of a product, the most promising first. Pure.
#pragma once

#include "plan/product/product_plan.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace arges {

/// By axis: is it a group of labels that is put on the torus in blocks (GroupMapping::blocks)?
using AxesInBlocks = std::vector<bool>;

/// The choices of axes in blocks that are compared; where GroupMapping::best leaves the choice all of them if the groups are few, else
/// none, each alone, and all.
std::vector<AxesInBlocks> choices_of_blocks(const ProductPlan& unmapped, GroupMapping mapping);

/// What a torus dimension can be given to: an axis, or one label of an axis in blocks.
struct GridTarget {
    int axis = 0;
    int position = 0;         ///< of the label in the axis
    std::int64_t extent = 1;  ///< most ranks along it
};

std::vector<GridTarget> grid_targets(const ProductPlan& unmapped, const AxesInBlocks& in_blocks);

/// An assignment of torus dimensions to targets.
struct RankedGrid {
    std::array<std::int16_t, 64> target;  ///< by torus dimension; -1: none
    double seconds = 0;                   ///< from block sizes, and from the share of what a rank owns that lies in its block
};

/// Assignments by ascending seconds, found by a beam search over the torus dimensions, at most `most`, and those that leave an operand
/// where it is if these are several; at least one. Fewer are looked at where the runs take less time than planning (MachineModel) and
/// memory is not limited.
std::vector<RankedGrid> ranked_grids(const ProductPlan& unmapped, const std::vector<GridTarget>& targets, const RankGrid& grid,
                                     const PlanOptions& options, std::size_t most);

/// Assignments that one would make by hand, by ascending seconds: each target is given dimensions that follow each other, so that its ranks
/// are neighbours. On a ring of 64 they are rows, columns, 2 x 32, 4 x 16, ... of each pair of axes, 2 x 2 x 16, ... of each three.
std::vector<RankedGrid> plain_grids(const ProductPlan& unmapped, const std::vector<GridTarget>& targets, const RankGrid& grid,
                                    const PlanOptions& options);

}  // namespace arges

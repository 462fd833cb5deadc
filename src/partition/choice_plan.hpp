/// The choice of a medium-grain distribution for a small part of what iterations are expected to take. Pure.
#pragma once

#include "partition/choose.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// Seconds of an ALS iteration of a tensor whose nonzeros lie uniformly at random: a row with c nonzeros in a layer of q ranks is held by
/// q (1 - (1 - 1 / q)^c) of them. From lengths and the number of nonzeros alone.
double expected_seconds(const Grid& grid, const std::vector<std::int64_t>& lengths, std::int64_t nonzeros, int columns,
                        const IterationCosts& costs = {});

/// What choose_within() looks at.
struct ChoicePlan {
    std::vector<Grid> grids;       ///< by expected_seconds(), the best first
    std::vector<LayerRule> rules;  ///< the policies
    std::int64_t sample = 0;   ///< nonzeros for each mode in the sample that ranks all; 0: nothing is looked at, the first grid is taken
    std::int64_t largest = 0;  ///< in that which ranks the finalists
    double share = 1;          ///< of the nonzeros, from which slices are counted
};

/// The most that fits into `share` of an expected run on `ranks` ranks, its iterations and what prepares them: all grids and policies with
/// large samples; else the policy nnz alone, then the better grids, then nothing.
ChoicePlan plan_choice(const std::vector<std::int64_t>& lengths, std::int64_t nonzeros, std::int64_t ranks, int columns,
                       const ChoiceOptions& options, double share);

/// The choice of choose_medium() for as little as plan_choice() allows: about `share` of what a run takes. Slices are counted from
/// a sample of the nonzeros. Of a tensor so small that no choice pays, the grid of least expected_seconds() with layers of equal nonzeros.
/// Collective; the result is the same on all ranks of the team, and does not depend on how many they are, nor on threads.
/// @throws InvalidArgument as choose_medium()
MediumChoice choose_within(const Team& team, const IndexView& view, std::int64_t ranks, int columns, const ChoiceOptions& options,
                           double share);

}  // namespace arges::partition

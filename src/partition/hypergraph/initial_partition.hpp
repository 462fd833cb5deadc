/// Bisections of hypergraphs, multilevel ones and first ones of small hypergraphs, and balanced assignments that do not look at nets.
#pragma once

#include "partition/hypergraph/refine.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// Tries several bisections (greedy growing from random seeds, random order, order of numbers), each refined, and leaves the best
/// in `bisection`.
/// @param share of the weight that side 0 should have
void find_bisection(const Hypergraph& hypergraph, double share, int tries, RandomNumbers& random, Bisection& bisection);

/// Vertices from the heaviest down, each to the part where it leaves the smallest load: longest processing time first.
/// @param shares of the weight that the parts should have, which add up to 1
VertexParts assign_by_weight(const Hypergraph& hypergraph, const std::vector<double>& shares);

/// Consecutive vertices of about equal weight, for each constraint those that weigh most in it.
VertexParts contiguous_parts(const Hypergraph& hypergraph, std::int64_t parts);

/// Vertices in their order, each to the part that has most of its nets' latest pins and room; without such a part, to the one
/// that is filled at present. For hypergraphs that are too large for anything else.
VertexParts stream_parts(const Hypergraph& hypergraph, std::int64_t parts, const std::vector<std::int64_t>& limits);

/// What bisect() is to find.
struct BisectionRequest {
    double share = 0.5;  ///< of the weight, for side 0
    SideLimits limits;
    int tries = 12;  ///< first bisections
    int cycles = 1;  ///< multilevel refinements of the result, up to a million pins
};

/// Coarsens, bisects the coarsest hypergraph and refines on the way back.
std::vector<std::uint8_t> bisect(const Hypergraph& hypergraph, const BisectionRequest& request, RandomNumbers& random, WorkBudget& work);

}  // namespace arges::partition

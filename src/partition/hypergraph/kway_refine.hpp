/// Refinement of partitions into many parts.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/hypergraph_random.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// Greedy refinement: vertices in random order, each to the part where the cut falls most; first vertices leave parts above the
/// limits, with the least loss. Ends after `passes`, or when a pass brings little.
/// @param limits most that a part should weigh, by constraint
void refine_parts(const Hypergraph& hypergraph, std::int64_t count, const std::vector<std::int64_t>& limits, int passes,
                  RandomNumbers& random, WorkBudget& work, VertexParts& parts);

}  // namespace arges::partition

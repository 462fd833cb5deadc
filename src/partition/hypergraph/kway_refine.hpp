/// Refinement of partitions into many parts.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/hypergraph_random.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

/// What is to be known of vertices that stay where they are, where a hypergraph has some of the vertices of a larger one only.
struct OtherVertices {
    std::vector<std::int64_t> net_begin{0};  ///< nets + 1 positions in `parts`
    std::vector<std::int32_t> parts;         ///< different parts that they are in, as pins of net 0, of net 1, ...
    std::vector<std::int64_t> weights;       ///< what parts count as weighing, with all vertices: [part * constraints + constraint]

    std::span<const std::int32_t> parts_of(std::int64_t net) const {
        const auto first = net_begin[net], last = net_begin[net + 1];
        return {parts.data() + first, static_cast<std::size_t>(last - first)};
    }
};

/// Greedy refinement: vertices in random order, each to the part where the cut falls most; first vertices leave parts above the
/// limits, with the least loss. Ends after `passes`, or when a pass brings little.
/// @param limits most that a part should weigh, by constraint
/// @param others if given, further vertices
void refine_parts(const Hypergraph& hypergraph, std::int64_t count, const std::vector<std::int64_t>& limits, int passes,
                  RandomNumbers& random, WorkBudget& work, VertexParts& parts, const OtherVertices* others = nullptr);

}  // namespace arges::partition

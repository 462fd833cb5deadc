/// Partitions of hypergraphs that are spread over ranks.
#pragma once

#include "partition/hypergraph/partition_hypergraph.hpp"
#include "partition/hypergraph/spread_hypergraph.hpp"

#include <cstdint>

namespace arges::partition {

/// Memory that spread partitions take at most, in bytes: for each pin that a rank has, and on rank 0 for each that it gathers.
inline constexpr std::int64_t spread_bytes = 100, gathered_bytes = 150;

/// Pins that rank 0 gathers at most.
std::int64_t most_gathered_pins(const PartitionOptions& options);

/// Parts of this rank's vertices, of a small cut and balanced as those of partition_hypergraph(). Ranks cluster their own vertices, rank 0
/// partitions the clusters, and on the way back ranks move their vertices by turns of greedy refinement, each within its share of what
/// parts may still take. All that is done twice: the first parts are rough ones, by which vertices come together on ranks. Where all
/// vertices and pins are no more than what may be gathered, the parts are those of partition_hypergraph() for the whole hypergraph. Else
/// they depend on the number of ranks. Collective.
/// @throws InvalidArgument as check_partition()
VertexParts partition_spread(const Team& team, HypergraphShare share, std::int64_t parts, const PartitionOptions& options = {});

}  // namespace arges::partition

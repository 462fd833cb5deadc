/// Partitions of hypergraphs that are spread over ranks.
#pragma once

#include "partition/hypergraph/partition_hypergraph.hpp"
#include "partition/hypergraph/spread_hypergraph.hpp"

#include <cstdint>

namespace arges::partition {

/// Parts of this rank's vertices, of a small cut and balanced as those of partition_hypergraph(). Ranks cluster their own vertices until all
/// together have `options.gathered` (or enough_vertices(), if that is more); rank 0 partitions the clusters; on the way back ranks move
/// their vertices by turns of greedy refinement, each within its share of what parts may still take. Up to `options.gathered` vertices the
/// parts are those of partition_hypergraph() for the whole hypergraph. They depend on which rank has which vertices. Collective.
/// @throws InvalidArgument as partition_hypergraph(), and for 2^32 clusters or nets on one rank
VertexParts partition_spread(const Team& team, HypergraphShare share, std::int64_t parts, const PartitionOptions& options = {});

}  // namespace arges::partition

/// Coarsening of hypergraphs: vertices that share many nets become one.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/hypergraph_random.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// A coarse vertex for each vertex.
struct Clustering {
    std::vector<std::uint32_t> cluster;
    std::int64_t count = 0;
};

/// What cluster_vertices() keeps to.
struct ClusterLimits {
    std::vector<std::int64_t> weight;                  ///< most that a cluster weighs, by constraint
    std::int64_t fewest = 1;                           ///< stops at so many clusters
    const std::vector<std::uint8_t>* sides = nullptr;  ///< if given, vertices of different sides stay apart
};

/// Heavy-connectivity clustering (PaToH, KaHyPar): in random order, each vertex that is still alone joins the cluster with the
/// largest sum of cost / (pins - 1) over shared nets, divided by the cluster's weight. Large nets say little and are looked at in
/// part only.
Clustering cluster_vertices(const Hypergraph& hypergraph, const ClusterLimits& limits, RandomNumbers& random, WorkBudget& work);

/// The hypergraph of the clusters. Nets with one pin are left out, and of nets with the same pins one stays, with the sum of
/// their costs.
Hypergraph contract(const Hypergraph& hypergraph, const Clustering& clustering);

}  // namespace arges::partition

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
    const std::vector<std::int64_t>* sizes = nullptr;  ///< if given, pins of the nets, some of which are elsewhere
};

/// Heavy-connectivity clustering (PaToH, KaHyPar): in random order, each vertex that is still alone joins the cluster with the
/// largest sum of cost / (pins - 1) over shared nets, divided by the cluster's weight. Large nets say little and are looked at in
/// part only.
Clustering cluster_vertices(const Hypergraph& hypergraph, const ClusterLimits& limits, RandomNumbers& random, WorkBudget& work);

/// Runs of vertices of about equal number become clusters, whatever nets they share, until there are `limits.fewest` of them: for vertices
/// that no net joins.
Clustering cluster_neighbors(const Hypergraph& hypergraph, const ClusterLimits& limits);

/// Which nets contract() keeps.
enum class KeptNets : std::uint8_t {
    useful,  ///< those with two pins or more, and of nets with the same pins one, with the sum of their costs
    all      ///< all, under their numbers: they may have further pins elsewhere
};

/// The hypergraph of the clusters.
Hypergraph contract(const Hypergraph& hypergraph, const Clustering& clustering, KeptNets kept = KeptNets::useful);

/// Most that a cluster weighs of a hypergraph that is to get so many parts, by constraint.
std::vector<std::int64_t> cluster_weights(const std::vector<std::int64_t>& total_weights, std::int64_t parts);
/// So many vertices for so many parts are not coarsened further. @param direct as in PartitionOptions
std::int64_t enough_vertices(std::int64_t parts, std::int64_t direct);
/// Fewest that a level of so many vertices is coarsened to in one step.
std::int64_t vertices_of_next_level(std::int64_t vertices);
/// True if a step made so little of the vertices that no further one is worth it.
bool has_stalled(std::int64_t vertices, std::int64_t clusters);

}  // namespace arges::partition

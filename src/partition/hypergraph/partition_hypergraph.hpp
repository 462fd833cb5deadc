/// Multilevel hypergraph partitioning.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// How to partition.
struct PartitionOptions {
    double imbalance = 0.03;  ///< largest part weight / mean part weight - 1, by constraint, at most
    std::uint64_t seed = 1;
    int tries = 12;                              ///< first bisections of the coarsest hypergraphs
    int cycles = 1;                              ///< further multilevel refinements of bisections, up to a million pins
    std::int64_t direct = 10'000;                ///< vertices that are bisected as they are; more are clustered first
    std::int64_t work = std::int64_t{32} << 30;  ///< pins that may be looked at; beyond, cheaper methods are used
    std::int64_t gathered = 1 << 17;             ///< vertices that one rank partitions, if they are spread over several
};

/// @throws InvalidArgument if parts is below 1 or above 2^31 - 1, or imbalance is negative or not a number
void check_partition(std::int64_t parts, const PartitionOptions& options);

/// The most that a part should weigh, by constraint: (1 + imbalance) times the mean, where whole vertices allow it; else what
/// assigning the vertices from the heaviest down to the lightest part gives. partition_hypergraph() keeps to this, or where whole
/// vertices are in the way to the mean and the heaviest vertex together; with several constraints that conflict, parts may weigh
/// more.
std::vector<std::int64_t> part_limits(const Hypergraph& hypergraph, std::int64_t parts, double imbalance);

/// Parts of a small cut (see cut()) and balanced weights, by recursive bisection: heavy-connectivity clustering, bisections of
/// the coarsest hypergraph, FM refinement on each level, nets split between the sides (PaToH; hMETIS). Large hypergraphs are
/// coarsened once before the bisections, and all parts are refined greedily on the way back. Blocks of consecutive vertices are
/// taken if they cut less. Vertices that all weigh nothing count as weight 1. Parts may be empty. The same program gives the same
/// parts for the same input on every rank.
/// @throws InvalidArgument as check_partition()
VertexParts partition_hypergraph(const Hypergraph& hypergraph, std::int64_t parts, const PartitionOptions& options = {});

}  // namespace arges::partition

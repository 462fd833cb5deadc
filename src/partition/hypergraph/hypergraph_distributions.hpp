/// Coarse- and fine-grain distributions by partitions of hypergraphs. Serial and pure: all indices lie in the memory of one rank.
#pragma once

#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/hypergraph/partition_hypergraph.hpp"
#include "partition/statistics.hpp"

#include <cstdint>

namespace arges::partition {

/// Memory that hypergraph partitions of one rank take at most for each nonzero and mode, in bytes.
inline constexpr std::int64_t hypergraph_bytes = 200;

/// How hypergraphs are partitioned for distributions: with 5 % imbalance.
PartitionOptions distribution_options(std::uint64_t seed);

/// Nonempty slices by a partition of the coarse-grain hypergraph (hypertensor-sc15, section 3.1), with 5 % imbalance.
/// @param rows    nonempty_rows() of the tensor
/// @param weights what is balanced: nonzeros of each mode, or of all modes together
CoarseGrain coarse_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks,
                                 CoarseWeights weights = CoarseWeights::by_mode, std::uint64_t seed = PartitionOptions{}.seed);

/// Nonzeros by a partition of the fine-grain hypergraph (hypertensor-sc15, section 3.2), with 5 % imbalance.
/// @param rows nonempty_rows() of the tensor
FineGrain fine_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks,
                             std::uint64_t seed = PartitionOptions{}.seed);

}  // namespace arges::partition

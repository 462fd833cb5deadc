/// The hypergraph models of sparse MTTKRP (hypertensor-sc15, sections 3.1 and 3.2): a partition's cut is the rows that are sent; and
/// coarse- and fine-grain distributions by partitions of them. Serial and pure: all indices lie in the memory of one rank.
#pragma once

#include "partition/hypergraph/hypergraph.hpp"
#include "partition/hypergraph/partition_hypergraph.hpp"
#include "partition/statistics.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// By mode, the number of its first slice with nonzeros among those of all modes; and how many there are.
std::vector<std::int64_t> first_slices(const SliceTable& table);

/// Weights of the coarse-grain model.
enum class CoarseWeights : std::uint8_t {
    by_mode,  ///< a constraint for each mode: CP-ALS works on one mode after the other
    summed    ///< one constraint: CP-OPT works on all modes between two exchanges
};

/// The coarse-grain model. A vertex and a net for each nonempty slice, numbered from first_slices() on; weight: the slice's nonzeros, in
/// the constraint of its mode; the net has the slice itself and those of the other modes that it shares a nonzero with. Cut: rows sent in
/// an iteration. The pins of a net ascend.
Hypergraph coarse_grain_hypergraph(const SliceTable& table, CoarseWeights weights = CoarseWeights::by_mode);

/// The fine-grain model in its practical form: a vertex for each nonzero, a net for each nonempty slice of all modes that has the slice's
/// nonzeros. Cut: rows sent in one of the two phases, fold or expand.
Hypergraph fine_grain_hypergraph(const SliceTable& table);

/// Memory that hypergraph partitions of one rank take at most for each nonzero and mode, in bytes.
inline constexpr std::int64_t hypergraph_bytes = 200;

/// How hypergraphs are partitioned for distributions: with 5 % imbalance.
PartitionOptions distribution_options(std::uint64_t seed);

/// Nonempty slices by a partition of the coarse-grain hypergraph (hypertensor-sc15, section 3.1), with 5 % imbalance.
/// @param weights what is balanced: nonzeros of each mode, or of all modes together
CoarseGrain coarse_by_hypergraph(const SliceTable& table, std::int64_t ranks, CoarseWeights weights = CoarseWeights::by_mode,
                                 std::uint64_t seed = PartitionOptions{}.seed);

/// Nonzeros by a partition of the fine-grain hypergraph (hypertensor-sc15, section 3.2), with 5 % imbalance.
FineGrain fine_by_hypergraph(const SliceTable& table, std::int64_t ranks, std::uint64_t seed = PartitionOptions{}.seed);

}  // namespace arges::partition

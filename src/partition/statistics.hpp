/// Loads and volumes of any distribution of a sparse tensor, counted without running it. Pure.
#pragma once

#include "arges/sparse_statistics.hpp"
#include "partition/distribution_counts.hpp"
#include "partition/layers_of_tensor.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// Medium grain: a rank has the nonzeros in one layer of every mode.
struct MediumGrain {
    Grid grid;
    LayerRule layers;
    RowRule rows = RowRule::holders;
    double excess = 0.1;  ///< as in assign_rows()
};

/// Fine grain: every nonzero is anywhere.
struct FineGrain {
    std::int64_t ranks = 1;
    std::vector<std::int32_t> part;  ///< rank of each nonzero
    RowRule rows = RowRule::holders;
    double excess = 0.1;
};

/// Coarse grain: in each mode a rank multiplies all nonzeros of the rows that it owns, so that it stores a nonzero up to once
/// per mode.
struct CoarseGrain {
    std::int64_t ranks = 1;
    std::vector<std::vector<std::int32_t>> owner;  ///< by mode, of each slice with nonzeros, in ascending order
};

/// Consecutive slices with about equal nonzeros in every mode, by SPLATT's chains.
CoarseGrain coarse_blocks(const SliceTable& table, std::int64_t ranks);
/// Nonzeros at random; the same for the same seed everywhere.
FineGrain fine_random(std::int64_t nonzeros, std::int64_t ranks, std::uint64_t seed = 0);
/// Nonzeros in consecutive blocks of equal numbers.
FineGrain fine_blocks(std::int64_t nonzeros, std::int64_t ranks);

struct DistributionCounts {
    std::int64_t ranks = 1;
    std::vector<ModeCounts> modes;
};

/// Counts a distribution. Volumes are those of one iteration, that is one MTTKRP in each mode. Medium and fine grain
/// communicate in two phases, coarse grain in one.
/// @throws InvalidArgument if the distribution is not one of this tensor
DistributionCounts count_distribution(const SliceTable& table, const MediumGrain& distribution);
DistributionCounts count_distribution(const SliceTable& table, const FineGrain& distribution);
DistributionCounts count_distribution(const SliceTable& table, const CoarseGrain& distribution);

/// Coarse grain in DFacTo's variant: every rank has all rows with nonzeros of all factor matrices, and gets those that the
/// others own after each mode. Rows sent are those that a rank adds to the allgather, once to each other rank.
DistributionCounts count_allgather(const SliceTable& table, const CoarseGrain& distribution);

/// By rank, sums over the modes.
std::vector<std::int64_t> total(const DistributionCounts& counts, std::vector<std::int64_t> ModeCounts::*what);
/// By rank, rows sent and received, summed over the modes: what SPLATT prints as its communication volume.
std::vector<std::int64_t> total_volume(const DistributionCounts& counts);

/// Over the ranks, of sums over the modes.
Imbalances imbalances(const DistributionCounts& counts);
/// The same of one mode.
Imbalances imbalances(const ModeCounts& counts);

MaxMean max_mean(const std::vector<std::int64_t>& by_rank);

/// HyperTensor's Table 2 (hypertensor-sc15, section 4), by mode.
std::vector<ModeSummary> summaries(const DistributionCounts& counts);

}  // namespace arges::partition

/// Counts of a medium-grain distribution from the shares of a sample (choose_sample.hpp). Pure.
#pragma once

#include "partition/choose_sample.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

/// Totals of a tensor that samples are scaled to.
struct TensorTotals {
    std::int64_t nonzeros = 0;
    std::vector<std::int64_t> slices;  ///< by mode, nonempty ones
};

/// The counts of a distribution, from the shares of all ranks in order of ranks; exact if the sample is everything. Owners of
/// sampled rows are assigned as those of all rows are. Pure.
DistributionCounts counts_of_shares(const GridLayers& layers, std::span<const std::span<const std::int64_t>> shares,
                                    const TensorTotals& totals, RowRule rule, double excess);

}  // namespace arges::partition

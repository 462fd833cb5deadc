/// Counts of medium-grain distributions from a sample of slices and nonzeros that all ranks have. Pure.
#pragma once

#include "partition/layers.hpp"
#include "partition/statistics.hpp"
#include "partition/tensor_part.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace arges::partition {

/// How much is sampled. Of smaller samples, every one is part of the larger ones.
struct SampleSize {
    static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
    std::vector<double> slices;     ///< by mode, the fraction of the nonempty slices
    double nonzeros = 1;            ///< the fraction of the nonzeros, for the loads; more than 1: each rank counts its own
    std::int64_t heavy = no_limit;  ///< of a sampled slice no more nonzeros
    bool is_everything() const;
};

/// The layers of a medium-grain distribution.
struct GridLayers {
    Grid grid;
    std::vector<std::shared_ptr<const LayerFinder>> finders;  ///< by mode
};

/// Totals of a tensor that samples are scaled to.
struct TensorTotals {
    std::int64_t nonzeros = 0;
    std::vector<std::int64_t> slices;  ///< by mode, nonempty ones
};

/// How many nonzeros of a view each rank gets.
std::vector<std::int64_t> loads_of(const IndexView& view, const GridLayers& layers);

/// A sample of slices and nonzeros, the same on all ranks. What is sampled is decided by hashes of indices, so that it does not depend on
/// how many ranks there are and which nonzeros they have.
class TensorSample {
public:
    /// Gathers the nonzeros of sampled slices. Collective.
    /// @param sizes ascending, those that will be looked at: each sample is part of the next one. The last one is looked at
    /// first.
    TensorSample(const Team& team, const TensorPart& tensor, std::span<const SampleSize> sizes);

    /// Makes counts() look at a sample of one of the sizes. Local.
    void look_at(const SampleSize& size);
    /// Slices of the largest sample, by mode. Local.
    std::vector<std::int64_t> slices() const;
    /// The counts of a distribution, exact if the sample is everything. Owners of sampled rows are assigned as those of all rows are.
    /// Local.
    /// @param loads nonzeros of each rank; none: they are estimated from the sample
    DistributionCounts counts(const GridLayers& layers, std::vector<std::int64_t> loads, const TensorTotals& totals, RowRule rule,
                              double excess) const;

private:
    struct Mode {
        std::vector<std::int64_t> rows;                  // sampled slices, ascending
        std::vector<std::int64_t> start;                 // row r has the nonzeros [start[r], start[r + 1]); those of heavy rows by hash
        std::vector<std::vector<std::int64_t>> indices;  // by mode, one for each nonzero; empty for the mode itself
        std::vector<std::size_t> used;                   // rows of the sample that is looked at
    };
    struct Nonzeros {
        std::vector<std::uint64_t> hashes;
        std::vector<std::vector<std::int64_t>> indices;  // by mode, one for each nonzero
    };
    Team::Numbers picked(const Team& team, const SampleSize& largest, double listed) const;
    Mode grouped(const std::vector<const std::int64_t*>& nonzeros, std::size_t mode, std::int64_t heavy) const;
    HolderLists holders(const GridLayers& layers, std::size_t mode) const;

    const TensorPart& tensor_;
    std::vector<Mode> modes_;
    Nonzeros listed_;  // those that the largest sample has
    Nonzeros used_;    // those of the sample that is looked at
    SampleSize size_;
};

}  // namespace arges::partition

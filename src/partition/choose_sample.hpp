/// Counts of medium-grain distributions estimated from a sample of slices and nonzeros. Pure.
#pragma once

#include "partition/statistics.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// A sample of a tensor.
class SliceSample {
public:
    /// About `nonzeros` nonzeros for each mode, in slices whose hashed index is below a bound; of a slice, no more than `heavy`.
    SliceSample(const SliceTable& table, std::int64_t nonzeros, std::int64_t heavy);

    /// Estimated counts of a distribution whose layers are given for all modes.
    DistributionCounts estimate(const Grid& grid, const std::vector<Boundaries>& boundaries, RowRule rule, double excess) const;

private:
    /// Nonzeros: by mode, the number of each one's slice among slices_.
    using Tuples = std::vector<std::vector<std::uint32_t>>;
    struct Mode {
        std::vector<std::int64_t> rows;   // sampled slices
        std::vector<std::int64_t> start;  // row r has the tuples [start[r], start[r + 1])
        Tuples tuples;
        double scale = 0;                 // slices with nonzeros per sampled one
    };
    void sample_nonzeros(const SliceTable& table, std::int64_t nonzeros);
    Mode sampled_slices(const SliceTable& table, std::size_t mode, double fraction, std::int64_t heavy) const;
    void renumber(const SliceTable& table);

    std::vector<std::vector<std::int64_t>> slices_;  // by mode, slices that some tuple has, ascending
    std::vector<Mode> modes_;
    Tuples tuples_;  // of every so many-th nonzero
    double tuples_scale_ = 0;
};

}  // namespace arges::partition

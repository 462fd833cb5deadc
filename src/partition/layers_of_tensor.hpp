/// The slices of a tensor, and the layers that the policies cut them into. Pure.
#pragma once

#include "partition/grid.hpp"
#include "partition/layers.hpp"
#include "partition/value_counts.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

/// The slices of a mode that have nonzeros, numbered in ascending order, and the nonzeros of each.
struct ModeSlices {
    std::int64_t length = 0;           ///< of the mode, empty slices included
    std::vector<std::int64_t> slices;  ///< ascending
    std::vector<std::int64_t> start;   ///< slice s has the nonzeros order[start[s]] to order[start[s + 1] - 1]
    std::vector<std::uint32_t> order;  ///< numbers of the nonzeros, by slice
    std::vector<std::uint32_t> slice;  ///< of each nonzero, the position of its slice in `slices`
    std::int64_t count() const { return std::ssize(slices); }
};

/// Nonzeros of the layers when a mode is cut into layers of equal slices.
/// @param slices nonempty ones, ascending @param start slice s has start[s + 1] - start[s] nonzeros @param length of the mode
std::vector<std::int64_t> nonzeros_of_equal_layers(std::span<const std::int64_t> slices, std::span<const std::int64_t> start,
                                                   std::int64_t length, std::int64_t layers);

/// What counts of distributions start from. Takes 8 bytes per nonzero and mode, and 16 per slice with nonzeros.
struct SliceTable {
    /// @throws InvalidArgument if an index is outside its mode or the modes have different numbers of indices
    /// @throws Unsupported for 2^32 nonzeros or more
    explicit SliceTable(const IndexView& view);
    int order() const { return modes.size(); }

    std::int64_t nonzeros = 0;
    std::vector<ModeSlices> modes;
};

/// nonzeros_of_equal_layers() of the modes of a table, which is read when they are called.
LayerCounts layer_counts(const SliceTable& table);

/// The boundaries of a mode by any policy.
Boundaries cut_mode(const ModeSlices& mode, const LayerRule& rule, std::int64_t layers);

/// The layer of each of some slices, which are in ascending order.
std::vector<std::int32_t> layers_of_slices(const std::vector<std::int64_t>& slices, const Boundaries& boundaries);

}  // namespace arges::partition

/// Chooses the loops of a transfer: which axes the kernel runs over, and the tiles.
#pragma once

#include "local/transfer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::local {

/// An axis of a planned transfer, cut into tiles of consecutive entries. Unlike in a TransferAxis,
/// one side may be listed and the other strided.
struct PlannedAxis {
    TransferAxis axis;
    std::int64_t tile = 1;                        ///< entries in a tile
    bool repeats = false;                         ///< neighbouring entries may have the same target
    std::vector<std::int64_t> joined_list = {};   ///< offsets of joined axes on the side where they are not contiguous
    std::vector<std::int64_t> from_in_tile = {};  ///< kernel axis, strided and not contiguous: offsets within a tile
    std::vector<std::int64_t> to_in_tile = {};    ///< kernel axis, strided and not contiguous: offsets within a tile

    bool from_unit() const { return !axis.from && axis.from_stride == 1; }
    bool to_unit() const { return !axis.to && axis.to_stride == 1; }
    std::int64_t from_at(std::int64_t i) const { return axis.from ? axis.from[i] : i * axis.from_stride; }
    std::int64_t to_at(std::int64_t i) const { return axis.to ? axis.to[i] : i * axis.to_stride; }
    std::int64_t tiles() const { return (axis.count + tile - 1) / tile; }
    /// First entry of a tile: a multiple of the tile size, moved up where it would cut a run of
    /// equal targets.
    std::int64_t tile_begin(std::int64_t index) const;
};

/// The loops of a transfer.
struct TransferPlan {
    /// Axes 0 and 1 are the kernel's; the others are loops, the one with the smallest target stride
    /// first.
    std::vector<PlannedAxis> axes;
    std::vector<std::size_t> by_target;  ///< the axes, the one with the smallest target stride first
    std::int64_t from_offset = 0;        ///< of the axes with one entry
    std::int64_t to_offset = 0;          ///< of the axes with one entry
    std::uint8_t factor = 0;             ///< of the axes with one entry
    std::int64_t size = 0;               ///< number of elements
    std::int64_t tasks = 0;              ///< number of tiles: the product of the tile counts of all axes
};

/// Simplifies, orders and tiles the axes for elements of `element_size` bytes.
/// @throws InvalidArgument if an axis has one list but not the other
TransferPlan plan_transfer(std::span<const TransferAxis> axes, std::int64_t element_size, bool accumulate);

}  // namespace arges::local

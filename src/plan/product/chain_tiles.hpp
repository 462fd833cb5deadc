/// Products of a chain that run tile by tile, so that what is between them stays in the cache: a Khatri-Rao product is never there as a
/// whole, nor is the tensor between two products with matrices.
#pragma once

#include "plan/product/product_plan.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// An axis of which so many indices are worked on at a time.
struct AxisTile {
    int axis = 0;
    std::int64_t length = 1;
    bool operator==(const AxisTile&) const = default;
};

/// Products of a chain that follow each other. Each but the first takes the result of the one before it.
struct TiledProducts {
    std::size_t first = 0, last = 0;  ///< of the chain, both included
    std::vector<AxisTile> tiles;      ///< the last runs fastest; empty where the products run as a whole
    /// Indices of an axis that are worked on at a time, of `length`.
    std::int64_t tile_length(int axis, std::int64_t length) const;
    bool operator==(const TiledProducts&) const = default;
};

/// Cuts a chain into parts that run tile by tile and single products that run as a whole. Results between the products of a part have tiles
/// of at most `room` elements together. Products are joined where their results are larger than that and where their tiles, in all, read
/// and write other operands again with fewer elements than the results have.
/// @param length  by axis: indices that a rank has of it, at most
std::vector<TiledProducts> tiled_products(const ProductPlan& plan, const std::vector<std::int64_t>& length, std::int64_t room);

}  // namespace arges

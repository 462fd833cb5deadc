/// Layouts whose elements lie on each rank in the order of their keys.
#pragma once

#include "layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// True if each slot is one dimension, in their order, without padding and windows: a rank has every grid_length()-th index of it.
inline bool is_in_key_order(const Layout& layout) {
    for (int s = 0; s < layout.slots(); ++s)
        if (layout.slot(s).is_blocks() || layout.slot(s).is_cut() || layout.slot_dimensions(s) != std::vector<int>{s}) return false;
    return true;
}

/// The indices of an element of a rank whose layout is_in_key_order().
inline std::vector<std::int64_t> index_at(const Layout& layout, std::int64_t rank, std::int64_t offset) {
    std::vector<std::int64_t> x;
    for (int s = 0; s < layout.slots(); ++s) {
        const auto coordinate = layout.coordinate(rank, s), length = layout.slot(s).local_size(coordinate);
        x.push_back(coordinate + offset % length * layout.slot(s).grid_length());
        offset /= length;
    }
    return x;
}

}  // namespace arges

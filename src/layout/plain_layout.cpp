#include "layout/plain_layout.hpp"

namespace arges {

bool is_plain(const Layout& layout) {
    if (layout.slots() != layout.order()) return false;
    for (int s = 0; s < layout.slots(); ++s) {
        const auto& slot = layout.slot(s);
        if (layout.slot_dimensions(s)[0] != s || slot.is_blocks() || slot.size() != layout.extents()[s]) return false;
    }
    return true;
}

std::vector<std::int64_t> plain_index(const Layout& layout, std::int64_t rank, std::int64_t offset) {
    std::vector<std::int64_t> x;
    for (int s = 0; s < layout.slots(); ++s) {
        const auto coordinate = layout.coordinate(rank, s), length = layout.slot(s).local_size(coordinate);
        x.push_back(coordinate + offset % length * layout.slot(s).grid_length());
        offset /= length;
    }
    return x;
}

}  // namespace arges

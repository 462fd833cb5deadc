#include "layout/plain_layout.hpp"

namespace arges {

bool is_plain(const Layout& layout) {
    if (layout.slots() != layout.order()) return false;
    for (int s = 0; s < layout.slots(); ++s) {
        const auto& slot = layout.slot(s);
        if (layout.slot_dimensions(s)[0] != s || slot.is_blocks() || slot.size() != layout.extents()[static_cast<std::size_t>(s)])
            return false;
    }
    return true;
}

}  // namespace arges

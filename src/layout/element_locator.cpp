// Where many elements of one layout are: what a packed index of a slot means for rank and offset, made once and looked up.
#include "layout/element_locator.hpp"

#include <algorithm>
#include <array>

namespace arges {

ElementLocator::ElementLocator(const Layout& layout) : index_(layout.extents().size()) {
    for (const auto extent : layout.extents()) extents_.emplace_back(std::max<std::int64_t>(1, extent));
    for (int s = 0; s < layout.slots(); ++s) {
        const auto& slot = layout.slot(s);
        auto& known = slots_.emplace_back(Slot{&slot, &layout.slot_dimensions(s), -1, Divider(slot.grid_length()), {}});
        if (slot.width() == 1 && !slot.is_blocks()) known.leaf = (*known.dimensions)[0];
        for (std::int64_t coordinate = 0; coordinate < slot.grid_length(); ++coordinate)
            known.coordinates.push_back({layout.rank_at(coordinate, s), slot.local_size(coordinate)});
        keys_are_offsets_ = keys_are_offsets_ && slot.grid_length() == 1 && known.leaf == s;
    }
}

ElementLocation ElementLocator::locate(const std::int64_t* index) const {
    ElementLocation at;
    std::array<std::int64_t, max_slot_order> tuple;
    std::int64_t stride = 1;
    for (const auto& slot : slots_) {
        std::int64_t coordinate = 0, local = 0;
        if (slot.leaf >= 0) {
            local = slot.by_grid_length.quotient(index[slot.leaf]);
            coordinate = index[slot.leaf] - local * slot.by_grid_length.divisor();
        } else {
            for (std::size_t i = 0; i < slot.dimensions->size(); ++i) tuple[i] = index[(*slot.dimensions)[i]];
            const auto in_slot = slot.layout->find(tuple.data());
            at.negative ^= in_slot.negative;
            at.conjugate ^= in_slot.conjugate;
            at.zero |= in_slot.zero;
            at.real |= in_slot.real;
            coordinate = in_slot.coordinate;
            local = in_slot.index;
        }
        const auto& meaning = slot.coordinates[coordinate];
        at.rank += meaning.rank;
        at.offset += local * stride;
        stride *= meaning.size;
    }
    return at;
}

ElementLocation ElementLocator::locate_key(std::int64_t key) {
    if (keys_are_offsets_) return {0, key};
    for (std::size_t d = 0; d < extents_.size(); ++d) {
        const auto next = extents_[d].quotient(key);
        index_[d] = key - next * extents_[d].divisor();
        key = next;
    }
    return locate(index_.data());
}

std::vector<std::int64_t> copy_offsets(const Layout& layout) {
    std::vector<std::int64_t> offsets{0};
    for (int t = 0; t < layout.grid().dimensions(); ++t) {
        if (layout.slot_of_torus(t) >= 0) continue;
        const auto known = offsets.size();
        for (std::int64_t c = 1; c < layout.grid().lengths[t]; ++c)
            for (std::size_t i = 0; i < known; ++i) offsets.push_back(offsets[i] + c * layout.grid().stride(t));
    }
    return offsets;
}

}  // namespace arges

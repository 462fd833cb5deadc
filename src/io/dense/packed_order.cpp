// The position of every stored element in a file, from the packed indices of its slots, and which
// positions each rank holds, as progressions.
#include "io/dense/packed_order.hpp"

#include "base/math.hpp"

namespace arges::io {

PackedOrder::PackedOrder(const Layout& layout, SlotOrder order) : layout_(layout) {
    for (int s = 0; s < layout.slots(); ++s) {
        Slot slot{s, layout.slot(s).size(), {}};
        for (std::int64_t coordinate = 0; coordinate < layout.slot(s).grid_length(); ++coordinate)
            slot.rank.push_back(layout.rank_at(coordinate, s));
        size_ *= slot.size;
        slots_.push_back(std::move(slot));
    }
    if (order == SlotOrder::last_fastest) std::reverse(slots_.begin(), slots_.end());
    is_local_order_ = order == SlotOrder::first_fastest || slots_.size() < 2;
}

std::int64_t PackedOrder::coordinate_of(const Slot& slot, std::int64_t index) const {
    const auto& where = slot_layout(slot);
    if (!where.is_rows()) return index % where.grid_length();
    std::int64_t child[2];
    where.node().separate(index, child);
    return child[1] % where.grid_length();
}

std::int64_t PackedOrder::before_in_slot(const Slot& slot, std::int64_t coordinate, std::int64_t index) const {
    const auto& where = slot_layout(slot);
    if (!where.is_rows()) return count_residues(index, coordinate, where.grid_length());
    std::int64_t child[2];
    where.node().separate(index, child);
    const auto whole_rows = where.row_start(coordinate, count_residues(child[1], coordinate, where.grid_length()));
    return whole_rows + (child[1] % where.grid_length() == coordinate ? child[0] : 0);
}

std::int64_t PackedOrder::before(std::int64_t rank, std::int64_t position) const {
    if (layout_.grid().is_idle(rank) || size_ == 0) return 0;
    if (slots_.empty()) return position;
    auto faster = layout_.local_size(rank), stride = size_;
    std::int64_t count = 0;
    for (std::size_t s = slots_.size(); s-- > 0 && faster > 0;) {
        const auto& slot = slots_[s];
        stride /= slot.size;
        const auto index = position / stride, coordinate = layout_.coordinate(rank, slot.number);
        position %= stride;
        faster /= slot_layout(slot).local_size(coordinate);
        count += before_in_slot(slot, coordinate, index) * faster;
        if (index == slot.size || coordinate_of(slot, index) != coordinate) break;
    }
    return count;
}

}  // namespace arges::io

/// The order of a tensor's elements in files, and what each rank holds of it. Pure arithmetic; no MPI, no data.
#pragma once

#include "layout/layout.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace arges::io {

/// Which slot of a tensor varies fastest in a file.
enum class SlotOrder {
    first_fastest,  ///< as in memory, checkpoints, and arrays in Fortran order
    last_fastest,   ///< arrays in C order
};

/// Numbers the elements that a tensor stores, each orbit once, independently of their layout. An element has the packed index I_s
/// in slot s (see PackedNode), and the position I_0 + m_0 * (I_1 + m_1 * (I_2 + ...)), where m_s is the slot's packed size
/// (SlotOrder::first_fastest; else the same from the last slot on).
/// Example: antisym(a,b) with extent 3 and c with extent 2: m_0 = 3; the element (0,2,1) has I_0 = 1, I_1 = 1 and the position 4.
///
/// On each rank, elements by ascending local offset have ascending positions (SlotOrder::first_fastest).
class PackedOrder {
public:
    /// @param layout without slots in blocks, windows or parts of a sum; must outlive this
    PackedOrder(const Layout& layout, SlotOrder order);

    /// Number of positions.
    std::int64_t size() const { return size_; }
    /// Number of elements at `rank` whose positions are below `position`. 0 <= position <= size().
    std::int64_t before(std::int64_t rank, std::int64_t position) const;
    /// The first of the ranks that hold the same elements as `rank`, which must not be idle.
    std::int64_t first_copy(std::int64_t rank) const { return rank - layout_.copy_offset(rank); }
    /// True if local arrays are in the order of positions.
    bool is_local_order() const { return is_local_order_; }

    /// Calls f(rank, first, stride, count) for sets of positions first, first + stride, ... that make up [begin, end); each
    /// rank (the first of copies) gets its positions in ascending order.
    template <class F>
    void for_each_run(std::int64_t begin, std::int64_t end, F&& f) const;
    /// Calls f(offset, stride, count) for runs in the local array of `rank`: its elements number begin to end - 1 by
    /// ascending position.
    template <class F>
    void for_each_local_run(std::int64_t rank, std::int64_t begin, std::int64_t end, F&& f) const;

private:
    struct Slot {
        int number = 0;                  // in the layout
        std::int64_t size = 0;           // packed
        std::vector<std::int64_t> rank;  // what a coordinate adds to the number of a rank
    };
    const SlotLayout& slot_layout(const Slot& slot) const { return layout_.slot(slot.number); }
    std::int64_t coordinate_of(const Slot& slot, std::int64_t index) const;
    std::int64_t before_in_slot(const Slot& slot, std::int64_t coordinate, std::int64_t index) const;
    /// The part of [x, end) of the fastest slot, whose element 0 has the position `origin`; `rank` is what the other slots add.
    template <class F>
    void runs_in_slot(std::int64_t x, std::int64_t end, std::int64_t origin, std::int64_t rank, F&& f) const;

    const Layout& layout_;
    std::vector<Slot> slots_;  // fastest first
    std::int64_t size_ = 1;
    bool is_local_order_ = true;
};

template <class F>
void PackedOrder::runs_in_slot(std::int64_t x, std::int64_t end, std::int64_t origin, std::int64_t rank, F&& f) const {
    const auto& slot = slots_.front();
    const auto& where = slot_layout(slot);
    const auto length = where.grid_length();
    const auto rank_at = [&](std::int64_t coordinate) { return rank + slot.rank[coordinate]; };
    if (length == 1) {
        f(rank_at(0), origin + x, std::int64_t{1}, end - x);
    } else if (where.is_rows()) {
        std::int64_t child[2];
        where.node().separate(x, child);
        for (auto row = child[1], column = child[0]; x < end; ++row, column = 0) {
            const auto count = std::min(row + (where.node().strict() ? 0 : 1) - column, end - x);
            f(rank_at(row % length), origin + x, std::int64_t{1}, count);
            x += count;
        }
    } else {
        for (auto first = x; first < std::min(x + length, end); ++first)
            f(rank_at(first % length), origin + first, length, ceil_div(end - first, length));
    }
}

template <class F>
void PackedOrder::for_each_run(std::int64_t begin, std::int64_t end, F&& f) const {
    if (begin >= end) return;
    if (slots_.empty()) {
        f(std::int64_t{0}, std::int64_t{0}, std::int64_t{1}, std::int64_t{1});
        return;
    }
    const auto length = slots_.front().size;
    std::vector<std::int64_t> digit(slots_.size(), 0);
    auto rest = begin / length;
    for (std::size_t s = 1; s < slots_.size(); ++s) {
        digit[s] = rest % slots_[s].size;
        rest /= slots_[s].size;
    }
    for (auto position = begin; position < end;) {
        std::int64_t rank = 0;
        for (std::size_t s = 1; s < slots_.size(); ++s) rank += slots_[s].rank[coordinate_of(slots_[s], digit[s])];
        const auto x = position % length, origin = position - x;
        const auto stop = std::min(length, end - origin);
        runs_in_slot(x, stop, origin, rank, f);
        position = origin + stop;
        for (std::size_t s = 1; s < slots_.size() && ++digit[s] == slots_[s].size; ++s) digit[s] = 0;
    }
}

template <class F>
void PackedOrder::for_each_local_run(std::int64_t rank, std::int64_t begin, std::int64_t end, F&& f) const {
    if (begin >= end) return;
    if (is_local_order_) {
        f(begin, std::int64_t{1}, end - begin);
        return;
    }
    const auto sizes = layout_.local_sizes(rank), strides = layout_.strides(rank);
    const auto size = [&](std::size_t s) { return sizes[slots_[s].number]; };
    const auto stride = [&](std::size_t s) { return strides[slots_[s].number]; };
    for (auto element = begin; element < end;) {
        const auto x = element % size(0);
        auto offset = x * stride(0);
        auto rest = element / size(0);
        for (std::size_t s = 1; s < slots_.size(); ++s) {
            offset += rest % size(s) * stride(s);
            rest /= size(s);
        }
        const auto count = std::min(size(0) - x, end - element);
        f(offset, stride(0), count);
        element += count;
    }
}

}  // namespace arges::io

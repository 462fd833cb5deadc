// The loops of a copy: axes joined, the two along which reads and writes are closest made the kernel's, and tiles
// that keep cache lines of both sides in use.
#include "local/transfer_plan.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace arges::local {
namespace {

/// Bytes of a tile along the fastest axis of each side.
struct TileShape {
    std::int64_t from_bytes, to_bytes;
};
constexpr TileShape usual_tile = {512, 1024};
constexpr TileShape conflict_tile = {1024, 256};  // few source rows, where those share their cache sets
constexpr std::int64_t conflict_bytes = 1 << 16;  // rows at a multiple of this distance do
constexpr std::int64_t tile_elements = 4096;      // a tile is a thread's unit of work
constexpr std::int64_t joined_entries = 512;      // a kernel axis this long is not extended
constexpr std::int64_t max_joined_entries = 1 << 16;
constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();

/// Distance between neighbouring entries; far if the axis does not move.
std::int64_t spacing(std::int64_t count, std::int64_t stride, const std::int64_t* list) {
    std::int64_t smallest = list || stride == 0 ? far : std::abs(stride);
    for (std::int64_t i = 1; list && i < std::min<std::int64_t>(count, 17); ++i)
        if (list[i] != list[i - 1]) smallest = std::min(smallest, std::abs(list[i] - list[i - 1]));
    return smallest;
}
std::int64_t from_spacing(const TransferAxis& a) { return spacing(a.count, a.from_stride, a.from); }
std::int64_t to_spacing(const TransferAxis& a) { return spacing(a.count, a.to_stride, a.to); }

bool is_progression(const std::int64_t* list, std::int64_t count) {
    for (std::int64_t i = 2; i < count; ++i)
        if (list[i] - list[i - 1] != list[1] - list[0]) return false;
    return true;
}

/// Turns lists with a constant step into strides and moves their start into the plan.
void use_strides(TransferAxis& axis, TransferPlan& plan) {
    if (!axis.from || !is_progression(axis.from, axis.count) || !is_progression(axis.to, axis.count)) return;
    plan.from_offset += axis.from[0];
    plan.to_offset += axis.to[0];
    axis.from_stride = axis.from[1] - axis.from[0];
    axis.to_stride = axis.to[1] - axis.to[0];
    axis.from = axis.to = nullptr;
}

/// Copies the axes with more than one entry and collects the others in the plan.
std::vector<TransferAxis> drop_single_entries(std::span<const TransferAxis> axes, TransferPlan& plan) {
    std::vector<TransferAxis> kept;
    plan.size = 1;
    for (TransferAxis axis : axes) {
        if (!axis.from != !axis.to) throw InvalidArgument("a transfer axis has a list of offsets for one side only; give both or none");
        plan.size *= axis.count;
        if (axis.count > 1) {
            use_strides(axis, plan);
            kept.push_back(axis);
        } else if (axis.count == 1) {
            if (axis.from) plan.from_offset += axis.from[0], plan.to_offset += axis.to[0];
            if (axis.factor) plan.factor ^= axis.factor[0];
        }
    }
    return kept;
}

bool continues(const TransferAxis& low, const TransferAxis& high) {
    return !low.from && !high.from && !low.factor && !high.factor && high.from_stride == low.from_stride * low.count &&
           high.to_stride == low.to_stride * low.count;
}

/// Joins strided axes of which one continues the other: {4, 1, 1} and {5, 4, 4} become {20, 1, 1}.
void fuse(std::vector<TransferAxis>& axes) {
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < axes.size() && !changed; ++i)
            for (std::size_t j = 0; j < axes.size() && !changed; ++j)
                if (i != j && continues(axes[i], axes[j])) {
                    axes[i].count *= axes[j].count;
                    axes.erase(axes.begin() + j);
                    changed = true;
                }
    }
}

bool is_strided(const TransferAxis& axis) { return !axis.from && !axis.to && !axis.factor; }

/// Extends a short kernel axis, contiguous on one side, by the axes that continue it on that side
/// (`side_stride` picks the stride): on the other side the joined axis is listed. Reversing 8 x 8 x
/// 8 x 8 so becomes a 64 x 64 transpose. `other` is the kernel's other axis, which stays.
void join(std::vector<TransferAxis>& axes, PlannedAxis& kernel, std::int64_t TransferAxis::*side_stride,
          std::int64_t TransferAxis::*other_stride) {
    std::vector<std::int64_t>& list = kernel.joined_list;
    for (auto next = axes.begin(); next != axes.end() && kernel.axis.count < joined_entries;) {
        const bool fits =
            is_strided(*next) && (*next).*side_stride == kernel.axis.count && next->count <= max_joined_entries / kernel.axis.count;
        if (!fits) {
            ++next;
            continue;
        }
        if (list.empty())
            for (std::int64_t i = 0; i < kernel.axis.count; ++i) list.push_back(i * kernel.axis.*other_stride);
        for (std::int64_t i = kernel.axis.count; i < kernel.axis.count * next->count; ++i)
            list.push_back(list[i - kernel.axis.count] + (*next).*other_stride);
        kernel.axis.count *= next->count;
        axes.erase(next);
        next = axes.begin();
    }
}

/// Puts the kernel's axes first: the one along which reads are closest together, then the one along
/// which writes are (if that is the same axis, the next one for writes). The others follow by their
/// distance in the target.
void choose_kernel(std::vector<TransferAxis>& axes, TransferPlan& plan) {
    while (axes.size() < 2) axes.push_back({.count = 1});
    std::stable_sort(axes.begin(), axes.end(), [](const auto& a, const auto& b) { return to_spacing(a) < to_spacing(b); });
    const auto reads =
        std::min_element(axes.begin(), axes.end(), [](const auto& a, const auto& b) { return from_spacing(a) < from_spacing(b); });
    std::rotate(axes.begin(), reads, reads + 1);
    plan.axes = {{.axis = axes[0]}, {.axis = axes[1]}};
    axes.erase(axes.begin(), axes.begin() + 2);
    PlannedAxis &inner = plan.axes[0], &outer = plan.axes[1];
    if (inner.from_unit() && outer.to_unit() && is_strided(inner.axis) && is_strided(outer.axis)) {
        join(axes, outer, &TransferAxis::to_stride, &TransferAxis::from_stride);
        join(axes, inner, &TransferAxis::from_stride, &TransferAxis::to_stride);
        if (!outer.joined_list.empty()) outer.axis.from = outer.joined_list.data();
        if (!inner.joined_list.empty()) inner.axis.to = inner.joined_list.data();
    }
    for (const TransferAxis& axis : axes) plan.axes.push_back({.axis = axis});
}

/// Raises the tiles, in the given order of axes, until together they hold `target` entries.
void grow_tiles(std::vector<PlannedAxis>& axes, const std::vector<std::size_t>& sequence, std::int64_t target) {
    std::int64_t entries = 1;
    for (const std::size_t i : sequence) entries *= axes[i].tile;
    for (const std::size_t i : sequence) {
        if (entries >= target) return;
        const std::int64_t others = entries / axes[i].tile;
        axes[i].tile = std::min(axes[i].axis.count, (target + others - 1) / others);
        entries = others * axes[i].tile;
    }
}

/// A tile holds full cache lines of both sides, so that each line is moved once.
void choose_tiles(TransferPlan& plan, std::int64_t element_size) {
    std::vector<PlannedAxis>& axes = plan.axes;
    std::vector<std::size_t> by_from(axes.size()), by_to(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) by_from[i] = by_to[i] = i;
    std::stable_sort(by_from.begin(), by_from.end(),
                     [&](std::size_t i, std::size_t j) { return from_spacing(axes[i].axis) < from_spacing(axes[j].axis); });
    std::stable_sort(by_to.begin(), by_to.end(),
                     [&](std::size_t i, std::size_t j) { return to_spacing(axes[i].axis) < to_spacing(axes[j].axis); });
    const bool conflict = from_spacing(axes[1].axis) % (conflict_bytes / element_size) == 0;
    const TileShape shape = conflict ? conflict_tile : usual_tile;
    std::int64_t entries = 1;
    for (const std::size_t i : by_from) {
        const std::int64_t wanted = std::max<std::int64_t>(1, shape.from_bytes / element_size / entries);
        axes[i].tile = std::min(axes[i].axis.count, wanted);
        entries *= axes[i].tile;
    }
    entries = 1;
    for (const std::size_t i : by_to) {
        const std::int64_t wanted = std::max<std::int64_t>(1, shape.to_bytes / element_size / entries);
        axes[i].tile = std::max(axes[i].tile, std::min(axes[i].axis.count, wanted));
        entries *= axes[i].tile;
    }
    grow_tiles(axes, by_to, tile_elements);
    plan.by_target = by_to;
}

/// The offsets i * stride of one tile.
std::vector<std::int64_t> offsets_in_tile(std::int64_t tile, std::int64_t stride) {
    std::vector<std::int64_t> offsets(tile);
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * stride;
    return offsets;
}

}  // namespace

std::int64_t PlannedAxis::tile_begin(std::int64_t index) const {
    std::int64_t i = std::min(index * tile, axis.count);
    if (!repeats || i == 0) return i;
    while (i < axis.count && to_at(i) == to_at(i - 1)) ++i;
    return i;
}

TransferPlan plan_transfer(std::span<const TransferAxis> axes, std::int64_t element_size, bool accumulate) {
    TransferPlan plan;
    std::vector<TransferAxis> kept = drop_single_entries(axes, plan);
    if (plan.size == 0) return plan;
    fuse(kept);
    choose_kernel(kept, plan);
    choose_tiles(plan, element_size);
    plan.tasks = 1;
    for (PlannedAxis& axis : plan.axes) {
        axis.repeats = accumulate && (axis.axis.to || axis.axis.to_stride == 0);
        if (axis.repeats && !axis.axis.to) axis.tile = axis.axis.count;
        plan.tasks *= axis.tiles();
    }
    for (PlannedAxis* axis : {&plan.axes[0], &plan.axes[1]}) {
        if (!axis->axis.from && !axis->from_unit()) axis->from_in_tile = offsets_in_tile(axis->tile, axis->axis.from_stride);
        if (!axis->axis.to && !axis->to_unit()) axis->to_in_tile = offsets_in_tile(axis->tile, axis->axis.to_stride);
    }
    return plan;
}

}  // namespace arges::local

// Orbit sizes of stored elements, by looking at all of them, or only at the diagonal where a slot is a pair.
#include "layout/slot_layout.hpp"

#include <algorithm>
#include <array>

namespace arges {

namespace {

/// True if no dimensions below the node can be exchanged.
bool is_rigid(const PackedNode& node) {
    if (node.kind() == NodeKind::leaf) return true;
    return node.kind() == NodeKind::product && std::all_of(node.children().begin(), node.children().end(), is_rigid);
}

/// Local indices of the pairs of equal children of a node over two rigid children.
std::vector<std::int64_t> equal_pairs(const SlotLayout& slot, std::int64_t coordinate) {
    std::vector<std::int64_t> indices;
    const auto& child = slot.node().children()[0];
    std::array<std::int64_t, max_slot_order> x{};
    for (std::int64_t c = 0; c < child.size(); ++c) {
        child.unpack(c, x.data());
        child.unpack(c, x.data() + child.width());
        const auto at = slot.locate(x.data());
        if (at.coordinate == coordinate && !at.outside) indices.push_back(at.index);
    }
    return indices;
}

/// Two for a pair of rigid children, one where they are equal: only those are looked at.
std::vector<double> sizes_of_pairs(const SlotLayout& slot, std::int64_t coordinate) {
    std::vector<double> sizes(slot.local_size(coordinate), 2);
    if (slot.node().strict()) return sizes;
    for (auto i : equal_pairs(slot, coordinate)) sizes[i] = 1;
    return sizes;
}

bool contains_hermitian(const PackedNode& node) {
    return node.kind() == NodeKind::hermitian || std::any_of(node.children().begin(), node.children().end(), contains_hermitian);
}

}  // namespace

bool has_single_orbits(const SlotLayout& slot) { return !slot.is_blocks() && is_rigid(slot.node()); }

std::vector<double> orbit_sizes(const SlotLayout& slot, std::int64_t coordinate) {
    const auto& node = slot.node();
    if (!slot.is_blocks()) {
        if (has_single_orbits(slot)) return std::vector<double>(slot.local_size(coordinate), 1);
        if (node.kind() != NodeKind::product && node.children().size() == 2 && is_rigid(node.children()[0]))
            return sizes_of_pairs(slot, coordinate);
    }
    std::vector<double> sizes(slot.local_size(coordinate), 0);
    slot.for_each(coordinate, [&](std::int64_t i, const std::int64_t* x) { sizes[i] = slot.orbit_size(x); });
    return sizes;
}

std::vector<std::int64_t> real_indices(const SlotLayout& slot, std::int64_t coordinate) {
    const auto& node = slot.node();
    if (!contains_hermitian(node)) return {};
    if (!slot.is_blocks() && node.kind() == NodeKind::hermitian && is_rigid(node.children()[0])) return equal_pairs(slot, coordinate);
    std::vector<std::int64_t> indices;
    slot.for_each(coordinate, [&](std::int64_t i, const std::int64_t* x) {
        std::array<std::int64_t, max_slot_order> tuple;
        std::copy(x, x + slot.width(), tuple.begin());
        if (slot.locate(tuple.data()).real) indices.push_back(i);
    });
    return indices;
}

}  // namespace arges

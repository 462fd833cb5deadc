// Recognises movements on one rank that unpack a pair node over its two children, for which lists of the children are enough.
#include "plan/product/pair_split.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

SymmetryNode renumbered(const SymmetryNode& node, int& next) {
    SymmetryNode result{node.kind, -1, {}};
    if (node.kind == NodeKind::leaf) result.dimension = next++;
    for (const auto& child : node.children) result.children.push_back(renumbered(child, next));
    return result;
}

/// The movement of one child by itself: the child's packed index is the offset in a layout of its own.
EntryGroup child_list(const Movement& spec, const SymmetryNode& child, const std::vector<int>& to_slots) {
    Movement part = spec;
    part.from_labels.clear();
    std::vector<std::int64_t> extents;
    for (int d : child.dimensions()) {
        part.from_labels.push_back(spec.from_labels[d]);
        extents.push_back(spec.from.extents()[d]);
    }
    int next = 0;
    const auto tree = renumbered(child, next);
    const Symmetry symmetry(next, tree);
    part.from = Layout(spec.from.grid(), extents, symmetry, std::vector<SlotMapping>(symmetry.slots().size()));
    MovementComponent component;
    for (int s = 0; s < part.from.slots(); ++s) component.from_slots.push_back(s);
    component.to_slots = to_slots;
    component.labels = part.from_labels;
    component.terms = {spec.identity()};
    auto lists = component_lists(part, component, 0);
    return lists.receive.empty() ? EntryGroup{} : std::move(lists.receive[0]);
}

}  // namespace

std::int64_t PairUnpack::count() const {
    if (!strict) return child[0].count() * child[1].count();
    // Pairs with equal child indices are not written.
    std::vector<std::int64_t> a = child[0].from, b = child[1].from;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::int64_t equal = 0;
    for (auto c : a) equal += std::upper_bound(b.begin(), b.end(), c) - std::lower_bound(b.begin(), b.end(), c);
    return child[0].count() * child[1].count() - equal;
}

std::optional<PairUnpack> pair_unpack(const Movement& spec, const std::vector<MovementComponent>& components) {
    if (spec.from_bytes != 0 || spec.ranks() != 1 || components.size() != 1 || spec.from.slots() != 1) return std::nullopt;
    const auto& component = components[0];
    const auto& node = spec.from.symmetry().slots()[0];
    const bool plain = component.terms.size() == 1 && !component.pattern && !component.one_to_one;
    if (!plain || node.children.size() != 2 || spec.from.slot(0).is_blocks() || !spec.from_offset.empty()) return std::nullopt;
    if (spec.from.slot(0).begin() != 0 || spec.from.slot(0).size() != spec.from.slot(0).node().size()) return std::nullopt;
    if (std::set<int>(spec.from_labels.begin(), spec.from_labels.end()).size() != spec.from_labels.size()) return std::nullopt;
    PairUnpack result;
    result.kind = node.kind;
    result.strict = spec.from.slot(0).node().strict();
    std::array<std::vector<int>, 2> to_slots;
    std::array<std::set<int>, 2> labels;
    for (std::size_t c = 0; c < 2; ++c)
        for (int d : node.children[c].dimensions()) labels[c].insert(spec.from_labels[d]);
    for (int s = 0; s < spec.to.slots(); ++s) {
        std::array<std::size_t, 2> inside{};
        for (int d : spec.to.slot_dimensions(s))
            for (std::size_t c = 0; c < 2; ++c) inside[c] += labels[c].count(spec.to_labels[d]);
        const auto width = spec.to.slot_dimensions(s).size();
        if (inside[0] != width && inside[1] != width) return std::nullopt;
        to_slots[inside[0] == width ? 0 : 1].push_back(s);
    }
    for (std::size_t c = 0; c < 2; ++c) result.child[c] = child_list(spec, node.children[c], to_slots[c]);
    return result;
}

}  // namespace arges

#include "plan/working_operand.hpp"

#include <algorithm>

namespace arges {

bool same_tree(const SymmetryNode& a, const SymmetryNode& b) {
    if (a.kind != b.kind || a.children.size() != b.children.size()) return false;
    if (a.kind == NodeKind::leaf) return a.dimension == b.dimension;
    const bool leaves = a.children[0].kind == NodeKind::leaf && a.kind != NodeKind::product;
    if (!leaves) return std::equal(a.children.begin(), a.children.end(), b.children.begin(), same_tree);
    auto x = a.dimensions(), y = b.dimensions();
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y;
}

bool odd_order(const SymmetryNode& a, const SymmetryNode& b) {
    bool odd = false;
    if (a.kind == NodeKind::antisymmetric && a.children[0].kind == NodeKind::leaf) {
        const auto x = a.dimensions();
        auto y = b.dimensions();
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = i + 1; j < x.size() && y[i] != x[i]; ++j)
                if (y[j] == x[i]) {
                    std::swap(y[i], y[j]);
                    odd = !odd;
                }
        return odd;
    }
    for (std::size_t c = 0; c < a.children.size(); ++c) odd ^= odd_order(a.children[c], b.children[c]);
    return odd;
}

WorkingOperand working_copy(const ContractionPlan& plan, const std::vector<IndexGroup>& groups, Operand o, std::vector<int> list,
                            const std::vector<int>& partial) {
    WorkingOperand w;
    w.groups = std::move(list);
    std::vector<SymmetryNode> slots;
    std::vector<SlotMapping> mapping;
    std::vector<std::int64_t> extents;
    for (int g : w.groups) {
        const auto& group = groups[static_cast<std::size_t>(g)];
        slots.push_back(with_positions(*group.tree[o], group.labels, static_cast<int>(w.labels.size())));
        for (int l : group.labels) {
            w.labels.push_back(l);
            extents.push_back(plan.spec.label_extents[static_cast<std::size_t>(l)]);
        }
        mapping.push_back(plan.group_mapping[static_cast<std::size_t>(g)]);
    }
    const int order = static_cast<int>(extents.size());
    w.layout = Layout(plan.grid, extents, Symmetry(order, product(slots)), mapping, partial);
    return w;
}

}  // namespace arges

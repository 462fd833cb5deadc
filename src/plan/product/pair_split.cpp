// R = A+ B+ + A- B- for joint pair symmetry: finds products of that form and the movements into the parts (for closed-shell amplitudes:
// Scuseria, Janssen and Schaefer, J. Chem. Phys. 89, 7382 (1988)).
#include "plan/product/pair_split.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace arges {

namespace {

/// True for sym(product(leaf,leaf),product(leaf,leaf)).
bool is_pair_node(const SymmetryNode& node) {
    return node.kind == NodeKind::symmetric && node.children.size() == 2 &&
           std::all_of(node.children.begin(), node.children.end(), [](const auto& child) {
               return child.kind == NodeKind::product && child.children.size() == 2 && child.children[0].kind == NodeKind::leaf &&
                      child.children[1].kind == NodeKind::leaf;
           });
}

std::vector<PairOperand> pair_nodes(const Operand& operand) {
    std::vector<PairOperand> result;
    if (std::set<int>(operand.labels.begin(), operand.labels.end()).size() < operand.labels.size()) return result;
    auto label = [&](const SymmetryNode& leaf) { return operand.labels[leaf.dimension]; };
    const auto& slots = operand.layout.symmetry().slots();
    for (std::size_t s = 0; s < slots.size(); ++s) {
        if (!is_pair_node(slots[s])) continue;
        const auto& x = slots[s].children[0].children;
        const auto& y = slots[s].children[1].children;
        result.push_back({static_cast<int>(s), {label(x[0]), label(y[0])}, {label(x[1]), label(y[1])}});
    }
    return result;
}

bool contains_both(const std::vector<int>& labels, const std::array<int, 2>& pair) {
    return std::count(labels.begin(), labels.end(), pair[0]) > 0 && std::count(labels.begin(), labels.end(), pair[1]) > 0;
}

bool contains_none(const std::vector<int>& labels, const std::array<int, 2>& pair) {
    return std::count(labels.begin(), labels.end(), pair[0]) == 0 && std::count(labels.begin(), labels.end(), pair[1]) == 0;
}

bool same_pair(std::array<int, 2> a, std::array<int, 2> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

/// Is `summed` summed over both operands and `free` free in this one?
bool splits(const std::array<int, 2>& free, const std::array<int, 2>& summed, const std::vector<int>& other,
            const std::vector<int>& output) {
    return contains_both(other, summed) && contains_none(output, summed) && contains_none(other, free) && contains_both(output, free);
}

const std::array<int, 2>* summed_pair(const PairOperand& p, const std::vector<int>& other, const std::vector<int>& output) {
    if (splits(p.first, p.second, other, output)) return &p.second;
    if (splits(p.second, p.first, other, output)) return &p.first;
    return nullptr;
}

}  // namespace

std::optional<std::array<PairOperand, 2>> joint_pair(const Operand& a, const Operand& b, const std::vector<int>& output_labels) {
    for (const auto& x : pair_nodes(a))
        for (const auto& y : pair_nodes(b)) {
            const auto* const sum_a = summed_pair(x, b.labels, output_labels);
            const auto* const sum_b = summed_pair(y, a.labels, output_labels);
            if (sum_a != nullptr && sum_b != nullptr && same_pair(*sum_a, *sum_b)) return std::array<PairOperand, 2>{x, y};
        }
    return std::nullopt;
}

Symmetry part_symmetry(const Operand& operand, const PairOperand& pair, bool symmetric) {
    const auto kind = symmetric ? NodeKind::symmetric : NodeKind::antisymmetric;
    std::vector<SymmetryNode> slots = operand.layout.symmetry().slots();
    auto node = [&](std::size_t which) {
        const auto& children = operand.layout.symmetry().slots()[pair.slot].children;
        return SymmetryNode{kind, -1, {children[0].children[which], children[1].children[which]}};
    };
    slots[pair.slot] = node(0);
    slots.insert(slots.begin() + pair.slot + 1, node(1));
    return Symmetry(operand.layout.order(), product(slots));
}

LabelTerm exchange_second(const PairOperand& pair, std::size_t labels, bool symmetric) {
    LabelTerm term;
    term.image.resize(labels);
    std::iota(term.image.begin(), term.image.end(), 0);
    std::swap(term.image[pair.second[0]], term.image[pair.second[1]]);
    term.negative = !symmetric;
    return term;
}

LabelTerm mirror_of(const std::array<PairOperand, 2>& pairs, const std::vector<int>& output_labels, std::size_t labels) {
    LabelTerm term;
    term.image.resize(labels);
    std::iota(term.image.begin(), term.image.end(), 0);
    for (const auto& operand : pairs)
        for (const auto& pair : {operand.first, operand.second}) {
            if (contains_none(output_labels, pair)) continue;
            term.image[pair[0]] = pair[1];
            term.image[pair[1]] = pair[0];
        }
    return term;
}

std::optional<PairSplit> pair_split(const Movement& spec) {
    if (spec.from_bytes != 0) return std::nullopt;
    if (spec.ranks() != 1 || spec.from.slots() != 1 || spec.to.slots() != 2 || spec.terms.size() != 2) return std::nullopt;
    if (!spec.from_offset.empty() || !spec.to_offset.empty() || spec.from.slot(0).is_blocks()) return std::nullopt;
    const auto pairs = pair_nodes({spec.from, spec.from_labels, false, ""});
    if (pairs.size() != 1) return std::nullopt;
    for (const bool symmetric : {true, false}) {
        const auto wanted = part_symmetry({spec.from, spec.from_labels, false, ""}, pairs[0], symmetric);
        // The target has the tensor's own order of dimensions.
        if (!(spec.to.symmetry() == wanted) || spec.to_labels != spec.from_labels) continue;
        if (!(spec.terms[1] == exchange_second(pairs[0], spec.label_extents.size(), symmetric))) continue;
        const auto strides = spec.to.strides(0);
        return PairSplit{spec.label_extents[pairs[0].first[0]], spec.label_extents[pairs[0].second[0]], strides[0], strides[1], symmetric};
    }
    return std::nullopt;
}

}  // namespace arges

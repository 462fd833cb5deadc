// The representative of an element by sorting children at every node, with the sign, and zeros and real values from equal children.
#include "symmetry/canonical_form.hpp"

#include <algorithm>
#include <iterator>

namespace arges {

namespace {

/// Sorts the children of a node whose indices begin at `first`, each `width` long: by their last index first, as packed indices are.
void sort_children(const SymmetryNode& node, std::int64_t* first, std::ptrdiff_t width, CanonicalForm& form) {
    bool odd = false, equal = false;
    for (std::size_t i = 1; i < node.children.size(); ++i)
        for (auto* child = first + static_cast<std::ptrdiff_t>(i) * width; child != first; child -= width) {
            const auto end = std::make_reverse_iterator(child + width), middle = std::make_reverse_iterator(child),
                       begin = std::make_reverse_iterator(child - width);
            const auto order = std::lexicographical_compare_three_way(middle, begin, end, middle);
            equal = equal || order == 0;
            if (order <= 0) break;
            std::swap_ranges(child - width, child, child);
            odd = !odd;
        }
    form.negative ^= odd && node.kind == NodeKind::antisymmetric;
    form.conjugate ^= odd && node.kind == NodeKind::hermitian;
    form.zero |= equal && (node.kind == NodeKind::antisymmetric || node.kind == NodeKind::hollow);
    form.real |= equal && node.kind == NodeKind::hermitian;
}

/// Writes the sorted indices of a node from `first` on; returns their end.
std::int64_t* place(const SymmetryNode& node, std::span<const std::int64_t> index, std::int64_t* first, CanonicalForm& form) {
    if (node.kind == NodeKind::leaf) {
        *first = index[node.dimension];
        return first + 1;
    }
    auto* end = first;
    for (const auto& child : node.children) end = place(child, index, end, form);
    const auto width = (end - first) / static_cast<std::ptrdiff_t>(node.children.size());
    if (node.kind != NodeKind::product) sort_children(node, first, width, form);
    return end;
}

}  // namespace

CanonicalForm canonical_form(const Symmetry& symmetry, std::span<const std::int64_t> index) {
    CanonicalForm form;
    form.index.resize(index.size());
    auto* end = form.index.data();
    for (const auto& slot : symmetry.slots()) end = place(slot, index, end, form);
    form.real = form.real && !form.zero;
    return form;
}

}  // namespace arges

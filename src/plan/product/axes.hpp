/// The axes of the iteration space of a product: which parts of the operands' symmetry survive it packed.
#pragma once

#include "plan/product/product.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace arges {

/// True if a list of labels or axes has one.
inline bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

/// A label, or labels of a symmetric node that stay together: one dimension of the iteration space. Leaves of the trees are labels.
struct Axis {
    std::vector<int> labels;                        ///< in tree order
    std::vector<std::optional<SymmetryNode>> tree;  ///< by operand (the factors, then the raw result), where the axis is part of it
    std::int64_t size = 1;                          ///< packed indices
    bool has_product = true;                        ///< of elements, so that a common orbit size may be a factor of the result
    /// Is it part of operand `o`? The raw result is behind the factors.
    bool in(std::size_t o) const { return tree[o].has_value(); }
    bool is_contracted() const { return !tree.back().has_value(); }
    /// The node, as the first factor has it that has it.
    const SymmetryNode& node() const;
    /// A summed packed axis counts each orbit; true where the orbits differ in size (symmetric with a diagonal), or elements have no
    /// product.
    bool needs_weights() const;
    /// The common orbit size of a summed packed axis where they do not differ.
    double constant_weight() const;
    bool operator==(const Axis&) const = default;
};

/// Axes by first appearance in the factors. Symmetry nodes of a factor survive where their labels go together to the same kind of node in
/// one other factor (summed or batch) or to the result only; others are broken up. Example: Z["abij"] += W["mbej"] * T["aeim"] with T
/// antisymmetric in (a,e) and (i,m): all axes are single labels.
std::vector<Axis> axes_of(const Product& spec);

/// The symmetry that a result with these labels keeps by structure.
Symmetry raw_symmetry(const std::vector<Axis>& axes, const std::vector<int>& labels);

/// The node with each leaf's dimension replaced by its label.
SymmetryNode with_labels(const SymmetryNode& node, const std::vector<int>& labels);

/// The inverse: each leaf's label replaced by its position in `labels`, counted from `first`.
SymmetryNode with_positions(const SymmetryNode& node, const std::vector<int>& labels, int first = 0);

/// Equal up to the order of exchangeable leaves.
bool same_tree(const SymmetryNode& a, const SymmetryNode& b);

/// True if the leaves of antisymmetric nodes of equal trees differ by an odd permutation.
bool odd_order(const SymmetryNode& a, const SymmetryNode& b);

}  // namespace arges

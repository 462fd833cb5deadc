/// Which parts of the operands' symmetry survive a contraction packed.
#pragma once

#include "plan/product.hpp"

#include <array>
#include <optional>
#include <vector>

namespace arges {

/// Operands of a contraction, as positions in arrays.
enum Operand : std::size_t { operand_a = 0, operand_b = 1, operand_c = 2 };

/// Labels that stay together: one dimension of the folded iteration space. Leaves of the trees are labels.
struct IndexGroup {
    std::vector<int> labels;                                ///< in tree order
    std::array<std::optional<SymmetryNode>, 3> tree;        ///< in A, B and the raw result R, where the group is part of them
    std::int64_t size = 1;                                  ///< packed indices
    bool in(Operand o) const { return tree[o].has_value(); }
    bool is_contracted() const { return !in(operand_c); }
    bool is_batch() const { return in(operand_a) && in(operand_b) && in(operand_c); }
    /// A summed packed group counts each orbit; true where the orbits differ in size (symmetric with a diagonal).
    bool needs_weights() const;
    /// The common orbit size of a summed packed group where they do not differ.
    double constant_weight() const;
};

/// Groups of the iteration space, by first appearance in A, then B. Symmetry nodes of an operand survive where their labels go
/// together to the same kind of node in the other operand (summed or batch) or to the result only; others are broken up.
/// Example: Z["abij"] += W["mbej"] * T["aeim"] with T antisymmetric in (a,e) and (i,m): all groups are single labels.
std::vector<IndexGroup> index_groups(const Product& spec);

/// The node with each leaf's dimension replaced by its label.
SymmetryNode with_labels(const SymmetryNode& node, const std::vector<int>& labels);

/// The inverse: each leaf's label replaced by its position in `labels`, counted from `first`.
SymmetryNode with_positions(const SymmetryNode& node, const std::vector<int>& labels, int first = 0);

}  // namespace arges

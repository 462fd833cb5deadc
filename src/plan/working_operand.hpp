/// Working copies of operands, and how the trees of tensors and groups compare.
#pragma once

#include "plan/contraction_plan.hpp"

#include <vector>

namespace arges {

/// Equal up to the order of exchangeable leaves.
bool same_tree(const SymmetryNode& a, const SymmetryNode& b);

/// True if the leaves of antisymmetric nodes of equal trees differ by an odd permutation.
bool odd_order(const SymmetryNode& a, const SymmetryNode& b);

/// A dense array over `list` (groups of the operand, fastest first), put on the torus as plan.group_mapping says.
/// @param partial torus dimensions along which ranks hold parts of a sum
WorkingOperand working_copy(const ContractionPlan& plan, const std::vector<IndexGroup>& groups, Operand o, std::vector<int> list,
                            const std::vector<int>& partial);

}  // namespace arges

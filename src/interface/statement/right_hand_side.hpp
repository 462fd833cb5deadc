/// A right-hand side of a statement as far as symmetry is concerned.
#pragma once

#include "arges/expression.hpp"
#include "plan/product/structural_sum.hpp"

#include <cstddef>
#include <vector>

namespace arges {

/// The tree of a factor's tensor; of a mask, that of the elements it stores.
Symmetry symmetry_of(const Factor& factor);

/// Where the tensor of a factor is first in a right-hand side, counted in factors: the same number for the same tensor.
std::size_t first_place(const std::vector<Term>& right, const Factor& factor);

/// The terms under a projection. Labels with one name are one label of the sum.
StructuralSum structural_sum(const Factor& left, const std::vector<Term>& right, Projection projection, const ElementKernels& kernels);

/// Nodes of another kind in place of those of a tree.
Symmetry with_kinds(const Symmetry& symmetry, NodeKind (*kind)(NodeKind));
/// The node that stores the same elements, without signs and conjugates.
NodeKind stored_kind(NodeKind kind);

}  // namespace arges

/// Whether a right-hand side has the symmetry of the output by structure.
#pragma once

#include "plan/product/structural_sum.hpp"

namespace arges {

/// Asks whether a sum takes on the sign of each exchange that generates the output's group, and vanishes where the output does, whatever
/// the elements of its tensors are: from the tensors' trees, from equal tensors that may be exchanged, from renamed summed labels, and from
/// other terms of the sum. A part that is zero, and coefficients that cancel to rounding, do not count.
/// @throws InvalidArgument with the exchange that fails, the term that it leads to and the two cures, that first which fits the tensors
void require_symmetry(const StructuralSum& sum);

/// The same for one slot of the output, none of whose labels is repeated.
void require_symmetry(const StructuralSum& sum, const SymmetryNode& slot);

/// True if the dimensions of a node have a label twice, in this node or elsewhere: a diagonal.
bool any_label_repeated(const StructuralFactor& output, const SymmetryNode& node);

/// The labels of a node's dimensions by commas.
std::string label_list(const StructuralSum& sum, const SymmetryNode& node);

}  // namespace arges

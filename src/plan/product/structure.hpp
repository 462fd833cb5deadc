/// How a product is projected onto the output's symmetry, and whether a right-hand side has that symmetry by structure.
#pragma once

#include "plan/product/product.hpp"
#include "plan/product/structural_sum.hpp"

#include <vector>

namespace arges {

/// The terms that turn the raw product R, the only one of the sum, into an output with the wanted symmetry: representatives of the cosets
/// G/H for antisymmetrized() and symmetrized(), with G the group of the output and H the part of it that R has through the trees of its
/// factors, each taken as a tensor of its own. Otherwise the identity: the sum that the product is part of has the symmetry
/// (require_symmetry()), or the caller vouches for it.
/// @throws InvalidArgument for a diagonal that cannot be written, or if what is not permuted lacks a symmetry of the output; Unsupported if
/// H is not found
///         within a fixed number of steps
std::vector<LabelTerm> projection_terms(const StructuralSum& product, Projection projection);

/// The product with the terms of its projection. @throws as projection_terms()
Product projected(Product product);

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

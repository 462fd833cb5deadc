/// How a product is projected onto the output's symmetry.
#pragma once

#include "plan/product/product.hpp"
#include "plan/product/structural_sum.hpp"

#include <vector>

namespace arges {

/// The terms that turn the raw product R, the only one of the sum, into an output with the wanted symmetry: representatives of the cosets
/// G/H for antisymmetrized() and symmetrized(), with G the group of the output and H the part of it that R has through the trees of its
/// factors, each taken as a tensor of its own. Otherwise the identity: the sum that the product is part of has the symmetry
/// (plan/product/required_symmetry.hpp), or the caller vouches for it.
/// @throws InvalidArgument for a diagonal that cannot be written, or if what is not permuted lacks a symmetry of the output; Unsupported if
/// H is not found
///         within a fixed number of steps
std::vector<LabelTerm> projection_terms(const StructuralSum& product, Projection projection);

/// The product with the terms of its projection. @throws as projection_terms()
Product projected(Product product);

}  // namespace arges

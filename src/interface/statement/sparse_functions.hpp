/// Functions of elements where tensors are sparse.
#pragma once

#include "arges/element_functions.hpp"

namespace arges {

/// map() and update() with a sparse tensor on either side. Collective.
void apply_to_sparse(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result,
                     const statements::BulkFunction& f, bool accumulate, const statements::SparseRule& rule);

}  // namespace arges

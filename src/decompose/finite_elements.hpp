/// Whether the elements of a dense tensor can be decomposed.
#pragma once

#include "arges/tensor.hpp"

namespace arges::decompose {

/// As check_norm(), and says how many elements are not finite, and where the first of them is. Collective.
/// @param norm_squared  of the tensor, the same on every rank
/// @throws InvalidArgument on every rank
template <class T>
void check_elements(const Tensor<T>& tensor, double norm_squared);

}  // namespace arges::decompose

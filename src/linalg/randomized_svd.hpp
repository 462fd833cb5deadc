/// The leading singular values and vectors from products with random vectors.
#pragma once

#include "linalg/matricization.hpp"

namespace arges::linalg {

/// Halko, Martinsson, Tropp, SIAM Review 53 (2011): the range by algorithm 4.4 (powers with orthonormalization after each
/// product), then the SVD of the matrix projected on it, algorithm 5.1. Options have been checked; the matrix is not empty.
/// Collective.
template <class T>
SvdResult<T> randomized_svd(const Tensor<T>& A, const Matricization& labels, const SvdOptions& options);

}  // namespace arges::linalg

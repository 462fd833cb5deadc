/// The leading singular values and vectors from products with random vectors.
#pragma once

#include "linalg/matricization.hpp"

namespace arges::linalg {

/// Halko, Martinsson, Tropp, SIAM Review 53 (2011): the range by algorithm 4.4 (powers with orthonormalization after each
/// product), then the SVD of the matrix projected on it, algorithm 5.1. Options have been checked; the matrix is not empty.
/// Collective. @param A dense or sparse; its labels do not matter  @param norm of A
template <class T>
SvdResult<T> randomized_svd(const World& world, const Factor& A, double norm, const Matricization& labels, const SvdOptions& options);

}  // namespace arges::linalg

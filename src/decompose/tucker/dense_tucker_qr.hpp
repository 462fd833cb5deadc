/// Singular vectors of a matricization by QR factorization, right to the machine precision.
#pragma once

#include "arges/tensor.hpp"
#include "decompose/tucker/dense_tucker_subspace.hpp"

namespace arges::decompose {

/// Leading left singular vectors by TSQR of the longer side of the matricization (linalg/tall_qr.hpp) and the SVD of its
/// triangle, which the first rank computes. There are at most as many vectors as the matricization has columns. A matricization
/// that is not longer than wide is read where it lies; a longer one is moved to where its rows are spread over the ranks.
/// Collective.
/// @param tensor has plain blocks, in which the mode is whole
template <class T>
Subspace<T> subspace_by_qr(const Tensor<T>& tensor, int mode, const RankRule& rule);

}  // namespace arges::decompose

/// How good factors are, and the singular value decomposition by random vectors, in statements of the library.
#pragma once

#include "linalg/matricization.hpp"

#include <string>
#include <vector>

namespace arges::linalg {

/// Labels of a factor: those of some dimensions, and one for the index that joins factors.
std::vector<std::string> with_label(std::vector<std::string> labels, const std::string& last);
/// The same with the joining label in front.
std::vector<std::string> label_first(const std::string& first, const std::vector<std::string>& labels);
/// Labels by dimension of the tensor.
std::vector<std::string> labels_by_dimension(const Matricization& matrix);

/// A label that users cannot have chosen by accident.
inline const std::string joint = "_k";

/// |Q^H Q - 1| for a tensor whose last index (or first, if `rows`) numbers orthonormal vectors. Collective.
template <class T>
double orthogonality(const Tensor<T>& Q, bool rows = false);

/// |A - U diag(s) V| / |A| with `joint` between U and V; without `s` it is 1. Collective.
template <class T>
double residual(const IndexedTensor<T>& A, const Matricization& labels, const Tensor<T>& U, const std::vector<real_of<T>>* s,
                const Tensor<T>& V);

/// A vector on every rank as a tensor.
template <class T>
Tensor<T> as_tensor(const World& world, const std::vector<real_of<T>>& values);

/// a / b; 0 for 0 / 0.
inline double ratio(double a, double b) { return a == 0 ? 0 : a / b; }

/// Halko, Martinsson, Tropp, SIAM Review 53 (2011): the range by algorithm 4.4 (powers with orthonormalization after each
/// product), then the SVD of the matrix projected on it, algorithm 5.1. Options have been checked; the matrix is not empty.
/// Collective. @param A dense or sparse; its labels do not matter  @param norm of A
template <class T>
SvdResult<T> randomized_svd(const World& world, const Factor& A, double norm, const Matricization& labels, const SvdOptions& options);

}  // namespace arges::linalg

/// Sparse tensors times vectors and matrices, in one mode.
#pragma once

#include "sparse/nonzeros.hpp"
#include "sparse/row_matrix.hpp"

#include <span>

namespace arges::sparse {

/// A tensor that is sparse in all modes but one: fibers along that mode that are not zero, as dense columns (Li et al.,
/// *Optimizing sparse tensor times matrix on multi-core and many-core architectures*, 2016).
template <class T>
struct SemiSparse {
    std::vector<std::int64_t> lengths;  ///< by mode
    int dense_mode = 0;
    std::vector<std::vector<std::int64_t>> indices;  ///< by mode, one for each fiber; empty for the dense mode
    std::vector<T> values;                           ///< element i of fiber f is values[f * lengths[dense_mode] + i]

    std::int64_t fibers() const {
        const auto n = lengths[dense_mode];
        return n == 0 ? 0 : std::ssize(values) / n;
    }
};

/// Tensor times vector: result(all indices but that of `mode`) = sum over i of nonzeros(.., i, ..) * vector[i]. The result has
/// one mode less, is sorted by all modes, and has a nonzero for each nonempty fiber. Order 2 or more, distinct coordinates.
/// @throws InvalidArgument for a wrong mode, order or vector length
template <class T>
Nonzeros<T> times_vector(const Nonzeros<T>& nonzeros, int mode, std::span<const T> vector);

/// Tensor times matrix: result(.., r, ..) = sum over i of nonzeros(.., i, ..) * matrix(i, r), r in the place of i; matrix is
/// lengths[mode] x columns. The result has a fiber for each nonempty fiber of the tensor, sorted by the other modes.
/// @throws InvalidArgument for a wrong mode or matrix
template <class T>
SemiSparse<T> times_matrix(const Nonzeros<T>& nonzeros, int mode, RowMatrix<const T> matrix);

}  // namespace arges::sparse

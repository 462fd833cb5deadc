/// The BLAS routines that the kernels need, for 64-bit sizes.
#pragma once

#include <cstdint>
#include <vector>

namespace arges::local {

/// Sizes of a matrix product: op(A) is m x k, op(B) is k x n, C is m x n.
struct GemmSize {
    std::int64_t m = 0, n = 0, k = 0;
};

/// A column-major matrix; `transposed` means that its transpose is meant.
template <class T>
struct Matrix {
    T* data = nullptr;
    std::int64_t ld = 1;  ///< distance of the columns, at least the number of rows in memory
    bool transposed = false;
};

/// A strided vector.
template <class T>
struct Vector {
    T* data = nullptr;
    std::int64_t increment = 1;
};

/// Largest leading dimension and increment that BLAS takes.
inline constexpr std::int64_t max_blas_stride = INT32_MAX;

/// C = alpha * op(A) * op(B) + beta * C; for beta = 0 what C held is not read; for alpha = 0 A and B are
/// read, so that a NaN stays. Uses the threads of
/// the BLAS library, and one thread inside of a parallel region.
/// @throws InvalidArgument if a leading dimension is above max_blas_stride
template <class T>
void gemm(GemmSize size, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c);

/// Bytes into which a thread of gemm() copies panels of op(B), at most, of so many columns and summed indices.
std::int64_t gemm_memory(std::int64_t columns, std::int64_t summed, std::int64_t element_bytes);

/// y = alpha * op(A) * x + beta * y; for beta = 0 what y held is not read. `size.m` and `size.k`
/// are the rows and columns of op(A); `size.n` is not used.
/// @throws InvalidArgument if the leading dimension or an increment is above max_blas_stride
template <class T>
void gemv(GemmSize size, T alpha, Matrix<const T> a, Vector<const T> x, T beta, Vector<T> y);

/// gram += P P^T in the lower triangle of a column-major array of n x n, for an n x k panel P = op(panel); T is float or double. In single
/// precision `part` takes the products of this panel, n * n elements, before they are added.
/// @throws InvalidArgument if n, k or the leading dimension is above max_blas_stride
template <class T>
void add_gram(std::int64_t n, std::int64_t k, Matrix<const T> panel, double* gram, std::vector<T>& part);

}  // namespace arges::local

#include "local/blas.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"
#include "local/scalar.hpp"

#include <cblas.h>

#include <algorithm>
#include <complex>
#include <string>

namespace arges::local {
namespace {

constexpr std::int64_t max_size = 1 << 30;  // larger matrices are multiplied in pieces

int checked(std::int64_t stride) {
    if (stride < 1 || stride > max_blas_stride)
        throw InvalidArgument("BLAS cannot take a matrix with a stride of " +
                              std::to_string(stride) + " elements");
    return static_cast<int>(stride);
}

CBLAS_TRANSPOSE operation(bool transposed) {
    return transposed ? CblasTrans : CblasNoTrans;
}

/// Calls the routine for the element type: real scalars go by value, complex ones by address.
template <class T>
void call_gemm(GemmSize size, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
    const int m = static_cast<int>(size.m), n = static_cast<int>(size.n),
              k = static_cast<int>(size.k);
    const auto op_a = operation(a.transposed), op_b = operation(b.transposed);
    const int lda = checked(a.ld), ldb = checked(b.ld), ldc = checked(c.ld);
    const auto call = [&](auto routine, auto alpha_argument, auto beta_argument) {
        routine(CblasColMajor, op_a, op_b, m, n, k, alpha_argument, a.data, lda, b.data, ldb,
                beta_argument, c.data, ldc);
    };
    if constexpr (std::is_same_v<T, float>)
        call(cblas_sgemm, alpha, beta);
    else if constexpr (std::is_same_v<T, double>)
        call(cblas_dgemm, alpha, beta);
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        call(cblas_cgemm, &alpha, &beta);
    else
        call(cblas_zgemm, &alpha, &beta);
}

/// `rows` and `columns` are those of A in memory.
template <class T>
void call_gemv(std::int64_t rows, std::int64_t columns, T alpha, Matrix<const T> a,
               Vector<const T> x, Vector<T> y) {
    const T one = 1;
    const auto call = [&](auto routine, auto alpha_argument, auto beta_argument) {
        routine(CblasColMajor, operation(a.transposed), static_cast<int>(rows),
                static_cast<int>(columns), alpha_argument, a.data, checked(a.ld), x.data,
                checked(x.increment), beta_argument, y.data, checked(y.increment));
    };
    if constexpr (std::is_same_v<T, float>)
        call(cblas_sgemv, alpha, one);
    else if constexpr (std::is_same_v<T, double>)
        call(cblas_dgemv, alpha, one);
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        call(cblas_cgemv, &alpha, &one);
    else
        call(cblas_zgemv, &alpha, &one);
}

/// The part of a matrix that begins at a row and a column of op(matrix).
template <class T>
Matrix<T> part(Matrix<T> matrix, std::int64_t row, std::int64_t column) {
    if (matrix.transposed) std::swap(row, column);
    matrix.data += row + column * matrix.ld;
    return matrix;
}

}  // namespace

template <class T>
void gemm(GemmSize size, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
    for (std::int64_t j = 0; j < size.n; j += max_size)
        for (std::int64_t i = 0; i < size.m; i += max_size)
            for (std::int64_t k = 0; k == 0 || k < size.k; k += max_size) {
                const GemmSize piece = {std::min(max_size, size.m - i),
                                        std::min(max_size, size.n - j),
                                        std::min(max_size, size.k - k)};
                call_gemm<T>(piece, alpha, part(a, i, k), part(b, k, j), k == 0 ? beta : T(1),
                             part(c, i, j));
            }
}

template <class T>
void gemv(GemmSize size, T alpha, Matrix<const T> a, Vector<const T> x, T beta, Vector<T> y) {
    for (std::int64_t i = 0; i < size.m; ++i) {
        T& element = y.data[i * y.increment];
        if (beta == T(0))
            element = 0;
        else if (beta != T(1))
            element = multiply(beta, element);
    }
    for (std::int64_t i = 0; i < size.m; i += max_size)
        for (std::int64_t k = 0; k < size.k; k += max_size) {
            std::int64_t rows = std::min(max_size, size.m - i),
                         columns = std::min(max_size, size.k - k);
            if (a.transposed) std::swap(rows, columns);
            call_gemv<T>(rows, columns, alpha, part(a, i, k),
                         {x.data + k * x.increment, x.increment},
                         {y.data + i * y.increment, y.increment});
        }
}

#define ARGES_INSTANTIATE(T)                                                                       \
    template void gemm<T>(GemmSize, T, Matrix<const T>, Matrix<const T>, T, Matrix<T>);            \
    template void gemv<T>(GemmSize, T, Matrix<const T>, Vector<const T>, T, Vector<T>);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local

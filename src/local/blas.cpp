#include "local/blas.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"
#include "base/math.hpp"
#include "local/scalar.hpp"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <complex>
#include <string>

namespace arges::local {
namespace {

constexpr std::int64_t max_size = 1 << 30;  // larger matrices are multiplied in pieces

/// OpenBLAS copies at most so many of the summed indices at a time, into a buffer of this size.
constexpr std::int64_t blas_depth = 512, blas_buffer = std::int64_t{128} << 20;

int checked(std::int64_t stride) {
    if (stride < 1 || stride > max_blas_stride)
        throw InvalidArgument("BLAS cannot take a matrix with a stride of " + std::to_string(stride) + " elements");
    return stride;
}

CBLAS_TRANSPOSE operation(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/// Calls the routine for the element type: real scalars go by value, complex ones by address.
template <class T>
void call_gemm(GemmSize size, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
    const int m = static_cast<int>(size.m), n = static_cast<int>(size.n), k = size.k;
    const auto op_a = operation(a.transposed), op_b = operation(b.transposed);
    const int lda = checked(a.ld), ldb = checked(b.ld), ldc = checked(c.ld);
    const auto call = [&](auto routine, auto alpha_argument, auto beta_argument) {
        routine(CblasColMajor, op_a, op_b, m, n, k, alpha_argument, a.data, lda, b.data, ldb, beta_argument, c.data, ldc);
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
void call_gemv(std::int64_t rows, std::int64_t columns, T alpha, Matrix<const T> a, Vector<const T> x, Vector<T> y) {
    const T one = 1;
    const auto call = [&](auto routine, auto alpha_argument, auto beta_argument) {
        routine(CblasColMajor, operation(a.transposed), rows, columns, alpha_argument, a.data, checked(a.ld), x.data, checked(x.increment),
                beta_argument, y.data, checked(y.increment));
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

/// C = 0 * op(A) * op(B) + beta * C. BLAS would not read A and B, and so hide a NaN: the product is formed in tiles.
template <class T>
void gemm_times_zero(GemmSize size, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
    constexpr std::int64_t side = 64;
    std::array<T, side * side> tile;
    for (std::int64_t j = 0; j < size.n; j += side)
        for (std::int64_t i = 0; i < size.m; i += side) {
            const auto rows = std::min(side, size.m - i), columns = std::min(side, size.n - j);
            for (std::int64_t k = 0; k == 0 || k < size.k; k += max_size)
                call_gemm<T>({rows, columns, std::min(max_size, size.k - k)}, T(1), part(a, i, k), part(b, k, j), k == 0 ? T(0) : T(1),
                             {tile.data(), side, false});
            for (std::int64_t y = 0; y < columns; ++y)
                for (std::int64_t x = 0; x < rows; ++x) {
                    T& element = c.data[i + x + (j + y) * c.ld];
                    const T product = multiply(T(0), tile[x + y * side]);
                    element = beta == T(0) ? product : product + multiply(beta, element);
                }
        }
}

/// y += 0 * op(A) * x, likewise.
template <class T>
void add_gemv_times_zero(GemmSize size, Matrix<const T> a, Vector<const T> x, Vector<T> y) {
    constexpr std::int64_t length = 1024;
    std::array<T, length> sums;
    for (std::int64_t i = 0; i < size.m; i += length) {
        const auto count = std::min(length, size.m - i);
        sums.fill(T(0));
        for (std::int64_t k = 0; k < size.k; k += max_size) {
            std::int64_t rows = count, columns = std::min(max_size, size.k - k);
            if (a.transposed) std::swap(rows, columns);
            call_gemv<T>(rows, columns, T(1), part(a, i, k), {x.data + k * x.increment, x.increment}, {sums.data(), 1});
        }
        for (std::int64_t n = 0; n < count; ++n) y.data[(i + n) * y.increment] += multiply(T(0), sums[n]);
    }
}

}  // namespace

std::int64_t gemm_memory(std::int64_t columns, std::int64_t summed, std::int64_t element_bytes) {
    return std::min(saturated_product(columns, std::min(summed, blas_depth) * element_bytes), blas_buffer);
}

template <class T>
void gemm(GemmSize size, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
    if (alpha == T(0)) return gemm_times_zero<T>(size, a, b, beta, c);
    for (std::int64_t j = 0; j < size.n; j += max_size)
        for (std::int64_t i = 0; i < size.m; i += max_size)
            for (std::int64_t k = 0; k == 0 || k < size.k; k += max_size) {
                const GemmSize piece = {std::min(max_size, size.m - i), std::min(max_size, size.n - j), std::min(max_size, size.k - k)};
                call_gemm<T>(piece, alpha, part(a, i, k), part(b, k, j), k == 0 ? beta : T(1), part(c, i, j));
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
    if (alpha == T(0)) return add_gemv_times_zero<T>(size, a, x, y);
    for (std::int64_t i = 0; i < size.m; i += max_size)
        for (std::int64_t k = 0; k < size.k; k += max_size) {
            std::int64_t rows = std::min(max_size, size.m - i), columns = std::min(max_size, size.k - k);
            if (a.transposed) std::swap(rows, columns);
            call_gemv<T>(rows, columns, alpha, part(a, i, k), {x.data + k * x.increment, x.increment},
                         {y.data + i * y.increment, y.increment});
        }
}

template <class T>
void add_gram(std::int64_t n, std::int64_t k, Matrix<const T> panel, double* gram, std::vector<T>& part) {
    if (n == 0 || k == 0) return;
    const int rows = checked(n), terms = checked(k);
    const auto call = [&](auto routine, T beta, T* sum) {
        routine(CblasColMajor, CblasLower, operation(panel.transposed), rows, terms, T(1), panel.data, checked(panel.ld), beta, sum, rows);
    };
    if constexpr (std::is_same_v<T, double>) {
        call(cblas_dsyrk, 1, gram);
    } else {
        part.resize(n * n);  // the upper triangle stays zero
        call(cblas_ssyrk, 0, part.data());
        for (std::size_t i = 0; i < part.size(); ++i) gram[i] += part[i];
    }
}

template void add_gram<float>(std::int64_t, std::int64_t, Matrix<const float>, double*, std::vector<float>&);
template void add_gram<double>(std::int64_t, std::int64_t, Matrix<const double>, double*, std::vector<double>&);

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void gemm<T>(GemmSize, T, Matrix<const T>, Matrix<const T>, T, Matrix<T>);                                                    \
    template void gemv<T>(GemmSize, T, Matrix<const T>, Vector<const T>, T, Vector<T>);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local

#include "local/blas.hpp"

#include "local/random_values.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>

namespace arges::local {
namespace {

template <class T>
class Blas : public testing::Test {};
using ElementTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Blas, ElementTypes);

template <class T>
T entry(Matrix<const T> matrix, std::int64_t row, std::int64_t column) {
    if (matrix.transposed) std::swap(row, column);
    return matrix.data[row + column * matrix.ld];
}

TYPED_TEST(Blas, MultipliesMatricesAndTheirTransposes) {
    using T = TypeParam;
    test::Random random(1);
    const GemmSize size = {5, 4, 3};
    const auto a = random.elements<T>(100), b = random.elements<T>(100), old = random.elements<T>(100);
    for (const bool trans_a : {false, true})
        for (const bool trans_b : {false, true}) {
            const Matrix<const T> left = {a.data(), 7, trans_a}, right = {b.data(), 6, trans_b};
            std::vector<T> c = old;
            gemm<T>(size, T(2), left, right, T(3), {c.data(), 8});
            for (std::int64_t i = 0; i < size.m; ++i)
                for (std::int64_t j = 0; j < size.n; ++j) {
                    T sum = 0;
                    for (std::int64_t k = 0; k < size.k; ++k) sum += entry(left, i, k) * entry(right, k, j);
                    const auto at = static_cast<std::size_t>(i + 8 * j);
                    EXPECT_EQ(c[at], T(2) * sum + T(3) * old[at]);
                }
        }
}

TYPED_TEST(Blas, MultipliesStridedVectorsByMatrices) {
    using T = TypeParam;
    test::Random random(2);
    const auto a = random.elements<T>(100), x = random.elements<T>(20);
    for (const bool transposed : {false, true})
        for (const T beta : {T(0), T(1), T(3)}) {
            const Matrix<const T> matrix = {a.data(), 7, transposed};
            const T old = beta == T(0) ? T(std::numeric_limits<real_of<T>>::quiet_NaN()) : T(5);
            std::vector<T> y(20, old);
            gemv<T>({5, 1, 3}, T(2), matrix, {x.data(), 2}, beta, {y.data(), 3});
            for (std::int64_t i = 0; i < 5; ++i) {
                T sum = 0;
                for (std::int64_t k = 0; k < 3; ++k) sum += entry(matrix, i, k) * x[static_cast<std::size_t>(2 * k)];
                EXPECT_EQ(y[static_cast<std::size_t>(3 * i)], beta == T(0) ? T(2) * sum : T(2) * sum + beta * old);
            }
        }
}

template <class T>
void check_gram() {
    test::Random random(3);
    const std::int64_t n = 5;
    const auto data = random.elements<T>(100);
    for (const bool transposed : {false, true})
        for (const std::int64_t k : {0, 1, 9}) {
            const Matrix<const T> panel = {data.data(), 10, transposed};
            std::vector<double> gram(static_cast<std::size_t>(n * n), 3);
            std::vector<T> part;
            for (int twice = 0; twice < 2; ++twice) add_gram<T>(n, k, panel, gram.data(), part);
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    double sum = 0;
                    for (std::int64_t t = 0; t < k && i >= j; ++t)
                        sum += 2.0 * static_cast<double>(entry(panel, i, t) * entry(panel, j, t));
                    EXPECT_EQ(gram[static_cast<std::size_t>(i + n * j)], 3 + sum);
                }
        }
}

TEST(BlasGram, AddsProductsOfPanelsWithThemselves) {
    check_gram<float>();
    check_gram<double>();
}

TYPED_TEST(Blas, RefusesLeadingDimensionsThatBlasCannotTake) {
    using T = TypeParam;
    T data[4] = {};
    EXPECT_THROW(gemm<T>({1, 1, 1}, T(1), {data, max_blas_stride + 1, false}, {data, 1, false}, T(0), {data, 1}), InvalidArgument);
}

}  // namespace
}  // namespace arges::local

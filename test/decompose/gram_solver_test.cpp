// Solves with small symmetric matrices against pseudo-inverses from Jacobi rotations.
#include "decompose/cp/gram_solver.hpp"

#include "arges/error.hpp"
#include "decompose/dense_matrices.hpp"
#include "linalg/small_matrices.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <limits>
#include <random>

namespace arges::test {
namespace {

using decompose::Gram;
using decompose::GramSolver;
using sparse::RowMatrix;

DenseMatrix random_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    DenseMatrix result(rows, columns);
    for (auto& v : result.values) v = static_cast<double>(random() % 20001) / 10000 - 1;
    return result;
}

/// Of symmetric matrices row by row and column by column are the same.
Gram gram_values(const DenseMatrix& factor) { return product(transposed(factor), factor).values; }

DenseMatrix pseudo_inverse(const Gram& v, std::size_t n, double cut) {
    DenseMatrix matrix(n, n), scaled(n, n);
    matrix.values = v;
    const auto eigen = jacobi(matrix);
    for (std::size_t e = 0; e < n; ++e)
        for (std::size_t k = 0; k < n; ++k)
            scaled(k, e) = eigen.values[e] > cut * eigen.values[0] ? eigen.vectors(k, e) / eigen.values[e] : 0;
    return product(scaled, transposed(eigen.vectors));
}

double largest(const std::vector<double>& values) {
    double result = 0;
    for (auto v : values) result = std::max(result, std::abs(v));
    return result;
}

/// rows * V^-1 as the solver has it.
template <class T>
DenseMatrix solved(const Gram& v, const DenseMatrix& right) {
    const GramSolver solver(v, static_cast<int>(right.columns), sizeof(T) == 4 ? 1.2e-7 : 2.2e-16);
    std::vector<T> rows(right.values.begin(), right.values.end());
    solver.solve(RowMatrix<T>{rows.data(), static_cast<std::int64_t>(right.rows), static_cast<int>(right.columns),
                              static_cast<std::int64_t>(right.columns)});
    auto result = right;
    result.values.assign(rows.begin(), rows.end());
    return result;
}

void expect_near(const DenseMatrix& actual, const DenseMatrix& expected, double tolerance) {
    for (std::size_t i = 0; i < actual.values.size(); ++i)
        ASSERT_NEAR(actual.values[i], expected.values[i], tolerance * largest(expected.values)) << i;
}

const std::size_t all_columns[] = {1, 2, 3, 4, 5, 8, 10, 13, 16, 32, 37};

TEST(GramSolver, InvertsDefiniteMatrices) {
    for (auto columns : all_columns) {
        SCOPED_TRACE(columns);
        const auto v = gram_values(random_matrix(3 * columns + 20, columns, columns));
        const auto right = random_matrix(7, columns, columns + 100);
        const auto expected = product(right, pseudo_inverse(v, columns, 0));
        expect_near(solved<double>(v, right), expected, 1e-11);
        expect_near(solved<float>(v, right), expected, 1e-4);
    }
}

/// The solution of least norm where columns repeat each other, are sums of others, or are zero.
TEST(GramSolver, TakesThePseudoInverseOfCollinearAndZeroColumns) {
    for (auto columns : all_columns)
        for (int kind = 0; kind < 4; ++kind) {
            SCOPED_TRACE(std::to_string(columns) + " columns, kind " + std::to_string(kind));
            auto factor = random_matrix(3 * columns + 20, columns, 7 * columns);
            for (std::size_t i = 0; i < factor.rows; ++i) {
                if (kind == 0) factor(i, columns - 1) = factor(i, 0);
                if (kind == 1) factor(i, columns / 2) = 0;
                if (kind == 2 && columns > 2) factor(i, 1) = factor(i, 0) / 2 - 2 * factor(i, columns - 1);
                if (kind == 3)
                    for (std::size_t c = 1; c < columns; ++c) factor(i, c) = static_cast<double>(c) * factor(i, 0);
            }
            const auto v = gram_values(factor);
            const auto right = product(random_matrix(5, columns, 5 * columns + 3), [&] {
                DenseMatrix matrix(columns, columns);  // in the row space of V, as the right-hand sides of ALS are
                matrix.values = v;
                return matrix;
            }());
            const auto expected = product(right, pseudo_inverse(v, columns, 1e-9));
            expect_near(solved<double>(v, right), expected, 1e-9);
            expect_near(solved<float>(v, right), expected, 1e-2);  // rounding times the condition of what is left of V
            for (auto x : solved<double>(v, random_matrix(5, columns, 1)).values) EXPECT_TRUE(std::isfinite(x));
        }
}

/// Columns of very different lengths, and matrices of very large and very small numbers: each column is right by its own measure.
TEST(GramSolver, KeepsItsAccuracyWhereMatricesAreScaled) {
    for (auto columns : all_columns)
        for (const double scale : {1e-150, 1e-20, 1.0, 1e20, 1e150}) {
            SCOPED_TRACE(std::to_string(columns) + " columns, scale " + std::to_string(std::log10(scale)));
            auto factor = random_matrix(3 * columns + 20, columns, 11 * columns);
            for (std::size_t i = 0; i < factor.rows; ++i)
                for (std::size_t c = 0; c < columns; ++c)
                    factor(i, c) *= std::sqrt(scale) * std::pow(10, -3.0 * static_cast<double>(c) / static_cast<double>(columns));
            const auto v = gram_values(factor);
            DenseMatrix matrix(columns, columns);
            matrix.values = v;
            const auto wanted = random_matrix(5, columns, 13 * columns);
            const auto found = solved<double>(v, product(wanted, matrix));
            for (std::size_t i = 0; i < found.values.size(); ++i) ASSERT_NEAR(found.values[i], wanted.values[i], 1e-7);
        }
}

TEST(GramSolver, GivesZeroForAZeroMatrixAndRefusesWhatIsNotFinite) {
    EXPECT_EQ(largest(solved<double>(Gram(9, 0), random_matrix(4, 3, 1)).values), 0);
    EXPECT_THROW(GramSolver({1, 0, 0, std::numeric_limits<double>::infinity()}, 2, 1e-16), InvalidArgument);
    EXPECT_THROW(GramSolver({std::nan(""), 0, 0, 1}, 2, 1e-16), InvalidArgument);
}

TEST(GramSolver, FindsEigenvaluesAndOrthonormalVectors) {
    for (auto columns : all_columns) {
        const auto v = gram_values(random_matrix(columns, columns, 3 * columns));  // some eigenvalues are small
        DenseMatrix matrix(columns, columns), vectors(columns, columns), scaled(columns, columns);
        matrix.values = v;
        const auto [values, by_column] = linalg::symmetric_eigen(v, static_cast<int>(columns));
        EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
        vectors.values = by_column;  // its rows are the eigenvectors
        for (std::size_t e = 0; e < columns; ++e)
            for (std::size_t k = 0; k < columns; ++k) scaled(e, k) = values[e] * vectors(e, k);
        expect_near(product(transposed(vectors), scaled), matrix, 1e-12);
        const auto unit = product(vectors, transposed(vectors));
        for (std::size_t i = 0; i < columns; ++i)
            for (std::size_t j = 0; j < columns; ++j) EXPECT_NEAR(unit(i, j), i == j ? 1 : 0, 1e-12);
    }
}

template <class T>
void expect_row_sums(double tolerance) {
    const int threads = omp_get_max_threads();
    for (const std::size_t count : {0, 1, 511, 512, 513, 2600})
        for (const std::size_t columns : {3, 16}) {
            SCOPED_TRACE(std::to_string(count) + " x " + std::to_string(columns));
            const auto v = gram_values(random_matrix(60, columns, columns));
            const auto right = random_matrix(count, columns, 29);
            const auto expected = product(right, pseudo_inverse(v, columns, 0));
            double inner = 0;
            for (std::size_t i = 0; i < right.values.size(); ++i) inner += right.values[i] * expected.values[i];
            const auto gram = gram_values(expected);
            const GramSolver solver(v, static_cast<int>(columns), sizeof(T) == 4 ? 1.2e-7 : 2.2e-16);
            for (int t = 1; t <= 3; ++t) {
                omp_set_num_threads(t);
                std::vector<T> rows(right.values.begin(), right.values.end());
                const RowMatrix<T> view{rows.data(), static_cast<std::int64_t>(count), static_cast<int>(columns),
                                        static_cast<std::int64_t>(columns)};
                const auto sums = decompose::solve_rows(solver, view);
                EXPECT_TRUE(sums.gram_share >= 0 && sums.gram_share < 1) << sums.gram_share;
                EXPECT_NEAR(sums.inner, inner, tolerance * (1 + std::abs(inner)));
                for (std::size_t i = 0; i < gram.size(); ++i) ASSERT_NEAR(sums.gram[i], gram[i], tolerance * (1 + largest(gram)));
                EXPECT_EQ(decompose::gram_of<T>(view), sums.gram) << "of the solved rows";
                std::vector<double> factor;
                for (std::size_t c = 0; c < columns; ++c) factor.push_back(static_cast<double>(c) - 1.5);
                const auto before = rows;
                decompose::scale_columns(view, factor);
                for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], before[i] * static_cast<T>(factor[i % columns]));
            }
        }
    omp_set_num_threads(threads);
}

TEST(GramSolver, SumsOverSolvedRowsOfDoubles) { expect_row_sums<double>(1e-11); }
TEST(GramSolver, SumsOverSolvedRowsOfFloats) { expect_row_sums<float>(1e-4); }

TEST(GramSolver, MultipliesElementByElement) {
    Gram a{1, 2, 3, 4};
    decompose::multiply_into(a, {2, 0, -1, 0.5});
    EXPECT_EQ(a, (Gram{2, 0, -3, 2}));
}

}  // namespace
}  // namespace arges::test

/// Solves for the rows of a factor matrix: A V = M with a small symmetric V.
#pragma once

#include "sparse/row_matrix.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace arges::decompose {

/// A symmetric matrix of R x R numbers, column by column.
using Gram = std::vector<double>;

/// Element by element.
void multiply_into(Gram& product, const Gram& factor);
void add_to_diagonal(Gram& gram, int columns, double value);
/// Scales a Gram matrix as its columns are scaled.
void scale_gram(Gram& gram, const std::vector<double>& scale);

/// The inverse of V: by Cholesky where V is positive definite and well conditioned; else the pseudo-inverse, so that collinear
/// columns or columns of zeros give the solution of least norm. The pseudo-inverse is applied as a product of its roots, Q
/// L^-1/2 and its transposed, so that rounding stays in the directions in which V is small, where the model does not feel it.
class GramSolver {
public:
    /// @param rounding relative error of the rows that will be solved for, as 2.2e-16 in double precision
    /// @throws InvalidArgument if V has an element that is not finite
    GramSolver(Gram v, int columns, double rounding);

    /// rows = rows * V^-1, in place. The stride is the number of columns. On one thread.
    template <class T>
    void solve(sparse::RowMatrix<T> rows) const;

private:
    bool invert_by_cholesky(const Gram& v, double cut);
    void invert_by_eigenvectors(const Gram& v, double cut);

    int columns_;
    std::vector<Gram> factors_;  // rows are multiplied by one after the other; element (r, c) at r * columns + c
    std::vector<std::vector<float>> factors_float_;
};

/// Coordinate descent for a row a >= 0 on a V a^T / 2 - a m^T; returns a m^T. Local.
/// @param v symmetric, columns x columns
template <class T, class M>
double improve_nonnegative(T* a, const M* m, const double* v, int columns) {
    constexpr int sweeps = 5;
    const std::size_t n = columns;
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (std::size_t c = 0; c < n; ++c) {
            const double diagonal = v[c * (n + 1)];
            if (diagonal <= 0) continue;
            double gradient = -static_cast<double>(m[c]);
            for (std::size_t r = 0; r < n; ++r) gradient += static_cast<double>(a[r]) * v[r + c * n];
            a[c] = static_cast<T>(std::max(0.0, static_cast<double>(a[c]) - gradient / diagonal));
        }
    double inner = 0;
    for (std::size_t c = 0; c < n; ++c) inner += static_cast<double>(a[c]) * static_cast<double>(m[c]);
    return inner;
}

/// Sums over rows that belong together with a solved factor matrix.
struct RowSums {
    Gram gram;              ///< of the rows
    double inner = 0;       ///< sum of the rows before and after, multiplied element by element
    double gram_share = 0;  ///< of the time of the threads, for the Gram matrix
};

/// Solves rows in place and sums their Gram matrix and their inner product with what they were; in blocks that stay in cache,
/// with the threads that OpenMP gives.
template <class T>
RowSums solve_rows(const GramSolver& solver, sparse::RowMatrix<T> rows);

/// Gram matrix of rows.
template <class T>
Gram gram_of(sparse::RowMatrix<const T> rows);

/// Multiplies column c by scale[c].
template <class T>
void scale_columns(sparse::RowMatrix<T> rows, const std::vector<double>& scale);

}  // namespace arges::decompose

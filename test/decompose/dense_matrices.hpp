/// Small dense matrices and their eigenvalues, by the plainest methods.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace arges::test {

/// n x n or rows x columns numbers, row after row.
struct DenseMatrix {
    std::size_t rows = 0, columns = 0;
    std::vector<double> values;

    DenseMatrix(std::size_t n, std::size_t m) : rows(n), columns(m), values(n * m, 0) {}
    double& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
    double operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

inline DenseMatrix product(const DenseMatrix& a, const DenseMatrix& b) {
    DenseMatrix result(a.rows, b.columns);
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t k = 0; k < a.columns; ++k)
            for (std::size_t j = 0; j < b.columns; ++j) result(i, j) += a(i, k) * b(k, j);
    return result;
}

inline DenseMatrix transposed(const DenseMatrix& a) {
    DenseMatrix result(a.columns, a.rows);
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t j = 0; j < a.columns; ++j) result(j, i) = a(i, j);
    return result;
}

/// Falling eigenvalues and their vectors, as columns.
struct DenseEigen {
    std::vector<double> values;
    DenseMatrix vectors;
};

/// Of a symmetric matrix, by cyclic Jacobi rotations (Golub and Van Loan, Matrix Computations, section 8.5).
inline DenseEigen jacobi(DenseMatrix a) {
    const auto n = a.rows;
    DenseMatrix v(n, n);
    for (std::size_t i = 0; i < n; ++i) v(i, i) = 1;
    for (int sweep = 0; sweep < 60; ++sweep)
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t q = p + 1; q < n; ++q) {
                if (a(p, q) == 0) continue;
                const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
                const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1.0)), c = 1 / std::hypot(t, 1.0), s = t * c;
                for (std::size_t k = 0; k < n; ++k) {
                    const double x = a(k, p), y = a(k, q);
                    a(k, p) = c * x - s * y;
                    a(k, q) = s * x + c * y;
                }
                for (std::size_t k = 0; k < n; ++k) {
                    const double x = a(p, k), y = a(q, k);
                    a(p, k) = c * x - s * y;
                    a(q, k) = s * x + c * y;
                }
                for (std::size_t k = 0; k < n; ++k) {
                    const double x = v(k, p), y = v(k, q);
                    v(k, p) = c * x - s * y;
                    v(k, q) = s * x + c * y;
                }
            }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto i, auto j) { return a(i, i) > a(j, j); });
    DenseEigen result{{}, DenseMatrix(n, n)};
    for (std::size_t e = 0; e < n; ++e) {
        result.values.push_back(a(order[e], order[e]));
        for (std::size_t k = 0; k < n; ++k) result.vectors(k, e) = v(k, order[e]);
    }
    return result;
}

}  // namespace arges::test

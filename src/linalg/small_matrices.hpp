/// Symmetric matrices that one rank holds, through LAPACK. Column-major; only the lower triangles are read. Local.
#pragma once

#include <optional>
#include <vector>

namespace arges::linalg {

/// Eigenvalues of a symmetric matrix, rising, and its orthonormal eigenvectors, column by column.
struct SymmetricEigen {
    std::vector<double> values;
    std::vector<double> vectors;
};
/// @param matrix n x n. @throws Error if they are not found
SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, int n);

/// The lower triangle of the inverse of an n x n matrix, by its Cholesky factor; nothing where the matrix is not positive definite.
std::optional<std::vector<double>> positive_inverse(std::vector<double> matrix, int n);

/// Solves A x = b by the Cholesky factor of A, which takes its place; the solution takes that of b. False, without a solution, where a
/// pivot is at most `cut` times the largest diagonal element, or not a number.
/// @param matrix n x n @param leading distance between its columns @param right n numbers
bool solve_positive(double* matrix, int n, int leading, double* right, double cut);

}  // namespace arges::linalg

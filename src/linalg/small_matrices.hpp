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

}  // namespace arges::linalg

#include "linalg/small_matrices.hpp"

#include "arges/error.hpp"
#include "linalg/fortran.hpp"

#include <algorithm>
#include <cstddef>

namespace arges::linalg {

SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, int n) {
    SymmetricEigen result{std::vector<double>(n), matrix};
    std::vector<double> work(64 * static_cast<std::size_t>(n) + 64);
    const int size = work.size();
    int info = 0;
    dsyev_("V", "L", &n, result.vectors.data(), &n, result.values.data(), work.data(), &size, &info, 1, 1);
    if (info != 0) throw Error("the eigenvalues of a Gram matrix were not found; use another seed or a regularization");
    return result;
}

std::optional<std::vector<double>> positive_inverse(std::vector<double> matrix, int n) {
    int info = 0;
    dpotrf_("L", &n, matrix.data(), &n, &info, 1);
    if (info == 0) dpotri_("L", &n, matrix.data(), &n, &info, 1);
    if (info != 0) return std::nullopt;
    return matrix;
}

bool solve_positive(double* matrix, int n, int leading, double* right, double cut) {
    double most = 0;
    for (int c = 0; c < n; ++c) most = std::max(most, matrix[static_cast<std::ptrdiff_t>(c) * (leading + 1)]);
    int info = 0;
    dpotrf_("L", &n, matrix, &leading, &info, 1);
    if (info != 0) return false;
    for (int c = 0; c < n; ++c) {
        const double pivot = matrix[static_cast<std::ptrdiff_t>(c) * (leading + 1)];
        if (!(pivot * pivot > cut * most)) return false;
    }
    const int one = 1;
    const double unit = 1;
    for (const char* transposed : {"N", "T"}) dtrsm_("L", "L", transposed, "N", &n, &one, &unit, matrix, &leading, right, &n, 1, 1, 1, 1);
    return true;
}

}  // namespace arges::linalg

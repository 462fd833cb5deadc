#include "linalg/small_matrices.hpp"

#include "arges/error.hpp"
#include "linalg/fortran.hpp"

namespace arges::linalg {

SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, int n) {
    SymmetricEigen result{std::vector<double>(static_cast<std::size_t>(n)), matrix};
    std::vector<double> work(64 * static_cast<std::size_t>(n) + 64);
    const int size = static_cast<int>(work.size());
    int info = 0;
    FortranReal<double>::syev("V", "L", &n, result.vectors.data(), &n, result.values.data(), work.data(), &size, &info, 1, 1);
    if (info != 0) throw Error("the eigenvalues of a Gram matrix were not found; use another seed or a regularization");
    return result;
}

std::optional<std::vector<double>> positive_inverse(std::vector<double> matrix, int n) {
    int info = 0;
    Fortran<double>::potrf("L", &n, matrix.data(), &n, &info, 1);
    if (info == 0) Fortran<double>::potri("L", &n, matrix.data(), &n, &info, 1);
    if (info != 0) return std::nullopt;
    return matrix;
}

}  // namespace arges::linalg

// Cholesky factors and triangular systems.
#include "linalg/dense.hpp"
#include "linalg/scalapack.hpp"

namespace arges::linalg {

void cholesky_dense(DistributedMatrix& A, const std::string& text) {
    if (A.rows() == 0) return;
    const auto grid = make_grid(A.world(), A.layout());
    on_grid(A, [&] {
        const int n = to_int(A.rows()), distance = to_int(A.distance()), one = 1;
        int info = 0;
        if (grid == nullptr)
            A.kernels().potrf("L", &n, A.data(), &distance, &info, 1);
        else
            A.kernels().ppotrf("L", &n, A.data(), &one, &one, grid->describe(A.layout(), A.distance()).data(), &info, 1);
        if (info > 0)
            throw InvalidArgument(text + " is not positive definite: the leading minor of order " + std::to_string(info) +
                                  " is not positive; use eigh(), or add a multiple of the identity");
        check_outcome(info, text);
    });
}

void solve_triangular_dense(const DistributedMatrix& A, DistributedMatrix& B, const TriangularOptions& options, const std::string& text) {
    if (!options.unit_diagonal) {
        const auto diagonal = diagonal_values(A, A.rows());
        for (std::size_t i = 0; i < diagonal.size(); ++i)
            if (diagonal[i] == 0.0)
                throw InvalidArgument(text + " is singular: its diagonal has a zero in row " + std::to_string(i) + "; use least_squares()");
    }
    if (B.rows() == 0 || B.columns() == 0) return;
    const auto grid = make_grid(B.world(), B.layout());
    on_grid(B, [&] {
        const int m = to_int(B.rows()), n = to_int(B.columns()), lda = to_int(A.distance()), ldb = to_int(B.distance()), one = 1;
        const char* side = options.side == Side::left ? "L" : "R";
        const char* triangle = options.triangle == Triangle::lower ? "L" : "U";
        const char* operation = options.operation == Operation::none ? "N" : options.operation == Operation::transposed ? "T" : "C";
        const char* unit = options.unit_diagonal ? "U" : "N";
        const void* const alpha = B.kernels().elements().one;
        if (grid == nullptr)
            B.kernels().trsm(side, triangle, operation, unit, &m, &n, alpha, A.data(), &lda, B.data(), &ldb, 1, 1, 1, 1);
        else
            B.kernels().ptrsm(side, triangle, operation, unit, &m, &n, alpha, A.data(), &one, &one,
                              grid->describe(A.layout(), A.distance()).data(), B.data(), &one, &one,
                              grid->describe(B.layout(), B.distance()).data(), 1, 1, 1, 1);
    });
}

}  // namespace arges::linalg

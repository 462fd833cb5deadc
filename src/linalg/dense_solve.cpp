// Cholesky factors and triangular systems.
#include "base/instantiate.hpp"
#include "linalg/dense.hpp"
#include "linalg/fortran.hpp"
#include "linalg/scalapack.hpp"
#include "local/scalar.hpp"

namespace arges::linalg {

template <class T>
void cholesky_dense(DistributedMatrix<T>& A, const std::string& text) {
    if (A.rows() == 0) return;
    const auto grid = make_grid(A.world(), A.layout());
    on_grid(A, [&] {
        const int n = to_int(A.rows()), distance = to_int(A.distance()), one = 1;
        int info = 0;
        if (grid == nullptr)
            Fortran<T>::potrf("L", &n, A.data(), &distance, &info, 1);
        else
            Fortran<T>::ppotrf("L", &n, A.data(), &one, &one, grid->describe(A.layout(), A.distance()).data(), &info, 1);
        if (info > 0)
            throw InvalidArgument(text + " is not positive definite: the leading minor of order " + std::to_string(info) +
                                  " is not positive; use eigh(), or add a multiple of the identity");
        check_outcome(info, text);
    });
}

template <class T>
void solve_triangular_dense(const DistributedMatrix<T>& A, DistributedMatrix<T>& B, const TriangularOptions& options,
                            const std::string& text) {
    if (!options.unit_diagonal) {
        const auto diagonal = diagonal_values(A, A.rows());
        for (std::size_t i = 0; i < diagonal.size(); ++i)
            if (diagonal[i] == T(0))
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
        const T alpha = 1;
        if (grid == nullptr)
            Fortran<T>::trsm(side, triangle, operation, unit, &m, &n, &alpha, A.data(), &lda, B.data(), &ldb, 1, 1, 1, 1);
        else
            Fortran<T>::ptrsm(side, triangle, operation, unit, &m, &n, &alpha, A.data(), &one, &one,
                              grid->describe(A.layout(), A.distance()).data(), B.data(), &one, &one,
                              grid->describe(B.layout(), B.distance()).data(), 1, 1, 1, 1);
    });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void cholesky_dense(DistributedMatrix<T>&, const std::string&);                                                               \
    template void solve_triangular_dense(const DistributedMatrix<T>&, DistributedMatrix<T>&, const TriangularOptions&, const std::string&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::linalg

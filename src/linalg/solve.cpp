// Cholesky factors and triangular systems of matricizations.
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"
#include "linalg/scalapack.hpp"

#include <algorithm>

namespace arges {

using namespace linalg;

namespace {

/// A layout for a square matrix, and one on the same grid for right-hand sides.
MatrixLayout layout_for(std::int64_t order, std::int64_t others, std::int64_t ranks, const MatrixGrid& grid) {
    const auto wide = choose_layout(order, std::max(order, others), ranks, grid);
    return wide.single() ? on_one_rank(order, order) : wide.resized(order, order);
}

MatrixLayout beside(const MatrixLayout& layout, std::int64_t rows, std::int64_t columns) {
    return layout.single() ? on_one_rank(rows, columns) : layout.resized(rows, columns);
}

}  // namespace

void linalg::cholesky_dense(DistributedMatrix& A, const std::string& text) {
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

void linalg::solve_triangular_dense(const DistributedMatrix& A, DistributedMatrix& B, const TriangularOptions& options,
                                    const std::string& text) {
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

AnyTensor cholesky(const AnyIndexedTensor& A, const MatrixGrid& grid) {
    const CollectiveCall call(ranks_of(A), "cholesky", A, grid);
    MatrixOperand a(A, "cholesky");
    check_square(a.labels, "cholesky");
    const auto n = a.labels.rows.size;
    auto matrix = a.loaded(layout_for(n, n, a.world().size(), grid), false, Part::lower);
    cholesky_dense(matrix, "cholesky: " + a.labels.text);
    matrix.clear_above_diagonal();
    return store(a.world(), std::move(matrix), a.labels.rows.extents, a.labels.columns.extents, "L");
}

AnyTensor solve_positive(const AnyIndexedTensor& A, const AnyIndexedTensor& B, const MatrixGrid& grid) {
    const CollectiveCall call(ranks_of(A), "solve_positive", A, B, grid);
    MatrixOperand a(A, "solve_positive"), b(B, "solve_positive");
    check_alike(a, b, "solve_positive");
    check_square(a.labels, "solve_positive");
    const auto n = a.labels.rows.size, count = b.labels.columns.size;
    b.labels.rows = matched(b.labels.rows, a.labels.rows, b.labels.text, a.labels.text);
    auto matrix = a.loaded(layout_for(n, count, a.world().size(), grid), false, Part::lower);
    cholesky_dense(matrix, "solve_positive: " + a.labels.text);
    auto X = b.loaded(beside(matrix.layout(), n, count));
    TriangularOptions step;
    solve_triangular_dense(matrix, X, step, a.labels.text);
    step.operation = Operation::adjoint;
    solve_triangular_dense(matrix, X, step, a.labels.text);
    return store(a.world(), std::move(X), a.labels.columns.extents, b.labels.columns.extents, "X");
}

AnyTensor solve_triangular(const AnyIndexedTensor& A, const AnyIndexedTensor& B, const TriangularOptions& options) {
    const CollectiveCall call(ranks_of(A), "solve_triangular", A, B, options.side, options.triangle, options.operation,
                              options.unit_diagonal, options.grid);
    MatrixOperand a(A, "solve_triangular"), b(B, "solve_triangular");
    check_alike(a, b, "solve_triangular");
    check_square(a.labels, "solve_triangular");
    const bool left = options.side == Side::left;
    const auto op = options.operation == Operation::none ? a.labels : a.labels.flipped();
    auto& known = left ? b.labels.rows : b.labels.columns;
    known = matched(known, left ? op.rows : op.columns, b.labels.text, a.labels.text);
    const auto n = a.labels.rows.size, count = left ? b.labels.columns.size : b.labels.rows.size;
    const auto part = options.triangle == Triangle::lower ? Part::lower : Part::upper;
    const auto matrix = a.loaded(layout_for(n, count, a.world().size(), options.grid), false, part);
    auto X = b.loaded(left ? beside(matrix.layout(), n, count) : beside(matrix.layout(), count, n));
    solve_triangular_dense(matrix, X, options, "solve_triangular: " + a.labels.text);
    return left ? store(a.world(), std::move(X), op.columns.extents, b.labels.columns.extents, "X")
                : store(a.world(), std::move(X), b.labels.rows.extents, op.rows.extents, "X");
}

}  // namespace arges

// Cholesky factors and triangular systems of matricizations.
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"

#include <algorithm>

namespace arges::linalg {

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

Result cholesky(const Factor& A, const MatrixGrid& grid) {
    const CollectiveCall call(ranks_of(A), "cholesky", A, grid);
    Operand a(A, "cholesky");
    check_square(a.labels, "cholesky");
    const auto n = a.labels.rows.size;
    auto matrix = a.loaded(layout_for(n, n, a.world().size(), grid), false, Part::lower);
    cholesky_dense(matrix, "cholesky: " + a.labels.text);
    matrix.clear_above_diagonal();
    return store(a.world(), std::move(matrix), a.labels.rows.extents, a.labels.columns.extents, "L");
}

Result solve_positive(const Factor& A, const Factor& B, const MatrixGrid& grid) {
    const CollectiveCall call(ranks_of(A), "solve_positive", A, B, grid);
    Operand a(A, "solve_positive"), b(B, "solve_positive");
    check_same_world(a, b, "solve_positive");
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

Result solve_triangular(const Factor& A, const Factor& B, const TriangularOptions& options) {
    const CollectiveCall call(ranks_of(A), "solve_triangular", A, B, options.side, options.triangle, options.operation,
                              options.unit_diagonal, options.grid);
    Operand a(A, "solve_triangular"), b(B, "solve_triangular");
    check_same_world(a, b, "solve_triangular");
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

}  // namespace arges::linalg

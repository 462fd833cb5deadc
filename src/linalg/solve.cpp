// Cholesky factors and triangular systems of matricizations.
#include "base/instantiate.hpp"
#include "comm/collective_call.hpp"
#include "linalg/dense.hpp"
#include "linalg/operand.hpp"

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

template <class T>
Tensor<T> cholesky(const IndexedTensor<T>& A, const MatrixGrid& grid) {
    const CollectiveCall call(ranks_of(A), "cholesky", digest_of(A), digest_of(grid));
    Operand<T> a(A, "cholesky");
    check_square(a.labels, "cholesky");
    const auto n = a.labels.rows.size;
    auto matrix = load<T>(a.plain(), a.labels, layout_for(n, n, a.world().size(), grid), false, Part::lower);
    cholesky_dense(matrix, "cholesky: " + a.labels.text);
    matrix.clear_above_diagonal();
    return store(a.world(), std::move(matrix), a.labels.rows.extents, a.labels.columns.extents, "L");
}

template <class T>
Tensor<T> solve_positive(const IndexedTensor<T>& A, const IndexedTensor<T>& B, const MatrixGrid& grid) {
    const CollectiveCall call(ranks_of(A), "solve_positive", digest_of(A), digest_of(B), digest_of(grid));
    Operand<T> a(A, "solve_positive"), b(B, "solve_positive");
    check_same_world(a, b, "solve_positive");
    check_square(a.labels, "solve_positive");
    const auto n = a.labels.rows.size, count = b.labels.columns.size;
    b.labels.rows = matched(b.labels.rows, a.labels.rows, b.labels.text, a.labels.text);
    auto matrix = load<T>(a.plain(), a.labels, layout_for(n, count, a.world().size(), grid), false, Part::lower);
    cholesky_dense(matrix, "solve_positive: " + a.labels.text);
    auto X = load<T>(b.plain(), b.labels, beside(matrix.layout(), n, count));
    TriangularOptions step;
    solve_triangular_dense(matrix, X, step, a.labels.text);
    step.operation = Operation::adjoint;
    solve_triangular_dense(matrix, X, step, a.labels.text);
    return store(a.world(), std::move(X), a.labels.columns.extents, b.labels.columns.extents, "X");
}

template <class T>
Tensor<T> solve_triangular(const IndexedTensor<T>& A, const IndexedTensor<T>& B, const TriangularOptions& options) {
    const CollectiveCall call(ranks_of(A), "solve_triangular", digest_of(A), digest_of(B), options.side, options.triangle,
                              options.operation, options.unit_diagonal, digest_of(options.grid));
    Operand<T> a(A, "solve_triangular"), b(B, "solve_triangular");
    check_same_world(a, b, "solve_triangular");
    check_square(a.labels, "solve_triangular");
    const bool left = options.side == Side::left;
    const auto op = options.operation == Operation::none ? a.labels : a.labels.flipped();
    auto& known = left ? b.labels.rows : b.labels.columns;
    known = matched(known, left ? op.rows : op.columns, b.labels.text, a.labels.text);
    const auto n = a.labels.rows.size, count = left ? b.labels.columns.size : b.labels.rows.size;
    const auto part = options.triangle == Triangle::lower ? Part::lower : Part::upper;
    const auto matrix = load<T>(a.plain(), a.labels, layout_for(n, count, a.world().size(), options.grid), false, part);
    auto X = load<T>(b.plain(), b.labels, left ? beside(matrix.layout(), n, count) : beside(matrix.layout(), count, n));
    solve_triangular_dense(matrix, X, options, "solve_triangular: " + a.labels.text);
    return left ? store(a.world(), std::move(X), op.columns.extents, b.labels.columns.extents, "X")
                : store(a.world(), std::move(X), b.labels.rows.extents, op.rows.extents, "X");
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template Tensor<T> cholesky(const IndexedTensor<T>&, const MatrixGrid&);                                                               \
    template Tensor<T> solve_positive(const IndexedTensor<T>&, const IndexedTensor<T>&, const MatrixGrid&);                                \
    template Tensor<T> solve_triangular(const IndexedTensor<T>&, const IndexedTensor<T>&, const TriangularOptions&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges

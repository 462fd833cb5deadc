// Contractions as matrix products inside of loops, with copies of operands that BLAS cannot take as they lie.
#include "local/contract_plan.hpp"

#include "base/first_error.hpp"
#include "base/instantiate.hpp"
#include "local/blas.hpp"
#include "local/scalar.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace arges::local {
namespace {

constexpr std::int64_t threaded_product = 1 << 21;  // BLAS threads a matrix product with this many multiplications

/// Distances of neighbouring rows and of neighbouring columns; 0 where there is only one.
struct Strides {
    std::int64_t rows = 0, columns = 0;
    Strides flipped() const { return {columns, rows}; }
};

/// How BLAS sees a matrix of the given size.
BlasOperand as_matrix(Strides s, std::int64_t rows, std::int64_t columns) {
    const bool by_columns = rows == 1 || (s.rows == 1 && (columns == 1 || s.columns >= rows));
    if (by_columns) return {std::max(s.columns, rows), false};
    return {std::max(s.rows, columns), true};
}

/// C = alpha * A * B + beta * C at one place.
template <class T>
void product_at(const MatrixProduct& p, const Operands<T>& x, const FoldOffset& at, T beta) {
    const T* const left = p.flipped ? x.b + at.b : x.a + at.a;
    const T* const right = p.flipped ? x.a + at.a : x.b + at.b;
    const Matrix<const T> by{left, p.left.ld, p.left.transposed};
    if (p.size.n == 1)
        gemv<T>(p.size, x.alpha, by, {right, p.right_step}, beta, {x.c + at.c, p.result_step});
    else
        gemm<T>(p.size, x.alpha, by, {right, p.right.ld, p.right.transposed}, beta, {x.c + at.c, p.result_ld, false});
}

/// All products; many small ones are shared by the threads, large ones are threaded by BLAS.
template <class T>
void run_loops(const GemmPlan& plan, const Operands<T>& x) {
    const MatrixProduct product(plan);
    const std::int64_t loops = entries(plan.loops), sums = entries(plan.k_loops);
    const auto compute = [&](std::int64_t first, std::int64_t last) {
        FoldWalker outer(plan.loops, first), inner(plan.k_loops, 0);
        for (std::int64_t i = first; i < last; ++i, outer.next())
            for (std::int64_t j = 0; j < sums; ++j, inner.next())
                product_at<T>(product, x, {outer.at().a + inner.at().a, outer.at().b + inner.at().b, outer.at().c}, j == 0 ? x.beta : T(1));
    };
    const std::int64_t threads = std::min<std::int64_t>(loops, omp_get_max_threads());
    const bool large = product.size.m * product.size.n * product.size.k >= threaded_product && loops < 4 * threads;
    if (threads == 1 || large || omp_in_parallel()) return compute(0, loops);
    FirstError error;
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(static, 1)
    for (std::int64_t i = 0; i < threads; ++i) error.run([&] { compute(loops * i / threads, loops * (i + 1) / threads); });
    error.rethrow();
}

}  // namespace

CopyOrder copy_order(GemmPlan& plan, std::vector<FoldAxis>& rows, std::vector<FoldAxis>& columns, OperandStride stride) {
    const auto smallest = [&](const std::vector<FoldAxis>& axes) {
        std::int64_t result = INT64_MAX;
        for (const FoldAxis& axis : axes) result = std::min(result, axis.*stride);
        return result;
    };
    const bool columns_first = smallest(columns) < smallest(rows);
    CopyOrder order;
    order.append(columns_first ? columns : rows);
    order.append(columns_first ? rows : columns);
    order.kept = order.axes.size();
    order.append(plan.loops);
    order.append(plan.k_loops);
    return order;
}

MatrixProduct::MatrixProduct(const GemmPlan& plan) : size{entries(plan.m), entries(plan.n), entries(plan.k)} {
    const auto stride = [](const std::vector<FoldAxis>& axes, OperandStride operand) { return axes.empty() ? 0 : axes.front().*operand; };
    Strides of_left = {stride(plan.m, &FoldAxis::stride_a), stride(plan.k, &FoldAxis::stride_a)};
    Strides of_right = {stride(plan.k, &FoldAxis::stride_b), stride(plan.n, &FoldAxis::stride_b)};
    Strides of_result = {stride(plan.m, &FoldAxis::stride_c), stride(plan.n, &FoldAxis::stride_c)};
    flipped = size.m == 1 || (size.n > 1 && !(of_result.rows == 1 && of_result.columns >= size.m));
    if (flipped) {
        of_left = std::exchange(of_right, of_left.flipped()).flipped();
        of_result = of_result.flipped();
        std::swap(size.m, size.n);
    }
    left = as_matrix(of_left, size.m, size.k);
    right = as_matrix(of_right, size.k, size.n);
    result_ld = of_result.columns;
    right_step = std::max<std::int64_t>(1, of_right.rows);
    result_step = std::max<std::int64_t>(1, of_result.rows);
}

template <class T>
void contract_gemm(GemmPlan plan, Operands<T> x, Workspace<T>& workspace) {
    if (plan.pack_a) x.a = pack(copy_order(plan, plan.m, plan.k, &FoldAxis::stride_a), &FoldAxis::stride_a, x.a, workspace.a);
    if (plan.pack_b) x.b = pack(copy_order(plan, plan.k, plan.n, &FoldAxis::stride_b), &FoldAxis::stride_b, x.b, workspace.b);
    if (!plan.pack_c) return run_loops(plan, x);
    const PackedResult<T> result(copy_order(plan, plan.m, plan.n, &FoldAxis::stride_c), x, workspace.c);
    run_loops(plan, x);
    result.write();
}

#define ARGES_INSTANTIATE(T) template void contract_gemm<T>(GemmPlan, Operands<T>, Workspace<T>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local

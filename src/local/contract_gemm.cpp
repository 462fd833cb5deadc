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

/// The matrix first, its group with the smallest stride first, then the loops.
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

/// Distances of neighbouring rows and of neighbouring columns; 0 where there is only one.
struct Strides {
    std::int64_t rows = 0, columns = 0;
    Strides flipped() const { return {columns, rows}; }
};

/// How BLAS sees a matrix of the given size.
template <class T>
Matrix<const T> as_matrix(Strides s, std::int64_t rows, std::int64_t columns) {
    const bool by_columns = rows == 1 || (s.rows == 1 && (columns == 1 || s.columns >= rows));
    if (by_columns) return {nullptr, std::max(s.columns, rows), false};
    return {nullptr, std::max(s.rows, columns), true};
}

/// Matrix products of one shape at places given by offsets. Where C is stored by rows, its
/// transpose is computed from the transposed operands in the other order: `left` then belongs to B.
template <class T>
class Products {
public:
    Products(const GemmPlan& plan, const Operands<T>& x) : x_(x), size_{entries(plan.m), entries(plan.n), entries(plan.k)} {
        const auto stride = [](const std::vector<FoldAxis>& axes, OperandStride operand) {
            return axes.empty() ? 0 : axes.front().*operand;
        };
        Strides left = {stride(plan.m, &FoldAxis::stride_a), stride(plan.k, &FoldAxis::stride_a)};
        Strides right = {stride(plan.k, &FoldAxis::stride_b), stride(plan.n, &FoldAxis::stride_b)};
        Strides result = {stride(plan.m, &FoldAxis::stride_c), stride(plan.n, &FoldAxis::stride_c)};
        flipped_ = size_.m == 1 || (size_.n > 1 && !(result.rows == 1 && result.columns >= size_.m));
        if (flipped_) {
            left = std::exchange(right, left.flipped()).flipped();
            result = result.flipped();
            std::swap(size_.m, size_.n);
        }
        left_ = as_matrix<T>(left, size_.m, size_.k);
        right_ = as_matrix<T>(right, size_.k, size_.n);
        result_ld_ = result.columns;
        right_step_ = std::max<std::int64_t>(1, right.rows);
        result_step_ = std::max<std::int64_t>(1, result.rows);
    }

    std::int64_t multiplications() const { return size_.m * size_.n * size_.k; }

    /// C = alpha * A * B + beta * C at one place.
    void compute(const FoldOffset& at, T beta) const {
        Matrix<const T> left = left_, right = right_;
        left.data = flipped_ ? x_.b + at.b : x_.a + at.a;
        right.data = flipped_ ? x_.a + at.a : x_.b + at.b;
        if (size_.n == 1)
            gemv<T>(size_, x_.alpha, left, {right.data, right_step_}, beta, {x_.c + at.c, result_step_});
        else
            gemm<T>(size_, x_.alpha, left, right, beta, {x_.c + at.c, result_ld_, false});
    }

private:
    Operands<T> x_;
    GemmSize size_;
    bool flipped_ = false;
    Matrix<const T> left_, right_;
    std::int64_t result_ld_ = 1, right_step_ = 1, result_step_ = 1;
};

/// All products; many small ones are shared by the threads, large ones are threaded by BLAS.
template <class T>
void run_loops(const GemmPlan& plan, const Operands<T>& x) {
    const Products<T> products(plan, x);
    const std::int64_t loops = entries(plan.loops), sums = entries(plan.k_loops);
    const auto compute = [&](std::int64_t first, std::int64_t last) {
        FoldWalker outer(plan.loops, first), inner(plan.k_loops, 0);
        for (std::int64_t i = first; i < last; ++i, outer.next())
            for (std::int64_t j = 0; j < sums; ++j, inner.next())
                products.compute({outer.at().a + inner.at().a, outer.at().b + inner.at().b, outer.at().c}, j == 0 ? x.beta : T(1));
    };
    const std::int64_t threads = std::min<std::int64_t>(loops, omp_get_max_threads());
    const bool large = products.multiplications() >= threaded_product && loops < 4 * threads;
    if (threads == 1 || large || omp_in_parallel()) return compute(0, loops);
    FirstError error;
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(static, 1)
    for (std::int64_t i = 0; i < threads; ++i) error.run([&] { compute(loops * i / threads, loops * (i + 1) / threads); });
    error.rethrow();
}

}  // namespace

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

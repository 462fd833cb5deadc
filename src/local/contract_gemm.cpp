#include "local/contract_gemm.hpp"

#include "local/blas.hpp"
#include "local/scalar.hpp"

#include <omp.h>

#include <algorithm>
#include <complex>
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

/// Matrix products of one shape at places given by offsets.
template <class T>
class Products {
public:
    Products(const GemmPlan& plan, const Operands<T>& x)
        : x_(x), size_{entries(plan.m), entries(plan.n), entries(plan.k)} {
        const auto stride = [](const std::vector<FoldAxis>& axes, OperandStride operand) {
            return axes.empty() ? 0 : axes.front().*operand;
        };
        a_ = {stride(plan.m, &FoldAxis::stride_a), stride(plan.k, &FoldAxis::stride_a)};
        b_ = {stride(plan.k, &FoldAxis::stride_b), stride(plan.n, &FoldAxis::stride_b)};
        c_ = {stride(plan.m, &FoldAxis::stride_c), stride(plan.n, &FoldAxis::stride_c)};
    }

    std::int64_t multiplications() const { return size_.m * size_.n * size_.k; }

    /// C = alpha * A * B + beta * C at one place. C is stored by columns in one of two ways; the other one computes the
    /// transpose from the transposed operands.
    void compute(const FoldOffset& at, T beta) const {
        const T *a = x_.a + at.a, *b = x_.b + at.b;
        T* c = x_.c + at.c;
        if (size_.n == 1)
            gemv<T>(size_, x_.alpha, matrix(a, a_, size_.m, size_.k), {b, step(b_.rows)}, beta, {c, step(c_.rows)});
        else if (size_.m == 1)
            gemv<T>({size_.n, 1, size_.k}, x_.alpha, matrix(b, flipped(b_), size_.n, size_.k), {a, step(a_.columns)}, beta,
                    {c, step(c_.columns)});
        else if (c_.rows == 1 && c_.columns >= size_.m)
            gemm<T>(size_, x_.alpha, matrix(a, a_, size_.m, size_.k), matrix(b, b_, size_.k, size_.n), beta,
                    {c, c_.columns});
        else
            gemm<T>({size_.n, size_.m, size_.k}, x_.alpha, matrix(b, flipped(b_), size_.n, size_.k),
                    matrix(a, flipped(a_), size_.k, size_.m), beta, {c, c_.rows});
    }

private:
    /// Distances of neighbouring rows and of neighbouring columns; 0 where there is only one.
    struct Strides {
        std::int64_t rows = 0, columns = 0;
    };
    static Strides flipped(Strides s) { return {s.columns, s.rows}; }
    static std::int64_t step(std::int64_t stride) { return std::max<std::int64_t>(1, stride); }

    static Matrix<const T> matrix(const T* data, Strides s, std::int64_t rows, std::int64_t columns) {
        const bool by_columns = rows == 1 || (s.rows == 1 && (columns == 1 || s.columns >= rows));
        if (by_columns) return {data, std::max(s.columns, rows), false};
        return {data, std::max(s.rows, columns), true};
    }

    Operands<T> x_;
    GemmSize size_;
    Strides a_, b_, c_;
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
                products.compute({outer.at().a + inner.at().a, outer.at().b + inner.at().b, outer.at().c},
                                 j == 0 ? x.beta : T(1));
    };
    const std::int64_t threads = std::min<std::int64_t>(loops, omp_get_max_threads());
    const bool large = products.multiplications() >= threaded_product && loops < 4 * threads;
    if (threads == 1 || large || omp_in_parallel()) return compute(0, loops);
#pragma omp parallel for num_threads(static_cast<int>(threads)) schedule(static, 1)
    for (std::int64_t i = 0; i < threads; ++i) compute(loops * i / threads, loops * (i + 1) / threads);
}

}  // namespace

template <class T>
void contract_gemm(GemmPlan plan, Operands<T> x, Workspace<T>& workspace) {
    if (plan.pack_a)
        x.a = pack(copy_order(plan, plan.m, plan.k, &FoldAxis::stride_a), &FoldAxis::stride_a, x.a, workspace.a);
    if (plan.pack_b)
        x.b = pack(copy_order(plan, plan.k, plan.n, &FoldAxis::stride_b), &FoldAxis::stride_b, x.b, workspace.b);
    if (!plan.pack_c) return run_loops(plan, x);
    const PackedResult<T> result(copy_order(plan, plan.m, plan.n, &FoldAxis::stride_c), x, workspace.c);
    run_loops(plan, x);
    result.write();
}

#define ARGES_INSTANTIATE(T) template void contract_gemm<T>(GemmPlan, Operands<T>, Workspace<T>&);
ARGES_FOR_ELEMENT_TYPES(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local

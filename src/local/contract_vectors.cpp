// Contractions as loops over one vector axis, in runs whose parts of A and B stay in the cache; long sums in fixed blocks, added in order.
#include "local/contract_plan.hpp"

#include "base/first_error.hpp"
#include "base/instantiate.hpp"
#include "local/scalar.hpp"
#include "local/vector_kernel.hpp"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace arges::local {
namespace {

constexpr std::int64_t threading_products = 1 << 15;  // below, one thread is faster
constexpr std::int64_t listed_products = 4096;        // products that are summed in one pass over C
constexpr std::int64_t cache_bytes = 256 << 10;       // what a pass may keep in a core's cache
constexpr std::int64_t sum_block = 1 << 14;           // entries that one thread sums up
constexpr std::int64_t run_block = 1 << 12;           // entries of C that one thread computes at once

int threads_for(std::int64_t products) { return products < threading_products || omp_in_parallel() ? 1 : omp_get_max_threads(); }

/// Splits 0, ..., count - 1 evenly over the threads: every thread calls work(first, last).
template <class Work>
void share(std::int64_t count, int threads, const Work& work) {
    if (threads == 1) return work(0, count);
    FirstError error;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < threads; ++i) error.run([&] { work(count * i / threads, count * (i + 1) / threads); });
    error.rethrow();
}

/// Entries of the vector axis that are computed before the next one of the other axes, so that the
/// parts of A and B are still in the cache when those axes need them again.
template <class T>
std::int64_t run_length(const VectorPlan& plan) {
    const std::int64_t fitting = cache_bytes / std::int64_t{sizeof(T)} / std::max<std::int64_t>(1, plan.rows);
    return std::clamp(fitting / 64 * 64, std::int64_t{64}, run_block);
}

/// The vector axis is in C: runs of C are independent.
template <class T>
void compute_runs(const VectorPlan& plan, Operands<T> x, ProductOffsets products) {
    const FoldAxis& v = plan.vector;
    const std::int64_t length = run_length<T>(plan), outer = entries(plan.outer);
    const std::int64_t runs = (v.size + length - 1) / length;
    const auto work = std::ssize(products.a) * outer * v.size;
    with_vector_loop<T>({v.stride_a, v.stride_b, v.stride_c}, products, {x.alpha, x.beta}, [&](const auto& loop) {
        share(runs * outer, threads_for(work), [&](std::int64_t first, std::int64_t last) {
            FoldWalker walker(plan.outer, first % outer);
            for (std::int64_t task = first; task < last; ++task, walker.next()) {
                const std::int64_t begin = task / outer * length;
                loop.run(x.a + walker.at().a + begin * v.stride_a, x.b + walker.at().b + begin * v.stride_b,
                         x.c + walker.at().c + begin * v.stride_c, std::min(length, v.size - begin));
            }
        });
    });
}

/// The vector axis is summed over. A long one is summed in blocks, which are added up in order, so
/// that the result does not depend on the number of threads.
template <class T>
void compute_sums(const VectorPlan& plan, Operands<T> x, ProductOffsets products) {
    const FoldAxis& v = plan.vector;
    const std::int64_t outer = entries(plan.outer), blocks = (v.size + sum_block - 1) / sum_block;
    const auto work = std::ssize(products.a) * outer * v.size;
    const Update<T> update{x.alpha, x.beta};
    std::vector<T> partial(blocks == 1 ? 0 : blocks * outer);
    with_vector_loop<T>({v.stride_a, v.stride_b, 0}, products, update, [&](const auto& loop) {
        share(blocks * outer, threads_for(work), [&](std::int64_t first, std::int64_t last) {
            FoldWalker walker(plan.outer, first / blocks);
            for (std::int64_t task = first; task < last; ++task) {
                const std::int64_t begin = task % blocks * sum_block;
                const T sum = loop.sum(x.a + walker.at().a + begin * v.stride_a, x.b + walker.at().b + begin * v.stride_b,
                                       std::min(sum_block, v.size - begin));
                if (blocks == 1)
                    update(x.c[walker.at().c], sum);
                else
                    partial[task] = sum;
                if (task % blocks == blocks - 1) walker.next();
            }
        });
    });
    FoldWalker walker(plan.outer, 0);
    for (auto block = partial.begin(); block != partial.end(); block += blocks, walker.next()) {
        T sum = 0;
        for (std::int64_t i = 0; i < blocks; ++i) sum += block[i];
        update(x.c[walker.at().c], sum);
    }
}

/// Sums the products in passes over C.
template <class T>
void run_passes(const VectorPlan& plan, Operands<T> x) {
    const std::int64_t products = entries(plan.k);
    std::vector<std::int64_t> a, b;
    FoldWalker walker(plan.k, 0);
    for (std::int64_t first = 0; first < products; first += listed_products) {
        a.clear();
        b.clear();
        for (std::int64_t i = first; i < std::min(products, first + listed_products); ++i, walker.next()) {
            a.push_back(walker.at().a);
            b.push_back(walker.at().b);
        }
        if (plan.sums)
            compute_sums<T>(plan, x, {a, b});
        else
            compute_runs<T>(plan, x, {a, b});
        x.beta = 1;
    }
}

/// The vector axis first.
CopyOrder copy_order(VectorPlan& plan) {
    CopyOrder order{{&plan.vector}};
    order.append(plan.k);
    order.append(plan.outer);
    return order;
}

}  // namespace

template <class T>
void contract_vectors(VectorPlan plan, Operands<T> x, Workspace<T>& workspace) {
    if (plan.pack_a) x.a = pack(copy_order(plan), &FoldAxis::stride_a, x.a, workspace.a);
    if (plan.pack_b) x.b = pack(copy_order(plan), &FoldAxis::stride_b, x.b, workspace.b);
    if (!plan.pack_c) return run_passes(plan, x);
    const PackedResult<T> result(copy_order(plan), x, workspace.c);
    run_passes(plan, x);
    result.write();
}

#define ARGES_INSTANTIATE(T) template void contract_vectors<T>(VectorPlan, Operands<T>, Workspace<T>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local

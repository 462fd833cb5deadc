// Chunks, tiles and estimated time of a product with a skinny operand.
#include "local/contract_plan.hpp"
#include "local/skinny_kernel.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace arges::local {
namespace {

// Estimated nanoseconds for double precision on one core; only their ratios matter.
constexpr double setup_cost = 2000;
constexpr double product_setup_cost = 300;  // for every combination of batch entries
// per multiplication; BLAS finds out at run time that there are longer registers than we know of
constexpr double product_cost = register_bytes >= 32 ? 0.045 : 0.18;
constexpr double tile_cost = 60;       // per tile of rows
constexpr double run_cost = 0.12;      // per element of the large operand, where it has runs
constexpr double conflict_cost = 0.6;  // the same where runs compete for places in the cache
constexpr double scattered_cost = 3;   // the same where it has no runs
constexpr double first_cost = 0.8;     // per element that the first tiles of a product read
constexpr double first_elements = 24'000;
constexpr double small_cost = 0.6;       // per element of the small operand
constexpr double result_run_cost = 0.3;  // per element of C, where the rows of A are runs of it
constexpr double result_cost = 1;        // the same where the columns are runs
constexpr std::int64_t most_columns = 128;
constexpr std::int64_t shortest_run = 4;
constexpr std::int64_t conflict_stride = 2048;  // elements; multiples of it share a cache set
constexpr std::int64_t cache_ways = 8;

FoldedContraction swap_operands(FoldedContraction f) {
    std::swap(f.m, f.n);
    for (auto* axes : {&f.m, &f.n, &f.k, &f.batch})
        for (FoldAxis& axis : *axes) std::swap(axis.stride_a, axis.stride_b);
    return f;
}

/// True if an operand's elements along the first of some axes are runs.
bool has_runs(const std::vector<FoldAxis>& axes, OperandStride stride) {
    return !axes.empty() && axes.front().*stride == 1 && axes.front().size >= shortest_run;
}

/// What it costs to read an element of the large operand.
double read_cost(const SkinnyPlan& plan) {
    if (has_runs(plan.k, &FoldAxis::stride_a)) return run_cost;
    if (!has_runs(plan.m, &FoldAxis::stride_a)) return scattered_cost;
    const bool conflicts = !plan.k.empty() && plan.k.front().stride_a % conflict_stride == 0 && plan.k.front().size > cache_ways;
    return conflicts ? conflict_cost : run_cost;
}

double estimate(const SkinnyPlan& plan, int threads) {
    const auto round_up = [](std::int64_t count, std::int64_t unit) { return static_cast<double>((count + unit - 1) / unit * unit); };
    const double n = entries(plan.n), k = entries(plan.k), batch = entries(plan.batch);
    const double m = batch * round_up(entries(plan.m), tile_rows<double> * (plan.batch.empty() ? threads : 1));
    const double write = has_runs(plan.m, &FoldAxis::stride_c)   ? result_run_cost
                         : has_runs(plan.n, &FoldAxis::stride_c) ? result_cost
                                                                 : scattered_cost;
    const double first = first_cost * std::min(first_elements, k * static_cast<double>(entries(plan.m)));
    return setup_cost + batch * (product_setup_cost + small_cost * n * k + first) +
           m * (product_cost * n * k + read_cost(plan) * k + write * n + tile_cost / tile_rows<double>);
}

}  // namespace

SkinnyPlan plan_skinny(const FoldedContraction& f, int threads) {
    const bool swapped = entries(f.m) < entries(f.n);
    const FoldedContraction turned = swapped ? swap_operands(f) : f;
    SkinnyPlan plan{.swapped = swapped,
                    .m = sorted_by(turned.m, &FoldAxis::stride_a),
                    .n = sorted_by(turned.n, &FoldAxis::stride_c),
                    .k = sorted_by(turned.k, &FoldAxis::stride_a),
                    .batch = sorted_by(turned.batch, &FoldAxis::stride_c)};
    const bool skinny = entries(plan.n) > 1 && entries(plan.n) <= most_columns;
    plan.cost = skinny ? estimate(plan, threads) : std::numeric_limits<double>::infinity();
    return plan;
}

}  // namespace arges::local

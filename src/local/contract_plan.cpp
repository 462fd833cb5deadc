// The choice between matrix products, vector loops and the kernel for skinny operands, by estimated nanoseconds of copies and products.
#include "local/contract_plan.hpp"

#include "local/blas.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace arges::local {
namespace {

// Estimated nanoseconds for double precision on one core; only their ratios matter.
constexpr double call_cost = 30;             // of a BLAS routine
constexpr double small_edge = 1;             // an edge of this size doubles the cost of a matrix product
constexpr double near_reading = 0.1;         // per element of an operand of a product
constexpr double distant_reading = 0.6;      // likewise, where the operand is not in the cache
constexpr double gemv_cost = 0.12;           // per multiplication
constexpr double pack_call_cost = 400;       // per operand
constexpr double distant_factor = 10.0 / 3;  // of loops with more than near_rows in use at once
constexpr std::int64_t near_rows = 128;
constexpr double vector_end_cost = 1.0;    // per multiplication, divided by the length of the vector axis
constexpr double vector_store_cost = 0.4;  // per multiplication, divided by the products that are summed
constexpr double strided_cost = 0.5;       // per multiplication and strided operand
constexpr double missed_cost = 3;          // per element of a strided operand that is not in the cache
constexpr double cached_elements = 1 << 15;
constexpr double own_cache_elements = 1 << 18;  // of a core
constexpr double streamed_elements = 1 << 12;   // of a dense matrix: the processor fetches the next

ContractionCosts costs;

/// One group of axes, split into those of the matrix product and those of the loops around it.
struct Split {
    std::vector<FoldAxis> kept, looped;
};

/// All axes in the order of either operand, or only one of them.
std::vector<Split> splits(const std::vector<FoldAxis>& group, OperandStride first, OperandStride second) {
    std::vector<Split> result = {{sorted_by(group, first), {}}};
    if (group.size() < 2) return result;
    result.push_back({sorted_by(group, second), {}});
    for (std::size_t i = 0; i < group.size(); ++i) {
        Split split{{group[i]}, group};
        split.looped.erase(split.looped.begin() + i);
        result.push_back(split);
    }
    return result;
}

double estimate(const GemmPlan& plan) {
    const double m = entries(plan.m), n = entries(plan.n), k = entries(plan.k);
    const double calls = static_cast<double>(entries(plan.loops)) * entries(plan.k_loops);
    const double per_product = m == 1 || n == 1 ? gemv_cost : costs.matrix_product * (1 + small_edge * (1 / m + 1 / n + 1 / k));
    return calls * (call_cost + m * n * k * per_product) + costs.packed_element * static_cast<double>(packed_elements(plan));
}

/// Sizes of a contraction that the cost of every vector axis depends on.
struct Totals {
    explicit Totals(const FoldedContraction& f)
        : m(entries(f.m)), n(entries(f.n)), k(entries(f.k)), batch(entries(f.batch)),
          a(elements(f.m, &FoldAxis::stride_a) * elements(f.k, &FoldAxis::stride_a) * elements(f.batch, &FoldAxis::stride_a)),
          b(elements(f.n, &FoldAxis::stride_b) * elements(f.k, &FoldAxis::stride_b) * elements(f.batch, &FoldAxis::stride_b)),
          c(m * n * batch) {}

    std::int64_t m, n, k, batch;  ///< entries of the groups
    std::int64_t a, b, c;         ///< elements of the operands
};

/// What it costs to use an operand along the vector axis, and whether it is cheaper to copy it
/// first.
double operand_cost(std::int64_t stride, double uses, std::int64_t elements, bool& pack) {
    pack = false;
    if (stride <= 1) return 0;
    const double number = elements;
    const double strided = strided_cost * uses + (number > cached_elements ? missed_cost * number : 0);
    const double packed = costs.packed_element * number + pack_call_cost;
    pack = packed < strided;
    return std::min(packed, strided);
}

/// A plan with this vector axis, without the lists of the other axes.
VectorPlan consider(const FoldAxis& axis, const Totals& totals, bool in_batch) {
    VectorPlan plan{.vector = axis};
    plan.sums = axis.stride_c == 0 && axis.size > 1;
    const double size = axis.size, products = totals.c * totals.k;
    if (axis.stride_a != 0) plan.rows += totals.m * totals.k / (in_batch ? 1 : axis.size);
    if (axis.stride_b != 0) plan.rows += totals.n * totals.k / (in_batch ? 1 : axis.size);
    const bool near = plan.sums || plan.rows <= near_rows;
    const double per_product =
        costs.vector_loop * (near ? 1 : distant_factor) + vector_end_cost / size + vector_store_cost / static_cast<double>(totals.k);
    plan.cost = products * per_product + operand_cost(axis.stride_a, products, totals.a, plan.pack_a) +
                operand_cost(axis.stride_b, products, totals.b, plan.pack_b) +
                operand_cost(axis.stride_c, static_cast<double>(totals.c), totals.c, plan.pack_c);
    return plan;
}

/// The axes except one.
std::vector<FoldAxis> without(std::vector<FoldAxis> axes, const FoldAxis* left_out, const FoldAxis* first) {
    if (left_out >= first && left_out < first + axes.size()) axes.erase(axes.begin() + (left_out - first));
    return axes;
}

}  // namespace

void set_contraction_costs(const ContractionCosts& measured) { costs = measured; }

bool is_matrix(std::span<const FoldAxis> rows, std::span<const FoldAxis> columns, OperandStride stride) {
    if (!is_chain(rows, stride) || !is_chain(columns, stride)) return false;
    const std::int64_t down = rows.empty() ? 1 : rows.front().*stride;
    const std::int64_t across = columns.empty() ? 1 : columns.front().*stride;
    const auto leads = [](std::int64_t ld, std::int64_t length) { return ld >= length && ld <= max_blas_stride; };
    if (rows.empty() && columns.empty()) return true;
    if (rows.empty()) return leads(across, 1);
    if (columns.empty()) return leads(down, 1);
    return (down == 1 && leads(across, entries(rows))) || (across == 1 && leads(down, entries(columns)));
}

std::int64_t packed_elements(const GemmPlan& plan) {
    const std::int64_t m = entries(plan.m), n = entries(plan.n), k = entries(plan.k);
    const auto all_loops = join({plan.loops, plan.k_loops});
    return (plan.pack_a ? m * k * elements(all_loops, &FoldAxis::stride_a) : 0) +
           (plan.pack_b ? k * n * elements(all_loops, &FoldAxis::stride_b) : 0) +
           (plan.pack_c ? m * n * elements(all_loops, &FoldAxis::stride_c) : 0);
}

std::int64_t blas_memory(const GemmPlan& plan, std::int64_t element_bytes) {
    const auto smallest = [](const std::vector<FoldAxis>& axes) {
        std::int64_t result = std::numeric_limits<std::int64_t>::max();
        for (const FoldAxis& axis : axes) result = std::min(result, axis.stride_c);
        return result;
    };
    const bool by_columns = smallest(plan.m) <= smallest(plan.n);  // else the result is computed as its transpose, and A is on the right
    return gemm_memory(entries(by_columns ? plan.n : plan.m), entries(plan.k), element_bytes);
}

GemmPlan plan_gemm(const FoldedContraction& f) {
    GemmPlan best;
    best.cost = std::numeric_limits<double>::infinity();
    for (const Split& m : splits(f.m, &FoldAxis::stride_a, &FoldAxis::stride_c))
        for (const Split& n : splits(f.n, &FoldAxis::stride_b, &FoldAxis::stride_c))
            for (const Split& k : splits(f.k, &FoldAxis::stride_a, &FoldAxis::stride_b)) {
                GemmPlan plan{.m = m.kept, .n = n.kept, .k = k.kept, .loops = join({m.looped, n.looped, f.batch}), .k_loops = k.looped};
                plan.pack_a = !is_matrix(m.kept, k.kept, &FoldAxis::stride_a);
                plan.pack_b = !is_matrix(k.kept, n.kept, &FoldAxis::stride_b);
                plan.pack_c = !is_matrix(m.kept, n.kept, &FoldAxis::stride_c);
                plan.cost = estimate(plan);
                if (plan.cost < best.cost) best = std::move(plan);
            }
    best.loops = sorted_by(best.loops, &FoldAxis::stride_c);
    best.k_loops = sorted_by(best.k_loops, &FoldAxis::stride_a);
    return best;
}

double reading_cost(const GemmPlan& plan) {
    const auto loops = join({plan.loops, plan.k_loops});
    double time = 0;
    for (const auto& [matrix, stride] :
         {std::pair{join({plan.m, plan.k}), &FoldAxis::stride_a}, std::pair{join({plan.k, plan.n}), &FoldAxis::stride_b}}) {
        const double size = entries(matrix);
        const bool streamed = size < streamed_elements && is_chain(sorted_by(matrix, stride), stride);
        const bool cached = streamed || size * static_cast<double>(elements(loops, stride)) < own_cache_elements;
        time += size * static_cast<double>(entries(loops)) * (cached ? near_reading : distant_reading);
    }
    return time;
}

std::int64_t packed_elements(const VectorPlan& plan) {
    const auto all = join({{&plan.vector, 1}, plan.outer, plan.k});
    return (plan.pack_a ? elements(all, &FoldAxis::stride_a) : 0) + (plan.pack_b ? elements(all, &FoldAxis::stride_b) : 0) +
           (plan.pack_c ? elements(all, &FoldAxis::stride_c) : 0);
}

VectorPlan plan_vector(const FoldedContraction& f) {
    const Totals totals(f);
    VectorPlan best = consider(FoldAxis{}, totals, true);
    const FoldAxis* chosen = nullptr;
    for (const auto* group : {&f.batch, &f.m, &f.n, &f.k})
        for (const FoldAxis& axis : *group) {
            VectorPlan plan = consider(axis, totals, group == &f.batch);
            if (chosen && plan.cost >= best.cost) continue;
            best = std::move(plan);
            chosen = &axis;
        }
    const auto rest = [&](const std::vector<FoldAxis>& group) { return without(group, chosen, group.data()); };
    best.outer = join({sorted_by(join({rest(f.m), rest(f.n)}), &FoldAxis::stride_c), sorted_by(rest(f.batch), &FoldAxis::stride_c)});
    best.k = sorted_by(rest(f.k), &FoldAxis::stride_a);
    return best;
}

}  // namespace arges::local

#include "interface/statement/sparse_steps.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Factors with fewer nonzeros are not sampled.
constexpr double least_sampled = 1000;

/// The indices of two factors, by what their labels mean for the product.
std::pair<SampledFactor, SampledFactor> sampled_factors(const SparseFactor& a, const SparseFactor& b, const std::vector<int>& output) {
    SampledFactor of_a, of_b;
    const auto column = [](const SparseFactor& factor, int label) {
        const auto mode = std::find(factor.labels.begin(), factor.labels.end(), label) - factor.labels.begin();
        return std::span<const std::int64_t>(factor.sparse->pattern()->indices[mode]);
    };
    auto labels = a.labels;
    labels.insert(labels.end(), b.labels.begin(), b.labels.end());
    std::sort(labels.begin(), labels.end());
    for (int label : SparseStep::distinct(labels)) {
        const bool in_a = SparseStep::has(a.labels, label), in_b = SparseStep::has(b.labels, label);
        const bool in_output = SparseStep::has(output, label);
        for (const auto* factor : {&a, &b}) {
            if (!SparseStep::has(factor->labels, label)) continue;
            auto& own = factor == &a ? of_a : of_b;
            if (in_a && in_b) own.shared.push_back(column(*factor, label));
            if (in_output) (in_a && in_b ? own.common : own.output).push_back(column(*factor, label));
        }
    }
    return {of_a, of_b};
}

/// How large the product of two sparse factors is, if that has been found out or can be. Collective where statements run.
std::optional<ProductCounts> counts_of(SparseContext& context, const SparseTerm& term, const SparseFactor& a, const SparseFactor& b,
                                       const std::vector<int>& output) {
    auto& world = context.world;
    for (const auto* factor : {&a, &b})
        if (factor->stored->pattern == 0 || factor->stored->count < least_sampled ||
            SparseStep::distinct(factor->labels).size() < factor->labels.size())
            return {};
    const auto key = counts_key(a, b, output);
    if (const auto* const known = world.sparse_counts().find(key)) return *known;
    // On one rank there is nothing to choose, unless memory is short.
    if (!context.measures || (world.size() == 1 && term.factors.size() == 2 && !context.executor.shortage())) return {};
    const auto taken = sample_bytes(a.sparse->pattern()->total, b.sparse->pattern()->total);
    if (taken > world.least_free_bytes()) return {};
    world.make_room(taken);
    world.note_working(taken);
    const auto [of_a, of_b] = sampled_factors(a, b, output);
    const auto sent = world.communicator().traffic().bytes_sent;
    const auto counts = sample_product(context.comm(), of_a, of_b);
    context.planned += world.communicator().traffic().bytes_sent - sent;
    return world.sparse_counts().use(key) = counts;
}

/// How many times the mean the rank of a layout has that has most nonzeros. Collective.
double imbalance(const WorldState& world, const SparsePattern& pattern, const SparseLayout& layout) {
    std::vector<std::int64_t> there;
    world.agree([&] {
        there.assign(world.size(), 0);
        for (std::int64_t k = 0; k < pattern.count(); ++k) ++there[layout.rank_of([&](int mode) { return pattern.indices[mode][k]; })];
    });
    world.communicator().sum(there.data(), world.size());
    const auto most = *std::max_element(there.begin(), there.end());
    const auto mean = static_cast<double>(pattern.total) / layout.ranks();
    const auto factor = pattern.total > 0 ? static_cast<double>(most) / mean : 1.0;
    pattern.imbalances.emplace_back(layout, factor);
    return factor;
}

}  // namespace

StepChoice chosen_step(SparseContext& context, const SparseTerm& term, const std::vector<SparseFactor>& factors) {
    const std::vector<Operand> operands(factors.begin(), factors.end());
    for (MeasuredPairs measured;;) {
        auto found = next_step(term.product, operands, measured);
        if (auto* const choice = std::get_if<StepChoice>(&found)) return std::move(*choice);
        for (const auto& pair : std::get<std::vector<FactorPair>>(found))
            measured.emplace(pair, counts_of(context, term, factors[pair.a], factors[pair.b], pair.output));
    }
}

std::optional<ProductCounts> counts_for(SparseContext& context, const SparseTerm& term, const std::vector<SparseFactor>& factors,
                                        const StepChoice& choice) {
    if (choice.operands.size() < 2 || !factors[choice.operands[1]].is_sparse()) return {};
    return counts_of(context, term, factors[choice.operands[0]], factors[choice.operands[1]], choice.output);
}

SparseStepPlan plan_of(const SparseContext& context, const SparseStep& step, const SparseFactor& first, std::int64_t ranks,
                       std::int64_t memory_limit, std::int64_t least_phases) {
    auto options = context.world.plan_options();
    options.memory_limit = memory_limit;
    MeasuredImbalances measured;
    if (first.sparse)
        for (const auto& [layout, factor] : first.sparse->pattern()->imbalances) measured.emplace_back(layout, factor);
    for (;;) {
        std::variant<SparseStepPlan, SparseLayout> found;
        const auto plan = [&] { found = plan_by_imbalance(step, ranks, options, least_phases, measured); };
        if (context.measures)
            context.world.agree(plan);
        else
            plan();
        if (auto* const made = std::get_if<SparseStepPlan>(&found)) return std::move(*made);
        auto& layout = measured.emplace_back(std::get<SparseLayout>(found), std::nullopt);
        if (context.measures) layout.second = imbalance(context.world, *first.sparse->pattern(), layout.first);
    }
}

}  // namespace arges

#include "interface/prepared_term.hpp"

#include "base/saturate.hpp"
#include "interface/check_labels.hpp"
#include "interface/tensor_state.hpp"
#include "local/contract.hpp"
#include "plan/exchange_volume.hpp"
#include "plan/explain.hpp"
#include "plan/structure.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Share of the free memory below which planning is not tried again.
constexpr double smallest_share = 0.2;

/// What a step takes beside its lists: layouts, groups and descriptions of its movements (measured: 24 to 30 KB).
constexpr std::int64_t bytes_of_step = 32 << 10;

/// Arrays begin on cache lines: so many bytes at most are lost in a step.
constexpr std::int64_t padding = 16 * 64;

/// A product of matrices copies parts of an operand: OpenBLAS at most so many of the summed indices at a time, into a buffer of
/// this size.
constexpr std::int64_t blas_depth = 512, blas_buffer = std::int64_t{128} << 20;

OperandSpec operand(const PlannedOperand& p, const std::vector<int>& labels) { return {*p.layout, labels, p.conjugated, p.name, p.is_lasting}; }

/// Bytes that local products of a step copy at most: those of local/contract.hpp, and those of BLAS.
std::int64_t copied_bytes(const PlannedStep& step) {
    if (step.movement) return 0;
    std::int64_t all = 0, packed = 0;
    const auto add = [&](const WorkingOperand& operand, std::int64_t summed, std::int64_t element_bytes) {
        const auto bytes = saturated_product(operand.layout.max_local_size(), element_bytes);
        all += bytes;
        packed = std::max(packed, summed > blas_depth ? bytes / summed * blas_depth : bytes);
    };
    if (const auto& fused = step.fused) {
        for (const auto& input : fused->inputs) add(input, 1, fused->spec.element_bytes);
    } else {
        const auto& plan = *step.contraction;
        const auto groups = plan.groups();
        const auto& a = plan.operand[operand_a];
        std::int64_t summed = 1;
        for (std::size_t s = 0; !plan.rows && s < a.groups.size(); ++s)
            if (groups[static_cast<std::size_t>(a.groups[s])].is_contracted())
                summed *= std::max<std::int64_t>(1, a.layout.slot(static_cast<int>(s)).max_local_size());
        for (auto o : {operand_a, operand_b})
            if (o == operand_a || !plan.unary()) add(plan.operand[o], summed, plan.spec.element_bytes);
    }
    return std::min(all, local::max_workspace_bytes) + std::min(packed, blas_buffer);
}

/// Bytes for arrays and messages of a contraction: the planner's estimate is that of panels of equal size.
std::int64_t workspace_bound(const ContractionPlan& plan) {
    std::int64_t arrays = 0, most_moved = 0;
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (plan.operand[o].in_place || (o == operand_b && plan.unary())) continue;
        const bool cut = o != operand_c && !plan.panels.empty();
        arrays += cut ? panel_layout(plan, o, panel_count(plan) - 1).max_local_size() + 1
                      : plan.operand[o].layout.max_local_size();
        most_moved = std::max(most_moved, plan.cost.words[o]);
    }
    return (arrays + 2 * most_moved / panel_count(plan)) * plan.spec.element_bytes;
}

/// The product as the planner sees it.
ProductSpec product_spec(const TermRequest& request, const CheckedLabels& labels) {
    ProductSpec spec;
    for (std::size_t f = 0; f < request.factors.size(); ++f)
        spec.factors.push_back(operand(request.factors[f], labels.factors[f]));
    spec.output = operand(request.output, labels.output);
    spec.label_extents = labels.extents;
    spec.label_names = labels.names;
    spec.output_is_free = request.output_is_free;
    spec.complex = request.complex;
    spec.element_bytes = request.element_bytes;
    StructuralSum sum;
    auto& product = sum.products.emplace_back();
    for (const auto& factor : spec.factors)
        if (!request.number) product.factors.push_back({factor.layout.symmetry(), factor.labels, product.factors.size(), factor.conjugated, factor.name});
    product.coefficient = request.zero ? 0.0 : std::complex<double>(1, request.real_coefficient ? 0 : 1);
    sum.output = {spec.output.layout.symmetry(), spec.output.labels};
    sum.output.name = request.output.name;
    sum.labels = static_cast<int>(labels.names.size());
    sum.complex = request.complex;
    sum.label_names = labels.names;
    spec.terms = projection_terms(sum, request.projection);
    // Terms that conjugate R need its complex coefficient inside; a movement would apply it outside.
    spec.coefficient_inside = request.complex && !request.real_coefficient &&
                              std::any_of(spec.terms.begin(), spec.terms.end(), [](const auto& t) { return t.conjugate; });
    return spec;
}

void clear_names(ProductSpec& spec) {
    for (auto& factor : spec.factors) factor.name.clear();
    spec.output.name.clear();
    for (auto& name : spec.label_names) name.clear();
}

}  // namespace

PreparedTerm::PreparedTerm(WorldState& world, TermRequest request, std::int64_t free_bytes) : request_(std::move(request)) {
    build(world, free_bytes);
}

void PreparedTerm::build(WorldState& world, std::int64_t memory) {
    auto options = world.plan_options();
    options.memory_limit = memory;
    if (tensors_may_move_) options.expected_runs = request_.expected_runs;
    options_ = options;
    auto spec = product_spec(request_, check_labels(request_));
    auto planned = plan_product(spec, options);
    for_any_runs_ = planned.for_any_runs;
    clear_names(spec);
    set_names(planned.steps, spec);
    steps_.clear();
    for (auto& step : planned.steps) steps_.push_back({std::move(step)});
    intermediates_.clear();
    for (auto& layout : planned.intermediates) intermediates_.push_back(world.intern(std::move(layout)));
    note_new_layouts(world);
}

bool PreparedTerm::plans_like(const PreparedTerm& other) const {
    return intermediates_ == other.intermediates_ &&
           std::equal(steps_.begin(), steps_.end(), other.steps_.begin(), other.steps_.end(),
                      [](const Step& a, const Step& b) { return a.plan == b.plan; });
}

/// Where the output and the factors lie afterwards.
void PreparedTerm::note_new_layouts(WorldState& world) {
    output_layout_ = nullptr;
    stay_.assign(request_.factors.size(), nullptr);
    for (const auto& step : steps_) {
        const auto& fused = step.plan.fused;
        if (!fused || !tensors_may_move_) continue;
        if (step.plan.output == output_operand && fused->spec.output_is_free) output_layout_ = world.intern(fused->spec.output.layout);
        for (std::size_t i = 0; i < fused->stay.size(); ++i) {
            const auto factor = static_cast<std::size_t>(step.plan.inputs[i]);
            if (factor < stay_.size() && fused->stay[i]) stay_[factor] = world.intern(*fused->stay[i]);
        }
    }
}

template <class Run>
void PreparedTerm::account(Step& step, const Run& run) {
    step.workspace = run.workspace_bytes();
    list_bytes_ += run.list_bytes();
    planned_bytes_ += run.volume().sent * request_.element_bytes;
}

/// Bounds of bytes from the plan of a step alone.
void PreparedTerm::forecast_lists(Step& step) {
    const auto add = [&](const ExchangeSpec& movement, bool kept) {
        const auto bound = exchange_bound(movement);
        (kept ? list_bytes_ : passing_bytes_) += bound.list_bytes;
        passing_bytes_ = std::max(passing_bytes_, bound.building_bytes);
        return bound.volume;
    };
    if (step.plan.movement) {
        const auto volume = add(*step.plan.movement, true);
        step.workspace = (volume.sent + volume.received) * request_.element_bytes + padding;
    } else if (const auto& contraction = step.plan.contraction) {
        for (auto o : {operand_a, operand_b, operand_c})
            if (!contraction->operand[o].in_place && !(o == operand_b && contraction->unary()))
                add(contraction->movement(o), o == operand_c || contraction->panels.empty());
        step.workspace = std::max(contraction->cost.working_bytes, workspace_bound(*contraction)) + padding;
    } else {
        const auto& fused = *step.plan.fused;
        for (std::size_t i = 0; i <= fused.inputs.size(); ++i) {
            if (!(i < fused.inputs.size() ? fused.inputs[i] : fused.result).in_place) add(fused.movement(i), !fused.is_sliced(i));
            if (i < fused.stay.size() && fused.stay[i]) add(fused.movement(i), true);  // the way there has the same labels
        }
        step.workspace = fused.cost.working_bytes + padding;
    }
    passing_bytes_ = std::max(passing_bytes_, copied_bytes(step.plan));
    seconds_ += step.plan.seconds(request_.element_bytes, options_.machine);
}

/// Builds lists and sums up bytes. In a dry run sizes come from the plans alone.
void PreparedTerm::build_lists(WorldState& world) {
    std::int64_t held = 0, largest = 0;
    planned_bytes_ = list_bytes_ = passing_bytes_ = 0;
    seconds_ = 0;
    for (const auto& layout : intermediates_) held += Workspace::padded(saturated_product(layout->max_local_size(), request_.element_bytes));
    for (auto& step : steps_) {
        if (world.dry()) {
            forecast_lists(step);
        } else if (step.plan.contraction) {
            step.contraction = std::make_shared<ContractionRun>(*step.plan.contraction, world.exchange_communicator());
            account(step, *step.contraction);
        } else if (step.plan.fused) {
            step.fused = std::make_shared<FusedRun>(*step.plan.fused, world.exchange_communicator());
            account(step, *step.fused);
        } else {
            step.exchange = std::make_shared<Exchange>(world.exchange_communicator(), *step.plan.movement, world.rank());
            const auto volume = step.exchange->volume();
            list_bytes_ += step.exchange->list_bytes();
            step.workspace = Workspace::padded(volume.sent * request_.element_bytes) +
                             Workspace::padded(volume.received * request_.element_bytes);
            planned_bytes_ += volume.sent * request_.element_bytes;
        }
        largest = std::max(largest, step.workspace);
    }
    new_place_bytes_ = 0;
    for (const auto& layout : stay_)
        if (layout) new_place_bytes_ += Workspace::padded(saturated_product(layout->max_local_size(), request_.element_bytes));
    if (output_layout_) new_place_bytes_ += Workspace::padded(output_layout_->max_local_size() * request_.element_bytes);
    working_bytes_ = held + largest + new_place_bytes_;
}

void PreparedTerm::make_ready(WorldState& world, std::int64_t free_bytes) {
    const auto share_of = [&](double share) { return static_cast<std::int64_t>(static_cast<double>(free_bytes) * share); };
    for (double share = 1; !ready_;) {
        world.agree([&] { build_lists(world); });
        if (!world.dry() && world.size() > 1) {
            working_bytes_ = world.communicator().maximum(working_bytes_);
            list_bytes_ = world.communicator().maximum(list_bytes_);
        }
        ready_ = working_bytes_ <= free_bytes;
        if (ready_) return;
        if (tensors_may_move_) {
            // New places need memory beside the old ones.
            tensors_may_move_ = request_.output_is_free = false;
            world.agree([&] { build(world, share_of(share)); });
            continue;
        }
        world.agree([&] {
            if (share < smallest_share)
                throw OutOfMemory("statement for " + request_.output.name + ": needs " + std::to_string(working_bytes_) +
                                  " bytes of working memory per rank, but the limit of " + std::to_string(world.memory_limit()) +
                                  " leaves " + std::to_string(free_bytes) +
                                  "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)" +
                                  ranks_advice(product_spec(request_, check_labels(request_)), world.plan_options()));
            build(world, share_of(share / 2));
        });
        share /= 2;
    }
}

std::int64_t PreparedTerm::plan_bytes() const { return static_cast<std::int64_t>(steps_.size()) * bytes_of_step; }

std::vector<PlannedStep> PreparedTerm::named_steps(const TermRequest& names) const {
    std::vector<PlannedStep> steps;
    for (const auto& step : steps_) steps.push_back(step.plan);
    set_names(steps, product_spec(names, check_labels(names)));
    return steps;
}

std::string PreparedTerm::explain(const TermRequest& names) const {
    PlannedProduct product;
    product.steps = named_steps(names);
    for (const auto& layout : intermediates_) product.intermediates.push_back(*layout);
    const auto labels = check_labels(names);
    const auto unusual = unusual_labels(names, labels);
    std::string notes;
    for (const auto& name : unusual.repeated) notes += "note: no factor has the label '" + name + "'; the result is repeated along it\n";
    for (const auto& name : unusual.summed) notes += "note: the label '" + name + "' occurs only once; it is summed over\n";
    return notes + arges::explain(plan_report(product, product_spec(names, labels), options_));
}

}  // namespace arges

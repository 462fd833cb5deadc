#include "interface/prepared_term.hpp"

#include "interface/check_labels.hpp"
#include "interface/tensor_state.hpp"
#include "plan/explain.hpp"
#include "plan/structure.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Share of the free memory below which planning is not tried again.
constexpr double smallest_share = 0.2;

OperandSpec operand(const PlannedOperand& p, const std::vector<int>& labels) { return {*p.layout, labels, p.conjugated, p.name, p.is_lasting}; }

/// The product as the planner sees it.
ProductSpec product_spec(const TermRequest& request, const CheckedLabels& labels) {
    ProductSpec spec;
    for (std::size_t f = 0; f < request.factors.size(); ++f)
        spec.factors.push_back(operand(request.factors[f], labels.factors[f]));
    spec.output = operand(request.output, labels.output);
    spec.label_extents = labels.extents;
    spec.label_names = labels.names;
    spec.output_is_busy = request.output_is_busy;
    spec.output_is_free = request.output_is_free;
    spec.complex = request.complex;
    spec.element_bytes = request.element_bytes;
    StructuralTerm term;
    for (const auto& factor : spec.factors)
        if (!request.number) term.factors.push_back({factor.layout.symmetry(), factor.labels});
    term.output = {spec.output.layout.symmetry(), spec.output.labels};
    term.labels = static_cast<int>(labels.names.size());
    term.complex = request.complex;
    term.zero = request.zero;
    term.real_coefficient = request.real_coefficient;
    term.label_names = labels.names;
    term.output_name = request.output.name;
    spec.terms = projection_terms(term, request.projection);
    // Terms that conjugate R need its complex coefficient inside; a movement would apply it outside.
    spec.coefficient_inside = request.complex && !request.real_coefficient &&
                              std::any_of(spec.terms.begin(), spec.terms.end(), [](const auto& t) { return t.conjugate; });
    return spec;
}

}  // namespace

PreparedTerm::PreparedTerm(WorldState& world, TermRequest request) : request_(std::move(request)) { build(world, 1); }

void PreparedTerm::build(WorldState& world, double share_of_memory) {
    const auto labels = check_labels(request_);
    auto options = world.plan_options();
    options.memory_limit = static_cast<std::int64_t>(static_cast<double>(options.memory_limit) * share_of_memory);
    if (tensors_may_move_) options.expected_runs = request_.expected_runs;
    options_ = options;
    auto planned = plan_product(product_spec(request_, labels), options);
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

/// Builds lists and sums up bytes. In a dry run sizes come from the plans alone.
void PreparedTerm::build_lists(WorldState& world) {
    std::int64_t held = 0, largest = 0;
    planned_bytes_ = list_bytes_ = 0;
    for (const auto& layout : intermediates_) held += Workspace::padded(layout->max_local_size() * request_.element_bytes);
    for (auto& step : steps_) {
        if (world.dry()) {
            step.workspace = step.plan.contraction ? step.plan.contraction->cost.working_bytes
                             : step.plan.fused     ? step.plan.fused->cost.working_bytes
                                                   : 0;
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
        if (layout) new_place_bytes_ += Workspace::padded(layout->max_local_size() * request_.element_bytes);
    if (output_layout_) new_place_bytes_ += Workspace::padded(output_layout_->max_local_size() * request_.element_bytes);
    working_bytes_ = held + largest + new_place_bytes_;
}

void PreparedTerm::make_ready(WorldState& world) {
    if (ready_) return;
    const auto free_bytes = std::max<std::int64_t>(0, world.memory_limit() - world.memory_in_use());
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
            build(world, share);
            continue;
        }
        if (share < smallest_share)
            throw OutOfMemory("statement for " + request_.output.name + ": needs " + std::to_string(working_bytes_) +
                              " bytes of working memory per rank, but the limit of " + std::to_string(world.memory_limit()) +
                              " leaves " + std::to_string(free_bytes) +
                              "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)" +
                              ranks_advice(product_spec(request_, check_labels(request_)), world.plan_options()));
        share /= 2;
        build(world, share);
    }
}

std::string PreparedTerm::explain() const {
    PlannedProduct product;
    for (const auto& step : steps_) product.steps.push_back(step.plan);
    for (const auto& layout : intermediates_) product.intermediates.push_back(*layout);
    return arges::explain(plan_report(product, product_spec(request_, check_labels(request_)), options_));
}

}  // namespace arges

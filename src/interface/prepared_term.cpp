#include "interface/prepared_term.hpp"

#include "base/checked.hpp"
#include "base/digest.hpp"
#include "base/overloaded.hpp"
#include "base/saturate.hpp"
#include "interface/check_labels.hpp"
#include "interface/tensor_state.hpp"
#include "local/contract.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/step_memory.hpp"
#include "plan/product/structure.hpp"
#include "plan/report/explain.hpp"

#include <omp.h>

#include <algorithm>

namespace arges {

namespace {

/// Share of the free memory below which planning is not tried again.
constexpr double smallest_share = 0.2;

/// What a step takes beside its lists: layouts, groups and descriptions of its movements (measured: 24 to 30 KB).
constexpr std::int64_t bytes_of_step = 32 << 10;

OperandSpec operand(const PlannedOperand& p, const std::vector<int>& labels) { return {*p.layout, labels, p.conjugated, p.name, p.is_lasting}; }

/// The product as the planner sees it.
Product product_of(const TermRequest& request, const CheckedLabels& labels) {
    Product spec;
    for (std::size_t f = 0; f < request.factors.size(); ++f)
        spec.factors.push_back(operand(request.factors[f], labels.factors[f]));
    spec.output = operand(request.output, labels.output);
    spec.label_extents = labels.extents;
    spec.label_names = labels.names;
    spec.output_is_free = request.output_is_free;
    spec.complex = request.complex;
    spec.is_field = request.is_field;
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

StepRun run_of(const PlannedWork& work, const WorldState& world) {
    return std::visit(Overloaded{[&](const PlannedMovement& movement) -> StepRun {
                                     return std::make_shared<MovementRun>(world.movement_communicator(), movement.spec, world.rank());
                                 },
                                 [&](const ProductPlan& plan) -> StepRun { return std::make_shared<ProductRun>(plan, world.movement_communicator()); }},
                      work);
}

/// Steps, without names, and their intermediates.
PlannedProduct plan_of(const std::vector<PreparedTerm::Step>& steps, const std::vector<std::shared_ptr<const Layout>>& intermediates) {
    PlannedProduct plan;
    for (const auto& step : steps) plan.steps.push_back(step.plan);
    for (const auto& layout : intermediates) plan.intermediates.push_back(*layout);
    return plan;
}

LocalProducts local_products() { return {local::max_workspace_bytes, omp_get_max_threads()}; }

void clear_names(Product& spec) {
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
    auto spec = product_of(request_, check_labels(request_));
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

std::uint64_t PreparedTerm::digest() const {
    auto spec = product_of(request_, check_labels(request_));
    clear_names(spec);
    return Digest().add(arges::explain(plan_report(plan_of(steps_, intermediates_), spec, options_))).value();
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
        const auto* const product = step.plan.product();
        if (product == nullptr || !tensors_may_move_) continue;
        if (step.plan.output == output_operand && product->spec.output_is_free) output_layout_ = world.intern(product->spec.output.layout);
        for (std::size_t i = 0; i < product->stay.size(); ++i) {
            const auto factor = static_cast<std::size_t>(step.plan.inputs[i]);
            if (factor < stay_.size() && product->stay[i]) stay_[factor] = world.intern(*product->stay[i]);
        }
    }
}

template <class Run>
void PreparedTerm::account(Step& step, const Run& run) {
    const auto volume = run.volume();
    if constexpr (std::is_same_v<Run, MovementRun>)
        step.workspace = Workspace::padded(volume.sent * request_.element_bytes) + Workspace::padded(volume.received * request_.element_bytes);
    else
        step.workspace = run.workspace_bytes();
    list_bytes_ += run.list_bytes();
    planned_bytes_ += volume.sent * request_.element_bytes;
}

/// What a step takes on this rank is no more than its plan says. @throws Error
void PreparedTerm::compare_with_plan(const Step& step) const {
    const auto planned = step_memory(step.plan, request_.element_bytes, local_products());
    const auto lists = std::visit([](const auto& run) { return run->list_bytes(); }, step.run);
    if (step.workspace > planned.workspace || lists > planned.lists + planned.passing)
        throw Error("a step takes " + std::to_string(step.workspace) + " bytes and lists of " + std::to_string(lists) + ", but its plan says " +
                    std::to_string(planned.workspace) + " and " + std::to_string(planned.lists + planned.passing));
}

/// Builds lists and sums up bytes. In a dry run sizes come from the plans alone.
void PreparedTerm::build_lists(WorldState& world) {
    std::int64_t held = 0, largest = 0;
    planned_bytes_ = list_bytes_ = passing_bytes_ = 0;
    seconds_ = 0;
    for (const auto& layout : intermediates_) held += Workspace::padded(saturated_product(layout->max_local_size(), request_.element_bytes));
    for (auto& step : steps_) {
        if (world.dry()) {
            const auto memory = step_memory(step.plan, request_.element_bytes, local_products());
            step.workspace = memory.workspace;
            list_bytes_ += memory.lists;
            passing_bytes_ = std::max(passing_bytes_, memory.passing);
            seconds_ += step.plan.seconds(request_.element_bytes, options_.machine);
            if (const auto* const movement = std::get_if<PlannedMovement>(&step.plan.work))
                world.note_seconds(preparing_seconds(movement->spec, options_.machine));
        } else {
            step.run = run_of(step.plan.work, world);
            std::visit([&](const auto& run) { account(step, *run); }, step.run);
            if constexpr (is_checked_build) compare_with_plan(step);
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
                                  ranks_advice(product_of(request_, check_labels(request_)), world.plan_options()));
            build(world, share_of(share / 2));
        });
        share /= 2;
    }
}

std::int64_t PreparedTerm::plan_bytes() const { return static_cast<std::int64_t>(steps_.size()) * bytes_of_step; }

std::vector<PlannedStep> PreparedTerm::named_steps(const TermRequest& names) const {
    auto steps = plan_of(steps_, intermediates_).steps;
    set_names(steps, product_of(names, check_labels(names)));
    return steps;
}

std::string PreparedTerm::explain(const TermRequest& names) const {
    const auto labels = check_labels(names);
    const auto spec = product_of(names, labels);
    auto plan = plan_of(steps_, intermediates_);
    set_names(plan.steps, spec);
    const auto unusual = unusual_labels(names, labels);
    std::string notes;
    for (const auto& name : unusual.repeated) notes += "note: no factor has the label '" + name + "'; the result is repeated along it\n";
    for (const auto& name : unusual.summed) notes += "note: the label '" + name + "' occurs only once; it is summed over\n";
    return notes + arges::explain(plan_report(plan, spec, options_));
}

}  // namespace arges

#include "interface/statement/prepared_term.hpp"

#include "base/digest.hpp"
#include "base/options.hpp"
#include "base/overloaded.hpp"
#include "execute/local_chain.hpp"
#include "interface/statement/check_labels.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/step_memory.hpp"
#include "plan/product/structure.hpp"
#include "plan/report/plan_report.hpp"

#include <algorithm>

namespace arges {

namespace {

/// What a step takes beside its lists: layouts, groups and descriptions of its movements (measured: 24 to 30 KB).
constexpr std::int64_t bytes_of_step = 32 << 10;

StepRun run_of(const PlannedWork& work, const WorldState& world) {
    return std::visit(
        Overloaded{[&](const PlannedMovement& movement) -> StepRun {
                       return std::make_shared<MovementRun>(world.movement_communicator(), movement.spec, world.rank());
                   },
                   [&](const ProductPlan& plan) -> StepRun { return std::make_shared<ProductRun>(plan, world.movement_communicator()); }},
        work);
}

/// Bytes of the workspace that a run takes on this rank.
std::int64_t workspace_of(const StepRun& run, std::int64_t element_bytes) {
    return std::visit(Overloaded{[&](const std::shared_ptr<MovementRun>& movement) { return movement->workspace_bytes(element_bytes); },
                                 [](const std::shared_ptr<ProductRun>& product) { return product->workspace_bytes(); }},
                      run);
}

/// What a step takes on this rank is no more than its plan says. @throws Error
[[maybe_unused]] void compare_with_plan(std::int64_t workspace, std::int64_t lists, const StepMemory& planned) {
    if (workspace > planned.workspace || lists > planned.lists + planned.passing)
        throw Error("a step takes " + std::to_string(workspace) + " bytes and lists of " + std::to_string(lists) + ", but its plan says " +
                    std::to_string(planned.workspace) + " and " + std::to_string(planned.lists + planned.passing));
}

/// The product with the names of another one, which differs in nothing else.
Product with_names(Product product, const Product& names) {
    for (std::size_t f = 0; f < product.factors.size(); ++f) product.factors[f].name = names.factors[f].name;
    product.output.name = names.output.name;
    product.label_names = names.label_names;
    return product;
}

Product without_names(const Product& product) {
    Product names = product;
    for (auto& factor : names.factors) factor.name.clear();
    names.output.name.clear();
    for (auto& name : names.label_names) name.clear();
    return names;
}

}  // namespace

PreparedTerm::PreparedTerm(WorldState& world, const Product& product, std::int64_t expected_runs, const FreeMemory& free)
    : product_(projected(product)), options_(world.plan_options()), world_(&world) {
    options_.memory_limit = free.on_host;
    options_.device_memory_limit = free.on_device;
    options_.expected_runs = expected_runs;
    plan_ = plan_product(product_, options_);
    leave_room_for_lists();
    device_bytes_ = arges::device_bytes(plan_, product_, options_.local);
    set_names(plan_.steps, without_names(product_));
    seconds_ = plan_.seconds(product_.element_bytes, options_);
    settled_ = arges::settled(plan_, product_);
    new_place_bytes_ = new_place_bytes(plan_, product_);
    for (auto& factor : settled_.factors) factor.layout = world.intern(factor.layout);
    settled_.output.layout = world.intern(settled_.output.layout);
}

/// Lists are known of a plan only. Where those of the fastest one do not fit beside its arrays, that within half of the memory is taken
/// if it is over the limit by less.
void PreparedTerm::leave_room_for_lists() {
    const auto measure = [&](PlannedProduct& plan) {
        const auto memory = plan_memory(plan, product_, options_.local);
        if (memory.all() <= options_.memory_limit) return memory;
        bound_kept_lists(plan, memory.working, options_.memory_limit);
        return plan_memory(plan, product_, options_.local);
    };
    memory_ = measure(plan_);
    if (memory_.all() <= options_.memory_limit) return;
    auto tighter = options_;
    tighter.memory_limit /= 2;
    auto plan = plan_that_fits(product_, tighter);
    if (!plan) return;
    const auto memory = measure(*plan);
    if (memory.all() >= memory_.all()) return;
    plan_ = *std::move(plan);
    memory_ = memory;
}

std::uint64_t PreparedTerm::digest() const {
    return Digest().add(arges::explain(plan_report(plan_, without_names(product_), options_))).value();
}

bool PreparedTerm::plans_like(const PreparedTerm& other) const {
    return plan_.intermediates == other.plan_.intermediates && plan_.steps == other.plan_.steps;
}

/// In a dry run sizes come from the plan alone.
void PreparedTerm::note_dry_run(WorldState& world) {
    passing_bytes_ = 0;
    for (const auto& step : plan_.steps) {
        if (const auto* const product = step.product()) passing_bytes_ = std::max(passing_bytes_, copied_bytes(*product));
        if (const auto* const movement = std::get_if<PlannedMovement>(&step.work))
            world.note_seconds(preparing_seconds(movement->spec, options_.machine));
    }
    passing_bytes_ += memory_.passing;
    workspace_bytes_ = memory_.working - new_place_bytes_;
}

void PreparedTerm::build_lists(WorldState& world) {
    std::int64_t largest = 0;
    planned_bytes_ = 0;
    runs_.clear();
    for (const auto& step : plan_.steps) {
        const auto& run = runs_.emplace_back(run_of(step.work, world));
        const auto workspace = workspace_of(run, product_.element_bytes);
        const auto lists = std::visit([](const auto& r) { return r->list_bytes(); }, run);
        if constexpr (is_checked_build) compare_with_plan(workspace, lists, step_memory(step, product_.element_bytes, options_.local));
        largest = std::max(largest, workspace);
        planned_bytes_ += std::visit(Overloaded{[&](const std::shared_ptr<MovementRun>& movement) {
                                                    return movement->volume().sent * movement->message_bytes(product_.element_bytes);
                                                },
                                                [](const std::shared_ptr<ProductRun>& product) { return product->sent_bytes(); }},
                                     run);
    }
    workspace_bytes_ = largest + intermediate_bytes(plan_, product_.element_bytes);
}

void PreparedTerm::make_ready(WorldState& world) {
    if (world.dry()) {
        note_dry_run(world);
    } else {
        std::int64_t minima[] = {0};
        world.agree(
            [&] {
                if (!ready_) build_lists(world);
                minima[0] = -workspace_bytes_;
            },
            minima);
        workspace_bytes_ = -minima[0];
    }
    if (!is_noted_) world.note_plan(memory_.lists - kept_lists() + plan_bytes(), memory_.building);
    is_noted_ = true;
    if (!ready_) world.hold_lists(kept_lists());
    ready_ = true;
}

void PreparedTerm::give_lists_back() {
    if (!ready_) return;
    runs_.clear();
    ready_ = false;
    world_->hold_lists(-kept_lists());
}

std::int64_t PreparedTerm::plan_bytes() const { return std::ssize(plan_.steps) * bytes_of_step; }

std::vector<PlannedStep> PreparedTerm::named_steps(const Product& names) const {
    auto steps = plan_.steps;
    set_names(steps, names);
    return steps;
}

std::string PreparedTerm::explain(const Product& names) const {
    auto plan = plan_;
    set_names(plan.steps, names);
    const auto unusual = unusual_labels(names);
    std::string notes;
    for (const auto& name : unusual.repeated) notes += "note: no factor has the label '" + name + "'; the result is repeated along it\n";
    for (const auto& name : unusual.summed) notes += "note: the label '" + name + "' occurs only once; it is summed over\n";
    if (memory_.all() > options_.memory_limit)
        notes += "note: lists of movements take " + std::to_string(memory_.all() - options_.memory_limit) +
                 " bytes more than the memory limit leaves\n";
    return notes + arges::explain(plan_report(plan, with_names(product_, names), options_));
}

}  // namespace arges

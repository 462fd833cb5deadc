// Memory of a step on a rank from its plan: working copies, messages and lists.
#include "plan/product/step_memory.hpp"

#include "base/math.hpp"
#include "base/overloaded.hpp"
#include "plan/movement/movement.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

/// Arrays begin on cache lines: so many bytes at most are lost in a step.
constexpr std::int64_t padding = 16 * 64;

/// Elements that a rank sends and receives, if all that it has of the source goes to all ranks that hold a copy, as often as there are
/// terms and elements of an orbit, and likewise for the target.
std::int64_t most_messages(const Movement& movement) {
    const auto& from = movement.from;
    const auto& to = movement.to;
    const double terms = movement.terms.size();
    const auto orbit = static_cast<double>(from.full_size()) / std::max(1.0, static_cast<double>(from.packed_size()));
    const double received = static_cast<double>(to.max_local_size()) * terms * static_cast<double>(from.copies());
    const double sent = static_cast<double>(from.max_local_size()) * std::ceil(orbit) * terms * static_cast<double>(to.copies());
    return saturated(received + std::min(sent, received * static_cast<double>(movement.ranks())));
}

/// The movements of a step.
class Movements {
public:
    /// A movement as a whole, whose lists are kept.
    void add(const MovementBound& bound) {
        add_lists(bound, bound.list_bytes);
        messages_ = std::max(messages_, bound.buffers);
    }
    /// That of an operand, which windows may cut into parts.
    void add(const MovementBound& bound, const ProductPlan& plan, std::size_t o) {
        if (plan.window_that_cuts(o)) {
            const auto lists = part_lists(plan, o);
            add_lists(plan.moves_in_parts(o) ? lists.part : bound, lists.kept);
        } else {
            add_lists(bound, bound.list_bytes);
        }
        add_messages(bound, plan, o);
    }
    void add_messages(const MovementBound& bound, const ProductPlan& plan, std::size_t o) {
        const auto own = part_messages(bound, plan, o);
        messages_ = plan.streams ? messages_ + own : std::max(messages_, own);
    }
    /// Elements of the largest messages that are there together.
    std::int64_t messages() const { return messages_; }
    StepMemory memory(std::int64_t workspace) const { return {workspace + padding, kept_, passing_, building_}; }

private:
    void add_lists(const MovementBound& bound, std::int64_t kept) {
        kept_ += kept;
        if (kept == 0) passing_ += bound.list_bytes + bound.building_bytes;
        building_ = std::max(building_, bound.building_bytes);
    }

    /// Elements that a rank sends and receives for a part at most. The search asks for it again and again: where parts are not alike they
    /// are bounded by their sizes, not counted.
    static std::int64_t part_messages(const MovementBound& bound, const ProductPlan& plan, std::size_t o) {
        constexpr std::int64_t most_looked_at = 64;
        const auto whole = bound.buffers;
        if (!plan.has_uneven_parts(o)) return ceil_div(whole, plan.parts(o));
        if (whole == 0 || plan.parts(o) > most_looked_at) return whole;
        std::int64_t most = 0;
        plan.for_each_part(o, [&](const auto& range) { most = std::max(most, most_messages(plan.movement(o, range))); });
        return std::min(most, whole);
    }

    std::int64_t kept_ = 0, passing_ = 0, building_ = 0, messages_ = 0;
};

/// Elements of a room for an operand's copy on the busiest rank, in one window.
std::int64_t copied_elements(const ProductPlan& plan, std::size_t o) {
    const auto& working = plan.operands[o];
    if (!plan.window_that_cuts(o)) return working.layout.max_local_size();
    std::int64_t elements = 1;
    for (std::size_t s = 0; s < working.axes.size(); ++s) {
        const auto whole = working.layout.slot(s).max_local_size();
        elements = saturated_product(elements, ceil_div(whole, windows_of(plan.windows, working.axes[s])));
    }
    return elements;
}

/// Bytes in which elements of operands of other types or in another memory are converted and copied, a window at a time.
std::int64_t conversion_bytes(const ProductPlan& plan) {
    std::int64_t sum = 0;
    for (std::size_t o = 0; o <= plan.result(); ++o) {
        if (plan.spec.staged_bytes(plan.tensor(o)) == 0 || plan.operands[o].in_place) continue;
        const auto written = o == plan.result() ? plan.spec.output.layout.max_local_size() : copied_elements(plan, o);
        sum += conversion_bytes(plan.movement(o), written, plan.spec.element_bytes);
    }
    return sum;
}

/// Arrays and messages of a product. The planner's estimate is that of messages as long on one side as on the other.
/// @param messages  elements of the largest ones that are there together
std::int64_t workspace_of(const ProductPlan& plan, std::int64_t messages, const LocalProducts& local) {
    std::int64_t arrays = 0, estimated = 0;  // elements; the planner's estimate has both
    for (std::size_t o = 0; o < plan.operands.size(); ++o) {
        if (plan.operands[o].in_place) continue;
        arrays += plan.rooms(o) * copied_elements(plan, o);
        const auto in_parts = 2 * plan.cost.words[o] / (plan.repetitions(o) * plan.parts(o));
        estimated = plan.streams ? estimated + in_parts : std::max(estimated, in_parts);
    }
    const auto inside =
        std::max<std::int64_t>(0, plan.cost.working_bytes - (arrays + estimated) * plan.spec.element_bytes);  // of the chain
    if (plan.rows) arrays += (local.threads - 1) * plan.operands.back().layout.max_local_size();
    return std::max(plan.cost.working_bytes, (arrays + messages) * plan.spec.element_bytes + inside);
}

/// Rooms of conversions that count where a plan is searched for: those of a product on a device lie on the host.
std::int64_t counted_conversions(const ProductPlan& plan) { return plan.spec.on_device ? 0 : conversion_bytes(plan); }

StepMemory memory_of(const ProductPlan& plan, const LocalProducts& local) {
    Movements movements;
    for (std::size_t o = 0; o < plan.operands.size(); ++o) {
        if (!plan.operands[o].in_place) movements.add(movement_bound(plan.movement(o)), plan, o);
    }
    const auto workspace = workspace_of(plan, movements.messages(), local) + conversion_bytes(plan);
    for (std::size_t i = 0; i < plan.stay.size(); ++i)
        if (plan.stay[i]) movements.add(movement_bound(plan.movement(i)));  // the way there has the same labels
    return movements.memory(workspace);
}

StepMemory memory_of(const Movement& movement, std::int64_t element_bytes) {
    Movements movements;
    movements.add(movement_bound(movement));
    return movements.memory(movements.messages() * element_bytes + conversion_bytes(movement, movement.to.max_local_size(), element_bytes));
}

/// Bounds of StepMemory::workspace that are found at once, and may be many times larger.
std::int64_t most_workspace(const Movement& movement, std::int64_t element_bytes) {
    return saturated(static_cast<double>(most_messages(movement)) * element_bytes + padding +
                     conversion_bytes(movement, movement.to.max_local_size(), element_bytes));
}

std::int64_t most_workspace(const ProductPlan& plan, const LocalProducts& local) {
    double elements = 0;
    for (std::size_t o = 0; o < plan.operands.size(); ++o)
        if (!plan.operands[o].in_place) {
            const double most = most_messages(plan.movement(o));
            elements = plan.streams ? elements + most : std::max(elements, most);
        }
    if (plan.rows) elements += local.threads * plan.operands.back().layout.max_local_size();
    return saturated(static_cast<double>(plan.cost.working_bytes) + elements * static_cast<double>(plan.spec.element_bytes) + padding);
}

}  // namespace

PartLists part_lists(const ProductPlan& plan, std::size_t o) {
    PartLists lists{.part = movement_bound(plan.movement(o, std::vector<std::int64_t>(plan.windows.size(), 0)))};
    const auto all = saturated_product(plan.parts(o), lists.part.list_bytes);
    if (all <= plan.most_kept_lists) lists.kept = all;
    return lists;
}

bool PartLists::are_small() const { return saturated_sum(part.list_bytes, part.building_bytes) <= PlanMemory::small_lists; }

std::int64_t PlanMemory::all() const { return saturated_sum(working, saturated_sum(kept_lists(), passing > small_lists ? passing : 0)); }

StepMemory step_memory(const PlannedStep& step, std::int64_t element_bytes, const LocalProducts& local) {
    return std::visit(Overloaded{[&](const PlannedMovement& movement) { return memory_of(movement.spec, element_bytes); },
                                 [&](const ProductPlan& product) { return memory_of(product, local); }},
                      step.work);
}

PlanMemory plan_memory(const PlannedProduct& plan, const Product& spec, const LocalProducts& local) {
    PlanMemory memory;
    for (const auto& step : plan.steps) {
        const auto own = step_memory(step, spec.element_bytes, local);
        memory.working = std::max(memory.working, own.workspace);
        memory.lists = saturated_sum(memory.lists, own.lists);
        memory.passing = std::max(memory.passing, own.passing);
        memory.building = std::max(memory.building, own.building);
    }
    memory.working =
        saturated_sum(memory.working, saturated_sum(intermediate_bytes(plan, spec.element_bytes), new_place_bytes(plan, spec)));
    return memory;
}

void bound_kept_lists(PlannedProduct& plan, std::int64_t working, std::int64_t memory_limit) {
    std::vector<ProductPlan*> cut;
    std::int64_t operands = 0;
    for (auto& step : plan.steps)
        if (auto* const product = std::get_if<ProductPlan>(&step.work); product != nullptr && !product->windows.empty()) {
            cut.push_back(product);
            operands += std::ssize(product->operands);
        }
    for (auto* const product : cut)
        product->most_kept_lists = std::min(product->most_kept_lists, std::max<std::int64_t>(0, memory_limit - working) / operands);
}

WorkspaceOfCuts::WorkspaceOfCuts(const ProductPlan& plan, const LocalProducts& local) : local_(local) {
    for (std::size_t o = 0; o < plan.operands.size(); ++o)
        bounds_.push_back(plan.operands[o].in_place ? MovementBound() : movement_bound(plan.movement(o)));
}

std::int64_t WorkspaceOfCuts::operator()(const ProductPlan& plan) const {
    Movements movements;
    for (std::size_t o = 0; o < plan.operands.size(); ++o)
        if (!plan.operands[o].in_place) movements.add_messages(bounds_[o], plan, o);
    return movements.memory(workspace_of(plan, movements.messages(), local_) + counted_conversions(plan)).workspace;
}

std::int64_t workspace_bound(const ProductPlan& plan, const PlanOptions& options) {
    const auto rough = saturated_sum(most_workspace(plan, options.local), counted_conversions(plan));
    return rough <= options.memory_limit ? rough : WorkspaceOfCuts(plan, options.local)(plan);
}

namespace {

/// Intermediates and tensors' new places in the memory of a device.
std::int64_t beside_on_device(const PlannedProduct& plan, const Product& spec) {
    auto sum = new_place_bytes(plan, spec, true);
    for (std::size_t i = 0; i < plan.intermediates.size(); ++i)
        if (plan.is_on_device(static_cast<int>(spec.factors.size() + i)))
            sum = saturated_sum(sum, bytes_on_a_rank(plan.intermediates[i], spec.element_bytes));
    return sum;
}

/// Bounds of what a plan takes, of a step that is found at once where it is within a limit.
std::int64_t bound_of(const PlannedStep& step, std::int64_t element_bytes, const PlanOptions& left) {
    return std::visit(Overloaded{[&](const PlannedMovement& movement) {
                                     const auto rough = most_workspace(movement.spec, element_bytes);
                                     return rough <= left.memory_limit ? rough : memory_of(movement.spec, element_bytes).workspace;
                                 },
                                 [&](const ProductPlan& product) { return workspace_bound(product, left); }},
                      step.work);
}

}  // namespace

std::int64_t memory_bound(const PlannedProduct& plan, const Product& spec, const PlanOptions& options) {
    const auto beside = saturated_sum(intermediate_bytes(plan, spec.element_bytes), new_place_bytes(plan, spec));
    const auto beside_there = options.device_memory_limit ? beside_on_device(plan, spec) : 0;
    std::int64_t most = beside;
    for (const auto& step : plan.steps) {
        const auto* const product = step.product();
        const bool on_device = product != nullptr && product->spec.on_device && options.device_memory_limit;
        auto left = options;
        left.memory_limit -= beside;
        if (on_device) left.memory_limit = std::min(left.memory_limit, *options.device_memory_limit - beside_there);
        const auto bytes = bound_of(step, spec.element_bytes, left);
        most = std::max(most, saturated_sum(saturated_sum(bytes, beside), on_device ? conversion_bytes(*product) : 0));
        // What is over the device's limit is as much over that of the plan.
        const auto there = saturated_sum(bytes, beside_there);
        if (on_device && there > *options.device_memory_limit)
            most = std::max(most, saturated_sum(options.memory_limit, there - *options.device_memory_limit));
    }
    return most;
}

std::int64_t device_bytes(const PlannedProduct& plan, const Product& spec, const LocalProducts& local) {
    std::int64_t most = 0;
    for (const auto& step : plan.steps)
        if (const auto* const product = step.product(); product != nullptr && product->spec.on_device)
            most = std::max(most, memory_of(*product, local).workspace - conversion_bytes(*product));
    return saturated_sum(most, beside_on_device(plan, spec));
}

}  // namespace arges

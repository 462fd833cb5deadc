#include "plan/step_memory.hpp"

#include "base/overloaded.hpp"
#include "base/saturate.hpp"
#include "plan/exchange_volume.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Arrays begin on cache lines: so many bytes at most are lost in a step.
constexpr std::int64_t padding = 16 * 64;

/// A product of matrices copies parts of an operand: OpenBLAS at most so many of the summed indices at a time, into a buffer of
/// this size.
constexpr std::int64_t blas_depth = 512, blas_buffer = std::int64_t{128} << 20;

/// The movements of a step.
class Lists {
public:
    Volume add(const ExchangeSpec& movement, bool are_kept) {
        const auto bound = exchange_bound(movement);
        (are_kept ? kept_ : passing_) += bound.list_bytes;
        building_ = std::max(building_, bound.building_bytes);
        return bound.volume;
    }
    StepMemory memory(std::int64_t workspace, std::int64_t copied) const { return {workspace + padding, kept_, passing_ + std::max(building_, copied)}; }

private:
    std::int64_t kept_ = 0, passing_ = 0, building_ = 0;
};

/// What products on a rank copy of their operands.
class Copies {
public:
    /// @param summed  indices that a product of matrices sums over
    void add(const WorkingOperand& operand, std::int64_t summed, std::int64_t element_bytes) {
        const auto bytes = saturated_product(operand.layout.max_local_size(), element_bytes);
        all_ += bytes;
        packed_ = std::max(packed_, summed > blas_depth ? bytes / summed * blas_depth : bytes);
    }
    std::int64_t bytes(std::int64_t most) const { return std::min(all_, most) + std::min(packed_, blas_buffer); }

private:
    std::int64_t all_ = 0, packed_ = 0;
};

bool is_there(const ContractionPlan& plan, Operand o) { return o != operand_b || !plan.unary(); }

std::int64_t copied_bytes(const ContractionPlan& plan, std::int64_t most) {
    const auto groups = plan.groups();
    const auto& a = plan.operand[operand_a];
    std::int64_t summed = 1;
    for (std::size_t s = 0; !plan.rows && s < a.groups.size(); ++s)
        if (groups[static_cast<std::size_t>(a.groups[s])].is_contracted())
            summed *= std::max<std::int64_t>(1, a.layout.slot(static_cast<int>(s)).max_local_size());
    Copies copies;
    for (auto o : {operand_a, operand_b})
        if (is_there(plan, o)) copies.add(plan.operand[o], summed, plan.spec.element_bytes);
    return copies.bytes(most);
}

/// Bytes for arrays and messages: the planner's estimate is that of panels of equal size.
std::int64_t workspace_bound(const ContractionPlan& plan) {
    std::int64_t arrays = 0, most_moved = 0;
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (plan.operand[o].in_place || !is_there(plan, o)) continue;
        const bool cut = o != operand_c && !plan.panels.empty();
        arrays += cut ? panel_layout(plan, o, panel_count(plan) - 1).max_local_size() + 1
                      : plan.operand[o].layout.max_local_size();
        most_moved = std::max(most_moved, plan.cost.words[o]);
    }
    return (arrays + 2 * most_moved / panel_count(plan)) * plan.spec.element_bytes;
}

StepMemory memory_of(const ContractionPlan& plan, std::int64_t most_copied) {
    Lists lists;
    for (auto o : {operand_a, operand_b, operand_c})
        if (!plan.operand[o].in_place && is_there(plan, o)) lists.add(plan.movement(o), o == operand_c || plan.panels.empty());
    return lists.memory(std::max(plan.cost.working_bytes, workspace_bound(plan)), copied_bytes(plan, most_copied));
}

StepMemory memory_of(const FusedPlan& plan, std::int64_t most_copied) {
    Lists lists;
    Copies copies;
    for (const auto& input : plan.inputs) copies.add(input, 1, plan.spec.element_bytes);
    for (std::size_t i = 0; i <= plan.inputs.size(); ++i) {
        if (!(i < plan.inputs.size() ? plan.inputs[i] : plan.result).in_place) lists.add(plan.movement(i), !plan.is_sliced(i));
        if (i < plan.stay.size() && plan.stay[i]) lists.add(plan.movement(i), true);  // the way there has the same labels
    }
    return lists.memory(plan.cost.working_bytes, copies.bytes(most_copied));
}

}  // namespace

StepMemory step_memory(const PlannedStep& step, std::int64_t element_bytes, std::int64_t most_copied) {
    return std::visit(Overloaded{[&](const PlannedMovement& movement) {
                                     Lists lists;
                                     const auto volume = lists.add(movement.spec, true);
                                     return lists.memory((volume.sent + volume.received) * element_bytes, 0);
                                 },
                                 [&](const auto& product) { return memory_of(product, most_copied); }},
                      step.work);
}

}  // namespace arges

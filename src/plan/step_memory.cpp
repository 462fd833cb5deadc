#include "plan/step_memory.hpp"

#include "base/math.hpp"
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
class Movements {
public:
    /// @param parts  into which the movement is cut; its lists are kept if it is whole
    void add(const ExchangeSpec& movement, std::int64_t parts) {
        const auto bound = exchange_bound(movement);
        (parts == 1 ? kept_ : passing_) += bound.list_bytes;
        building_ = std::max(building_, bound.building_bytes);
        messages_ = std::max(messages_, ceil_div(bound.volume.sent + bound.volume.received, parts));
    }
    /// Elements of the largest messages that are there together.
    std::int64_t messages() const { return messages_; }
    StepMemory memory(std::int64_t workspace, std::int64_t copied) const { return {workspace + padding, kept_, passing_ + std::max(building_, copied)}; }

private:
    std::int64_t kept_ = 0, passing_ = 0, building_ = 0, messages_ = 0;
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

/// The planner's estimate is that of panels of equal size, and of messages as long on one side as on the other.
StepMemory memory_of(const ContractionPlan& plan, const LocalProducts& local) {
    Movements movements;
    const auto panels = panel_count(plan);
    std::int64_t arrays = 0;
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (plan.operand[o].in_place || !is_there(plan, o)) continue;
        const bool cut = o != operand_c && panels > 1;
        movements.add(plan.movement(o), cut ? panels : 1);
        arrays += cut ? panel_layout(plan, o, panels - 1).max_local_size() + 1 : plan.operand[o].layout.max_local_size();
    }
    if (plan.rows) arrays += (local.threads - 1) * plan.operand[operand_c].layout.max_local_size();
    const auto bound = (arrays + movements.messages()) * plan.spec.element_bytes;
    return movements.memory(std::max(plan.cost.working_bytes, bound), copied_bytes(plan, local.most_copied));
}

/// The planner's estimate is that of messages as long on one side as on the other.
StepMemory memory_of(const FusedPlan& plan, const LocalProducts& local) {
    Movements movements;
    Copies copies;
    std::int64_t estimated = 0;  // elements of messages
    for (const auto& input : plan.inputs) copies.add(input, 1, plan.spec.element_bytes);
    for (std::size_t i = 0; i <= plan.inputs.size(); ++i) {
        if ((i < plan.inputs.size() ? plan.inputs[i] : plan.result).in_place) continue;
        const auto slices = plan.is_sliced(i) ? plan.slices : 1;
        movements.add(plan.movement(i), slices);
        estimated = std::max(estimated, 2 * plan.words[i] / slices);
    }
    const auto more = std::max<std::int64_t>(0, movements.messages() - estimated) * plan.spec.element_bytes;
    for (std::size_t i = 0; i < plan.stay.size(); ++i)
        if (plan.stay[i]) movements.add(plan.movement(i), 1);  // the way there has the same labels
    return movements.memory(plan.cost.working_bytes + more, copies.bytes(local.most_copied));
}

}  // namespace

StepMemory step_memory(const PlannedStep& step, std::int64_t element_bytes, const LocalProducts& local) {
    return std::visit(Overloaded{[&](const PlannedMovement& movement) {
                                     Movements movements;
                                     movements.add(movement.spec, 1);
                                     return movements.memory(movements.messages() * element_bytes, 0);
                                 },
                                 [&](const auto& product) { return memory_of(product, local); }},
                      step.work);
}

}  // namespace arges

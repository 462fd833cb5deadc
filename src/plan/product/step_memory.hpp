/// What a step of a product takes of memory, from its plan alone. Pure.
#pragma once

#include "plan/movement/movement.hpp"
#include "plan/product/plan_product.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Bytes on the busiest rank, at most.
struct StepMemory {
    std::int64_t workspace = 0;  ///< arrays and messages
    std::int64_t lists = 0;      ///< of movements, kept for later runs
    std::int64_t passing = 0;    ///< for a while, in addition: for lists of single panels and slices
    std::int64_t building = 0;   ///< before the first run, in addition: while lists are built
};

StepMemory step_memory(const PlannedStep& step, std::int64_t element_bytes, const LocalProducts& local);

/// What a product takes beside its tensors, in bytes on the busiest rank, at most.
struct PlanMemory {
    /// Of a product lists of so many bytes do not count in memory limits: about as much as the rest of its plan takes, which does not
    /// either.
    static constexpr std::int64_t small_lists = std::int64_t{64} << 10;

    std::int64_t working = 0;   ///< workspace of the largest step, intermediates, and tensors' new places
    std::int64_t lists = 0;     ///< of all steps, kept for later runs
    std::int64_t passing = 0;   ///< as StepMemory says, of the step with most
    std::int64_t building = 0;  ///< likewise

    /// Bytes of lists that count while they are kept.
    std::int64_t kept_lists() const { return lists > small_lists ? lists : 0; }
    /// All that counts in a run.
    std::int64_t all() const;
};
PlanMemory plan_memory(const PlannedProduct& plan, const Product& spec, const LocalProducts& local);
/// Keeps lists of parts only as far as they fit beside the arrays into so many bytes, shared by the operands that windows cut.
void bound_kept_lists(PlannedProduct& plan, std::int64_t working, std::int64_t memory_limit);

/// Lists of the parts into which windows cut an operand. The same on all ranks.
struct PartLists {
    MovementBound part;  ///< of the first one, which is no smaller than others but for a few elements
    std::int64_t kept =
        0;  ///< bytes of those of all parts, if they are kept from run to run; 0: they are so many that each is built as needed

    /// Are those of a part so small that they are built without asking whether other ranks could?
    bool are_small() const;
};
PartLists part_lists(const ProductPlan& plan, std::size_t o);

/// A bound of StepMemory::workspace of a product: exactly that, or whatever is found at once and is within the memory limit.
std::int64_t workspace_bound(const ProductPlan& plan, const PlanOptions& options);

/// StepMemory::workspace of plans that differ in their windows and costs only.
class WorkspaceOfCuts {
public:
    WorkspaceOfCuts(const ProductPlan& plan, const LocalProducts& local);
    std::int64_t operator()(const ProductPlan& plan) const;

private:
    LocalProducts local_;
    std::vector<MovementBound> bounds_;  // by operand, of the whole movement
};

/// What steps and intermediates take in the memory of a device, in bytes on the busiest rank, at most; messages count, too.
std::int64_t device_bytes(const PlannedProduct& plan, const Product& spec, const LocalProducts& local);

/// A bound of what a plan takes beside the tensors, in bytes on the busiest rank: its largest step, intermediates, and tensors' new places.
/// Where a step is over the device's limit it is as much over options.memory_limit.
std::int64_t memory_bound(const PlannedProduct& plan, const Product& spec, const PlanOptions& options);

}  // namespace arges

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

/// Bytes of the lists of all parts into which windows cut an operand, if they are kept from run to run; 0 if they are so many that they are
/// built as they are needed. The same on all ranks.
std::int64_t kept_list_bytes(const ProductPlan& plan, std::size_t o);

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

/// A bound of what a plan takes beside the tensors, in bytes on the busiest rank: its largest step, intermediates, and tensors' new places.
std::int64_t memory_bound(const PlannedProduct& plan, const Product& spec, const PlanOptions& options);

}  // namespace arges

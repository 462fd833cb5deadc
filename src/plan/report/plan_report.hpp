/// What a plan will do, in numbers and texts: for explain(), for `arges plan` and for tests; and what its operands are called there. Pure.
#pragma once

#include "plan/product/plan_product.hpp"
#include "plan/report/step_bounds.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace arges {

StepKind kind_of(const ProductPlan& plan);

/// The report of a plan. `options` are those that it was planned with.
PlanReport plan_report(const PlannedProduct& plan, const Product& spec, const PlanOptions& options);

/// The report of a single step.
StepReport step_report(const ProductPlan& plan, const PlanOptions& options);

/// One step.
std::string explain(const StepReport& step);
std::string explain(const ProductPlan& plan);

/// The movement of a step that makes the part of a tensor that is symmetric or antisymmetric in its pairs (plan/pair_split), else null.
/// Only such a movement goes to an intermediate.
const Movement* part_movement(const PlannedStep& step);
/// Is it the antisymmetric one?
bool is_antisymmetric_part(const Movement& part);

/// Names by number: factors and output have their own, A+ and A- are the symmetric and the antisymmetric part of A, other
/// intermediates are counted.
std::map<int, std::string> operand_names(const std::vector<PlannedStep>& steps, const Product& spec);

}  // namespace arges

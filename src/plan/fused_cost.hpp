/// Modelled time and memory of a fused plan.
#pragma once

#include "plan/fused_plan.hpp"

namespace arges {

/// Fills plan.cost and plan.words; everything else in the plan must be set.
void estimate_cost(FusedPlan& plan, const PlanOptions& options);

}  // namespace arges

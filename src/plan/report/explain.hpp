/// Plans as text.
#pragma once

#include "plan/report/plan_report.hpp"

#include <string>

namespace arges {

/// The steps one by one: grid, bytes of each tensor, flops, memory, lower bounds, intensity and predicted seconds; and the whole
/// where there are several.
std::string explain(const PlanReport& report);

/// One step.
std::string explain(const StepReport& step);
std::string explain(const ProductPlan& plan);

}  // namespace arges

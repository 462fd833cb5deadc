/// Modelled time and memory of a fused plan.
#pragma once

#include "plan/fused_plan.hpp"

#include <span>
#include <vector>

namespace arges {

/// Fills plan.cost and plan.words; everything else in the plan must be set but the working layouts.
/// @param words of the inputs and of the result, see MovedWords; none in place
void estimate_cost(FusedPlan& plan, const PlanOptions& options, std::span<const double> words);

/// The words of a plan.
std::vector<double> words_of(const FusedPlan& plan);

}  // namespace arges

/// Order of the groups in each operand's working array, chosen so that as few operands as possible are copied.
#pragma once

#include "plan/contraction_plan.hpp"

#include <array>
#include <vector>

namespace arges {

/// Sets the working operands (order of groups, layout, in place or not) and the weighted operand of a plan whose spec and
/// group mapping are set.
void choose_working_layouts(ContractionPlan& plan, const std::vector<IndexGroup>& groups);

}  // namespace arges

/// How `arges plan` prints a plan.
#pragma once

#include "arges/plan.hpp"

#include <string>

namespace arges::cli {

/// Tables for people. @param type  of the elements, as it was asked for
std::string plan_tables(const PlanRequest& request, const std::string& type, const EinsumPlan& plan);

/// One JSON object with the same numbers.
std::string plan_json(const PlanRequest& request, const std::string& type, const EinsumPlan& plan);

}  // namespace arges::cli

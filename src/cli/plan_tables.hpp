/// How `arges plan` prints a plan.
#pragma once

#include "cli/plan_input.hpp"
#include "plan/report/plan_report.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace arges::cli {

/// A plan with what it was asked for.
struct PlanSummary {
    PlanInput input;
    std::optional<std::int64_t> memory_limit;  ///< bytes per rank
    PlanReport report;
    double planning_seconds = 0;   ///< to find the plan
    double reporting_seconds = 0;  ///< to count its bytes and bounds
};

/// Factors and output on the busiest rank, in bytes.
std::int64_t tensor_bytes(const Product& spec);

/// Tables for people.
std::string plan_tables(const PlanSummary& summary);

/// One JSON object with the same numbers.
std::string plan_json(const PlanSummary& summary);

}  // namespace arges::cli

/// Modelled time and memory of a plan, fast enough for a search over thousands of grids.
#pragma once

#include "plan/contraction_plan.hpp"

namespace arges {

/// Fills plan.cost; everything else in the plan must be set. Elements moved are estimated from sizes and from the overlap of
/// present and wanted layouts; exact_volume() counts them.
void estimate_cost(ContractionPlan& plan, const std::vector<IndexGroup>& groups, const PlanOptions& options);

/// Relative cost of a byte on the slowest torus dimension that a plan's mappings use.
double link_weight(const PlanOptions& options, const std::vector<SlotMapping>& mappings);

/// Elements that the busiest rank receives for its working copy (or sends of its part of the result), estimated from the overlap of
/// present and wanted layouts; from a sample of ranks where there are many.
double moved_words(const OperandSpec& tensor, const WorkingOperand& working);

/// Seconds of a movement along lists, of elements that all change ranks.
double estimated_seconds(const ExchangeSpec& movement, std::int64_t element_bytes, const MachineModel& machine);

/// Fewest words that some rank must receive or send for an (m, n, k) product on P ranks when each operand is kept once, from
/// the memory-independent bound for three-index terms (Al Daas et al., arXiv 2205.13407).
double matmul_lower_bound_words(double m, double n, double k, double ranks);

}  // namespace arges

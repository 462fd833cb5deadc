/// Modelled time and memory of a plan, fast enough for a search over thousands of grids.
#pragma once

#include "plan/contraction_plan.hpp"

#include <array>

namespace arges {

/// What the cost of a plan depends on beside its description.
struct WorkingSizes {
    double products = 1;             ///< of the busiest rank, where the operands are dense arrays over their groups
    std::array<bool, 3> moves{};     ///< by operand: it is not used in place
    std::array<double, 3> block{};   ///< elements of the busiest rank's working copy
    std::array<double, 3> words{};   ///< see MovedWords
};

/// Fills plan.cost; needs no working operands in the plan unless pairs are read by rows.
void estimate_cost(ContractionPlan& plan, const std::vector<IndexGroup>& groups, const PlanOptions& options, const WorkingSizes& sizes);

/// Relative cost of a byte on the slowest torus dimension that a plan's mappings use.
double link_weight(const PlanOptions& options, const std::vector<SlotMapping>& mappings);

/// Seconds of a movement along lists, of elements that all change ranks.
double estimated_seconds(const ExchangeSpec& movement, std::int64_t element_bytes, const MachineModel& machine);

/// Seconds that the first run of a movement takes in addition: where groups are packed or unpacked, elements are looked up one by one.
double preparing_seconds(const ExchangeSpec& movement, const MachineModel& machine);

/// Fewest words that some rank must receive or send for an (m, n, k) product on P ranks when each operand is kept once, from
/// the memory-independent bound for three-index terms (Al Daas et al., arXiv 2205.13407).
double matmul_lower_bound_words(double m, double n, double k, double ranks);

}  // namespace arges

/// What a step of a product takes of memory, from its plan alone. Pure.
#pragma once

#include "plan/product/plan_product.hpp"

#include <cstdint>

namespace arges {

/// Bytes on the busiest rank, at most.
struct StepMemory {
    std::int64_t workspace = 0;  ///< arrays and messages
    std::int64_t lists = 0;      ///< of movements, kept for later runs
    std::int64_t passing = 0;    ///< for a while, in addition: while lists are built, for lists of single panels and slices, and for copies
                                 ///< that products on a rank make of parts of their operands
};

StepMemory step_memory(const PlannedStep& step, std::int64_t element_bytes, const LocalProducts& local);

/// A bound of StepMemory::workspace that is found at once, and may be many times larger.
std::int64_t most_workspace(const PlannedStep& step, std::int64_t element_bytes, const LocalProducts& local);

}  // namespace arges

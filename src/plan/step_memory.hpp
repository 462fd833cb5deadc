/// What a step of a product takes of memory, from its plan alone. Pure.
#pragma once

#include "plan/plan_product.hpp"

#include <cstdint>

namespace arges {

/// Bytes on the busiest rank, at most.
struct StepMemory {
    std::int64_t workspace = 0;  ///< arrays and messages
    std::int64_t lists = 0;      ///< of movements, kept for later runs
    std::int64_t passing = 0;    ///< for a while, in addition: while lists are built, for lists of single panels and slices, and for copies that products
                                 ///< on a rank make of parts of their operands
};

/// @param most_copied  bytes that products on a rank copy at most, beside what BLAS copies
StepMemory step_memory(const PlannedStep& step, std::int64_t element_bytes, std::int64_t most_copied);

}  // namespace arges

/// What a step of a product takes of memory, from its plan alone. Pure.
#pragma once

#include "plan/product/plan_product.hpp"

#include <cstdint>

namespace arges {

/// Bytes on the busiest rank, at most.
struct StepMemory {
    std::int64_t workspace = 0;  ///< arrays and messages
    std::int64_t lists = 0;      ///< of movements, kept for later runs
    std::int64_t passing = 0;    ///< for a while, in addition: while lists are built, for lists of single panels and slices, and for copies that products
                                 ///< on a rank make of parts of their operands
};

/// What products on a rank do, which a plan does not say.
struct LocalProducts {
    std::int64_t most_copied = 0;  ///< bytes of operands that they copy at most, beside what BLAS copies
    std::int64_t threads = 1;      ///< a product by rows has a copy of its result for each, at most
};

StepMemory step_memory(const PlannedStep& step, std::int64_t element_bytes, const LocalProducts& local);

}  // namespace arges

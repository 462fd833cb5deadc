/// What plans of products with sparse factors ask about nonzeros, measured where it is not known.
#pragma once

#include "interface/statement/sparse_context.hpp"
#include "interface/statement/sparse_terms.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace arges {

/// The next step of a term. Collective where statements run.
StepChoice chosen_step(SparseContext& context, const SparseTerm& term, const std::vector<SparseFactor>& factors);

/// How large the product of the first two factors of a step is, if both are sparse and that is known or can be found out. Likewise.
std::optional<ProductCounts> counts_for(SparseContext& context, const SparseTerm& term, const std::vector<SparseFactor>& factors,
                                        const StepChoice& choice);

/// The fastest plan of a step. Likewise. @param first  its first factor @throws OutOfMemory
SparseStepPlan plan_of(const SparseContext& context, const SparseStep& step, const SparseFactor& first, std::int64_t ranks,
                       std::int64_t memory_limit, std::int64_t least_phases);

}  // namespace arges

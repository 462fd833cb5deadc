/// Computes terms with sparse factors step by step: each is planned, by what is measured where it is not known of nonzeros, prepared where
/// it is not kept, and run.
#pragma once

#include "interface/statement/sparse_context.hpp"
#include "interface/statement/sparse_terms.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace arges {

/// Where the last step of a term puts a dense result: target = term + beta * target; null: into a tensor of its own.
struct StepTarget {
    std::shared_ptr<TensorState> tensor{};
    const void* beta = nullptr;  ///< null: one
};

/// What a term amounts to with all its factors, without projection. Collective. @throws OutOfMemory
SparseFactor computed_term(SparseContext& context, const SparseTerm& term, const StepTarget& target);

/// The result of one step of a term. Collective. @param alpha  null: one @throws OutOfMemory
SparseFactor computed_step(SparseContext& context, const SparseTerm& term, std::vector<SparseFactor>& factors, const StepChoice& choice,
                           const void* alpha, const StepTarget& target);

/// What an inspection has found, if the step is kept. Local.
std::string found_by_inspection(const SparseContext& context, const SparseStep& step);

/// The next step of a term. Collective where statements run.
StepChoice chosen_step(SparseContext& context, const SparseTerm& term, const std::vector<SparseFactor>& factors);

/// How large the product of the first two factors of a step is, if both are sparse and that is known or can be found out. Likewise.
std::optional<ProductCounts> counts_for(SparseContext& context, const SparseTerm& term, const std::vector<SparseFactor>& factors,
                                        const StepChoice& choice);

/// The fastest plan of a step. Likewise. @param first  its first factor @throws OutOfMemory
SparseStepPlan plan_of(const SparseContext& context, const SparseStep& step, const SparseFactor& first, std::int64_t ranks,
                       std::int64_t memory_limit, std::int64_t least_phases);

}  // namespace arges

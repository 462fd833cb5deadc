/// CP with constraints and penalties on factors: alternating optimization, with ADMM in each mode (AO-ADMM).
#pragma once

#include "decompose/cp/constraints.hpp"
#include "decompose/cp/cp_als.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// Minimizes |X - model|^2 / 2 + penalties + regularization * (sum of the squares of all factors) / 2 over factors that meet the
/// constraints, as cp_decompose() says. While it runs lambda is 1, unless all modes fix their scale; at the end it has the lengths of the
/// columns. Collective.
/// @param constraints of each mode
/// @param lengths     of the tensor
/// @throws InvalidArgument for more orthogonal columns than rows; Error where the iteration diverges
template <class T>
void run_constrained(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options,
                     const std::vector<CpConstraint>& constraints, const std::vector<std::int64_t>& lengths, const AfterIteration& after);

/// Sizes on which the memory of run_constrained() depends, by mode: rows of the factor on this rank, those that it owns, and over all
/// ranks.
struct ConstrainedRows {
    std::vector<std::int64_t> all, owned, total;
    std::int64_t ranks = 1;
};
/// Memory of run_constrained() beside the factors, an upper bound. Pure.
std::int64_t constrained_memory(const ConstrainedRows& rows, const std::vector<CpConstraint>& constraints, double regularization,
                                std::int64_t columns, std::int64_t element_bytes, int threads);

}  // namespace arges::decompose

/// CP of the stored elements of a sparse tensor with constraints and penalties on factors.
#pragma once

#include "decompose/cp/constraints.hpp"
#include "decompose/cp/element_operator.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// As run_constrained(), but rows have their own normal equations over the stored elements. Collective.
/// @param constraints of each mode; one of them at least does not fix the scale of its factor
/// @param lengths     of the tensor
/// @throws InvalidArgument for more orthogonal columns than rows, or numbers that are not finite
template <class T>
void run_constrained_rows(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, const IterationOptions& options,
                          const std::vector<CpConstraint>& constraints, const std::vector<std::int64_t>& lengths,
                          const AfterIteration& after);

/// Memory beside what constrained_memory() counts, an upper bound. Pure.
std::int64_t constrained_rows_memory(const SparseShare& share, const std::vector<CpConstraint>& constraints, double regularization);

}  // namespace arges::decompose

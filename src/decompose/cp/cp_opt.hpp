/// CP decomposition by minimizing over all factors at once.
#pragma once

#include "decompose/cp/cp_als.hpp"

namespace arges::decompose {

/// Minimizes |X - model|^2 / 2 + regularization * (sum of the squares of all factors) / 2 by L-BFGS with a line search that
/// meets the weak Wolfe conditions (Nocedal and Wright, algorithms 7.4 and 7.5). The gradient in mode n is A_n V_n - M_n. At
/// the end columns have length 1 and lambda their weights. Ends where there is no gradient, or no step to a smaller value.
/// Collective. @throws Error where the iteration diverges
template <class T>
void run_opt(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after);

/// Memory of run_opt() for factors of these sizes, an upper bound; steps are remembered as long as it goes on. Pure.
/// @param owned elements of all factors that the rank owns @param products elements of all factors that it has
std::int64_t opt_memory(std::int64_t owned, std::int64_t products, std::int64_t element_bytes, int max_iterations);

}  // namespace arges::decompose

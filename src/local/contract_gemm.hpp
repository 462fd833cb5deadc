/// Contraction by matrix products.
#pragma once

#include "local/contract_plan.hpp"
#include "local/pack.hpp"

namespace arges::local {

/// Computes a contraction as planned. @throws OutOfMemory
template <class T>
void contract_gemm(GemmPlan plan, Operands<T> operands, Workspace<T>& workspace);

}  // namespace arges::local

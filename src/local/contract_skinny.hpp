/// Contraction of a large operand with a small one that has few columns.
#pragma once

#include "local/contract_plan.hpp"
#include "local/pack.hpp"

namespace arges::local {

/// Computes a contraction as planned: the large operand is read once, in the order in which it is
/// stored, while the processor multiplies. Real element types only. @throws OutOfMemory
template <class T>
void contract_skinny(const SkinnyPlan& plan, Operands<T> operands);

}  // namespace arges::local

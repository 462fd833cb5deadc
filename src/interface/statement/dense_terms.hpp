/// Terms of statements whose tensors are all dense, run.
#pragma once

#include "interface/statement/statement.hpp"

#include <cstdint>

namespace arges {

/// Executes the terms of a statement without sparse tensors: its right-hand side, or a part of that of another one. Every term is checked
/// and planned, and memory is taken, before anything is changed. Collective.
/// @return bytes on the busiest rank that the terms work with
std::int64_t run_dense_terms(const StatementArguments& statement);

}  // namespace arges

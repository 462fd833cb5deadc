/// Index-string statements, and functions of elements, with sparse tensors on either side.
#pragma once

#include "arges/element_functions.hpp"
#include "interface/statement/statement.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arges {

/// Is a tensor of the statement sparse, or is there something that only sparse tensors have?
bool is_sparse_statement(const Factor& left, const std::vector<Term>& right);

/// left = right + beta * left. The left-hand side is changed when all terms have been computed. Collective.
void run_sparse_statement(const StatementArguments& statement);

/// The plans as text, by expected counts, and what inspections have found. Local. @param ranks  other ones than there are
std::string explain_sparse_statement(const StatementArguments& statement, std::optional<std::int64_t> ranks);

/// map() and update() with a sparse tensor on either side. Collective.
void apply_to_sparse(const Factor& left, const std::vector<Factor>& operands, const ElementKernels& result,
                     const statements::BulkFunction& f, bool accumulate, const statements::SparseRule& rule);

}  // namespace arges

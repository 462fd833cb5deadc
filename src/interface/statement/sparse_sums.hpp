/// What becomes of the sparse results of terms on the way to a left-hand side: sums, differences, representatives, diagonals.
#pragma once

#include "interface/statement/sparse_context.hpp"
#include "interface/statement/sparse_terms.hpp"

#include <memory>
#include <vector>

namespace arges {

/// a + b. Collective. @throws OutOfMemory
std::shared_ptr<SparseState> united(SparseContext& context, const SparseState& a, const SparseState& b);

/// The elements of `all` that `other` does not store. Collective. @throws OutOfMemory
std::shared_ptr<SparseState> without(SparseContext& context, const SparseState& all, const SparseState& other);

/// The representatives of a sum that has all elements. Collective. @param counted  by which permutations elements count
std::shared_ptr<SparseState> projected(SparseContext& context, const SparseState& sum, const Symmetry& symmetry,
                                       const std::vector<SignedPermutation>& counted);

/// The result of a term as a tensor of the left-hand side's order, where that names a diagonal. Collective.
std::shared_ptr<SparseState> with_left_labels(const SparseContext& context, std::shared_ptr<SparseState> result, const SparseTerm& term);

/// What stays of a left-hand side: elements that its labels do not name, and beta times those that they do; null: nothing. Collective.
/// @param is_added_to  there are terms: without them zero times an element is stored
std::shared_ptr<SparseState> old_elements(const SparseContext& context, const SparseState& old, const std::vector<int>& labels,
                                          const void* beta, bool is_added_to);

/// Puts the nonzeros of a user's tensor where a grid needs them, and leaves them there. Collective.
/// @param tensor  null: there is none  @param rows  labels of the result  @param is_shared  it is there with other labels, too
/// @return false if they stay where they are
bool settle(SparseContext& context, const std::shared_ptr<SparseState>& tensor, const std::vector<int>& labels, const LabelGrid& grid,
            const std::vector<int>& rows, bool is_shared);

}  // namespace arges

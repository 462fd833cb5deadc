/// Terms of a statement with sparse tensors, checked: labels as numbers, and what each factor is there for.
#pragma once

#include "interface/statement/statement.hpp"
#include "plan/sparse/sparse_order.hpp"
#include "symmetry/permutation_group.hpp"

#include <memory>
#include <vector>

namespace arges {

/// A factor of a statement with sparse tensors, with its elements; no tensor, of what is not computed yet.
struct SparseFactor : Operand {
    std::shared_ptr<SparseState> sparse{};
    std::shared_ptr<TensorState> dense{};
    std::shared_ptr<SparseState> own{};  ///< the user's tensor, if its nonzeros may be put elsewhere

    const ElementKernels& kernels() const;
    /// Takes from the tensor what plans of a statement with such elements depend on. Local.
    void read(const ElementKernels& elements);
};

/// A term with its labels as numbers.
struct SparseTerm {
    Product product;  ///< its output is sparse if the last step has a sparse result
    const void* coefficient = nullptr;
    std::vector<SparseFactor> factors{};
    std::vector<SparseFactor> excluded{};      ///< masks where nothing is stored
    bool is_dense = false;                     ///< no factor is sparse
    bool is_nothing = false;                   ///< the number zero, which stores nothing
    bool is_all = false;                       ///< the left-hand side becomes the result of its last step
    std::vector<SignedPermutation> counted{};  ///< by which elements count for a left-hand side with symmetry

    const std::vector<int>& left() const { return product.output.labels; }
};

/// The terms of a statement. Local. @throws InvalidArgument for what is refused
std::vector<SparseTerm> checked_terms(const StatementArguments& statement);

/// Likewise, checked on all ranks, and that the statement is the same there, with one message. Collective.
std::vector<SparseTerm> agreed_terms(const StatementArguments& statement);

/// The statement for messages.
std::string sparse_statement_text(const StatementArguments& statement);

}  // namespace arges

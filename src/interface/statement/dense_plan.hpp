/// Terms of statements whose tensors are all dense: checked, and planned as a whole.
#pragma once

#include "base/digest.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/statement/prepared_term.hpp"
#include "interface/statement/statement.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace arges {

/// A term and its plan.
struct PlannedTerm {
    Product product;
    std::int64_t expected_runs = 1;
    std::string identity, history, key;      ///< of the product, of its runs with the tensors where they are, and of the plan
    std::shared_ptr<PreparedTerm> prepared;  ///< null: not planned yet
};

/// What a statement of dense tensors is to do, before anything is changed.
class DensePlan : public StatementArguments {
public:
    explicit DensePlan(const StatementArguments& arguments)
        : StatementArguments(arguments), output(*left.tensor), world(*left.tensor->world) {}
    /// Checks the statement on all ranks, and that it is the same there, with one message; plans what is not planned yet, and makes it
    /// ready to run. Collective.
    void make();
    /// The plans as text: those that are kept, or new ones, which are not kept. Local.
    std::string explain();
    /// Bytes that the planned terms work with, one after the other.
    std::int64_t working_bytes() const;
    /// Bytes of the lists that the terms keep, as far as the world accounts for them.
    std::int64_t kept_lists() const;
    /// The terms that are to run.
    std::vector<const PreparedTerm*> running() const;
    /// The output and the factors, each once.
    std::vector<TensorState*> tensors() const;
    /// Those of them on the host that steps on the device copy.
    std::vector<TensorState*> crossing() const;
    /// How often ranks agree: on the statement, and where one of them may fail alone on what has become of it. The same on all ranks.
    int agreements() const;

    TensorState& output;
    WorldState& world;
    bool aliased = false;  ///< the output is a factor, too
    std::vector<PlannedTerm> terms;
    std::int64_t least_workspace = 0, most_workspace = 0;  ///< that a rank has kept, in bytes
    std::int64_t least_free = 0;                           ///< that a rank may take, in bytes

private:
    void check();
    /// The output's own sum and product, on the host or not.
    bool computes_own() const { return &kernels.on_host() == &output.kernels->on_host(); }
    void check_storage(const Term& term) const;
    void check_symmetry();
    void look_up(std::int64_t free_bytes);
    Product product_of(const Term& term) const;
    void identify(const Term& term, PlannedTerm& planned);
    void expect_runs(const Term& term, PlannedTerm& planned);
    void plan(std::int64_t free_bytes);
    std::shared_ptr<PreparedTerm> planned(std::size_t i, std::int64_t free_bytes) const;
    std::shared_ptr<PreparedTerm> prepared(const Product& product, std::int64_t runs, std::int64_t free_bytes) const;
    std::shared_ptr<PreparedTerm> kept_for(const PlannedTerm& term, std::int64_t runs) const;
    [[noreturn]] void refuse_differing() const;
    std::string text() const;
    std::int64_t copied_bytes() const;
    std::int64_t left_beside_copy(std::int64_t free_bytes) const;
    std::int64_t free_on_device() const;

    Digest digest_;  ///< of everything that must be the same on all ranks
};

/// Executes the terms of a statement without sparse tensors: its right-hand side, or a part of that of another one. Every term is checked
/// and planned, and memory is taken, before anything is changed. Collective.
/// @return bytes on the busiest rank that the terms work with
std::int64_t run_dense_terms(const StatementArguments& statement);

/// A statement without sparse tensors; its tensors may come to a device before, and others be put off, see device_places. Collective.
std::int64_t run_dense_statement(const StatementArguments& statement);

}  // namespace arges

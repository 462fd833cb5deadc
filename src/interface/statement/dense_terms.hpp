/// Terms of statements whose tensors are all dense: checked, planned as a whole, and run.
#pragma once

#include "base/digest.hpp"
#include "base/first_error.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/statement/prepared_term.hpp"
#include "interface/statement/statement.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// Terms of a statement without sparse tensors: its right-hand side, or a part of that of another one. run() checks and plans every term,
/// and allocates, before it changes anything.
class DenseTerms : StatementArguments {
public:
    explicit DenseTerms(const StatementArguments& arguments)
        : StatementArguments(arguments), output_(*left.tensor), world_(*left.tensor->world) {}
    /// Executes all terms. Collective.
    /// @return bytes on the busiest rank that the terms work with
    std::int64_t run();
    /// The plans as text: those that are kept, or new ones, which are not kept. Local.
    std::string explain();

private:
    /// A term and its plan.
    struct PlannedTerm {
        Product product;
        std::int64_t expected_runs = 1;
        std::string identity, history, key;      ///< of the product, of its runs with the tensors where they are, and of the plan
        std::shared_ptr<PreparedTerm> prepared;  ///< null: not planned yet
    };

    void check();
    void check_storage(const Term& term) const;
    void check_symmetry();
    void look_up(std::int64_t free_bytes);
    Product product_of(const Term& term) const;
    void identify(const Term& term, PlannedTerm& planned);
    void expect_runs(const Term& term, PlannedTerm& planned);
    void agree_on_terms();
    void plan(std::int64_t free_bytes);
    std::shared_ptr<PreparedTerm> planned(std::size_t i, std::int64_t free_bytes) const;
    std::shared_ptr<PreparedTerm> kept_for(const PlannedTerm& term, std::int64_t runs) const;
    [[noreturn]] void refuse_differing() const;
    std::string text() const;
    std::int64_t find_new_places(std::int64_t taken);
    void move_to_new_places();
    void run_term(std::size_t i, const void* own_beta, const Buffer<std::byte>& snapshot, FirstError& error);
    void scale_only();
    void make_room(std::int64_t bytes, std::int64_t from_workspace);
    std::int64_t working_bytes() const;
    int agreements(std::int64_t working) const;
    std::int64_t converted_bytes(const Term& term) const;
    std::int64_t copied_bytes(const Term& term) const;
    std::int64_t left_beside_copies(std::size_t i, std::int64_t free_bytes) const;

    /// A tensor that lies elsewhere after the statement.
    struct NewPlace {
        TensorState* tensor;
        Layout layout;
        Buffer<std::byte> elements;
        std::size_t term, factor;  ///< the one that writes them
    };

    TensorState& output_;
    WorldState& world_;
    bool aliased_ = false;
    Digest digest_;  ///< of everything that must be the same on all ranks
    std::vector<PlannedTerm> terms_;
    std::int64_t least_workspace_ = 0, most_workspace_ = 0;  ///< that a rank has kept, in bytes
    std::int64_t least_free_ = 0;                            ///< that a rank may take, in bytes
    std::vector<NewPlace> new_places_;
};

}  // namespace arges

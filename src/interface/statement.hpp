/// One index-string statement: C[...] = expression + beta * C[...].
#pragma once

#include "arges/expression.hpp"
#include "base/digest.hpp"
#include "base/first_error.hpp"
#include "interface/prepared_term.hpp"
#include "interface/tensor_state.hpp"
#include "plan/structural_sum.hpp"

#include <string>
#include <vector>

namespace arges {

/// run() checks and plans every term, and allocates, before it changes anything.
template <class T>
class Statement {
public:
    Statement(const Factor<T>& left, const Expression<T>& right, T beta);
    /// Executes all terms. Collective.
    void run();
    /// The plans as text: those that are kept, or new ones, which are not kept. Local.
    std::string explain();

private:
    /// A term and its plan.
    struct PlannedTerm {
        TermRequest request;
        std::string product, history, key;      ///< of the product, of its runs with the tensors where they are, and of the plan
        std::shared_ptr<PreparedTerm> prepared; ///< null: not planned yet
    };

    void check();
    void check_symmetry();
    StructuralSum structure() const;
    void look_up(std::int64_t free_bytes);
    TermRequest request_for(const Term<T>& term) const;
    std::size_t first_place(const Factor<T>& factor) const;
    void identify(const Term<T>& term, PlannedTerm& planned);
    void expect_runs(const Term<T>& term, PlannedTerm& planned);
    void agree_on_terms();
    void plan(std::int64_t free_bytes);
    void compare_plans() const;
    std::shared_ptr<PreparedTerm> planned(const PlannedTerm& term, std::int64_t free_bytes) const;
    std::shared_ptr<PreparedTerm> kept_for(const PlannedTerm& term, std::int64_t runs) const;
    [[noreturn]] void refuse_differing() const;
    std::string text() const;
    void find_new_places();
    void move_to_new_places();
    void run_term(std::size_t i, T beta, const Buffer<T>& snapshot, FirstError& error);
    void scale_only();
    std::int64_t touched_bytes(std::int64_t working) const;
    TermRequest request_of_output() const;

    /// A tensor that lies elsewhere after the statement.
    struct NewPlace {
        TensorState<T>* tensor;
        std::shared_ptr<const Layout> layout;
        Buffer<T> elements;
        std::size_t term, factor;  ///< the one that writes them
    };

    const Factor<T>& left_;
    const Expression<T>& right_;
    T beta_;
    TensorState<T>& output_;
    WorldState& world_;
    bool aliased_ = false;
    Digest digest_;  ///< of everything that must be the same on all ranks
    std::vector<PlannedTerm> terms_;
    std::int64_t least_workspace_ = 0;  ///< that a rank has kept, in bytes
    std::vector<NewPlace> new_places_;
};

}  // namespace arges

/// One index-string statement: C[...] = expression + beta * C[...].
#pragma once

#include "arges/expression.hpp"
#include "interface/prepared_term.hpp"
#include "interface/tensor_state.hpp"

#include <string>
#include <vector>

namespace arges {

/// Checks and plans every term at construction, locally; run() then allocates before it changes anything.
template <class T>
class Statement {
public:
    Statement(const Factor<T>& left, const Expression<T>& right, T beta);
    /// Executes all terms. Collective.
    void run();
    /// The plans as text.
    std::string explain() const;

private:
    void prepare(const Term<T>& term);
    std::shared_ptr<PreparedTerm> planned(TermRequest request, const std::string& key);
    void keep();
    void find_new_places();
    void move_to_new_places();
    void run_term(std::size_t i, T beta, const Buffer<T>& snapshot);
    void scale_only();
    void check_labels_only() const;
    TermRequest request_for(const Term<T>& term) const;

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
    std::vector<std::shared_ptr<PreparedTerm>> prepared_;
    std::vector<std::string> keys_, histories_;  ///< of the plans and of the counts of runs, by term
    std::vector<NewPlace> new_places_;
};

}  // namespace arges

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
    void keep();
    void run_term(std::size_t i, T beta, const Buffer<T>& snapshot);
    void scale_only();
    void check_labels_only() const;
    TermRequest request_for(const Term<T>& term) const;

    const Factor<T>& left_;
    const Expression<T>& right_;
    T beta_;
    TensorState<T>& output_;
    WorldState& world_;
    bool aliased_ = false;
    std::vector<std::shared_ptr<PreparedTerm>> prepared_;
    std::vector<std::string> keys_;
};

}  // namespace arges

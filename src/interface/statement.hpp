/// One index-string statement: C[...] = expression + beta * C[...]; and the look of checked builds at its operands.
#pragma once

#include "arges/expression.hpp"
#include "base/digest.hpp"
#include "base/first_error.hpp"
#include "interface/prepared_term.hpp"
#include "interface/tensor_state.hpp"

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// In checked builds, digests of the operands of a statement before and after it, which do not depend on where elements lie. Tensors of
/// many elements are not looked at, and with other builds none.
class UnchangedOperands {
public:
    /// Local. @param left  is no operand, also where it is on both sides
    UnchangedOperands(const Factor& left, const std::vector<Term>& right);
    /// After the statement. Collective. @throws Error on every rank if an operand has changed
    void check() const;

private:
    struct Operand {
        const Factor* factor;
        std::int64_t digest;  // of what this rank had
    };
    std::vector<Operand> operands_;
};

/// run() checks and plans every term, and allocates, before it changes anything.
class Statement {
public:
    /// @param beta     null stands for one
    /// @param algebra  of all elements
    Statement(const Factor& left, const std::vector<Term>& right, const void* beta, const ElementKernels& algebra);
    /// Executes all terms. Collective.
    void run();
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
    void check_types(const Term& term) const;
    void check_symmetry();
    void look_up(std::int64_t free_bytes);
    Product product_of(const Term& term) const;
    void identify(const Term& term, PlannedTerm& planned);
    void expect_runs(const Term& term, PlannedTerm& planned);
    void agree_on_terms();
    void plan(std::int64_t free_bytes);
    void compare_plans() const;
    std::shared_ptr<PreparedTerm> planned(std::size_t i, std::int64_t free_bytes) const;
    std::shared_ptr<PreparedTerm> kept_for(const PlannedTerm& term, std::int64_t runs) const;
    [[noreturn]] void refuse_differing() const;
    std::string text() const;
    std::int64_t find_new_places(std::int64_t taken);
    void move_to_new_places();
    void run_term(std::size_t i, const void* beta, const Buffer<std::byte>& snapshot, FirstError& error);
    void scale_only();
    void make_room(std::int64_t bytes, std::int64_t from_workspace);
    std::int64_t working_bytes() const;
    int agreements(std::int64_t working) const;
    bool is_converted(const Factor& factor) const { return *factor.tensor->kernels->type != *kernels_.type; }
    std::int64_t converted_bytes(const Term& term) const;
    std::int64_t copied_bytes(const Term& term) const;
    std::int64_t left_beside_copies(std::size_t i, std::int64_t free_bytes) const;
    /// The value of a coefficient, about; of no coefficient, one.
    std::complex<double> number(const void* element) const { return element == nullptr ? 1 : kernels_.as_number(element); }

    /// A tensor that lies elsewhere after the statement.
    struct NewPlace {
        TensorState* tensor;
        Layout layout;
        Buffer<std::byte> elements;
        std::size_t term, factor;  ///< the one that writes them
    };

    const Factor& left_;
    const std::vector<Term>& right_;
    const void* beta_;
    const ElementKernels& kernels_;
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

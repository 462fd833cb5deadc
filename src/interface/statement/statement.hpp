/// One index-string statement: C[...] = expression + beta * C[...], what is checked whether or not its tensors are sparse, and the look of
/// checked builds at its operands.
#pragma once

#include "arges/expression.hpp"
#include "base/digest.hpp"
#include "interface/world/world_state.hpp"

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

/// Both sides of a statement.
struct StatementArguments {
    const Factor& left;
    const std::vector<Term>& right;
    const void* beta;               ///< null stands for one
    const ElementKernels& kernels;  ///< of all elements

    /// Refuses what the element types or the algebra do not have, and tensors of other worlds. Local.
    /// @param is_named  the statement names the algebra
    void check(const Term& term, bool is_named) const;
    /// Likewise a left-hand side that cannot be multiplied by beta. Local.
    void check_beta() const;
    /// The value of a coefficient, about; of no coefficient, one.
    std::complex<double> number(const void* element) const { return element == nullptr ? 1 : kernels.as_number(element); }
    /// Has a factor elements that are converted to those of the statement?
    bool is_converted(const Factor& factor) const;
    /// Adds a coefficient; null: there is none.
    void add_element(Digest& digest, const void* element) const;
};

/// left = right + beta * left, reported to the world. Collective.
void run_statement(const StatementArguments& arguments);

/// After ranks have planned. Nothing in a world of one rank. Collective.
/// @throws Error if the ranks have different plans: they would wait for messages that nobody sends
void compare_plans(const WorldState& world, const Digest& plans, const std::string& statement);

}  // namespace arges

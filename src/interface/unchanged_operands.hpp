/// Statements leave their operands as they are: checked builds look.
#pragma once

#include "arges/expression.hpp"

#include <cstdint>
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

}  // namespace arges

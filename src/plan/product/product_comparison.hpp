/// Whether two products of tensors are equal, or each other's negative, whatever their elements are.
#pragma once

#include "plan/product/structural_sum.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// What could be found out.
enum class Proof { yes, no, too_long };

/// Products over the same output labels. One is plus or minus the other if its factors are the other's in some order, at indices that the
/// symmetries of the tensors relate, after the labels that are summed have been renamed. All orders, permutations and renamings are gone
/// through, those first that leave least choice; a fixed number of steps bounds the search, so that all ranks give the same answer.
class ProductComparison {
public:
    /// @param is_output  by label: not summed
    ProductComparison(std::vector<bool> is_output, bool complex) : is_output_(std::move(is_output)), complex_(complex) {}

    /// Is a = b, or a = -b? Coefficients do not count.
    Proof equal(const std::vector<StructuralFactor>& a, const std::vector<StructuralFactor>& b, bool negative) const;

private:
    std::vector<bool> is_output_;
    bool complex_;
};

}  // namespace arges

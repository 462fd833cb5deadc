/// A right-hand side as far as symmetry is concerned: which projections it needs is a question of all its terms together, with their
/// coefficients, and is answered before there are layouts; and the comparison of its products. A Product is one term with
/// its layouts.
#pragma once

#include "arges/symmetry.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// A factor of a product, or the output: its symmetry and a label for each dimension.
struct StructuralFactor {
    Symmetry symmetry;
    std::vector<int> labels;
    std::size_t tensor = 0;  ///< factors with equal numbers are the same tensor
    bool conjugated = false;
    std::string name = {};
    bool is_real = false;  ///< its elements are their own conjugates
};

struct StructuralProduct {
    std::vector<StructuralFactor> factors;
    std::complex<double> coefficient = 1;
};

/// A sum of products and the output that it goes to.
struct StructuralSum {
    std::vector<StructuralProduct> products;
    StructuralFactor output;
    int labels = 0;        ///< number of labels
    bool complex = false;  ///< conjugation matters
    std::vector<std::string> label_names;
};

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

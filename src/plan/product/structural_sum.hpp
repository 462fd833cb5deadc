/// A right-hand side as far as symmetry is concerned: which projections it needs is a question of all its terms together, with their
/// coefficients, and is answered before there are layouts. A Product is one term with its layouts.
#pragma once

#include "arges/symmetry.hpp"

#include <complex>
#include <cstddef>
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

}  // namespace arges

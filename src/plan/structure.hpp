/// What symmetry a right-hand side has by structure, and how it is projected onto the output's.
#pragma once

#include "arges/expression.hpp"
#include "arges/symmetry.hpp"
#include "plan/exchange_spec.hpp"

#include <string>
#include <vector>

namespace arges {

/// A factor of a product: its symmetry and a label for each dimension.
struct StructuralFactor {
    Symmetry symmetry;
    std::vector<int> labels;
};

/// A product of factors and the output it goes to, as far as symmetry is concerned.
struct StructuralTerm {
    std::vector<StructuralFactor> factors;
    StructuralFactor output;
    int labels = 0;             ///< number of labels
    bool complex = false;       ///< conjugation matters
    bool real_coefficient = true;  ///< conjugating R does not change the number in front
    bool zero = false;          ///< the coefficient is zero: every symmetry is there
    std::vector<std::string> label_names;
    std::string output_name;
};

/// The terms that turn the raw product R into an output with the wanted symmetry: the identity where R has it by
/// structure or the caller vouches for it, representatives of the cosets G/H for antisymmetrized() and symmetrized(), with G the
/// group of the output and H the part of it that R has.
/// @throws InvalidArgument naming the labels and the two cures if R lacks a symmetry of the output
std::vector<LabelTerm> projection_terms(const StructuralTerm& term, Projection projection);

}  // namespace arges

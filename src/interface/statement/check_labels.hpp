/// Labels of a product are checked here, or never.
#pragma once

#include "arges/expression.hpp"
#include "plan/product/product.hpp"

#include <string>
#include <vector>

namespace arges {

class World;

/// A product of the term's factors, or of none, to an output, with labels as numbers by first appearance. A term without factors is the
/// number 1. Kinds of the coefficient and of the elements are left to the caller. Local.
/// @throws InvalidArgument if an operand has too few or too many labels, a label is not made of letters, digits and
///         underscores, or a label has two extents; the message names operands, label and both extents; if the product is repeated along a
///         label and sums over one that occurs once, with neither vouched for; or if what is vouched for is not so
Product labelled_product(const Factor& output, const Term& term);
/// An output alone.
Product labelled_output(const Factor& output);

/// The table of a factor's elements, and the world that it lives in.
const ElementKernels& element_kernels(const Factor& factor);
const World& world_of(const Factor& factor);
/// Name of a factor's tensor for messages.
std::string title_of(const Factor& factor);
/// The same with its labels: A["ij"].
std::string text_of(const Factor& factor);
/// Likewise with its extents: conj A["ij"] (3 x 4).
std::string described(const Factor& factor);
/// Are its elements their own conjugates: those of a real type, and ones where a mask stores something?
bool is_real(const Factor& factor);

/// Labels that may be mistyped.
struct UnusualLabels {
    std::vector<std::string> repeated;  ///< of the output, in no factor
    std::vector<std::string> summed;    ///< once in one factor, nowhere else
};
UnusualLabels unusual_labels(const Product& product);

/// "abij", or "a1,a2" where names are longer than a letter.
std::string labels_text(const Operand& operand, const std::vector<std::string>& names);

}  // namespace arges

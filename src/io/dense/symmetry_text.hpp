/// A symmetry tree as text in files: all slots in their order, and dimensions by number.
#pragma once

#include "arges/symmetry.hpp"

#include <string>
#include <string_view>

namespace arges::io {

/// For example "product(antisym(0,1),sym(product(2,4),product(3,5)))"; "product()" for a scalar. The text is an expression
/// of Python, too, which docs/files.md makes use of.
std::string symmetry_text(const Symmetry& symmetry);

/// Reads such a text for a tensor of the given order. @throws InvalidArgument if it is damaged, or the tree is wrong
Symmetry symmetry_of_text(std::string_view text, int order);

}  // namespace arges::io

/// Labels of a product are checked here, or never.
#pragma once

#include "interface/prepared_term.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// Labels as numbers, by first appearance, with their extents.
struct CheckedLabels {
    std::vector<std::string> names;
    std::vector<std::int64_t> extents;
    std::vector<std::vector<int>> factors;
    std::vector<int> output;
};

/// Numbers the labels of a product.
/// @throws InvalidArgument if an operand has too few or too many labels, a label is not made of letters, digits and
///         underscores, or a label has two extents; the message names operands, label and both extents
CheckedLabels check_labels(const TermRequest& request);

}  // namespace arges

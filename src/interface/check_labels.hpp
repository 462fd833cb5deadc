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

/// Labels that may be mistyped.
struct UnusualLabels {
    std::vector<std::string> repeated;  ///< of the output, in no factor
    std::vector<std::string> summed;    ///< once in one factor, nowhere else
};
UnusualLabels unusual_labels(const TermRequest& request, const CheckedLabels& labels);

/// Numbers the labels of a product.
/// @throws InvalidArgument if an operand has too few or too many labels, a label is not made of letters, digits and
///         underscores, or a label has two extents; the message names operands, label and both extents; if the product is repeated along a label and
///         sums over one that occurs once, with neither vouched for; or if what is vouched for is not so
CheckedLabels check_labels(const TermRequest& request);

}  // namespace arges

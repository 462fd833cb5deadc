/// From the words of `arges plan` to a product that can be planned.
#pragma once

#include "arges/group_mapping.hpp"
#include "plan/product/product.hpp"
#include "topology/interconnect.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace arges::cli {

/// An einsum over tensors that need not exist.
struct PlanInput {
    std::string einsum;
    std::map<char, std::int64_t> sizes;   ///< of each label
    std::string type = "double";          ///< double, float or complex
    std::vector<std::string> symmetries;  ///< "B: antisym(i,j)" for the second operand
    Topology topology;
    GroupMapping group_mapping = GroupMapping::packed;
};

/// Reads "i=100,j=20".
/// @throws InvalidArgument for anything else, or a label that is given twice
std::map<char, std::int64_t> parse_sizes(const std::string& text);

/// Operands A, B, C ... and their product R, in the layouts that new tensors get.
/// @throws InvalidArgument if the parts do not fit together
Product product_of(const PlanInput& input);

}  // namespace arges::cli

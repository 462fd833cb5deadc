/// The text of an einsum.
#pragma once

#include <string>
#include <vector>

namespace arges {

/// The letters of each operand and of the output.
struct EinsumText {
    std::vector<std::string> operands;
    std::string output;
};

/// Reads "ijk,ja,ka->ia"; see einsum() for the rules.
/// @throws InvalidArgument naming the text and what is wrong with it
EinsumText parse_einsum(const std::string& text);

}  // namespace arges

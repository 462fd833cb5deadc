/// @file einsum.hpp
/// Products of any number of tensors in one call.
#pragma once

#include "arges/tensor.hpp"

#include <string>
#include <type_traits>
#include <vector>

namespace arges {

/// The letters of each operand and of the output of an einsum.
struct EinsumText {
    std::vector<std::string> operands;  ///< one label per dimension
    std::string output;                 ///< of the result
};

/// Reads "ijk,ja,ka->ia"; see einsum() for the rules. Local.
/// @throws InvalidArgument naming the text and what is wrong with it
EinsumText parse_einsum(const std::string& text);

/// A new tensor that is the product of the operands, e.g. einsum("ijk,ja,ka->ia", X, A, B).
///
/// Each letter is a label; operands are separated by commas. Labels that are not in the output are summed; a label that is repeated
/// within an operand is a diagonal. Without "->" the output has the labels that occur once, in alphabetical order ("ij,jk" means
/// "ij,jk->ik"). Blanks are ignored. Operands may have any symmetry; the result has none.
///
/// Order, fusion and grid are chosen for the product as a whole. Collective over the operands' world.
/// @throws InvalidArgument if text and operands do not fit together
template <class T>
Tensor<T> einsum(const std::string& text, const std::vector<const Tensor<T>*>& operands) {
    return Tensor<T>(einsum(text, std::vector<const AnyTensor*>(operands.begin(), operands.end())));
}

/// The same with the operands one by one.
template <class T, class... More>
requires(std::is_same_v<More, Tensor<T>>&&...) Tensor<T> einsum(const std::string& text, const Tensor<T>& first, const More&... more) {
    return einsum<T>(text, std::vector<const Tensor<T>*>{&first, &more...});
}

}  // namespace arges

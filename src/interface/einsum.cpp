#include "arges/einsum.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"
#include "comm/collective_call.hpp"
#include "interface/call_arguments.hpp"
#include "interface/tensor_state.hpp"

#include <map>

namespace arges {

template <class T>
Tensor<T> einsum(const std::string& text, const std::vector<const Tensor<T>*>& operands) {
    const bool on_several = !operands.empty() && operands[0] != nullptr && operands[0]->state();
    const CollectiveCall call(on_several ? operands[0]->state()->world->movement_communicator() : nullptr, "einsum", text,
                              TensorArguments{operands});
    const auto parsed = parse_einsum(text);
    if (operands.empty() || parsed.operands.size() != operands.size())
        throw InvalidArgument("einsum \"" + text + "\" names " + std::to_string(parsed.operands.size()) + " operands, but " +
                              std::to_string(operands.size()) + " are given");
    std::map<char, std::int64_t> extent;
    Expression<T> product(T(1));
    for (std::size_t o = 0; o < operands.size(); ++o) {
        const auto& letters = parsed.operands[o];
        if (operands[o] == nullptr)
            throw InvalidArgument("einsum \"" + text + "\": operand " + std::to_string(o + 1) + " is a null pointer; give a tensor");
        const auto& extents = operands[o]->extents();
        if (letters.size() != extents.size())
            throw InvalidArgument("einsum \"" + text + "\": operand " + std::to_string(o + 1) + " has " + std::to_string(extents.size()) +
                                  " dimensions, but " + std::to_string(letters.size()) + " labels");
        for (std::size_t d = 0; d < letters.size(); ++d) extent.emplace(letters[d], extents[d]);
        product = product * (*operands[o])[letters];
    }
    std::vector<std::int64_t> extents;
    for (char c : parsed.output) extents.push_back(extent.at(c));
    Tensor<T> result(operands[0]->world(), extents, "einsum " + text);
    result[parsed.output] = product;
    return result;
}

#define ARGES_INSTANTIATE(T) template Tensor<T> einsum(const std::string&, const std::vector<const Tensor<T>*>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges

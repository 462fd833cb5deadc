/// What the arguments of public calls consist of, for CollectiveCall: whatever is handed to it is compared as a whole. And arguments of
/// which not every rank has one.
#pragma once

#include "arges/element_type.hpp"
#include "arges/expression.hpp"
#include "base/digest.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace arges {

/// One element of a type that is known at run time. Of types that are no numbers nothing can be told: their bytes may have gaps.
struct ElementArgument {
    const ElementKernels& kernels;
    const void* element;  ///< null: none
};
inline void add_to(Digest& digest, const ElementArgument& argument) {
    digest.add(argument.element == nullptr ? std::string() : argument.kernels.text(argument.element));
}

inline void add_to(Digest& digest, const Symmetry& symmetry) { digest.add(symmetry.to_string()); }

/// A tensor of a call: which one it is, or that there is none.
inline void add_to(Digest& digest, const AnyTensor& tensor) { digest.add(tensor.any_state() ? tensor.any_state()->number : 0); }

/// Tensors by their addresses, null ones too.
template <class Tensor>
struct TensorArguments {
    explicit TensorArguments(const std::vector<const Tensor*>& all) : tensors(all) {}
    const std::vector<const Tensor*>& tensors;
};
template <class Tensor>
void add_to(Digest& digest, const TensorArguments<Tensor>& arguments) {
    for (const auto* tensor : arguments.tensors) tensor == nullptr ? digest.add(0) : digest.add(*tensor);
    digest.add(arguments.tensors.size());
}

/// A labelled tensor: which one, its labels, and what is done with it.
inline void add_to(Digest& digest, const Factor& factor) {
    if (factor.tensor) digest.add(*factor.tensor);
    if (factor.sparse) digest.add(*factor.sparse);
    digest.add(factor.labels.names()).add(factor.conjugated).add(factor.is_mask).add(factor.is_complement).add(factor.is_actor);
}

/// Both sides of a statement. Letters may differ between ranks: labels count by where each occurs first.
struct FactorArguments {
    const Factor& left;
    const std::vector<Factor>& operands;
};
inline void add_to(Digest& digest, const FactorArguments& arguments) {
    std::vector<std::string> known;
    const auto add = [&](Factor factor) {
        auto names = factor.labels.names();
        for (auto& name : names) {
            const auto found = std::find(known.begin(), known.end(), name);
            if (found == known.end()) known.push_back(name);
            name = std::to_string(std::find(known.begin(), known.end(), name) - known.begin());
        }
        factor.labels = Labels(std::move(names));
        digest.add(factor);
    };
    add(arguments.left);
    for (const auto& operand : arguments.operands) add(operand);
}

template <class V>
void add_to(Digest& digest, const std::optional<V>& value) {
    digest.add(value.has_value());
    if (value) digest.add(*value);
}

/// Compares the factors of elements among the ranks that give elements. Collective; null: there is one rank only.
/// @throws InvalidArgument on every rank if they differ @param where  begins the message
void require_same_factor(const Communicator* ranks, const ElementKernels& kernels, bool gives_elements, const void* factor,
                         const std::string& where);

/// Compares what each world gives, of several whose ranks call together: its ranks must all give the same tensor and arguments.
/// Collective over `meeting`; null: there is one rank only. @param own  the world of what this rank gives; null: it gives nothing
/// @throws InvalidArgument on every rank if ranks of one world give different ones, or only some give any
void require_same_in_worlds(const Communicator* meeting, const WorldState* own, std::uint64_t digest, const std::string& where);

}  // namespace arges

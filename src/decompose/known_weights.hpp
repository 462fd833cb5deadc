/// Weights of the elements of sparse tensors that are decomposed.
#pragma once

#include "arges/known_elements.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace arges::decompose {

/// With weights elements are known or unknown. Pure.
template <class Options, class Tensor>
Options with_missing(Options options, const Tensor* weights) {
    options.missing = options.missing || weights;
    return options;
}

/// Weights of the nonzeros of this rank, and bytes that are held beside them, and that finding them took.
template <class T>
struct KnownWeights {
    std::vector<T> values;
    std::int64_t held = 0, finding = 0;

    /// Of a decomposition that takes so many bytes beside them. Local.
    std::int64_t with(std::int64_t bytes) const { return std::max(finding, held + bytes); }
};

/// The elements that have a weight above 0, those that the tensor does not store as zeros, and their weights.
template <class T>
struct WeightedElements {
    SparseTensor<T> tensor;
    KnownWeights<T> weights;
};

/// Collective. @param gives_up the tensor loses its nonzeros afterwards @throws as masked()
template <class T>
WeightedElements<T> weighted_elements(const SparseTensor<T>& tensor, bool gives_up, const SparseTensor<T>& weights) {
    auto& source = state_of(tensor, "weights");
    WeightedElements<T> result{masked(tensor, weights), {}};
    result.weights.held = state_of(weights, "weights").bytes() + (gives_up ? 0 : source.bytes());
    result.weights.finding = masked_memory(tensor, weights);
    source.comm().agree([&] {  // in the order of masked()
        std::ranges::copy_if(weights.local_values(), std::back_inserter(result.weights.values), [](T value) { return value > 0; });
    });
    return result;
}

}  // namespace arges::decompose

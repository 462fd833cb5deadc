/// Tensors without symmetry whose dimensions do not lie in their order, as those of slices and concatenations of symmetric tensors do not.
#pragma once

#include "arges/tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace arges::test {

/// A tree over all dimensions that relates none of them, with the last one first.
inline Symmetry turned(int order) {
    std::vector<SymmetryNode> leaves;
    for (int d = order; d-- > 0;) leaves.push_back(leaf(d));
    return Symmetry(order, product(leaves));
}

/// A block beside the diagonal of a tensor that is symmetric in two dimensions, the later one first.
template <class T>
Tensor<T> as_slice(const Tensor<T>& tensor, int first, int second) {
    auto extents = tensor.extents();
    std::vector<std::int64_t> begin(extents.size(), 0);
    const auto a = static_cast<std::size_t>(std::min(first, second)), b = static_cast<std::size_t>(std::max(first, second));
    begin[b] = extents[a];
    const auto end = [&] {
        auto result = begin;
        for (std::size_t d = 0; d < result.size(); ++d) result[d] += extents[d];
        return result;
    }();
    extents[a] = extents[b] = end[b];
    const Symmetry tree(tensor.order(), symmetric({leaf(static_cast<int>(b)), leaf(static_cast<int>(a))}));
    Tensor<T> whole(tensor.world(), extents, tree, tensor.name());
    whole.set_slice(begin, tensor);
    return whole.slice(begin, end);
}

/// Two parts, the first of them with turned dimensions.
template <class T>
Tensor<T> as_concatenation(const Tensor<T>& tensor, int dimension) {
    const auto d = static_cast<std::size_t>(dimension);
    std::vector<std::int64_t> begin(tensor.extents().size(), 0), end = tensor.extents();
    const auto last = end;
    end[d] = last[d] / 2;
    const auto first = tensor.slice(begin, end).with_symmetry(turned(tensor.order()));
    begin[d] = end[d];
    return concatenated(dimension, first, tensor.slice(begin, last));
}

/// The same elements in a tensor of one of these kinds, or the tensor itself. It has no symmetry. Collective.
template <class T>
Tensor<T> with_turned_slots(const Tensor<T>& tensor, std::uint64_t random) {
    constexpr std::int64_t most = 1 << 13;
    const int order = tensor.order();
    if (order < 2 || tensor.size() == 0) return tensor;
    const auto digit = [&](std::uint64_t shift, int count) {
        return static_cast<int>((random >> shift) % static_cast<std::uint64_t>(count));
    };
    const int first = digit(2, order), second = (first + 1 + digit(8, order - 1)) % order;
    switch (random % 4) {
    case 0: return tensor.with_symmetry(turned(order));
    case 1: return tensor.size() < most / 8 ? as_slice(tensor, first, second) : tensor;
    case 2: return as_concatenation(tensor, first);
    default: return tensor;
    }
}

}  // namespace arges::test

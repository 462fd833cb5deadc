/// What is said of elements of a dense tensor that are no finite numbers, and weights of those that a sparse one stores.
#pragma once

#include "arges/known_elements.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// "shop: 3 of 24 elements are not finite (2 NaN, 1 infinite), the first is (0, 1), counted from 0". @param size  of the tensor. Pure.
std::string not_finite_text(const std::string& title, std::int64_t size, const NotFinite& found);

/// Weights of the elements that this rank stores; 0: none. Collective. @throws as masked()
template <class T>
std::vector<T> weights_of_stored(const SparseTensor<T>& tensor, const SparseTensor<T>& weights);

}  // namespace arges

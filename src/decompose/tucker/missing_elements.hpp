/// Unknown elements of a dense tensor that is decomposed.
#pragma once

#include "arges/tensor.hpp"

namespace arges::decompose {

/// Sums over known elements.
struct KnownSums {
    double count = 0, sum = 0, squares = 0;
};
/// Of the elements that are not NaN. Collective.
template <class T>
KnownSums known_sums(const Tensor<T>& tensor);

/// A copy with this value where elements are NaN. Collective.
template <class T>
Tensor<T> filled_with(const Tensor<T>& tensor, double value);

/// What a model leaves.
struct Residuals {
    double known = 0;   ///< sum of the squares of x - model over known elements
    double filled = 0;  ///< sum of the squares of all elements of the filled tensor
};
/// Fills the unknown elements of a tensor with those of a model. Collective.
/// @param tensor  with NaN @param model, filled  on the same layout, with plain blocks
template <class T>
Residuals refill(const Tensor<T>& tensor, const Tensor<T>& model, Tensor<T>& filled);

}  // namespace arges::decompose

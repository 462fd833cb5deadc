/// Unknown elements of a dense tensor that is decomposed, and weights of the others.
#pragma once

#include "arges/tensor.hpp"

#include <cstdint>
#include <optional>

namespace arges::decompose {

/// Sums over known elements, with weights.
struct KnownSums {
    double count = 0, sum = 0, squares = 0;
};

/// What a model leaves.
struct Residuals {
    double known = 0;   ///< sum of weight (x - model)^2 over known elements
    double filled = 0;  ///< sum of the squares of all elements of the filled tensor
};

/// Elements of a dense tensor, some of which are NaN, that is filled with those of a model m: an element x with the weight w becomes
/// m + w / w_max (x - m), an unknown one m. A model that is nearer to the filled tensor than m has smaller weighted residuals (Kiers,
/// Psychometrika 62, 1997). All calls are collective unless marked local.
template <class T>
class KnownPart {
public:
    /// @param tensor  has plain blocks @param weights of the same lengths; nullptr: all 1
    KnownPart(Tensor<T> tensor, const Tensor<T>* weights);

    /// With weights divided by the largest. Local.
    const KnownSums& sums() const { return sums_; }
    /// A tensor that is filled with the mean of known elements.
    Tensor<T> filled() const;
    /// To the layout of another tensor, which has plain blocks; returns the bytes that this rank sends.
    std::int64_t move_to(const Tensor<T>& other);
    /// Fills a tensor on the layout that this is on. @param model  elements of this rank
    Residuals refill(const T* model, Tensor<T>& filled) const;

private:
    std::optional<Tensor<T>> known_, weights_;  // the first one with NaN
    double largest_ = 1;
    KnownSums sums_;
};

}  // namespace arges::decompose

/// The unknowns of coupled cluster with singles and doubles.
#pragma once

#include "arges/tensor.hpp"

namespace arges::chemistry {

/// Singles t1(ai) and doubles t2(abij), or residuals of the same shape.
struct Amplitudes {
    Tensor<double> t1;  ///< v x o
    Tensor<double> t2;  ///< v x v x o x o, antisym(a,b) antisym(i,j)

    /// Sum over all elements of this * other.
    double dot(const Amplitudes& other) const { return t1.dot(other.t1) + t2.dot(other.t2); }
    /// this += factor * other.
    void add(double factor, const Amplitudes& other) {
        t1["ai"] += factor * other.t1["ai"];
        t2["abij"] += factor * other.t2["abij"];
    }
};

}  // namespace arges::chemistry

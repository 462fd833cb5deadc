/// Several tensors as one vector.
#pragma once

#include "arges/tensor.hpp"

#include <string_view>
#include <vector>

namespace arges::chemistry {

/// Tensors of several orders, found by their names, that are added, scaled and measured together:
/// the amplitudes T1, T2, T3, ... of coupled cluster, or residuals of the same shapes. Operations
/// of two sets go by position and need equal shapes. Calls are collective unless marked local.
class TensorSet {
public:
    /// No tensors. Local.
    TensorSet() = default;
    /// Takes tensors with distinct names. Local.
    /// @throws InvalidArgument if two have the same name
    explicit TensorSet(std::vector<Tensor<double>> members);

    /// The tensors in order. Local.
    const std::vector<Tensor<double>>& members() const { return members_; }
    /// The tensors in order, to be changed. Local.
    std::vector<Tensor<double>>& members() { return members_; }
    /// True if a tensor has this name. Local.
    bool contains(std::string_view name) const;
    /// The tensor with this name. Local.
    /// @throws InvalidArgument if there is none
    const Tensor<double>& operator[](std::string_view name) const;
    /// The tensor with this name, to be changed. Local.
    Tensor<double>& operator[](std::string_view name);

    /// Sum over all elements of all tensors of this * other.
    double dot(const TensorSet& other) const;
    /// Square root of the sum of the squares of all elements.
    double norm() const;
    /// this *= factor.
    void scale(double factor);
    /// this += factor * other.
    void add(double factor, const TensorSet& other);

private:
    std::vector<Tensor<double>> members_;
};

}  // namespace arges::chemistry

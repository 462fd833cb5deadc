/// @file chemistry/tensor_set.hpp
/// Several tensors as one vector.
#pragma once

#include "arges/tensor.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arges::chemistry {

/// Tensors of several orders, found by their names, that are added, scaled and measured together:
/// the amplitudes T1, T2, T3, ... of coupled cluster, or residuals of the same shapes. Operations
/// of two sets go by position and throw InvalidArgument unless the shapes are equal. Calls are collective unless marked local.
class TensorSet {
public:
    /// No tensors. Local.
    TensorSet() = default;
    /// Takes tensors and gives them names: `TensorSet t({{"T1", t1}, {"T2", t2}});`
    /// @throws InvalidArgument if two have the same name, or one has no contents
    explicit TensorSet(std::vector<std::pair<std::string, Tensor<double>>> members);
    TensorSet(const TensorSet& other);                     ///< Copies the tensors with their names.
    TensorSet& operator=(const TensorSet& other);          ///< Replaces the tensors and their names.
    TensorSet(TensorSet&&) noexcept = default;             ///< Moves the tensors. Local.
    TensorSet& operator=(TensorSet&&) noexcept = default;  ///< Moves the tensors. Local.
    ~TensorSet() = default;

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

/// @file residuals.hpp
/// What a model leaves of a tensor, by slices.
#pragma once

#include "arges/cpd.hpp"
#include "arges/tucker.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// What the elements of a sparse tensor are that it does not store.
enum class NotStored : std::uint8_t {
    zeros,   ///< zeros, as for cp_decompose()
    unknown  ///< not known, as for complete(): they count nowhere
};

/// A slice of a mode.
struct SliceResidual {
    std::int64_t slice = 0;     ///< from 0
    std::int64_t elements = 0;  ///< stored ones of a sparse tensor, else all
    double squares = 0;         ///< sum of the squares of the tensor's elements
    double residual = 0;        ///< sum of the squares of tensor less model
};

/// What a model leaves. The same on every rank.
struct Residuals {
    std::int64_t elements = 0;                        ///< as of slices
    double squares = 0;                               ///< of the tensor
    double residual = 0;                              ///< of tensor less model
    std::vector<std::vector<SliceResidual>> worst{};  ///< by mode: slices with the largest residuals, largest first
};

/// Compares a sparse tensor with a CP model, biases included. Collective.
/// @param tensor what the model is of
/// @param model  on the same world
/// @param others what elements are that are not stored
/// @param count  of slices of a mode at most
/// @throws InvalidArgument on every rank for other lengths, for a tensor on another world, or for zeros and a model with biases
template <class T>
Residuals residuals(const SparseTensor<T>& tensor, const CpModel<T>& model, NotStored others, std::int64_t count);
/// Likewise with a Tucker model, whose elements are computed at those that are stored.
template <class T>
Residuals residuals(const SparseTensor<T>& tensor, const TuckerModel<T>& model, NotStored others, std::int64_t count);
/// Likewise a dense tensor; the model is multiplied out beside it. Collective.
template <class T>
Residuals residuals(const Tensor<T>& tensor, const CpModel<T>& model, std::int64_t count);
/// Likewise a Tucker model.
template <class T>
Residuals residuals(const Tensor<T>& tensor, const TuckerModel<T>& model, std::int64_t count);

}  // namespace arges

/// @file known_elements.hpp
/// Which elements of a dense array are known, and the sparse tensor of these.
#pragma once

#include "arges/sparse_io.hpp"
#include "arges/tensor.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// Elements that are no finite numbers. The same on every rank.
struct NotFinite {
    std::int64_t nan = 0;                  ///< how many are NaN
    std::int64_t infinite = 0;             ///< how many are infinite
    std::vector<std::int64_t> first{};     ///< index of the first of them, from 0, the last one fastest; none: there are none
    std::vector<std::int64_t> infinity{};  ///< of the first infinite one

    /// All of them.
    std::int64_t count() const { return nan + infinite; }
};

/// Looks through a dense tensor of float or double. Collective.
template <class T>
NotFinite not_finite(const Tensor<T>& dense);

/// Which elements of a dense array are missing, and so are not stored in a sparse tensor of it.
enum class MissingElements : std::uint8_t {
    none,   ///< none: all are stored, zeros too
    zeros,  ///< zeros
    nan,    ///< those that are NaN; all others are stored, zeros too
};

/// The sparse tensor of the elements that are not missing. Collective.
/// @param dense   of float or double
/// @param missing what stands for a missing element
/// @throws InvalidArgument on every rank for infinite elements, and for NaN where these are not the missing ones: with their number and
///         the first place; OutOfMemory
template <class T>
SparseTensor<T> known_elements(const Tensor<T>& dense, MissingElements missing);

/// The elements for which a mask of the same lengths is not zero: a dense tensor has NaN at the others, a sparse one stores those that the
/// mask stores, zeros too where the tensor stores none. Collective.
/// @param tensor of float or double
/// @param mask   numbers that are not negative, without symmetry if it is sparse; weights are such numbers
/// @return a tensor without symmetry; a sparse one lies as the mask, with its nonzeros in the same order once that has dropped its zeros
/// @throws InvalidArgument on every rank for other lengths or worlds, and for negative and infinite numbers and NaN in the mask;
///         OutOfMemory
template <class T>
Tensor<T> masked(const Tensor<T>& tensor, const Tensor<T>& mask);
/// Likewise.
template <class T>
SparseTensor<T> masked(const SparseTensor<T>& tensor, const SparseTensor<T>& mask);

/// Bytes that masked() of sparse tensors takes on this rank, both and the result included, an upper bound. Local.
template <class T>
std::int64_t masked_memory(const SparseTensor<T>& tensor, const SparseTensor<T>& mask);

/// The known elements of the file of a dense tensor, as read_sparse() gives those of a sparse one; duplicates there are none. Collective.
/// @param type    float or double
/// @param world   of the tensor
/// @param path    as of read_tensor()
/// @param missing as of known_elements()
/// @param report gets what was found: the form ".npy", "HDF5" or "checkpoint", indices from 0, and of entries those that are stored
/// @throws as read_tensor() and known_elements()
AnyTensor read_known_elements(ElementType type, const World& world, const std::string& path, MissingElements missing, ReadReport& report);

/// Bytes that known_elements() takes beside the dense tensor on a rank with so many elements of an order, at most. Pure.
std::int64_t known_elements_memory(std::int64_t elements, int order, std::int64_t element_bytes);

}  // namespace arges

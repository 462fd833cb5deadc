/// Elements of sparse tensors by keys and by index tuples, as callers give them.
#pragma once

#include "arges/sparse_tensor.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace arges {

/// @throws InvalidArgument for a tensor of more elements than there are keys. Local.
void check_keys(const AnyTensor& tensor);
/// @throws InvalidArgument for an index that the mode, counted from 0, does not have. Local.
void check_index(std::int64_t index, std::int64_t length, std::size_t mode, const std::string& title);

/// Keys of nonzeros, where they have keys. Local.
std::vector<std::int64_t> keys_of(const sparse::NonzeroIndices& nonzeros);
/// The elements that keys in range name. Local.
sparse::NonzeroIndices coordinates_of(std::span<const std::int64_t> keys, const std::vector<std::int64_t>& lengths);
/// The elements that a caller's keys name. Local. @throws InvalidArgument as check_keys(), and for a key out of range
sparse::NonzeroIndices elements_of(const AnyTensor& tensor, std::span<const std::int64_t> keys);
/// The elements that a caller's tuples name, one after the other. Local. @throws InvalidArgument for an index out of range
sparse::NonzeroIndices elements_at(const AnyTensor& tensor, std::span<const std::int64_t> tuples);

}  // namespace arges

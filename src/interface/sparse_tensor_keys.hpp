/// Keys of elements of sparse tensors.
#pragma once

#include "arges/sparse_tensor.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges {

/// @throws InvalidArgument for a tensor of more elements than there are keys. Local.
void check_keys(const AnySparseTensor& tensor);

/// The elements that keys in range name. Local.
sparse::NonzeroIndices coordinates_of(std::span<const std::int64_t> keys, const std::vector<std::int64_t>& lengths);

}  // namespace arges

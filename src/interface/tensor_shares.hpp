/// Elements of a tensor in an order of dimensions, in shares of the ranks.
#pragma once

#include "arges/tensor.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// An order of a tensor's elements, and which of them each rank takes: those from bounds[rank] to bounds[rank + 1].
struct Shares {
    std::vector<int> order;  ///< all dimensions, the fastest first
    std::vector<std::int64_t> bounds;
};

/// Copies this rank's share to an array of its length. Collective. @throws InvalidArgument for another order or bounds than the tensor's
void read_share(const AnyTensor& tensor, const Shares& shares, void* to);

/// Sets all elements of a tensor without symmetry, on each rank those of its share. Collective. @throws InvalidArgument likewise
void write_share(AnyTensor& tensor, const Shares& shares, const void* from);

}  // namespace arges

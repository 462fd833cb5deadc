/// Parts of a tensor: ranges of indices, and which of them may be written into one with symmetry; elements in an order of dimensions, in
/// shares of the ranks.
#pragma once

#include "arges/symmetry.hpp"
#include "arges/tensor.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// begin[d] <= x[d] < end[d].
struct Ranges {
    const std::vector<std::int64_t>& begin;
    const std::vector<std::int64_t>& end;
    bool equal(int a, int b) const { return begin[a] == begin[b] && end[a] == end[b]; }
    bool disjoint(int a, int b) const { return end[a] <= begin[b] || end[b] <= begin[a]; }
};

/// @throws InvalidArgument unless the ranges are within the extents
void check_ranges(const std::string& title, const std::vector<std::int64_t>& extents, const Ranges& ranges);

/// Writing a slice is defined if each permutation of the tensor's symmetry maps the slice onto itself and the part has that
/// symmetry, with the zeros of a hollow node, or maps it to elements outside. @throws InvalidArgument else
void check_part(const std::string& title, const Symmetry& symmetry, const Symmetry& part, const Ranges& ranges);

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

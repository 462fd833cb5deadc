/// Ranges of indices, and which of them may be written into a tensor with symmetry.
#pragma once

#include "arges/symmetry.hpp"

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

}  // namespace arges

/// How many elements of the full tensor a stored element stands for, and which stored elements are real.
#pragma once

#include "layout/slot_layout.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// True if every local index of a slot stands for one element: nothing is exchanged, and there is no padding.
bool has_single_orbits(const SlotLayout& slot);

/// Orbit sizes of the local indices of a slot at a coordinate; zero for padding.
/// Example: sym(a,b) of extent 2 on one coordinate stores (0,0), (0,1), (1,1): sizes 1, 2, 1.
std::vector<double> orbit_sizes(const SlotLayout& slot, std::int64_t coordinate);

/// Local indices of a slot, at a coordinate, whose elements are real by symmetry; ascending.
/// Example: hermitian(a,b) of extent 2 on one coordinate: 0 and 2, which are (0,0) and (1,1).
std::vector<std::int64_t> real_indices(const SlotLayout& slot, std::int64_t coordinate);

}  // namespace arges

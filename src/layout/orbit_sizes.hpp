/// How many elements of the full tensor a stored element stands for.
#pragma once

#include "layout/slot_layout.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Orbit sizes of the local indices of a slot at a place; zero for padding.
/// Example: sym(a,b) of extent 2 on one place stores (0,0), (0,1), (1,1): sizes 1, 2, 1.
std::vector<double> orbit_sizes(const SlotLayout& slot, std::int64_t place);

}  // namespace arges

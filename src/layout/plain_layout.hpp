/// Layouts whose arrays are plain ones.
#pragma once

#include "layout/layout.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Is the array of each rank a plain one over the tensor's dimensions, the first fastest? Without symmetry, slots may still be in another
/// order: a slice of a tensor with sym(b,a) has the slots 1, 0. Whoever reads elements by strides of dimensions asks this, not for
/// symmetry.
bool is_plain(const Layout& layout);

/// The index of an element of a rank in a plain layout; each dimension has every grid_length()-th index there.
std::vector<std::int64_t> plain_index(const Layout& layout, std::int64_t rank, std::int64_t offset);

}  // namespace arges

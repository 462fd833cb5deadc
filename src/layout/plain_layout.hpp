/// Layouts whose arrays are plain ones.
#pragma once

#include "layout/layout.hpp"

namespace arges {

/// Is the array of each rank a plain one over the tensor's dimensions, the first fastest? Without symmetry, slots may still be in another
/// order: a slice of a tensor with sym(b,a) has the slots 1, 0. Whoever reads elements by strides of dimensions asks this, not for
/// symmetry.
bool is_plain(const Layout& layout);

}  // namespace arges

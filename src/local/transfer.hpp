/// Moves elements between two strided or listed sets of places.
#pragma once

#include "arges/element_kernels.hpp"

#include <cstdint>
#include <span>

namespace arges::local {

/// For every combination of axis entries: to[sum of to offsets] (+)= alpha * sign * conj?(from[sum
/// of from offsets]). The bits of all factors and of the mode combine by exclusive or. No axes
/// means one element; an axis without entries means none.
///
/// Example, a 2 x 3 column-major matrix transposed: axes {2, 1, 3} and {3, 2, 1} as {count,
/// from_stride, to_stride}.
///
/// Every target is written once, except that an accumulating transfer may repeat a target in
/// consecutive entries of a listed axis, or have an axis of target stride 0, which sums over it.
/// `from` and `to` may be the same array if every element goes to its own place; otherwise they
/// must not overlap. A large transfer uses all OpenMP threads; its result does not depend on their
/// number.
/// @throws InvalidArgument if an axis has one list but not the other
template <class T>
void transfer(std::span<const TransferAxis> axes, const T* from, T* to, T alpha, TransferMode mode);

}  // namespace arges::local

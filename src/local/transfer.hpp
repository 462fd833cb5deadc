/// Moves elements between two strided or listed sets of places, and converts them to another number type.
#pragma once

#include "arges/element_kernels.hpp"

#include <cstdint>
#include <span>
#include <typeinfo>

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

/// True if every value of the one type has the same value in the other (is_lossless in arges/scalar.hpp), among float, double, long double,
/// the complex types, std::int16_t, std::int32_t, std::int64_t and bool.
bool can_convert(const std::type_info& from, const std::type_info& to);

/// Converts `count` elements to those of a table. Threaded. @throws InvalidArgument unless can_convert()
void convert_elements(const std::type_info& from, const ElementKernels& to, const void* source, void* target, std::int64_t count);

/// Likewise on the host between any of these types, with the digits that the other has; bool from what is not zero. Threaded.
/// @throws InvalidArgument for complex elements as real ones, and for a number that is not within an integer type
void round_elements(const std::type_info& from, const std::type_info& to, const void* source, void* target, std::int64_t count);

}  // namespace arges::local

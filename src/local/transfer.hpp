/// Moves elements between two strided or listed sets of places.
#pragma once

#include <cstdint>
#include <span>

namespace arges::local {

/// One axis of a transfer: entry i reads at from_offset(i) and writes at to_offset(i).
struct TransferAxis {
    std::int64_t count = 0;              ///< number of entries
    std::int64_t from_stride = 0;        ///< entry i reads at i * from_stride when there is no list
    std::int64_t to_stride = 0;          ///< entry i writes at i * to_stride when there is no list
    const std::int64_t* from = nullptr;  ///< explicit offsets (both lists or none)
    const std::int64_t* to = nullptr;    ///< explicit offsets (both lists or none)
    const std::uint8_t* factor =
        nullptr;  ///< per entry: bit 0 negates, bit 1 conjugates; null: none
};

/// What a transfer does to the target besides writing.
struct TransferMode {
    bool conjugate = false;   ///< conjugate every element that is read
    bool accumulate = false;  ///< add to the target
};

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

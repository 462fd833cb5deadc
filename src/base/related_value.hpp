/// Values of elements that symmetry relates.
#pragma once

#include "arges/scalar.hpp"

#include <complex>
#include <cstdint>
#include <type_traits>

namespace arges {

/// The value of an element from that of its representative, or the other way round.
template <class T>
T related_value(bool negative, bool conjugate, T value) {
    if constexpr (!std::is_same_v<T, real_of<T>>)
        if (conjugate) value = std::conj(value);
    return negative ? -value : value;
}

/// A factor as bits: bit 0 negates, bit 1 conjugates.
inline std::uint8_t factor_bits(bool negative, bool conjugate) {
    return static_cast<std::uint8_t>((negative ? 1 : 0) + (conjugate ? 2 : 0));
}

/// related_value() from the bits of a factor.
template <class T>
T related_value(std::uint8_t factor, T value) {
    return related_value((factor & 1U) != 0, (factor & 2U) != 0, value);
}

}  // namespace arges

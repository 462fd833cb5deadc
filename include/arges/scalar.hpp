/// @file scalar.hpp
/// Element types.
#pragma once

#include <complex>
#include <limits>
#include <type_traits>

namespace arges {

/// The real type that belongs to an element type: double for std::complex<double>.
template <class T>
struct RealOf {
    using type = T;  ///< the type itself
};
/// @cond
template <class T>
struct RealOf<std::complex<T>> {
    using type = T;
};
/// @endcond
/// Shorthand for RealOf.
template <class T>
using real_of = typename RealOf<T>::type;

/// Numbers of one type that have the same value in another: float and double, integers and wider ones, real and complex.
template <class From, class To>
inline constexpr bool is_lossless = [] {
    using F = real_of<From>;
    using T = real_of<To>;
    if constexpr (!std::is_arithmetic_v<F> || !std::is_arithmetic_v<T>) {
        return false;
    } else {
        constexpr bool keeps_imaginary = std::is_same_v<From, F> || !std::is_same_v<To, T>;
        constexpr bool keeps_fractions = std::is_floating_point_v<T> || !std::is_floating_point_v<F>;
        constexpr bool keeps_digits = std::numeric_limits<F>::digits <= std::numeric_limits<T>::digits;
        constexpr bool keeps_sign = std::is_signed_v<T> || !std::is_signed_v<F>;
        return keeps_imaginary && keeps_fractions && keeps_digits && keeps_sign;
    }
}();

}  // namespace arges

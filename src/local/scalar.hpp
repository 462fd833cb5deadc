/// Scalar arithmetic that is the same for real and complex element types.
#pragma once

#include "arges/scalar.hpp"

#include <complex>
#include <type_traits>

namespace arges::local {

template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_of<T>>;

/// a * b without the checks for infinities of std::complex, which keep loops from vectorizing.
template <class T>
inline T multiply(T a, T b) {
    if constexpr (is_complex<T>)
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    else
        return a * b;
}

/// The complex conjugate; a real number is its own.
template <class T>
inline T conjugate(T a) {
    if constexpr (is_complex<T>)
        return {a.real(), -a.imag()};
    else
        return a;
}

}  // namespace arges::local

/// @file scalar.hpp
/// Element types.
#pragma once

#include <complex>

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

}  // namespace arges

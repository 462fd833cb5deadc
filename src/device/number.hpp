/// Numbers in functions that run on a device, where std::complex has no arithmetic.
#pragma once

#include "arges/scalar.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define ARGES_ON_DEVICE __host__ __device__
#else
#define ARGES_ON_DEVICE
#endif

namespace arges::device {

/// Lies in memory as std::complex<R> does.
template <class R>
struct alignas(2 * sizeof(R)) Complex {
    R re = 0, im = 0;
    Complex() = default;
    ARGES_ON_DEVICE Complex(R real, R imaginary = 0) : re(real), im(imaginary) {}  // NOLINT: as std::complex
    template <class S>
    ARGES_ON_DEVICE explicit Complex(const Complex<S>& other) : re(static_cast<R>(other.re)), im(static_cast<R>(other.im)) {}

    ARGES_ON_DEVICE friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    ARGES_ON_DEVICE friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
    ARGES_ON_DEVICE friend Complex operator-(Complex a) { return {-a.re, -a.im}; }
    ARGES_ON_DEVICE friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
    ARGES_ON_DEVICE friend bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
    ARGES_ON_DEVICE friend bool operator!=(Complex a, Complex b) { return !(a == b); }
    /// By Smith's way, which does not overflow where the quotient does not.
    ARGES_ON_DEVICE friend Complex operator/(Complex a, Complex b) {
        const bool by_real = std::fabs(b.re) >= std::fabs(b.im);
        const R large = by_real ? b.re : b.im, small = by_real ? b.im : b.re;
        const R ratio = small / large, scale = large + small * ratio;
        if (by_real) return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
        return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
    }
};

/// Functions of complex numbers: principal values.
template <class R>
ARGES_ON_DEVICE Complex<R> exp(Complex<R> x) {
    const R size = std::exp(x.re);
    return x.im == 0 ? Complex<R>(size, x.im) : Complex<R>(size * std::cos(x.im), size * std::sin(x.im));
}
template <class R>
ARGES_ON_DEVICE Complex<R> log(Complex<R> x) {
    return {std::log(std::hypot(x.re, x.im)), std::atan2(x.im, x.re)};
}
template <class R>
ARGES_ON_DEVICE Complex<R> sqrt(Complex<R> x) {
    const R size = std::hypot(x.re, x.im);
    if (size == 0) return {0, x.im};
    const R larger = std::sqrt((size + std::fabs(x.re)) / 2), smaller = std::fabs(x.im) / (2 * larger);
    return x.re >= 0 ? Complex<R>(larger, std::copysign(smaller, x.im)) : Complex<R>(smaller, std::copysign(larger, x.im));
}

template <class N>
struct Parts {
    using real = N;
    using wide = double;
    static constexpr bool is_complex = false;
};
template <class R>
struct Parts<Complex<R>> {
    using real = R;
    using wide = Complex<double>;
    static constexpr bool is_complex = true;
};
template <class N>
inline constexpr bool is_complex = Parts<N>::is_complex;

template <class T>
struct NumberOf {
    using type = T;
};
template <class R>
struct NumberOf<std::complex<R>> {
    using type = Complex<R>;
};
/// What stands for an element type on the device.
template <class T>
using number_of = typename NumberOf<T>::type;

/// A number times a real one, part by part.
template <class N>
ARGES_ON_DEVICE N times_real(typename Parts<N>::real factor, N x) {
    if constexpr (is_complex<N>)
        return {factor * x.re, factor * x.im};
    else
        return factor * x;
}

/// Bit 0 of the factor negates, bit 1 conjugates.
template <class N>
ARGES_ON_DEVICE N related(unsigned factor, N x) {
    if constexpr (is_complex<N>)
        if ((factor & 2U) != 0) x.im = -x.im;
    return (factor & 1U) != 0 ? -x : x;
}

/// The real part, and an imaginary part of zero, or NaN where it is not finite.
template <class N>
ARGES_ON_DEVICE N without_imaginary(N x) {
    if constexpr (is_complex<N>) x.im = x.im - x.im;
    return x;
}

template <class N>
ARGES_ON_DEVICE bool is_nan(N x) {
    return x != x;
}

/// Absolute value; NaN where a part is.
template <class N>
ARGES_ON_DEVICE typename Parts<N>::real magnitude(N x) {
    if constexpr (is_complex<N>)
        return is_nan(x) ? x.re + x.im : std::hypot(x.re, x.im);
    else
        return std::fabs(x);
}

/// Square of the absolute value of x * 2^exponent.
template <class N>
ARGES_ON_DEVICE double square(N x, int exponent) {
    if constexpr (is_complex<N>) {
        const double re = exponent == 0 ? x.re : std::ldexp(static_cast<double>(x.re), exponent);
        const double im = exponent == 0 ? x.im : std::ldexp(static_cast<double>(x.im), exponent);
        return re * re + im * im;
    } else {
        const double value = exponent == 0 ? x : std::ldexp(static_cast<double>(x), exponent);
        return value * value;
    }
}

}  // namespace arges::device

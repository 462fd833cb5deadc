/// @file algebra_concepts.hpp
/// Element types and algebras of the user's own. An algebra is a struct of static members, checked by the concepts below.
///
/// Example, shortest distances:
/// @code
/// struct MinPlus {
///     using value_type = int;
///     static constexpr int zero = 1 << 29, one = 0;
///     static int add(int a, int b) { return a < b ? a : b; }
///     static int multiply(int a, int b) { return a + b; }
/// };
/// @endcode
#pragma once

#include "arges/scalar.hpp"

#include <concepts>
#include <type_traits>

namespace arges {

/// @cond
namespace kernels {

/// Number types, for which plus-times is defined.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || !std::is_same_v<T, real_of<T>>;

template <class T>
inline constexpr bool has_negative = is_number<T> && !std::is_same_v<T, bool>;

/// Floating-point numbers and complex ones.
template <class T>
inline constexpr bool has_fractions = is_number<T> && !std::is_integral_v<T>;

template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_of<T>>;

/// Types whose sums and extrema the library has.
template <class T>
inline constexpr bool has_reductions = std::is_floating_point_v<real_of<T>> || std::is_same_v<T, std::int16_t> ||
                                       std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, bool>;

}  // namespace kernels
/// @endcond

/// What can be an element: bytes that can be sent.
template <class T>
concept StorableElement = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>;

/// A sum with a neutral element: `value_type`, `zero`, `add(a, b)`. The sum must be associative and commutative.
template <class A>
concept Monoid = StorableElement<typename A::value_type> && requires(const typename A::value_type& a) {
    { A::add(a, a) } -> std::convertible_to<typename A::value_type>;
    { A::zero } -> std::convertible_to<typename A::value_type>;
};

/// A monoid with a product: also `one`, `multiply(a, b)`, associative, commutative and distributive over the sum; zero times anything is
/// zero.
template <class A>
concept Semiring = Monoid<A> && requires(const typename A::value_type& a) {
    { A::multiply(a, a) } -> std::convertible_to<typename A::value_type>;
    { A::one } -> std::convertible_to<typename A::value_type>;
};

/// A semiring with `negate(a)`, which antisymmetric tensors need.
template <class A>
concept Ring = Semiring<A> && requires(const typename A::value_type& a) {
    { A::negate(a) } -> std::convertible_to<typename A::value_type>;
};

/// A monoid on whose elements those of another type act: also `actor_type`, `act(w, a)`, which gives an element for each `w` of that type,
/// distributes over the sum (act(w, add(a, b)) is add(act(w, a), act(w, b))), and makes zero of zero. Statements write act().
template <class A>
concept Action = Monoid<A> && StorableElement<typename A::actor_type> &&
    requires(const typename A::actor_type& w, const typename A::value_type& a) {
    { A::act(w, a) } -> std::convertible_to<typename A::value_type>;
};

/// The arithmetic of a number type. Sums and products of integers wrap around; bool adds by "or" and multiplies by "and".
template <class T>
struct PlusTimes {
    using value_type = T;  ///< the number type
    /// Integers without sign in which sums and products wrap around; short ones would be made signed ones.
    template <class S>
    using Wrapping = std::common_type_t<unsigned, std::make_unsigned_t<S>>;
    static constexpr T zero = T(0);  ///< neutral in sums
    static constexpr T one = T(1);   ///< neutral in products
    /// a + b
    static T add(T a, T b) {
        if constexpr (std::is_same_v<T, bool>)
            return a || b;
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
        else
            return a + b;
    }
    /// a * b, of complex numbers without a search for infinities
    static T multiply(T a, T b) {
        if constexpr (std::is_same_v<T, bool>)
            return a && b;
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
        else if constexpr (!std::is_same_v<T, real_of<T>>)
            return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
        else
            return a * b;
    }
    /// -a
    static T negate(T a) requires(!std::is_same_v<T, bool>) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(a));
        else
            return -a;
    }
};

/// Elements that are only stored and moved: any struct without an algebra.
template <class T>
struct Stored {
    using value_type = T;  ///< the struct
};

}  // namespace arges

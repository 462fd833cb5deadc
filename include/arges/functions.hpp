/// @file functions.hpp
/// Functions of elements that are known by name, see map(): they run where the elements lie, on a device as well.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace arges {

/// A function of one element, or of two. Those of `<cmath>` are as there.
enum class Function : std::uint8_t {
    negative,    ///< -a
    abs,         ///< absolute value; real where elements are complex
    sign,        ///< -1, 0 or 1
    reciprocal,  ///< 1 / a
    square,      ///< a^2
    sqrt,        ///< square root
    cbrt,        ///< cube root
    exp,         ///< e^a
    exp2,        ///< 2^a
    expm1,       ///< e^a - 1
    log,         ///< natural logarithm
    log2,        ///< to the base 2
    log10,       ///< to the base 10
    log1p,       ///< of 1 + a
    sin,         ///< sine
    cos,         ///< cosine
    tan,         ///< tangent
    asin,        ///< inverse sine
    acos,        ///< inverse cosine
    atan,        ///< inverse tangent
    sinh,        ///< hyperbolic sine
    cosh,        ///< hyperbolic cosine
    tanh,        ///< hyperbolic tangent
    asinh,       ///< inverse hyperbolic sine
    acosh,       ///< inverse hyperbolic cosine
    atanh,       ///< inverse hyperbolic tangent
    erf,         ///< error function
    erfc,        ///< 1 - erf(a)
    floor,       ///< the next whole number below
    ceil,        ///< the next whole number above
    trunc,       ///< without its fraction
    round,       ///< to the nearest whole number, halves to even ones
    add,         ///< a + b
    subtract,    ///< a - b
    multiply,    ///< a b
    divide,      ///< a / b
    pow,         ///< a^b
    maximum,     ///< the larger one; NaN if one is
    minimum,     ///< the smaller one; NaN if one is
    hypot,       ///< sqrt(a^2 + b^2)
    atan2,       ///< the angle of (b, a)
    copysign     ///< a with the sign of b
};

/// Names of all of them.
inline constexpr std::array<std::string_view, 42> function_names{
    "negative", "abs",      "sign",   "reciprocal", "square",  "sqrt",    "cbrt",  "exp",   "exp2",    "expm1", "log",
    "log2",     "log10",    "log1p",  "sin",        "cos",     "tan",     "asin",  "acos",  "atan",    "sinh",  "cosh",
    "tanh",     "asinh",    "acosh",  "atanh",      "erf",     "erfc",    "floor", "ceil",  "trunc",   "round", "add",
    "subtract", "multiply", "divide", "pow",        "maximum", "minimum", "hypot", "atan2", "copysign"};
static_assert(function_names.size() == static_cast<std::size_t>(Function::copysign) + 1);

/// Its name. Pure.
constexpr std::string_view to_string(Function f) { return function_names[static_cast<std::size_t>(f)]; }
/// How many elements it takes: 1 or 2. Pure.
constexpr int operands_of(Function f) { return f < Function::add ? 1 : 2; }
/// Is there one of complex elements? Pure.
constexpr bool takes_complex(Function f) {
    using enum Function;
    return f != sign && f != cbrt && f != exp2 && f != expm1 && f != log2 && f != log1p && !(f >= erf && f <= round) && f <= pow;
}

/// Does a device have it? Pure.
constexpr bool runs_on_device(Function f, bool is_complex) {
    using enum Function;
    return !is_complex || (takes_complex(f) && f != log10 && !(f >= sin && f <= atanh) && f != pow);
}

/// An operand of ElementKernels::apply.
struct FunctionOperand {
    const void* elements = nullptr;  ///< as many as there are results
    bool is_number = false;          ///< it is one element, on the host, for all of them
};

/// f(a). Local.
template <Function f, class N>
constexpr auto value_of(const N& a) {
    using std::abs, std::sqrt, std::exp, std::log;
    if constexpr (f == Function::negative) return -a;
    if constexpr (f == Function::abs) return abs(a);
    if constexpr (f == Function::sign) return a > N(0) ? N(1) : a < N(0) ? N(-1) : a == N(0) ? N(0) : a;
    if constexpr (f == Function::reciprocal) return N(1) / a;
    if constexpr (f == Function::square) return a * a;
    if constexpr (f == Function::sqrt) return sqrt(a);
    if constexpr (f == Function::cbrt) return std::cbrt(a);
    if constexpr (f == Function::exp) return exp(a);
    if constexpr (f == Function::exp2) return std::exp2(a);
    if constexpr (f == Function::expm1) return std::expm1(a);
    if constexpr (f == Function::log) return log(a);
    if constexpr (f == Function::log2) return std::log2(a);
    if constexpr (f == Function::log10) return std::log10(a);
    if constexpr (f == Function::log1p) return std::log1p(a);
    if constexpr (f == Function::sin) return std::sin(a);
    if constexpr (f == Function::cos) return std::cos(a);
    if constexpr (f == Function::tan) return std::tan(a);
    if constexpr (f == Function::asin) return std::asin(a);
    if constexpr (f == Function::acos) return std::acos(a);
    if constexpr (f == Function::atan) return std::atan(a);
    if constexpr (f == Function::sinh) return std::sinh(a);
    if constexpr (f == Function::cosh) return std::cosh(a);
    if constexpr (f == Function::tanh) return std::tanh(a);
    if constexpr (f == Function::asinh) return std::asinh(a);
    if constexpr (f == Function::acosh) return std::acosh(a);
    if constexpr (f == Function::atanh) return std::atanh(a);
    if constexpr (f == Function::erf) return std::erf(a);
    if constexpr (f == Function::erfc) return std::erfc(a);
    if constexpr (f == Function::floor) return std::floor(a);
    if constexpr (f == Function::ceil) return std::ceil(a);
    if constexpr (f == Function::trunc) return std::trunc(a);
    if constexpr (f == Function::round) return std::rint(a);
}

/// f(a, b). Local.
template <Function f, class N>
constexpr auto value_of(const N& a, const N& b) {
    if constexpr (f == Function::add) return a + b;
    if constexpr (f == Function::subtract) return a - b;
    if constexpr (f == Function::multiply) return a * b;
    if constexpr (f == Function::divide) return a / b;
    if constexpr (f == Function::pow) return std::pow(a, b);
    if constexpr (f == Function::maximum) return a != a || a >= b ? a : b;
    if constexpr (f == Function::minimum) return a != a || a <= b ? a : b;
    if constexpr (f == Function::hypot) return std::hypot(a, b);
    if constexpr (f == Function::atan2) return std::atan2(a, b);
    if constexpr (f == Function::copysign) return std::copysign(a, b);
}

}  // namespace arges

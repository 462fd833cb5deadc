/// Exact arithmetic of integers: small functions, integers that end at 2^63 - 1, and sizes for libraries that count in 32 bits.
#pragma once

#include "arges/error.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace arges {

/// Integer for products that overflow 64 bits before they are divided.
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

/// Smallest integer not below a / b; ceil_div(5, 2) = 3.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/// Number of x with 0 <= x < n and x = r modulo p; count_residues(5, 1, 2) = 2 (1 and 3).
constexpr std::int64_t count_residues(std::int64_t n, std::int64_t r, std::int64_t p) { return r < n ? ceil_div(n - r, p) : 0; }

/// a * b. @throws InvalidArgument beyond 2^63 - 1
inline std::int64_t checked_product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result))
        throw InvalidArgument("a tensor of more than 2^63 - 1 elements cannot be addressed by 64-bit keys");
    return result;
}

/// Binomial coefficient "n over k", 0 for n < k; choose(5, 2) = 10.
/// @throws InvalidArgument beyond 2^63 - 1
inline std::int64_t choose(std::int64_t n, std::int64_t k) {
    if (k < 0 || n < k) return 0;
    Wide result = 1;
    for (std::int64_t i = 0; i < k; ++i) {
        result = result * (n - i) / (i + 1);
        if (result > std::numeric_limits<std::int64_t>::max())
            throw InvalidArgument("a tensor of more than 2^63 - 1 elements cannot be addressed by 64-bit keys");
    }
    return result;
}

/// x, or 0 for a negative x, as rounding makes it; NaN stays, which std::max(0, x) would hide.
constexpr double at_least_zero(double x) { return x < 0 ? 0 : x; }

/// True if squares may have over- or underflowed in this sum of squares: then it is formed again from scaled numbers.
constexpr bool must_be_scaled(double squares) { return squares < 1e-280 || squares > std::numeric_limits<double>::max(); }

/// Largest n with choose(n, k) <= index, for k >= 1 and index >= 0; the inverse used to unpack packed indices.
/// largest_choose(7, 2) = 4, because choose(4, 2) = 6 <= 7 < choose(5, 2) = 10.
std::int64_t largest_choose(std::int64_t index, std::int64_t k);

/// value as an integer; 2^63 - 1 for all that are larger.
constexpr std::int64_t saturated(Wide value) {
    return static_cast<std::int64_t>(std::min<Wide>(value, std::numeric_limits<std::int64_t>::max()));
}
constexpr std::int64_t saturated(double value) {
    return value < 0x1p63 ? static_cast<std::int64_t>(value) : std::numeric_limits<std::int64_t>::max();
}

/// a * b, at most 2^63 - 1, for a, b >= 0: bytes of so many elements, for example.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) { return saturated(Wide{a} * b); }
/// a + b, at most 2^63 - 1.
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) { return saturated(Wide{a} + b); }

/// Begin of part `part` of `count` things distributed in `parts` contiguous, nearly equal parts; part_begin(7, 1, 2) = 3.
constexpr std::int64_t part_begin(std::int64_t count, std::int64_t part, std::int64_t parts) { return Wide{count} * part / parts; }

/// n as an int. `what` begins the message: what n is the size of. @throws Unsupported if it is none
inline int to_int(std::int64_t n, const char* what = "an array dimension") {
    if (n < std::numeric_limits<int>::min() || n > std::numeric_limits<int>::max())
        throw Unsupported(std::string(what) + " of " + std::to_string(n) +
                          ": BLAS, LAPACK and MPI count to 2^31 - 1 only; use more ranks or smaller dimensions");
    return static_cast<int>(n);
}

}  // namespace arges

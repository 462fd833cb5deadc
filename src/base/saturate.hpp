/// Integers that end at 2^63 - 1, for counts and estimates that may be larger, and quotients of products that may be.
#pragma once

#include "base/math.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace arges {

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

}  // namespace arges

/// Division by a number that stays the same.
#pragma once

#include "base/math.hpp"

#include <cstdint>
#include <limits>

namespace arges {

/// Quotients and remainders of many non-negative numbers by one divisor, by a multiplication with its reciprocal. That is rounded down,
/// which makes the quotient too small by one at most. Example: Divider(10).quotient(57) = 5.
class Divider {
public:
    /// @param divisor  above 0
    explicit Divider(std::int64_t divisor = 1)
        : divisor_(divisor), reciprocal_(std::numeric_limits<std::uint64_t>::max() / static_cast<std::uint64_t>(divisor)) {}

    std::int64_t divisor() const { return divisor_; }
    /// @param n  not negative
    std::int64_t quotient(std::int64_t n) const {
        if (divisor_ == 1) return n;
        const std::int64_t q = static_cast<UnsignedWide>(static_cast<std::uint64_t>(n)) * reciprocal_ >> 64;
        return q + (n - q * divisor_ >= divisor_ ? 1 : 0);
    }

private:
    std::int64_t divisor_;
    std::uint64_t reciprocal_;
};

}  // namespace arges

/// Where the nonzeros of a sparse tensor lie: which rank has an element, from its indices. Pure.
#pragma once

#include "base/splitmix.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace arges {

/// A part of a rank's number that an index decides: index / divisor % parts * stride. Indices are spread cyclically, or by a hash in their
/// place, which divides also those evenly whose nonzeros are more in some residue classes than in others.
struct SparseDigit {
    int mode = 0;
    std::int64_t divisor = 1, parts = 1, stride = 1;
    bool by_hash = false;
    bool operator==(const SparseDigit&) const = default;

    std::int64_t of(std::int64_t index) const {
        const auto number = by_hash ? static_cast<std::int64_t>(splitmix(static_cast<std::uint64_t>(index)) >> 2U) : index;
        return number / divisor % parts * stride;
    }
};

/// An element is on the rank that is the sum of its digits. Example: two parts of mode 0 with stride 1 and three of mode 1 with stride 2
/// are six ranks in a grid of 2 x 3.
struct SparseLayout {
    std::vector<SparseDigit> digits;

    /// Ranks that have elements: those from 0 on.
    std::int64_t ranks() const {
        std::int64_t product = 1;
        for (const auto& digit : digits) product *= digit.parts;
        return product;
    }
    /// The rank of an element. @param index  index(mode) gives its indices
    template <class F>
    std::int64_t rank_of(F&& index) const {
        std::int64_t rank = 0;
        for (const auto& digit : digits) rank += digit.of(index(digit.mode));
        return rank;
    }
    /// All ranks along the longest mode.
    static SparseLayout along_longest(const std::vector<std::int64_t>& lengths, std::int64_t ranks) {
        const auto longest = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
        return {{{static_cast<int>(longest), 1, ranks, 1, true}}};
    }
    bool operator==(const SparseLayout&) const = default;
};

}  // namespace arges

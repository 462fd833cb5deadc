/// Keys and values for a tensor of three equal extents.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace bench {

struct Pairs {
    std::vector<std::int64_t> keys;
    std::vector<double> values;  ///< one for all keys that symmetry of the first two indices relates
};

/// @param ascending keys of a rank follow each other; else they are random
inline Pairs pairs_of(std::int64_t extent, std::int64_t count, std::int64_t rank, bool ascending) {
    Pairs pairs;
    const std::int64_t size = extent * extent * extent;
    std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto key = ascending ? (rank * count + i) % size : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size));
        const auto a = key % extent, b = key / extent % extent, c = key / extent / extent;
        pairs.keys.push_back(key);
        pairs.values.push_back(static_cast<double>(a + b) + static_cast<double>(a * b) * static_cast<double>(c));
    }
    return pairs;
}

}  // namespace bench

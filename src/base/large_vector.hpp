/// Vectors whose pages are taken by threads.
#pragma once

#include "base/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace arges {

/// A vector of zeros. The first touch of a page costs more than all that follows: where the vector is large, threads touch them, and
/// they are large where the system has such.
template <class V>
std::vector<V> large_vector(std::size_t count) {
    constexpr std::int64_t page = 4096, large = std::int64_t{1} << 22;
    std::vector<V> result;
    result.reserve(count);
    const std::int64_t bytes = count * sizeof(V);
    if (bytes >= large) {
        prefer_huge_pages(result.data(), bytes);
        auto* const room = reinterpret_cast<volatile std::byte*>(result.data());
#pragma omp parallel for schedule(static)
        for (std::int64_t at = 0; at < bytes; at += page) room[at] = std::byte{0};
    }
    result.resize(count);
    return result;
}

/// A copy, on large pages where the system has such.
template <class V>
std::vector<V> large_copy(const std::vector<V>& source) {
    std::vector<V> result;
    result.reserve(source.size());
    prefer_huge_pages(result.data(), source.size() * sizeof(V));
    result.insert(result.end(), source.begin(), source.end());
    return result;
}

}  // namespace arges

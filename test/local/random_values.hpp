/// Random input for the kernel tests.
#pragma once

#include "local/scalar.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace arges::local::test {

/// Random numbers; the seed is printed with every failure.
struct Random {
    explicit Random(unsigned seed) : engine(seed) {}

    /// An integer in [low, high].
    std::int64_t integer(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(engine); }
    bool coin() { return integer(0, 1) == 1; }

    /// A small integer as element, so that sums and products are exact.
    template <class T>
    T element() {
        const auto number = [&] { return static_cast<real_of<T>>(integer(-4, 4)); };
        if constexpr (is_complex<T>) {
            const auto real = number();
            return {real, number()};
        } else {
            return number();
        }
    }
    template <class T>
    std::vector<T> elements(std::int64_t count) {
        std::vector<T> result(static_cast<std::size_t>(count));
        for (T& x : result) x = element<T>();
        return result;
    }
    /// 0, ..., n - 1 in random order.
    std::vector<std::size_t> permutation(std::size_t n) {
        std::vector<std::size_t> order(n);
        for (std::size_t i = 0; i < n; ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), engine);
        return order;
    }

    std::mt19937 engine;
};

/// Strides of an array with the given sizes whose axes lie in random order in memory with random
/// gaps; `extent` gets the number of elements that the array spans.
inline std::vector<std::int64_t> random_strides(const std::vector<std::int64_t>& sizes, Random& random, std::int64_t& extent) {
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t stride = random.integer(0, 2) == 0 ? random.integer(1, 3) : 1;
    for (const std::size_t i : random.permutation(sizes.size())) {
        strides[i] = stride;
        stride *= std::max<std::int64_t>(1, sizes[i]) + (random.integer(0, 2) == 0 ? random.integer(0, 2) : 0);
    }
    extent = stride;
    return strides;
}

}  // namespace arges::local::test

/// Sums that do not depend on the number of threads.
#pragma once

#include "base/math.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace arges::sparse {

/// Sums of the arrays term(x) for 0 <= x < count: blocks of a fixed size on the threads, then the blocks in their order.
template <std::size_t n, class F>
std::array<double, n> blocked_sums(std::int64_t count, F&& term) {
    constexpr std::int64_t block = 4096;
    std::vector<std::array<double, n>> sums(ceil_div(count, block));
    const auto blocks = std::ssize(sums);
#pragma omp parallel for schedule(static)
    for (std::int64_t b = 0; b < blocks; ++b) {
        std::array<double, n> sum{};
        for (auto x = b * block; x < std::min(count, (b + 1) * block); ++x) {
            const auto more = term(x);
            for (std::size_t i = 0; i < n; ++i) sum[i] += more[i];
        }
        sums[b] = sum;
    }
    std::array<double, n> total{};
    for (const auto& sum : sums)
        for (std::size_t i = 0; i < n; ++i) total[i] += sum[i];
    return total;
}

/// Likewise of numbers. Neighbours in a block are added up side by side, in an order of its own.
template <class F>
double blocked_sum(std::int64_t count, F&& term) {
    constexpr std::int64_t lanes = 8;
    const auto whole = count / lanes;
    const auto sums = blocked_sums<lanes>(whole, [&](std::int64_t x) {
        std::array<double, lanes> values;
        for (std::int64_t i = 0; i < lanes; ++i) values[i] = term(x * lanes + i);
        return values;
    });
    double total = 0;
    for (double sum : sums) total += sum;
    for (auto x = whole * lanes; x < count; ++x) total += term(x);
    return total;
}

}  // namespace arges::sparse

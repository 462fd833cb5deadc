#include "base/math.hpp"

#include <cmath>

namespace arges {

std::int64_t largest_choose(std::int64_t index, std::int64_t k) {
    if (k == 1) return index;
    if (k == 2) {
        auto n = static_cast<std::int64_t>((1 + std::sqrt(1 + 8 * static_cast<double>(index))) / 2);
        const auto above = [index](std::int64_t m) { return static_cast<Wide>(m) * (m - 1) > 2 * static_cast<Wide>(index); };
        while (above(n)) --n;
        while (!above(n + 1)) ++n;
        return n;
    }
    // choose(n, k) is close to (n - (k-1)/2)^k / k!; start there and correct by single steps.
    double factorial = 1;
    for (std::int64_t i = 2; i <= k; ++i) factorial *= i;
    const double guess = std::pow(static_cast<double>(index) * factorial, 1.0 / static_cast<double>(k)) + static_cast<double>(k - 1) / 2;
    auto n = std::max<std::int64_t>(k - 1, static_cast<std::int64_t>(guess));
    while (n >= k && choose(n, k) > index) --n;
    while (choose(n + 1, k) <= index) ++n;
    return n;
}

}  // namespace arges

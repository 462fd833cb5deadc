// Inner products in blocks of a fixed size, added in their order, so that they do not depend on the number of threads.
#include "sparse/elementwise.hpp"

#include "base/math.hpp"
#include "sparse/blocked_sum.hpp"
#include "sparse/merged_positions.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace arges::sparse {

template <class T>
double norm(std::span<const T> values) {
    const auto squares_of = [&](auto&& scaled) {
        return blocked_sum(std::ssize(values), [&](std::int64_t x) {
            const double value = scaled(static_cast<double>(values[x]));
            return value * value;
        });
    };
    const double squares = squares_of([](double value) { return value; });
    if (!must_be_scaled(squares)) return std::sqrt(squares);
    double largest = 0;
    for (auto value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
    if (largest == 0 || std::isinf(largest)) return largest;
    const int exponent = std::ilogb(largest);
    return std::ldexp(std::sqrt(squares_of([&](double value) { return std::ldexp(value, -exponent); })), exponent);
}

template <class T>
double inner_product(const Nonzeros<T>& a, const Nonzeros<T>& b) {
    double total = 0;
    for_each_pair(a, b, [&](std::int64_t x, std::int64_t y) {
        if (x >= 0 && y >= 0) total += static_cast<double>(a.values[x]) * b.values[y];
    });
    return total;
}

template <class T>
double inner_product(const LocalNonzeros<T>& nonzeros, std::span<const T> weights, std::span<const RowMatrix<const T>> factors) {
    const auto order = nonzeros.indices.size();
    if (factors.size() != order)
        throw InvalidArgument("inner product with a Kruskal tensor: " + std::to_string(factors.size()) + " factors for a tensor of order " +
                              std::to_string(order));
    for (std::size_t m = 0; m < order; ++m)
        if (factors[m].rows < nonzeros.rows[m] || factors[m].columns != static_cast<int>(weights.size()))
            throw InvalidArgument("inner product with a Kruskal tensor: factor " + std::to_string(m) + " is " +
                                  std::to_string(factors[m].rows) + " x " + std::to_string(factors[m].columns) +
                                  "; needed: " + std::to_string(nonzeros.rows[m]) + " x " + std::to_string(weights.size()));
    return blocked_sum(nonzeros.count(), [&](std::int64_t p) {
        const std::size_t x = p;
        double element = 0;
        for (std::size_t r = 0; r < weights.size(); ++r) {
            double term = weights[r];
            for (std::size_t m = 0; m < order; ++m) term *= factors[m].row(nonzeros.indices[m][x])[r];
            element += term;
        }
        return static_cast<double>(nonzeros.values[x]) * element;
    });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template double norm(std::span<const T>);                                                                                              \
    template double inner_product(const Nonzeros<T>&, const Nonzeros<T>&);                                                                 \
    template double inner_product(const LocalNonzeros<T>&, std::span<const T>, std::span<const RowMatrix<const T>>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::sparse

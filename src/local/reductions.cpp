// Sums and extrema over rows of elements of one type.
#include "arges/algebra_concepts.hpp"
#include "arges/element_kernels.hpp"
#include "base/instantiate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>

namespace arges {

namespace {

using local::Best;
using local::ElementRow;
using local::RowSum;
using local::WideSum;

/// sum + weight * value
template <class Sum>
Sum weighted(Sum sum, double weight, Sum value) {
    if constexpr (std::is_integral_v<Sum>)
        return PlusTimes<Sum>::add(sum, PlusTimes<Sum>::multiply(static_cast<Sum>(weight), value));
    else
        return sum + static_cast<real_of<Sum>>(weight) * value;
}

/// Sums weights[i] * f(i * stride); eight sums take turns, so that no addition waits for the one before it, and those of contiguous
/// elements are one vector.
template <class F>
auto sum_of(const ElementRow& row, F&& f) {
    using Sum = decltype(f(std::int64_t{0}));
    constexpr std::int64_t width = 8;
    std::array<Sum, width> sums{};
    std::int64_t i = 0;
    if (row.weights == nullptr && row.stride == 1) {
        for (; i + width <= row.count; i += width)
            for (std::int64_t k = 0; k < width; ++k) sums[k] = PlusTimes<Sum>::add(sums[k], f(i + k));
    }
    const auto add = [&](Sum& sum, std::int64_t at) {
        if (const auto weight = row.weights == nullptr ? 1 : row.weights[at]; weight != 0) sum = weighted(sum, weight, f(at * row.stride));
    };
    for (; i + width <= row.count; i += width)
        for (std::int64_t k = 0; k < width; ++k) add(sums[k], i + k);
    for (; i < row.count; ++i) add(sums[i % width], i);
    return std::accumulate(sums.begin(), sums.end(), Sum{}, [](Sum a, Sum b) { return PlusTimes<Sum>::add(a, b); });
}

/// The type in which values are summed: with double precision at least; integers as they are, wrapping around.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, std::int64_t,
                                 std::conditional_t<std::is_same_v<T, long double>, long double,
                                                    std::conditional_t<kernels::is_complex<T>, std::complex<double>, double>>>;

template <class Sum>
WideSum wide(Sum sum) {
    if constexpr (std::is_integral_v<Sum>)
        return {.integer = sum};
    else if constexpr (std::is_same_v<Sum, long double>)
        return {.extended = sum};
    else
        return {.number = sum};
}

/// Absolute value; NaN where a part is NaN, also beside an infinite one.
template <class T>
auto magnitude(T value) {
    if constexpr (std::is_integral_v<T>) {
        return std::abs(static_cast<double>(value));
    } else {
        const bool is_nan = value != value;
        return is_nan ? std::numeric_limits<real_of<T>>::quiet_NaN() : std::abs(value);
    }
}

/// value * 2^exponent, without overflow on the way.
template <class V>
V times_power(V value, int exponent) {
    if constexpr (kernels::is_complex<V>)
        return {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
    else
        return std::ldexp(value, exponent);
}

/// What z and its conjugate add up to, halved: the imaginary part is zero, or NaN where it is not finite.
template <class V>
V without_imaginary(V value) {
    if constexpr (kernels::is_complex<V>)
        return {value.real(), value.imag() - value.imag()};
    else
        return value;
}

/// Square of the absolute value.
template <class V>
auto square(V value) {
    if constexpr (std::is_integral_v<V>)
        return static_cast<double>(value) * value;
    else
        return std::norm(value);
}

template <class T>
WideSum sum_row(RowSum what, const ElementRow& row, const void* elements, const void* others, int exponent) {
    using Sum = SumOf<T>;
    const T *const first = static_cast<const T*>(elements), *const second = static_cast<const T*>(others);
    const auto widened = [](T value) { return static_cast<Sum>(value); };
    const auto product = [&](std::int64_t i) {
        auto left = widened(first[i]);
        if constexpr (kernels::is_complex<T>) left = std::conj(left);
        return PlusTimes<Sum>::multiply(left, widened(second[i]));
    };
    switch (what) {
    case RowSum::value: return wide(sum_of(row, [&](std::int64_t i) { return widened(first[i]); }));
    case RowSum::cancelled: return wide(sum_of(row, [&](std::int64_t i) { return widened(first[i]) - widened(first[i]); }));
    case RowSum::real: return wide(sum_of(row, [&](std::int64_t i) { return without_imaginary(widened(first[i])); }));
    case RowSum::magnitude:
        return wide(sum_of(row, [&](std::int64_t i) { return static_cast<SumOf<decltype(magnitude(T{}))>>(magnitude(first[i])); }));
    case RowSum::square:
        if constexpr (!std::is_integral_v<T>)
            if (exponent != 0) return wide(sum_of(row, [&](std::int64_t i) { return square(times_power(widened(first[i]), exponent)); }));
        return wide(sum_of(row, [&](std::int64_t i) { return square(widened(first[i])); }));
    case RowSum::product: return wide(sum_of(row, product));
    default: return wide(sum_of(row, [&](std::int64_t i) { return without_imaginary(product(i)); }));
    }
}

template <class T>
void narrow(const WideSum& sum, void* element) {
    T& result = *static_cast<T*>(element);
    if constexpr (kernels::is_complex<T>)
        result = T(static_cast<real_of<T>>(sum.number.real()), static_cast<real_of<T>>(sum.number.imag()));
    else if constexpr (std::is_integral_v<T>)
        result = static_cast<T>(sum.integer);
    else
        result = std::is_same_v<T, long double> ? static_cast<T>(sum.extended) : static_cast<T>(sum.number.real());
}

/// f(is_better) with the comparison of elements that are not NaN; complex ones have magnitudes only.
template <class T, class F>
auto compared(Best what, F&& f) {
    if constexpr (!kernels::is_complex<T>) {
        if (what == Best::least) return f(std::less<T>());
        if (what == Best::largest) return f(std::greater<T>());
    }
    return f([](T a, T b) {
        if constexpr (std::is_integral_v<T>)
            return (a > 0 ? -a : a) < (b > 0 ? -b : b);  // the least integer has a larger magnitude than any other
        else
            return std::abs(a) > std::abs(b);
    });
}

/// Elements that are looked at together.
constexpr std::int64_t block_length = 4096;

/// Sixteen candidates take turns in each block.
template <class T, class Better>
std::int64_t place_of(const T* elements, std::int64_t count, Better&& better) {
    constexpr std::int64_t width = 16;
    const auto is_nan = [](T value) { return value != value; };
    const auto first_in_block = [&](std::int64_t begin, auto&& wanted) {
        return std::find_if(elements + begin, elements + std::min(count, begin + block_length), wanted) - elements;
    };
    std::int64_t block = 0;
    T found = elements[0];
    for (std::int64_t begin = 0; begin < count; begin += block_length) {
        const auto end = std::min(count, begin + block_length);
        std::array<T, width> candidates;
        candidates.fill(found);
        T* const best = candidates.data();
        std::int64_t i = begin;
        int undefined = 0;
        for (; i + width <= end; i += width) {
            const T* const next = elements + i;
#pragma omp simd
            for (std::int64_t k = 0; k < width; ++k) best[k] = better(next[k], best[k]) ? next[k] : best[k];
        }
        for (; i < end; ++i) best[0] = better(elements[i], best[0]) ? elements[i] : best[0];
        for (i = begin; i < end; ++i) undefined += is_nan(elements[i]) ? 1 : 0;
        if (undefined > 0) return first_in_block(begin, is_nan);
        const T own = std::accumulate(best + 1, best + width, best[0], [&](T x, T y) { return better(y, x) ? y : x; });
        if (better(own, found)) {
            found = own;
            block = begin;
        }
    }
    return first_in_block(block, [&](T value) { return !better(value, found) && !better(found, value); });
}

template <class T>
std::int64_t place_of_best(Best what, const void* elements, std::int64_t count) {
    return compared<T>(what, [&](auto better) { return place_of(static_cast<const T*>(elements), count, better); });
}

template <class T>
bool is_better(Best what, const void* first, const void* second) {
    const T a = *static_cast<const T*>(first), b = *static_cast<const T*>(second);
    if (a != a || b != b) return a != a && b == b;
    return compared<T>(what, [&](auto better) { return better(a, b); });
}

}  // namespace

template <class T>
const Reductions& reductions() {
    static const Reductions table{
        sum_row<T>,   place_of_best<T>,
        is_better<T>, [](const void* element) { return static_cast<long double>(magnitude(*static_cast<const T*>(element))); },
        narrow<T>,    [](std::ostream& stream, const void* element) { stream << *static_cast<const T*>(element); }};
    return table;
}

#define ARGES_INSTANTIATE(T) template const Reductions& reductions<T>();
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
ARGES_INSTANTIATE(long double)
ARGES_INSTANTIATE(std::int16_t)
ARGES_INSTANTIATE(std::int32_t)
ARGES_INSTANTIATE(std::int64_t)
ARGES_INSTANTIATE(bool)
#undef ARGES_INSTANTIATE

}  // namespace arges

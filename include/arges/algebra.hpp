/// @file algebra.hpp
/// The kernels of algebras: an algebra's operations (algebra_concepts.hpp) are inlined into loops, which are compiled where it is used.
#pragma once

#include "arges/algebra_concepts.hpp"
#include "arges/element_kernels.hpp"
#include "arges/sparse_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

/// @cond
namespace kernels {

/// An element that acts, in an array of such; another type than the elements that it acts on, also where they are alike.
template <class A>
struct Actor {
    typename A::actor_type element;
};

/// The kernels of an algebra, for any element type.
template <class A>
struct Generic {
    using T = typename A::value_type;
    static constexpr bool has_sum = Monoid<A>, has_product = Semiring<A>, has_negative = Ring<A>;
    static constexpr bool is_plus_times = std::is_same_v<A, PlusTimes<T>>;

    static const T& of(const void* element) { return *static_cast<const T*>(element); }

    static T zero() {
        if constexpr (has_sum)
            return A::zero;
        else
            return T{};
    }
    static bool same(const T& a, const T& b) {
        if constexpr (std::equality_comparable<T>)
            return a == b;
        else
            return std::memcmp(&a, &b, sizeof(T)) == 0;
    }
    static bool is_one(const void* element) {
        if constexpr (has_product)
            return element == nullptr || same(of(element), A::one);
        else
            return true;
    }
    static bool is_zero(const void* element) { return element != nullptr && same(of(element), zero()); }

    static std::complex<double> as_number(const void* element) {
        if constexpr (is_complex<T>)
            return {static_cast<double>(of(element).real()), static_cast<double>(of(element).imag())};
        else if constexpr (is_number<T>)
            return static_cast<double>(of(element));
        else
            return is_zero(element) ? 0.0 : 1.0;
    }

    static std::string text(const void* element) {
        if constexpr (is_number<T>) {
            std::ostringstream stream;
            stream.precision(std::numeric_limits<real_of<T>>::max_digits10);
            stream << of(element);
            return stream.str();
        } else {
            return "an element of " + std::to_string(sizeof(T)) + " bytes";
        }
    }

    static bool agree(const void* first, const void* second, double tolerance) {
        const T &a = of(first), &b = of(second);
        if constexpr (has_fractions<T>) {
            constexpr auto rounding = 8 * std::numeric_limits<real_of<T>>::epsilon();
            const bool both_nan = a != a && b != b;
            const auto difference = std::abs(a - b);
            return a == b || both_nan ||
                   (std::isfinite(difference) &&
                    difference <= rounding * std::max(std::abs(a), std::abs(b)) + static_cast<real_of<T>>(tolerance));
        } else {
            return same(a, b);
        }
    }
    static bool is_larger(const void* a, const void* b) {
        if constexpr (has_fractions<T>)
            return std::abs(of(a)) > std::abs(of(b));
        else
            return false;
    }

    static T add(const T& a, const T& b) {
        if constexpr (has_sum)
            return A::add(a, b);
        else
            return b;
    }
    static T times(const T& a, const T& b) {
        if constexpr (has_product)
            return A::multiply(a, b);
        else
            return b;
    }
    template <class B>
    static T times(const Actor<B>& w, const T& a) {
        return B::act(w.element, a);
    }
    template <class B>
    static T times(const T& a, const Actor<B>& w) {
        return B::act(w.element, a);
    }
    static T times(Here, const T& a) { return a; }
    static T times(const T& a, Here) { return a; }
    static T related(std::uint8_t factor, T value) {
        if constexpr (is_complex<T>)
            if ((factor & 2U) != 0) value = std::conj(value);
        if constexpr (has_negative)
            if ((factor & 1U) != 0) value = A::negate(value);
        return value;
    }
    /// The sum of n times the element, in steps that double.
    static T multiple(double factor, const T& element) {
        if constexpr (is_plus_times && !std::is_integral_v<T>) {
            return static_cast<real_of<T>>(factor) * element;
        } else {
            auto n = static_cast<std::uint64_t>(factor < 0 ? -factor : factor);
            T sum = zero(), power = element;
            for (bool first = true; n > 0; n >>= 1U) {
                if ((n & 1U) != 0) {
                    sum = first ? power : add(sum, power);
                    first = false;
                }
                if (n > 1) power = add(power, power);
            }
            return related(factor < 0 ? 1 : 0, sum);
        }
    }
    static void multiple_of(double factor, const void* element, void* result) { *static_cast<T*>(result) = multiple(factor, of(element)); }
    static void product(const void* a, const void* b, void* result) { *static_cast<T*>(result) = times(of(a), of(b)); }

    static void fill(void* to, std::int64_t count, const void* value) { std::fill_n(static_cast<T*>(to), count, of(value)); }
    static void scale(void* to, std::int64_t count, const void* beta) {
        if (beta == nullptr) return;
        T* const data = static_cast<T*>(to);
        const T number = of(beta);
        for (std::int64_t i = 0; i < count; ++i) data[i] = times(number, data[i]);
    }
    static void divide(void* to, const void* divisor, std::int64_t count) {
        if constexpr (is_plus_times && has_fractions<T>)
            for (std::int64_t i = 0; i < count; ++i) static_cast<T*>(to)[i] /= static_cast<const T*>(divisor)[i];
    }
    static std::int64_t count_nonzero(const void* elements, std::int64_t stride, std::span<const double> weights) {
        double sum = 0;
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (!same(static_cast<const T*>(elements)[static_cast<std::int64_t>(i) * stride], zero())) sum += weights[i];
        return static_cast<std::int64_t>(sum);
    }
    static void make_real(void* data, std::int64_t count) {
        if constexpr (is_complex<T>)
            for (std::int64_t i = 0; i < count; ++i) static_cast<T*>(data)[i] = static_cast<T*>(data)[i].real();
    }

    /// alpha times what was read; without alpha just that.
    struct Read {
        const T* alpha;
        T operator()(std::uint8_t factor, const T& value) const {
            const T element = factor == 0 ? value : related(factor, value);
            return alpha == nullptr ? element : times(*alpha, element);
        }
    };
    static Read reader(const void* alpha) { return {is_one(alpha) ? nullptr : static_cast<const T*>(alpha)}; }

    static void transfer_listed(const local::ListedTransfer& list, const void* from, void* to, const void* alpha,
                                local::TransferMode mode) {
        const T* const source = static_cast<const T*>(from);
        T* const target = static_cast<T*>(to);
        const auto read = reader(alpha);
        const auto all = static_cast<std::uint8_t>(list.factor ^ (mode.conjugate ? 2U : 0U));
        const auto move = [&](auto&& put) {
            if (list.factors == nullptr && all == 0 && read.alpha == nullptr) {
                if (list.to == nullptr)
                    for (std::int64_t i = 0; i < list.count; ++i) put(target[i], source[list.from != nullptr ? list.from[i] : i]);
                else
                    for (std::int64_t i = 0; i < list.count; ++i) put(target[list.to[i]], source[list.from != nullptr ? list.from[i] : i]);
                return;
            }
            for (std::int64_t i = 0; i < list.count; ++i) {
                const auto factor = static_cast<std::uint8_t>(list.factors != nullptr ? all ^ list.factors[i] : all);
                put(target[list.to != nullptr ? list.to[i] : i], read(factor, source[list.from != nullptr ? list.from[i] : i]));
            }
        };
        if (mode.accumulate)
            move([](T& element, const T& value) { element = add(element, value); });
        else
            move([](T& element, const T& value) { element = value; });
    }

    static void transfer(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha,
                         local::TransferMode mode) {
        using Axis = local::TransferAxis;
        const auto read = reader(alpha);
        std::vector<Axis> outer(axes.begin(), axes.end());
        for (const auto& axis : outer)
            if (axis.count == 0) return;
        // The longest axis is the innermost loop.
        Axis inner{.count = 1};
        const auto longest = std::max_element(outer.begin(), outer.end(), [](const Axis& a, const Axis& b) { return a.count < b.count; });
        if (longest != outer.end()) {
            inner = *longest;
            outer.erase(longest);
        }
        const auto row = [&](const T* source, T* target, std::uint8_t factor) {
            for (std::int64_t i = 0; i < inner.count; ++i) {
                const auto own = static_cast<std::uint8_t>(inner.factor != nullptr ? factor ^ inner.factor[i] : factor);
                const T value = read(own, source[inner.from != nullptr ? inner.from[i] : i * inner.from_stride]);
                T& element = target[inner.to != nullptr ? inner.to[i] : i * inner.to_stride];
                element = mode.accumulate ? add(element, value) : value;
            }
        };
        const auto walk = [&](auto&& self, std::size_t a, const T* source, T* target, std::uint8_t factor) -> void {
            if (a == 0) return row(source, target, factor);
            const auto& axis = outer[a - 1];
            for (std::int64_t i = 0; i < axis.count; ++i)
                self(self, a - 1, source + (axis.from != nullptr ? axis.from[i] : i * axis.from_stride),
                     target + (axis.to != nullptr ? axis.to[i] : i * axis.to_stride),
                     static_cast<std::uint8_t>(axis.factor != nullptr ? factor ^ axis.factor[i] : factor));
        };
        walk(walk, outer.size(), static_cast<const T*>(from), static_cast<T*>(to), mode.conjugate ? 2 : 0);
    }

    static std::int64_t entries(const std::vector<local::FoldAxis>& axes) {
        std::int64_t product = 1;
        for (const auto& axis : axes) product *= axis.size;
        return product;
    }

    /// Calls f(a, b, c, axis) for every combination of the entries of all axes but the longest one, which it gets.
    template <class F>
    static void for_each_row(std::vector<local::FoldAxis> axes, std::int64_t a, std::int64_t b, std::int64_t c, F&& f) {
        local::FoldAxis inner;
        const auto longest = std::max_element(axes.begin(), axes.end(), [](const auto& x, const auto& y) { return x.size < y.size; });
        if (longest != axes.end()) {
            inner = *longest;
            axes.erase(longest);
        }
        const auto walk = [&](auto&& self, std::size_t n, std::int64_t at_a, std::int64_t at_b, std::int64_t at_c) -> void {
            if (n == 0) return f(at_a, at_b, at_c, inner);
            const auto& axis = axes[n - 1];
            for (std::int64_t i = 0; i < axis.size; ++i)
                self(self, n - 1, at_a + i * axis.stride_a, at_b + i * axis.stride_b, at_c + i * axis.stride_c);
        };
        walk(walk, axes.size(), a, b, c);
    }

    static std::vector<local::FoldAxis> joined(std::initializer_list<const std::vector<local::FoldAxis>*> groups) {
        std::vector<local::FoldAxis> axes;
        for (const auto* group : groups) axes.insert(axes.end(), group->begin(), group->end());
        return axes;
    }

    /// C = beta * C on the elements that the axes name.
    static void scale_result(const std::vector<local::FoldAxis>& axes, const void* beta, T* c) {
        const bool clears = is_zero(beta);  // asked first: without a product every beta passes for one
        if (!clears && is_one(beta)) return;
        const T number = of(beta);
        for_each_row(axes, 0, 0, 0, [&](std::int64_t, std::int64_t, std::int64_t at, const local::FoldAxis& axis) {
            for (std::int64_t i = 0; i < axis.size; ++i) {
                T& element = c[at + i * axis.stride_c];
                element = clears ? number : times(number, element);
            }
        });
    }

    /// Sums of few terms, or of products that are no matrix product: C += alpha * sum over k of f(A, B).
    template <class F>
    static void sum_directly(const std::vector<local::FoldAxis>& out, const std::vector<local::FoldAxis>& k, const Read& read, T* c,
                             F&& term) {
        for_each_row(out, 0, 0, 0, [&](std::int64_t a, std::int64_t b, std::int64_t at, const local::FoldAxis& axis) {
            for (std::int64_t i = 0; i < axis.size; ++i) {
                T sum = zero();
                for_each_row(k, a + i * axis.stride_a, b + i * axis.stride_b, 0,
                             [&](std::int64_t in_a, std::int64_t in_b, std::int64_t, const local::FoldAxis& summed) {
                                 for (std::int64_t j = 0; j < summed.size; ++j)
                                     sum = add(sum, term(in_a + j * summed.stride_a, in_b + j * summed.stride_b));
                             });
                T& element = c[at + i * axis.stride_c];
                element = add(element, read(0, sum));
            }
        });
    }

    /// Products without a sum over many: the innermost loop runs over the result.
    static void multiply_rows_of(const std::vector<local::FoldAxis>& out, const std::vector<local::FoldAxis>& k, const Read& read,
                                 const T* a, const T* b, T* c) {
        for_each_row(k, 0, 0, 0, [&](std::int64_t k_a, std::int64_t k_b, std::int64_t, const local::FoldAxis& summed) {
            for (std::int64_t j = 0; j < summed.size; ++j)
                for_each_row(out, k_a + j * summed.stride_a, k_b + j * summed.stride_b, 0,
                             [&](std::int64_t in_a, std::int64_t in_b, std::int64_t at, const local::FoldAxis& axis) {
                                 for (std::int64_t i = 0; i < axis.size; ++i) {
                                     T& element = c[at + i * axis.stride_c];
                                     element = add(element, read(0, times(a[in_a + i * axis.stride_a], b[in_b + i * axis.stride_b])));
                                 }
                             });
        });
    }

    /// Offsets of all combinations of the entries of axes, the first axis fastest.
    static std::vector<std::int64_t> offsets(const std::vector<local::FoldAxis>& axes, std::int64_t local::FoldAxis::*stride) {
        std::vector<std::int64_t> result{0};
        for (const auto& axis : axes) {
            const auto before = result.size();
            result.resize(before * static_cast<std::size_t>(axis.size));
            for (std::size_t i = result.size(); i-- > 0;)
                result[i] = result[i % before] + static_cast<std::int64_t>(i / before) * (axis.*stride);
        }
        return result;
    }

    /// A matrix product in tiles of the result that fit the registers; both operands are copied into the order in which they are read.
    struct Tiles {
        static constexpr std::int64_t rows = 4, columns = std::max<std::int64_t>(4, 64 / std::int64_t{sizeof(T)});
        static constexpr std::int64_t depth = 256, chunk = 64 * columns;

        std::vector<std::int64_t> m_a, m_c, n_b, n_c, k_a, k_b;
        bool swapped;  ///< a and b are the second and the first factor

        T multiply(const T& x, const T& y) const { return swapped ? times(y, x) : times(x, y); }

        void run(const T* a, const T* b, T* c, const Read& read) const {
            const auto m = size(m_a), n = size(n_b), k = size(k_a);
            const std::size_t room = std::min(k, depth) * std::min(chunk, (n + columns - 1) / columns * columns);
            const auto packed_b = std::make_unique_for_overwrite<T[]>(room);
            std::fill_n(packed_b.get(), room, zero());
            for (std::int64_t k0 = 0; k0 < k; k0 += depth)
                for (std::int64_t n0 = 0; n0 < n; n0 += chunk) {
                    const auto k1 = std::min(k, k0 + depth), n1 = std::min(n, n0 + chunk);
                    pack(packed_b.get(), b, n_b, n0, n1, k_b, k0, k1, columns);
#ifdef _OPENMP
#pragma omp parallel if (m * (n1 - n0) * (k1 - k0) > 100000)
#endif
                    {
                        std::array<T, depth * rows> packed_a;
                        packed_a.fill(zero());
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
                        for (std::int64_t m0 = 0; m0 < m; m0 += rows) {
                            pack(packed_a.data(), a, m_a, m0, std::min(m, m0 + rows), k_a, k0, k1, rows);
                            for (std::int64_t tile = n0; tile < n1; tile += columns)
                                add_tile(packed_a.data(), packed_b.get() + (tile - n0) * (k1 - k0), k1 - k0, m0, tile, c, read);
                        }
                    }
                }
        }

    private:
        static std::int64_t size(const std::vector<std::int64_t>& list) { return std::ssize(list); }
        std::int64_t at(const std::vector<std::int64_t>& list, std::int64_t i) const { return list[i]; }

        void pack(T* to, const T* from, const std::vector<std::int64_t>& lines, std::int64_t first, std::int64_t last,
                  const std::vector<std::int64_t>& summed, std::int64_t k0, std::int64_t k1, std::int64_t width) const {
            for (std::int64_t line = first; line < last; ++line) {
                T* const tile = to + (line - first) / width * width * (k1 - k0) + (line - first) % width;
                for (std::int64_t k = k0; k < k1; ++k) tile[(k - k0) * width] = from[at(lines, line) + at(summed, k)];
            }
        }
        void add_tile(const T* a, const T* b, std::int64_t k, std::int64_t m0, std::int64_t n0, T* c, const Read& read) const {
            std::array<std::array<T, columns>, rows> sum;
            for (auto& row : sum) row.fill(zero());
            if (swapped)
                accumulate<true>(a, b, k, sum);
            else
                accumulate<false>(a, b, k, sum);
            const auto m1 = std::min(size(m_c), m0 + rows), n1 = std::min(size(n_c), n0 + columns);
            for (auto i = m0; i < m1; ++i)
                for (auto j = n0; j < n1; ++j) {
                    T& element = c[at(m_c, i) + at(n_c, j)];
                    element = add(element, read(0, sum[i - m0][j - n0]));
                }
        }
        template <bool second_first>
        static void accumulate(const T* a, const T* b, std::int64_t k, std::array<std::array<T, columns>, rows>& sum) {
            for (std::int64_t p = 0; p < k; ++p, a += rows, b += columns)
                for (std::size_t i = 0; i < rows; ++i) {
                    const T factor = a[i];
#ifdef _OPENMP
#pragma omp simd
#endif
                    for (std::size_t j = 0; j < columns; ++j)
                        sum[i][j] = add(sum[i][j], second_first ? times(b[j], factor) : times(factor, b[j]));
                }
        }
    };

    static void contract(const local::FoldedContraction& f, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
        if constexpr (has_product) {
            const auto out = joined({&f.m, &f.n, &f.batch});
            const T *const from_a = static_cast<const T*>(a), *const from_b = static_cast<const T*>(b);
            T* const to = static_cast<T*>(c);
            scale_result(out, beta, to);
            const auto m = entries(f.m), n = entries(f.n), k = entries(f.k), batch = entries(f.batch);
            if (m * n * k * batch == 0) return;
            const auto read = reader(alpha);
            if (k < 4) return multiply_rows_of(out, f.k, read, from_a, from_b, to);
            if (std::max(m, n) < Tiles::columns)
                return sum_directly(out, f.k, read, to, [&](std::int64_t i, std::int64_t j) { return times(from_a[i], from_b[j]); });
            using Axis = local::FoldAxis;
            Tiles tiles{offsets(f.m, &Axis::stride_a), offsets(f.m, &Axis::stride_c), offsets(f.n, &Axis::stride_b),
                        offsets(f.n, &Axis::stride_c), offsets(f.k, &Axis::stride_a), offsets(f.k, &Axis::stride_b),
                        n < m && n < Tiles::columns};
            if (tiles.swapped) {
                std::swap(tiles.m_a, tiles.n_b);
                std::swap(tiles.m_c, tiles.n_c);
                std::swap(tiles.k_a, tiles.k_b);
            }
            for_each_row(f.batch, 0, 0, 0, [&](std::int64_t at_a, std::int64_t at_b, std::int64_t at_c, const Axis& axis) {
                for (std::int64_t i = 0; i < axis.size; ++i) {
                    const T *const x = from_a + at_a + i * axis.stride_a, *const y = from_b + at_b + i * axis.stride_b;
                    tiles.run(tiles.swapped ? y : x, tiles.swapped ? x : y, to + at_c + i * axis.stride_c, read);
                }
            });
        }
    }

    static void reduce(const local::FoldedContraction& f, const void* alpha, const void* a, const void* beta, void* c) {
        const auto out = joined({&f.m, &f.batch});
        const T* const from = static_cast<const T*>(a);
        T* const to = static_cast<T*>(c);
        scale_result(out, beta, to);
        if (entries(out) * entries(f.k) == 0) return;
        sum_directly(out, f.k, reader(alpha), to, [&](std::int64_t i, std::int64_t) { return from[i]; });
    }

    static void scale_along(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis,
                            std::span<const double> weights, void* data) {
        const auto walk = [&](auto&& self, std::size_t d, T* at, double weight) -> void {
            if (d == sizes.size()) {
                if (weight != 1) *at = multiple(weight, *at);
                return;
            }
            for (std::int64_t i = 0; i < sizes[d]; ++i)
                self(self, d + 1, at + i * strides[d], static_cast<int>(d) == axis ? weights[i] : weight);
        };
        walk(walk, 0, static_cast<T*>(data), 1);
    }

    /// The table.
    static ElementKernels table(const char* name) {
        static const T zero_element = zero();
        ElementKernels k;
        k.name = name;
        k.type = &typeid(T);
        k.size = sizeof(T);
        k.is_complex = is_complex<T>;
        k.has_negative = has_negative;
        k.has_product = has_product;
        k.has_sum = has_sum;
        k.zero = &zero_element;
        if constexpr (has_product) {
            static const T one_element = A::one;
            k.one = &one_element;
        }
        k.is_zero = is_zero;
        k.is_one = is_one;
        k.as_number = as_number;
        k.text = text;
        k.agree = agree;
        k.is_larger = is_larger;
        k.multiple = multiple_of;
        k.product = product;
        k.fill = fill;
        k.scale = scale;
        k.transfer = transfer;
        k.transfer_listed = transfer_listed;
        if (is_complex<T>) k.make_real = make_real;
        if (is_plus_times && has_fractions<T>) k.divide = divide;
        k.contract = contract;
        k.reduce = reduce;
        k.scale_along = scale_along;
        k.count_nonzero = count_nonzero;
        if constexpr (is_plus_times && has_reductions<T>) k.reductions = &reductions<T>();
        if constexpr (Action<A>) {
            k.actor = &typeid(typename A::actor_type);
            k.sparse = &ActingKernels<Generic, Actor<A>>::table();
        } else {
            k.sparse = &Sparse<Generic>::table();
        }
        return k;
    }
};

}  // namespace kernels
/// @endcond

/// @cond
template <class A>
const ElementKernels& algebra_kernels() {
    static const ElementKernels table = kernels::Generic<A>::table(typeid(A).name());
    return table;
}

template <class T>
const ElementKernels& element_kernels() {
    static_assert(StorableElement<T>, "the elements of a tensor are trivially copyable");
    if constexpr (kernels::is_number<T>)
        return algebra_kernels<PlusTimes<T>>();
    else
        return algebra_kernels<Stored<T>>();
}
/// @endcond

}  // namespace arges

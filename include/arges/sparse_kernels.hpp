/// @file sparse_kernels.hpp
/// Loops of products with sparse factors. They are compiled for each algebra, as those of dense ones are (algebra.hpp).
#pragma once

#include "arges/sparse_loops.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace arges {

/// @cond
namespace kernels {

/// SparseKernels of an algebra. `G` has the element type T, add(), times() and zero(): Generic<A>. The nonzeros, or first factors, are of
/// type V, dense or second factors of type X; if one differs from T, there is one such factor.
template <class G, class V = typename G::T, class X = typename G::T>
struct Sparse {
    using T = typename G::T;
    static constexpr bool is_mixed = !std::is_same_v<V, T> || !std::is_same_v<X, T>;
    static constexpr std::int64_t few = 20000;                                  ///< nonzeros that one thread goes through by itself
    static constexpr bool is_or = std::is_same_v<T, bool> && G::is_plus_times;  ///< a sum that is true stays so

    /// Reads numbers of one width, or gives a constant rule where there are none.
    struct Narrow {
        const std::uint32_t* numbers;
        std::int64_t operator()(std::int64_t k) const { return numbers[k]; }
    };
    struct Wide {
        const std::int64_t* numbers;
        std::int64_t operator()(std::int64_t k) const { return numbers[k]; }
    };
    struct Same {
        std::int64_t operator()(std::int64_t k) const { return k; }
    };
    struct Zero {
        std::int64_t operator()(std::int64_t) const { return 0; }
    };
    template <class Missing, class F>
    static void with(const local::NonzeroNumbers& numbers, F&& f) {
        if (numbers.narrow != nullptr)
            f(Narrow{numbers.narrow});
        else if (numbers.wide != nullptr)
            f(Wide{numbers.wide});
        else
            f(Missing{});
    }
    static std::int64_t number(const local::NonzeroNumbers& numbers, std::int64_t k) {
        return numbers.narrow != nullptr ? numbers.narrow[k] : numbers.wide != nullptr ? numbers.wide[k] : 0;
    }

    static T scaled(const void* alpha, const T& value) { return alpha == nullptr ? value : G::times(G::of(alpha), value); }
    static V first(const void* alpha, const V& value) {
        if constexpr (is_mixed)
            return value;
        else
            return scaled(alpha, value);
    }
    static std::int64_t target(const local::SparseLoop& loop, std::int64_t run) {
        return loop.target != nullptr ? loop.target[run] : run * loop.result_step;
    }

    /// Calls f(first run, last run) for parts of the runs with similar numbers of nonzeros.
    template <class F>
    static void for_each_part(const local::SparseLoop& loop, F&& f) {
        const auto nonzeros = loop.runs == 0 ? 0 : loop.start[loop.runs];
        if (nonzeros < few) return f(std::int64_t{0}, loop.runs);
        const std::int64_t parts = std::min<std::int64_t>(loop.runs, 64 + nonzeros / (1 << 16));
        const auto bound = [&](std::int64_t part) {
            if (part == parts) return loop.runs;
            const auto wanted = nonzeros / parts * part;
            return static_cast<std::int64_t>(std::lower_bound(loop.start, loop.start + loop.runs, wanted) - loop.start);
        };
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
        for (std::int64_t part = 0; part < parts; ++part) f(bound(part), bound(part + 1));
    }

    /// No axes: one element for each run.
    template <class Place>
    static void multiply_scalars(const local::SparseLoop& loop, Place place) {
        const V* const values = static_cast<const V*>(loop.values);
        T* const result = static_cast<T*>(loop.result);
        const auto run_all = [&](auto&& term) {
            for_each_part(loop, [&](std::int64_t first, std::int64_t last) {
                for (auto run = first; run < last; ++run) {
                    T& element = result[target(loop, run)];
                    if constexpr (is_or)
                        if (element) continue;
                    T sum = term(loop.start[run]);
                    for (auto k = loop.start[run] + 1; k < loop.start[run + 1]; ++k) {
                        if constexpr (is_or)
                            if (sum) break;
                        sum = G::add(sum, term(k));
                    }
                    element = G::add(element, scaled(loop.alpha, sum));
                }
            });
        };
        const auto of_one = [&] {
            const X* const x = static_cast<const X*>(loop.factors[0]);
            with<Zero>(loop.offsets[0],
                       [&](auto offset) { run_all([&](std::int64_t k) { return G::times(values[place(k)], x[offset(k)]); }); });
        };
        if constexpr (is_mixed) {
            of_one();
        } else {
            if (loop.factors.empty()) return run_all([&](std::int64_t k) { return values[place(k)]; });
            if (loop.factors.size() == 1) return of_one();
            run_all([&](std::int64_t k) {
                T product = values[place(k)];
                for (std::size_t f = 0; f < loop.factors.size(); ++f)
                    product = G::times(product, static_cast<const T*>(loop.factors[f])[number(loop.offsets[f], k)]);
                return product;
            });
        }
    }

    /// Any axes, where types differ: every product by itself.
    template <class Place>
    static void multiply_each(const local::SparseLoop& loop, Place place) {
        const V* const values = static_cast<const V*>(loop.values);
        for_each_part(loop, [&](std::int64_t first, std::int64_t last) {
            for (auto run = first; run < last; ++run)
                for (auto k = loop.start[run]; k < loop.start[run + 1]; ++k) {
                    const V& value = values[place(k)];
                    const auto along = [&](auto&& self, std::size_t level, const X* x, T* to) -> void {
                        const auto& axis = loop.axes[level];
                        for (std::int64_t i = 0; i < axis.size; ++i, x += axis.factors[0], to += axis.result)
                            if (level + 1 < loop.axes.size())
                                self(self, level + 1, x, to);
                            else
                                *to = G::add(*to, G::times(value, *x));
                    };
                    along(along, 0, static_cast<const X*>(loop.factors[0]) + number(loop.offsets[0], k),
                          static_cast<T*>(loop.result) + target(loop, run));
                }
        });
    }

    /// One axis that the result has, and one dense factor, both contiguous along it: blocks of columns stay in registers over a run.
    template <class Place, class Offset>
    static void multiply_rows_of_dense(const local::SparseLoop& loop, Place place, Offset offset) {
        constexpr std::int64_t block = std::max<std::int64_t>(4, 128 / std::int64_t{sizeof(T)});
        const V* const values = static_cast<const V*>(loop.values);
        const X* const x = static_cast<const X*>(loop.factors[0]);
        T* const result = static_cast<T*>(loop.result);
        const auto size = loop.axes[0].size;
        for_each_part(loop, [&](std::int64_t first_run, std::int64_t last_run) {
            for (auto run = first_run; run < last_run; ++run) {
                T* const to = result + target(loop, run);
                const auto begin = loop.start[run], end = loop.start[run + 1];
                std::int64_t column = 0;
                for (; column + block <= size; column += block) {
                    std::array<T, block> sum;
                    std::copy_n(to + column, block, sum.data());
                    for (auto k = begin; k < end; ++k) {
                        const V value = first(loop.alpha, values[place(k)]);
                        const X* const row = x + offset(k) + column;
#ifdef _OPENMP
#pragma omp simd
#endif
                        for (std::int64_t c = 0; c < block; ++c) sum[c] = G::add(sum[c], G::times(value, row[c]));
                    }
                    std::copy_n(sum.data(), block, to + column);
                }
                if (column == size) continue;
                for (auto k = begin; k < end; ++k) {
                    const V value = first(loop.alpha, values[place(k)]);
                    const X* const row = x + offset(k);
                    for (auto c = column; c < size; ++c) to[c] = G::add(to[c], G::times(value, row[c]));
                }
            }
        });
    }

    /// Any axes: those before the last are gone through one by one, and factors that end before it are multiplied there.
    class Nest {
    public:
        explicit Nest(const local::SparseLoop& loop) : loop_(loop), ready_(loop.axes.size() + 1) {
            for (std::size_t f = 0; f < loop.factors.size(); ++f) {
                std::size_t level = loop.axes.size();  // behind the last axis that the factor has
                while (level > 0 && loop.axes[level - 1].factors[f] == 0) --level;
                ready_[level].push_back(f);
            }
        }
        template <class Place>
        void run(Place place) const {
            const T* const values = static_cast<const T*>(loop_.values);
            for_each_part(loop_, [&](std::int64_t first, std::int64_t last) {
                Rows at;
                for (auto run = first; run < last; ++run) {
                    T* const to = static_cast<T*>(loop_.result) + target(loop_, run);
                    for (auto k = loop_.start[run]; k < loop_.start[run + 1]; ++k) {
                        for (std::size_t f = 0; f < loop_.factors.size(); ++f)
                            at[f] = static_cast<const T*>(loop_.factors[f]) + number(loop_.offsets[f], k);
                        add(0, scaled(loop_.alpha, values[place(k)]), at, to);
                    }
                }
            });
        }

    private:
        using Rows = std::array<const T*, local::max_dense_factors>;  // of the dense factors

        void add(std::size_t level, T value, Rows& at, T* to) const {
            for (auto f : ready_[level]) value = G::times(value, *at[f]);
            const auto axes = loop_.axes.size();
            if (level == axes) {
                *to = G::add(*to, value);
                return;
            }
            const auto& axis = loop_.axes[level];
            if (level + 1 == axes) return add_innermost(axis, value, at, to);
            for (std::int64_t i = 0; i < axis.size; ++i) {
                add(level + 1, value, at, to + i * axis.result);
                for (std::size_t f = 0; f < axis.factors.size(); ++f) at[f] += axis.factors[f];
            }
            for (std::size_t f = 0; f < axis.factors.size(); ++f) at[f] -= axis.size * axis.factors[f];
        }

        void add_innermost(const local::SparseLoopAxis& axis, const T& value, const Rows& at, T* to) const {
            const auto& last = ready_.back();
            const auto step = [&](std::size_t n) { return axis.factors[last[n]]; };
            const auto element = [&](std::size_t n, std::int64_t i) { return at[last[n]][i * step(n)]; };
            const bool contiguous = std::all_of(last.begin(), last.end(), [&](auto f) { return axis.factors[f] == 1; });
            if (axis.result == 0) return add_sum(axis, value, at, to, contiguous);
            if (contiguous && axis.result == 1 && last.size() == 1) {
                const T* const x = at[last[0]];
#ifdef _OPENMP
#pragma omp simd
#endif
                for (std::int64_t i = 0; i < axis.size; ++i) to[i] = G::add(to[i], G::times(value, x[i]));
            } else if (contiguous && axis.result == 1 && last.size() == 2) {
                const T *const x = at[last[0]], *const y = at[last[1]];
#ifdef _OPENMP
#pragma omp simd
#endif
                for (std::int64_t i = 0; i < axis.size; ++i) to[i] = G::add(to[i], G::times(G::times(value, x[i]), y[i]));
            } else {
                for (std::int64_t i = 0; i < axis.size; ++i) {
                    T product = value;
                    for (std::size_t n = 0; n < last.size(); ++n) product = G::times(product, element(n, i));
                    to[i * axis.result] = G::add(to[i * axis.result], product);
                }
            }
        }

        static constexpr std::int64_t lanes = std::max<std::int64_t>(1, 64 / std::int64_t{sizeof(T)});

        /// Sum of products of `count` rows over the first entries of an axis, in `lanes` parts, which vectors hold; `i` is where it ends.
        template <std::size_t count>
        static T sum_in_lanes(const std::array<const T*, count>& rows, std::int64_t size, std::int64_t& i) {
            const auto product = [&](std::int64_t k) {
                T result = G::times(rows[0][k], rows[1][k]);
                for (std::size_t n = 2; n < count; ++n) result = G::times(result, rows[n][k]);
                return result;
            };
            std::array<T, lanes> part;
            for (std::int64_t l = 0; l < lanes; ++l) part[l] = product(l);
            for (i = lanes; i + lanes <= size; i += lanes) {
#ifdef _OPENMP
#pragma omp simd
#endif
                for (std::int64_t l = 0; l < lanes; ++l) part[l] = G::add(part[l], product(i + l));
            }
            T sum = part[0];
            for (std::int64_t l = 1; l < lanes; ++l) sum = G::add(sum, part[l]);
            return sum;
        }

        /// The innermost axis is summed.
        void add_sum(const local::SparseLoopAxis& axis, const T& value, const Rows& at, T* to, bool contiguous) const {
            const auto& last = ready_.back();
            std::int64_t i = 0;
            if (contiguous && axis.size >= lanes && (last.size() == 2 || last.size() == 3)) {
                const T sum = last.size() == 2 ? sum_in_lanes<2>({at[last[0]], at[last[1]]}, axis.size, i)
                                               : sum_in_lanes<3>({at[last[0]], at[last[1]], at[last[2]]}, axis.size, i);
                *to = G::add(*to, G::times(value, sum));
            }
            for (; i < axis.size; ++i) {
                T product = value;
                for (auto f : last) product = G::times(product, at[f][i * axis.factors[f]]);
                *to = G::add(*to, product);
            }
        }

        const local::SparseLoop& loop_;
        std::vector<std::vector<std::size_t>> ready_;  // by level: factors whose last axis is the one before
    };

    static void multiply(const local::SparseLoop& loop) {
        if (loop.runs == 0) return;
        for (const auto& axis : loop.axes)
            if (axis.size == 0) return;
        with<Same>(loop.places, [&](auto place) {
            if (loop.axes.empty()) return multiply_scalars(loop, place);
            const auto& axis = loop.axes[0];
            if (loop.axes.size() == 1 && loop.factors.size() == 1 && axis.result == 1 && axis.factors[0] == 1)
                return with<Zero>(loop.offsets[0], [&](auto offset) { multiply_rows_of_dense(loop, place, offset); });
            if constexpr (is_mixed)
                multiply_each(loop, place);
            else
                Nest(loop).run(place);
        });
    }

    /// Calls f(thread, row) for the rows of a product; threads take some rows at a time.
    template <class F>
    static void for_each_row(const local::SparseRowProduct& p, F&& f) {
        constexpr std::int64_t together = 16;
        std::atomic<std::int64_t> next{0};
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(p.threads)
#endif
        for (int thread = 0; thread < p.threads; ++thread)
            for (auto begin = next.fetch_add(together); begin < p.a.rows; begin = next.fetch_add(together))
                for (auto row = begin; row < std::min(begin + together, p.a.rows); ++row) f(thread, row);
    }

    static void multiply_rows(const local::SparseRowProduct& p) {
        with<Same>(p.a.places, [&](auto place_a) {
            with<Same>(p.b.places, [&](auto place_b) {
                if constexpr (!is_mixed)
                    if (p.by_dots) return multiply_dots(p, place_a, place_b);
                if (p.mask == nullptr)
                    multiply_rows_by<false>(p, place_a, place_b);
                else
                    multiply_rows_by<true>(p, place_a, place_b);
            });
        });
    }

    /// One row of the result after another: products are added up in an array as long as a row.
    template <bool masked, class PlaceA, class PlaceB>
    static void multiply_rows_by(const local::SparseRowProduct& p, PlaceA place_a, PlaceB place_b) {
        const V* const a = static_cast<const V*>(p.a.values);
        const X* const b = static_cast<const X*>(p.b.values);
        T* const c = static_cast<T*>(p.result);
        for_each_row(p, [&](int thread, std::int64_t row) {
            T* const sum = static_cast<T*>(p.sums) + thread * p.width;
            [[maybe_unused]] std::uint32_t* const mark = p.marks + (masked ? thread * p.width : 0);
            const std::uint32_t stamp = row + 1;
            const auto begin = p.start[row], end = p.start[row + 1];
            if (begin == end) return;
            for (auto k = begin; k < end; ++k) {
                sum[p.column[k]] = G::zero();
                if constexpr (masked) mark[p.column[k]] = stamp;
            }
            for (auto k = p.a.start[row]; k < p.a.start[row + 1]; ++k) {
                const V value = first(p.alpha, a[place_a(k)]);
                const auto other = p.a.column[k];
                for (auto l = p.b.start[other]; l < p.b.start[other + 1]; ++l) {
                    const auto column = p.b.column[l];
                    if constexpr (masked)
                        if (mark[column] != stamp) continue;
                    sum[column] = G::add(sum[column], G::times(value, b[place_b(l)]));
                }
            }
            if constexpr (masked)
                under_mask(p, row, [&](std::int64_t k) { return sum[p.column[k]]; });
            else
                for (auto k = begin; k < end; ++k) c[k] = sum[p.column[k]];
        });
    }

    /// Each nonzero of the mask is the inner product of a row of a, spread out over an array with bits for its nonzeros, and one of the
    /// second factor's transpose.
    template <class PlaceA, class PlaceB>
    static void multiply_dots(const local::SparseRowProduct& p, PlaceA place_a, PlaceB place_b) {
        const T *const a = static_cast<const T*>(p.a.values), *const b = static_cast<const T*>(p.b.values);
        for_each_row(p, [&](int thread, std::int64_t row) {
            T* const spread = static_cast<T*>(p.sums) + thread * p.width;
            std::uint32_t* const bits = p.marks + thread * p.width;
            const auto first = p.a.start[row], last = p.a.start[row + 1];
            if (p.start[row] == p.start[row + 1]) return;
            for (auto k = first; k < last; ++k) {
                const auto column = p.a.column[k];
                const T value = scaled(p.alpha, a[place_a(k)]);
                const auto bit = std::uint32_t{1} << column % 32;
                // Nonzeros that differ in labels that are summed have one column.
                spread[column] = (bits[column / 32] & bit) != 0 ? G::add(spread[column], value) : value;
                bits[column / 32] |= bit;
            }
            under_mask(p, row, [&](std::int64_t k) {
                T sum = G::zero();
                const auto other = p.column[k];
                for (auto l = p.b.start[other]; l < p.b.start[other + 1]; ++l) {
                    const auto column = p.b.column[l];
                    if constexpr (is_or)
                        if (sum) break;
                    if ((bits[column / 32] >> column % 32 & 1U) != 0) sum = G::add(sum, G::times(spread[column], b[place_b(l)]));
                }
                return sum;
            });
            for (auto k = first; k < last; ++k) bits[p.a.column[k] / 32] = 0;
        });
    }

    /// A row of the result where a mask has nonzeros: sum(k) times the mask's value.
    template <class Sum>
    static void under_mask(const local::SparseRowProduct& p, std::int64_t row, Sum&& sum) {
        T* const c = static_cast<T*>(p.result);
        const T* const mask = static_cast<const T*>(p.mask);
        with<Same>(p.mask_places, [&](auto place) {
            for (auto k = p.start[row]; k < p.start[row + 1]; ++k) {
                if constexpr (is_mixed)
                    c[place(k)] = sum(k);
                else
                    c[place(k)] = G::times(sum(k), mask[place(k)]);
            }
        });
    }

    static void add_runs(std::int64_t runs, const std::int64_t* start, const std::int64_t* places, const void* from, void* result) {
        const T* const source = static_cast<const T*>(from);
        T* const to = static_cast<T*>(result);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) if (runs > few)
#endif
        for (std::int64_t run = 0; run < runs; ++run) {
            T sum = source[places[start[run]]];
            for (auto k = start[run] + 1; k < start[run + 1]; ++k) sum = G::add(sum, source[places[k]]);
            to[run] = sum;
        }
    }

    static const SparseKernels& table() {
        static const SparseKernels kernels{multiply, G::has_product ? multiply_rows : nullptr, add_runs};
        return kernels;
    }
};

/// Stands where a mask stores something; nothing is read there.
struct Here {};

/// SparseKernels of an algebra on whose elements those of type `W` act.
template <class G, class W>
struct ActingKernels {
    using T = typename G::T;

    /// Calls f with the loops for the types of the factors.
    template <class F>
    static void with(local::Acting acting, F&& f) {
        switch (acting) {
        case local::Acting::none: return f(Sparse<G>());
        case local::Acting::first: return f(Sparse<G, W, T>());
        case local::Acting::second: return f(Sparse<G, T, W>());
        case local::Acting::first_mask: return f(Sparse<G, Here, T>());
        case local::Acting::second_mask: return f(Sparse<G, T, Here>());
        }
    }
    static void multiply(const local::SparseLoop& loop) {
        with(loop.acting, [&](auto loops) { loops.multiply(loop); });
    }
    static void multiply_rows(const local::SparseRowProduct& product) {
        with(product.acting, [&](auto loops) { loops.multiply_rows(product); });
    }
    static const SparseKernels& table() {
        static const SparseKernels kernels{multiply, multiply_rows, Sparse<G>::add_runs};
        return kernels;
    }
};

}  // namespace kernels
/// @endcond

}  // namespace arges

// Products with a packed triangle where it lies: a row is read once and serves for (p, q) and (q, p); rows are shared out by elements.
#include "local/row_products.hpp"

#include "base/first_error.hpp"
#include "base/instantiate.hpp"
#include "local/blas.hpp"
#include "local/scalar.hpp"

#include <algorithm>
#include <complex>

namespace arges::local {
namespace {

using Child = std::array<RowFactor, 2>;

/// Where an index of a child is in B and in C.
struct Offsets {
    std::int64_t b = 0, c = 0;
};

Offsets offsets(const Child& child, std::int64_t index) {
    Offsets result;
    const std::int64_t digits[] = {index % child[0].count, index / child[0].count};
    for (std::size_t i = 0; i < 2; ++i) (child[i].summed ? result.b : result.c) += digits[i] * child[i].stride;
    return result;
}

template <class T>
class RowMultiplier {
public:
    RowMultiplier(const RowProduct& product, T alpha, const T* a, const T* b, T* c) : x_(product), alpha_(alpha), a_(a), b_(b), c_(c) {
        const auto& fast0 = x_.child[0][0];
        const auto& fast1 = x_.child[1][0];
        fused_ = !x_.once && x_.columns == 1 && x_.child[0][1].count == 1 && x_.child[1][1].count == 1 && fast0.summed != fast1.summed &&
                 fast0.stride == 1 && fast1.stride == 1;
    }

    void run(std::int64_t first, std::int64_t last) const {
        for (auto t = first; t < last; ++t) {
            const auto q = x_.first_row + t * x_.row_step;
            const T* const row = a_ + x_.row_start(t);
            if (fused_) {
                both(q, row);
            } else {
                const auto at1 = offsets(x_.child[1], q);
                piece(x_.child[0], row, q, alpha_, b_ + at1.b, c_ + at1.c);
                const auto at0 = offsets(x_.child[0], q);
                if (!x_.once) piece(x_.child[1], row, q, static_cast<real_of<T>>(x_.swapped) * alpha_, b_ + at0.b, c_ + at0.c);
            }
            if (!x_.strict) diagonal(q, row[q]);
        }
    }

private:
    /// A(p, q) and A(q, p) in one pass, for a matrix times a vector.
    void both(std::int64_t q, const T* row) const {
        const T at_q = multiply(alpha_ * (x_.child[0][0].summed ? static_cast<real_of<T>>(x_.swapped) : real_of<T>(1)), b_[q]);
        const T sum = dot_and_add(row, q, at_q);
        c_[q] += multiply(alpha_ * (x_.child[0][0].summed ? real_of<T>(1) : static_cast<real_of<T>>(x_.swapped)), sum);
    }

    /// c += row * factor; returns the sum over row * b.
    T dot_and_add(const T* row, std::int64_t count, T factor) const {
        T sum = 0;
        if constexpr (is_complex<T>) {
            for (std::int64_t p = 0; p < count; ++p) {
                sum += multiply(row[p], b_[p]);
                c_[p] += multiply(row[p], factor);
            }
        } else {
            const T* const b = b_;
            T* const c = c_;
#pragma omp simd reduction(+ : sum)
            for (std::int64_t p = 0; p < count; ++p) {
                sum += row[p] * b[p];
                c[p] += row[p] * factor;
            }
        }
        return sum;
    }

    void diagonal(std::int64_t q, T value) const {
        const auto at0 = offsets(x_.child[0], q), at1 = offsets(x_.child[1], q);
        const T weight = multiply(x_.once ? alpha_ / real_of<T>(2) : alpha_, value);
        const T* const b = b_ + at0.b + at1.b;
        T* const c = c_ + at0.c + at1.c;
        for (std::int64_t i = 0; i < x_.columns; ++i) c[i] += multiply(weight, b[i]);
    }

    /// The first `count` elements of a row against the child that runs along it.
    void piece(const Child& child, const T* row, std::int64_t count, T alpha, const T* b, T* c) const {
        const auto width = child[0].count;
        const auto full = count / width;
        if (child[1].count == 1) return strip(child[0], row, count, alpha, b, c);
        if (full > 0) {
            const auto n = x_.columns;
            if (child[1].summed)
                gemm<T>({n, width, full}, alpha, {b, std::max(n, child[1].stride), false}, {row, width, true}, T(1),
                        {c, std::max(n, child[0].stride), false});
            else
                gemm<T>({n, full, width}, alpha, {b, std::max(n, child[0].stride), false}, {row, width, false}, T(1),
                        {c, std::max(n, child[1].stride), false});
        }
        const auto rest = full * child[1].stride;
        if (count % width > 0)
            strip(child[0], row + full * width, count % width, alpha, b + (child[1].summed ? rest : 0), c + (child[1].summed ? 0 : rest));
    }

    /// Elements along one factor.
    void strip(const RowFactor& factor, const T* row, std::int64_t count, T alpha, const T* b, T* c) const {
        const auto n = x_.columns;
        if (factor.summed && n > 1) return gemv<T>({n, 1, count}, alpha, {b, std::max(n, factor.stride), false}, {row, 1}, T(1), {c, 1});
        for (std::int64_t p = 0; p < count; ++p) {
            const T value = multiply(alpha, row[p]);
            const T* const from = b + (factor.summed ? p * factor.stride : 0);
            T* const to = c + (factor.summed ? 0 : p * factor.stride);
            for (std::int64_t i = 0; i < n; ++i) to[i] += multiply(value, from[i]);
        }
    }

    const RowProduct& x_;
    T alpha_;
    const T *a_, *b_;
    T* c_;
    bool fused_;
};

/// First row of a thread's share; rows grow, so shares are cut by elements.
std::int64_t share_begin(const RowProduct& x, std::int64_t thread, std::int64_t threads) {
    const auto wanted = x.elements() / threads * thread;
    std::int64_t low = 0, high = x.rows;
    while (low < high) {
        const auto middle = (low + high) / 2;
        if (x.row_start(middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return thread == threads ? x.rows : low;
}

}  // namespace

std::int64_t row_product_threads(const RowProduct& product, std::int64_t result, std::int64_t threads) {
    constexpr std::int64_t elements_per_thread = 1 << 14;
    const auto worth = std::min(product.elements() / elements_per_thread, product.elements() / std::max<std::int64_t>(1, 4 * result));
    return std::clamp<std::int64_t>(worth, 1, std::max<std::int64_t>(1, threads));
}

template <class T>
void multiply_rows(const RowProduct& product, T alpha, const T* a, const T* b, T* c, std::int64_t result, T* copies, std::int64_t threads) {
    if (product.columns == 0 || product.rows == 0) return;
    if (threads <= 1) return RowMultiplier<T>(product, alpha, a, b, c).run(0, product.rows);
    FirstError error;
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(static, 1)
    for (std::int64_t thread = 0; thread < threads; ++thread)
        error.run([&] {
            T* const own = thread == 0 ? c : copies + (thread - 1) * result;
            if (thread > 0) std::fill(own, own + result, T(0));
            RowMultiplier<T>(product, alpha, a, b, own)
                .run(share_begin(product, thread, threads), share_begin(product, thread + 1, threads));
        });
    error.rethrow();
    for (std::int64_t thread = 1; thread < threads; ++thread)
        for (std::int64_t i = 0; i < result; ++i) c[i] += copies[(thread - 1) * result + i];
}

#define ARGES_INSTANTIATE(T) template void multiply_rows(const RowProduct&, T, const T*, const T*, T*, std::int64_t, T*, std::int64_t);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local

// Rows of a factor from A V = M: by the inverse of V from its Cholesky factor, or its pseudo-inverse where V is nearly singular; threaded
// in blocks of rows that stay in the cache.
#include "decompose/cp/gram_solver.hpp"

#include "arges/error.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "linalg/small_matrices.hpp"
#include "local/blas.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>

namespace arges::decompose {

namespace {

constexpr std::int64_t block_rows = 512;
/// Directions in which V is smaller than its largest by this factor times the rounding and the number of columns are left out.
constexpr double noise = 500;

std::size_t square(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

/// rows = rows * factor for a number of columns that the compiler knows.
template <int columns, class T>
void multiply_fixed(const T* factor, sparse::RowMatrix<T> rows) {
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        T sum[columns] = {};
        T* const row = rows.row(i);
        for (int r = 0; r < columns; ++r)
#pragma omp simd
            for (int c = 0; c < columns; ++c) sum[c] += row[r] * factor[r * columns + c];
#pragma omp simd
        for (int c = 0; c < columns; ++c) row[c] = sum[c];
    }
}

template <class T>
void multiply_any(const T* factor, sparse::RowMatrix<T> rows) {
    const std::vector<T> before(rows.data, rows.data + rows.rows * rows.columns);
    local::gemm<T>({rows.columns, rows.rows, rows.columns}, T(1), {factor, rows.columns, false}, {before.data(), rows.columns, false}, T(0),
                   {rows.data, rows.columns, false});
}

/// rows = rows * factor, in place.
template <class T>
void multiply(const T* factor, sparse::RowMatrix<T> rows) {
    switch (rows.columns) {
    case 4: return multiply_fixed<4>(factor, rows);
    case 8: return multiply_fixed<8>(factor, rows);
    case 10: return multiply_fixed<10>(factor, rows);
    case 16: return multiply_fixed<16>(factor, rows);
    case 32: return multiply_fixed<32>(factor, rows);
    default: return multiply_any(factor, rows);
    }
}

/// gram += rows^T rows, its lower half.
template <class T>
void add_gram(sparse::RowMatrix<const T> rows, Gram& gram, std::vector<T>& scratch) {
    local::add_gram<T>(rows.columns, rows.rows, {rows.data, rows.columns, false}, gram.data(), scratch);
}

void mirror(Gram& gram, int columns) {
    const std::size_t n = columns;
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t r = c + 1; r < n; ++r) gram[c + r * n] = gram[r + c * n];
}

/// Runs f(block, sums of the thread) over blocks of rows; the threads' sums are added in their order.
template <class T, class F>
RowSums over_blocks(sparse::RowMatrix<T> rows, F&& f) {
    const auto blocks = (rows.rows + block_rows - 1) / block_rows;
    const int threads = std::clamp<std::int64_t>(blocks, 1, omp_get_max_threads());
    std::vector<RowSums> sums(threads, RowSums{Gram(square(rows.columns), 0), 0});
    FirstError error;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t)
        error.run([&] {
            std::vector<std::remove_const_t<T>> scratch;
            for (auto b = blocks * t / threads; b < blocks * (t + 1) / threads; ++b) {
                const auto begin = b * block_rows, end = std::min(rows.rows, begin + block_rows);
                f(sparse::RowMatrix<T>{rows.row(begin), end - begin, rows.columns, rows.stride}, sums[t], scratch);
            }
        });
    error.rethrow();
    for (std::size_t t = 1; t < sums.size(); ++t) {
        for (std::size_t i = 0; i < sums[0].gram.size(); ++i) sums[0].gram[i] += sums[t].gram[i];
        sums[0].inner += sums[t].inner;
    }
    mirror(sums[0].gram, rows.columns);
    return sums[0];
}

}  // namespace

void multiply_into(Gram& product, const Gram& factor) {
    for (std::size_t i = 0; i < product.size(); ++i) product[i] *= factor[i];
}

void add_to_diagonal(Gram& gram, int columns, double value) {
    for (int c = 0; c < columns; ++c) gram[static_cast<std::size_t>(c) * static_cast<std::size_t>(columns + 1)] += value;
}

void scale_gram(Gram& gram, const std::vector<double>& scale) {
    const auto n = scale.size();
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t r = 0; r < n; ++r) gram[r + c * n] *= scale[r] * scale[c];
}

GramSolver::GramSolver(Gram v, int columns, double rounding) : columns_(columns) {
    if (!std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); }))
        throw InvalidArgument("the factors of the decomposition have grown beyond all numbers; scale the tensor's values, use a smaller "
                              "rank or a regularization");
    const double cut = noise * rounding * columns;
    if (!invert_by_cholesky(v, cut)) invert_by_eigenvectors(v, cut);
    for (const auto& factor : factors_) factors_float_.emplace_back(factor.begin(), factor.end());
}

/// False if V is not positive definite, or nearly so: pivots may be large where V is nearly singular, so the inverse is looked
/// at, too.
bool GramSolver::invert_by_cholesky(const Gram& v, double cut) {
    auto inverse = linalg::positive_inverse(v, columns_);
    if (!inverse) return false;
    double most = 0, most_inverse = 0;
    for (std::int64_t c = 0; c < columns_; ++c) {
        const auto diagonal = c * static_cast<std::size_t>(columns_ + 1);
        most = std::max(most, v[diagonal]);
        most_inverse = std::max(most_inverse, (*inverse)[diagonal]);
    }
    if (!(most * most_inverse * cut < 1)) return false;
    mirror(*inverse, columns_);
    factors_.push_back(std::move(*inverse));
    return true;
}

void GramSolver::invert_by_eigenvectors(const Gram& v, double cut) {
    const auto [values, vectors] = linalg::symmetric_eigen(v, columns_);
    const double least = at_least_zero(values.back()) * cut;
    const std::size_t n = columns_;
    Gram root(square(columns_), 0), transposed = root;
    for (std::size_t e = 0; e < n; ++e) {
        if (values[e] <= least) continue;
        for (std::size_t r = 0; r < n; ++r) root[r * n + e] = transposed[e * n + r] = vectors[r + e * n] / std::sqrt(values[e]);
    }
    factors_ = {std::move(root), std::move(transposed)};
}

template <class T>
void GramSolver::solve(sparse::RowMatrix<T> rows) const {
    for (std::size_t f = 0; f < factors_.size(); ++f) {
        const T* factor = nullptr;
        if constexpr (std::is_same_v<T, float>)
            factor = factors_float_[f].data();
        else
            factor = factors_[f].data();
        multiply(factor, rows);
    }
}

template <class T>
RowSums solve_rows(const GramSolver& solver, sparse::RowMatrix<T> rows) {
    std::atomic<double> solving{0}, all{0};
    auto result = over_blocks(rows, [&](sparse::RowMatrix<T> block, RowSums& sums, std::vector<T>& scratch) {
        const Stopwatch watch;
        const auto size = block.rows * block.columns;
        std::vector<T> before(block.data, block.data + size);
        solver.solve(block);
        double inner = 0;
        for (std::int64_t i = 0; i < size; ++i) inner += static_cast<double>(before[i]) * block.data[i];
        sums.inner += inner;
        solving += watch.seconds();
        add_gram<T>(block, sums.gram, scratch);
        all += watch.seconds();
    });
    if (all > 0) result.gram_share = 1 - solving / all;
    return result;
}

template <class T>
Gram gram_of(sparse::RowMatrix<const T> rows) {
    return over_blocks(rows, [](sparse::RowMatrix<const T> block, RowSums& sums,
                                std::vector<T>& scratch) { add_gram<T>(block, sums.gram, scratch); })
        .gram;
}

template <class T>
void scale_columns(sparse::RowMatrix<T> rows, const std::vector<double>& scale) {
    const std::vector<T> factor(scale.begin(), scale.end());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.rows; ++i)
        for (int c = 0; c < rows.columns; ++c) rows.row(i)[c] *= factor[c];
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void GramSolver::solve(sparse::RowMatrix<T>) const;                                                                           \
    template RowSums solve_rows(const GramSolver&, sparse::RowMatrix<T>);                                                                  \
    template Gram gram_of(sparse::RowMatrix<const T>);                                                                                     \
    template void scale_columns(sparse::RowMatrix<T>, const std::vector<double>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

#include "decompose/tucker/sparse_hooi.hpp"

#include "base/math.hpp"
#include "decompose/tucker/core_arrays.hpp"
#include "linalg/small_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

namespace arges::decompose {

namespace {

using sparse::RowMatrix;

/// Columns of `vectors` divided by singular values; those that are zero up to rounding become zero.
template <class T>
std::vector<T> scaled(const std::vector<double>& values, const Gram& vectors, std::int64_t rows, int columns) {
    // Squares of singular values are wrong by about this, relative to the largest: the rounding of n sums, or of elements
    // in float.
    const double rounding =
        std::is_same_v<T, float> ? 1e-6 : std::max(1e-13, static_cast<double>(rows) * std::numeric_limits<double>::epsilon());
    std::vector<T> result(static_cast<std::size_t>(rows * columns), T(0));
    for (std::int64_t c = 0; c < std::min<std::int64_t>(rows, columns); ++c) {
        if (!(values[c] > rounding * values[0])) continue;
        for (std::int64_t r = 0; r < rows; ++r) result[r + c * rows] = static_cast<T>(vectors[r + c * rows] / std::sqrt(values[c]));
    }
    return result;
}

}  // namespace

template <class T>
SparseHooi<T>::SparseHooi(SparseProducts<T>& products, bool missing) : x_(products), is_missing_(missing) {
    for (int m = 0; m < x_.order(); ++m) make_orthonormal(m);
}

template <class T>
double SparseHooi<T>::error() const {
    if (is_missing_) return std::sqrt(left_ / x_.norm_squared());
    double squares = 0;
    for (double g : core_) squares += g * g;
    return std::sqrt(at_least_zero(x_.norm_squared() - squares) / x_.norm_squared());
}

template <class T>
void SparseHooi<T>::start_from(const TuckerModel<T>& model) {
    x_.take(model);
    if (!is_missing_) return;
    core_ = core_array(model.core());
    left_ = x_.subtract_model(core_);
}

template <class T>
void SparseHooi<T>::iterate() {
    const bool has_model = is_missing_ && !core_.empty();
    const auto before = has_model ? state() : State{};
    auto core = before.core;  // of the model before, for its factors in modes to come and new ones in others
    for (int m = 0; m < x_.order(); ++m) {
        const auto product = x_.product(m);
        if (!has_model) {
            take_singular_vectors(m, product);
            continue;
        }
        const RowMatrix<const T> old{before.rows[m].data(), product.rows, x_.columns(m), x_.columns(m)};
        multiply_rows<T>(old, core_unfolding<T>(core, x_.ranks(), m, true), product, T(1));
        take_singular_vectors(m, product);
        core = times_in_mode(core, x_.ranks(), m, inner_products<T>(x_.comm(), old, x_.owned(m)));
    }
    if (is_missing_) left_ = x_.subtract_model(core_);
}

/// Leading columns stay; others are random, of a length of about 1.
template <class T>
void SparseHooi<T>::change_ranks(const State& before, const std::vector<int>& ranks) {
    x_.set_ranks(ranks);
    const auto nonempty = x_.nonempty();
    for (int m = 0; m < x_.order(); ++m) {
        const auto mine = x_.owned(m);
        const T length = static_cast<T>(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, nonempty[m]))));
        const int kept = std::min(before.ranks[m], ranks[m]);
        for (std::int64_t i = 0; i < mine.rows; ++i) {
            const T* const from = before.rows[m].data() + i * before.ranks[m];
            std::copy(from, from + kept, mine.row(i));
            for (int c = kept; c < ranks[m]; ++c) mine.row(i)[c] *= length;
        }
    }
}

template <class T>
void SparseHooi<T>::grow_to(const std::vector<int>& ranks) {
    change_ranks(state(), ranks);
    for (int m = 0; m < x_.order(); ++m) make_orthonormal(m);
}

template <class T>
void SparseHooi<T>::cut_to(const std::vector<int>& ranks) {
    const auto before = state();
    change_ranks(before, ranks);
    const auto size = std::accumulate(ranks.begin(), ranks.end(), std::size_t{1}, std::multiplies<>());
    core_.assign(size, 0);
    std::vector<int> index(ranks.size(), 0);
    for (double& g : core_) {
        g = before.core[place_in_core(index, before.ranks)];
        for (auto k = index.size(); k-- > 0 && ++index[k] == ranks[k];) index[k] = 0;
    }
    for (int m = 0; m < x_.order(); ++m) x_.expand(m);
}

template <class T>
void SparseHooi<T>::restore(const State& state) {
    change_ranks(state, state.ranks);
    for (int m = 0; m < x_.order(); ++m) x_.expand(m);
    core_ = state.core;
}

/// Eigenvalues of the Gram matrix of some rows, falling, and their vectors, column by column; negative ones are zero.
template <class T>
std::pair<std::vector<double>, Gram> SparseHooi<T>::eigen(RowMatrix<const T> rows) {
    auto gram = gram_of<T>(rows);
    sum_over_ranks(x_.comm(), gram);
    auto [values, vectors] = linalg::symmetric_eigen(gram, rows.columns);
    std::reverse(values.begin(), values.end());
    const std::size_t n = rows.columns;
    for (std::size_t c = 0; c < n / 2; ++c)
        std::swap_ranges(vectors.begin() + (c * n), vectors.begin() + ((c + 1) * n), vectors.begin() + ((n - 1 - c) * n));
    for (auto& v : values) v = std::max(0.0, v);
    return {std::move(values), std::move(vectors)};
}

/// Columns made orthonormal by the eigenvectors of their Gram matrix.
template <class T>
void SparseHooi<T>::make_orthonormal(int m) {
    const auto mine = x_.owned(m);
    const auto [values, vectors] = eigen(mine);
    const std::vector<T> before(mine.data, mine.data + mine.rows * mine.columns);
    multiply_rows<T>({before.data(), mine.rows, mine.columns, mine.columns}, scaled<T>(values, vectors, mine.columns, mine.columns), mine);
    x_.expand(m);
}

/// U = Y V S^-1 with the leading eigenvectors V of Y^T Y; the core in this mode is U^T Y = S V^T.
template <class T>
void SparseHooi<T>::take_singular_vectors(int m, RowMatrix<const T> product) {
    const auto [values, vectors] = eigen(product);
    const auto columns = x_.columns(m);
    multiply_rows<T>(product, scaled<T>(values, vectors, product.columns, columns), x_.owned(m));
    x_.expand(m);
    if (m + 1 < x_.order()) return;
    const std::size_t w = product.columns;
    core_.assign(w * static_cast<std::size_t>(columns), 0);
    for (std::int64_t c = 0; c < std::min(columns, product.columns); ++c)
        for (std::size_t j = 0; j < w; ++j) core_[c + j * static_cast<std::size_t>(columns)] = std::sqrt(values[c]) * vectors[j + c * w];
}

template class SparseHooi<float>;
template class SparseHooi<double>;

}  // namespace arges::decompose

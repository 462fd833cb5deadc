#include "decompose/tucker/sparse_hooi.hpp"

#include "base/math.hpp"
#include "base/memory_tally.hpp"
#include "linalg/small_matrices.hpp"
#include "local/blas.hpp"

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

/// result = scale * result + rows * transform (rows.columns x columns, column by column). Some rows at a time: BLAS makes a copy of them,
/// on each thread and as long as it gets (40 MB and more by some kernels of OpenBLAS).
template <class T>
void multiply(RowMatrix<const T> rows, const std::vector<T>& transform, RowMatrix<T> result, T scale = 0) {
    constexpr std::int64_t rows_at_once = 1 << 13;
    for (std::int64_t begin = 0; begin < rows.rows; begin += rows_at_once)
        local::gemm<T>({result.columns, std::min(rows_at_once, rows.rows - begin), rows.columns}, T(1),
                       {transform.data(), rows.columns, true}, {rows.row(begin), rows.columns, false}, scale,
                       {result.row(begin), result.columns, false});
}

std::int64_t product(const std::vector<int>& ranks) {
    return std::accumulate(ranks.begin(), ranks.end(), std::int64_t{1}, std::multiplies<>());
}

/// Lengths of an array with the last mode fastest, before a mode and behind it.
std::pair<std::size_t, std::size_t> around(const std::vector<int>& lengths, int mode) {
    std::size_t before = 1, behind = 1;
    for (int m = 0; m < static_cast<int>(lengths.size()); ++m)
        if (m != mode) (m < mode ? before : behind) *= static_cast<std::size_t>(lengths[m]);
    return {before, behind};
}

/// In an array of these lengths with the last mode fastest.
std::size_t place_of(const std::vector<int>& index, const std::vector<int>& lengths) {
    std::size_t place = 0;
    for (std::size_t m = 0; m < index.size(); ++m)
        place = place * static_cast<std::size_t>(lengths[m]) + static_cast<std::size_t>(index[m]);
    return place;
}

}  // namespace

template <class T>
SparseHooi<T>::SparseHooi(const Communicator& comm, Distributed<T> distributed, std::vector<int> ranks, std::uint64_t seed, bool missing)
    : comm_(comm), distributed_(std::move(distributed)), ranks_(std::move(ranks)), seed_(seed), is_missing_(missing) {
    for (auto value : distributed_.sets[0].nonzeros.values) norm_squared_ += static_cast<double>(value) * value;
    comm_.sum(&norm_squared_, 1);
    comm_.agree([&] {
        const bool one_set = distributed_.sets.size() == 1;
        for (int m = 0; m < order(); ++m) {
            auto& nonzeros = distributed_.sets[one_set ? 0 : static_cast<std::size_t>(m)].nonzeros;
            kernels_.emplace_back(nonzeros, m);
            if (one_set) continue;
            release(nonzeros.indices);
            release(nonzeros.values);
        }
    });
    release(distributed_.sets);
    make_factors();
    for (int m = 0; m < order(); ++m) make_orthonormal(m);
}

template <class T>
std::int64_t SparseHooi<T>::width(int m) const {
    return product(ranks_) / columns(m);
}

template <class T>
double SparseHooi<T>::error() const {
    if (is_missing_) return std::sqrt(left_ / norm_squared_);
    double squares = 0;
    for (double g : core_) squares += g * g;
    return std::sqrt(at_least_zero(norm_squared_ - squares) / norm_squared_);
}

template <class T>
std::vector<std::int64_t> SparseHooi<T>::nonempty() const {
    std::vector<std::int64_t> result;
    for (const auto& rows : distributed_.rows) result.push_back(comm_.sum(rows.owned));
    return result;
}

/// Factors of these ranks with random elements, and the room and lists that iterations need.
template <class T>
void SparseHooi<T>::make_factors() {
    expand_.clear();
    fold_.clear();
    product_ = {};
    factors_ = {};
    std::int64_t largest = 0;
    for (int m = 0; m < order(); ++m) {
        const auto& rows = rows_of(m);
        comm_.agree([&] {
            factors_.add(rows, columns(m), seed_, 0.5);
            expand_.push_back(std::make_unique<RowExchange<T>>(comm_, rows, columns(m)));
            fold_.push_back(std::make_unique<RowExchange<T>>(comm_, rows, width(m)));
        });
        largest = std::max(largest, rows.count() * width(m));
    }
    comm_.agree([&] { product_ = Buffer<T>(largest); });
}

template <class T>
void SparseHooi<T>::start_from(const TuckerModel<T>& model) {
    factors_.take(comm_, model);
    if (!is_missing_) return;
    const auto core = model.core().gather();
    core_.resize(core.size());
    std::vector<int> index(order(), 0);
    for (auto g : core) {
        core_[place_of(index, ranks_)] = static_cast<double>(g);
        for (int k = 0; k < order() && ++index[k] == ranks_[k]; ++k) index[k] = 0;
    }
    subtract_model();
}

template <class T>
void SparseHooi<T>::iterate() {
    const bool has_model = is_missing_ && !core_.empty();
    const auto before = has_model ? state() : State{};
    auto core = before.core;  // of the model before, for its factors in modes to come and new ones in others
    for (int m = 0; m < order(); ++m) {
        const auto& rows = rows_of(m);
        const RowMatrix<T> product{product_.data(), rows.count(), static_cast<int>(width(m)), width(m)};
        kernels_[m].multiply(factors_.views(), product);
        if (distributed_.folds) fold_[m]->fold(product);
        const RowMatrix<T> mine{product.data, rows.owned, product.columns, product.stride};
        if (has_model) add_model(m, before.rows[m], core, mine);
        take_singular_vectors(m, mine);
        if (has_model) turn(m, before.rows[m], core);
    }
    if (is_missing_) subtract_model();
}

/// Adds the part of the model before to X_(m) times the Kronecker product of the other factors.
template <class T>
void SparseHooi<T>::add_model(int m, const std::vector<T>& before, const std::vector<double>& core, RowMatrix<T> product) {
    const auto [outer, inner] = around(ranks_, m);
    const std::size_t columns = ranks_[m];
    std::vector<T> transform(core.size());
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t c = 0; c < columns; ++c)
            for (std::size_t i = 0; i < inner; ++i)
                transform[c + (o * inner + i) * columns] = static_cast<T>(core[(o * columns + c) * inner + i]);
    multiply<T>({before.data(), product.rows, ranks_[m], ranks_[m]}, transform, product, T(1));
}

/// The core of the model before for the new factor of a mode instead of its own: times (before^T new).
template <class T>
void SparseHooi<T>::turn(int m, const std::vector<T>& before, std::vector<double>& core) {
    constexpr std::int64_t rows_at_once = 1 << 12;
    const auto mine = owned(m);
    const std::size_t columns = ranks_[m];
    std::vector<double> cross(columns * columns, 0);
    std::vector<T> part(cross.size());
    for (std::int64_t begin = 0; begin < mine.rows; begin += rows_at_once) {
        const auto rows = std::min(rows_at_once, mine.rows - begin);
        local::gemm<T>({mine.columns, mine.columns, rows}, T(1), {before.data() + begin * mine.columns, mine.columns, false},
                       {mine.row(begin), mine.columns, true}, T(0), {part.data(), mine.columns, false});
        for (std::size_t i = 0; i < cross.size(); ++i) cross[i] += static_cast<double>(part[i]);
    }
    comm_.sum(cross.data(), std::ssize(cross));
    const auto [outer, inner] = around(ranks_, m);
    std::vector<double> turned(core.size(), 0);
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t a = 0; a < columns; ++a)
            for (std::size_t b = 0; b < columns; ++b)
                for (std::size_t i = 0; i < inner; ++i)
                    turned[(o * columns + b) * inner + i] += cross[a + b * columns] * core[(o * columns + a) * inner + i];
    core = std::move(turned);
}

/// What the model leaves of stored elements, for the next iteration.
template <class T>
void SparseHooi<T>::subtract_model() {
    comm_.agree([&] {
        const std::vector<T> core(core_.begin(), core_.end());
        for (int m = order(); m-- > 0;) left_ = kernels_[m].subtract_model(core, factors_.views());
    });
    comm_.sum(&left_, 1);
}

/// Other ranks with the columns of `rows` in front; columns beyond them are random, of a length of about 1.
template <class T>
void SparseHooi<T>::change_ranks(const std::vector<int>& ranks, const std::vector<std::vector<T>>& rows) {
    const auto before = ranks_;
    ranks_ = ranks;
    make_factors();
    const auto nonempty = this->nonempty();
    for (int m = 0; m < order(); ++m) {
        const auto mine = owned(m);
        const T length = static_cast<T>(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, nonempty[m]))));
        const int kept = std::min(before[m], columns(m));
        for (std::int64_t i = 0; i < mine.rows; ++i) {
            const T* const from = rows[m].data() + i * before[m];
            std::copy(from, from + kept, mine.row(i));
            for (int c = kept; c < columns(m); ++c) mine.row(i)[c] *= length;
        }
    }
}

template <class T>
void SparseHooi<T>::grow_to(const std::vector<int>& ranks) {
    const auto before = state();
    change_ranks(ranks, before.rows);
    for (int m = 0; m < order(); ++m) make_orthonormal(m);
}

template <class T>
void SparseHooi<T>::cut_to(const std::vector<int>& ranks) {
    const auto before = state();
    change_ranks(ranks, before.rows);
    for (int m = 0; m < order(); ++m) expand(m);
    core_.assign(static_cast<std::size_t>(product(ranks)), 0);
    std::vector<int> index(order(), 0);
    for (double& g : core_) {
        g = before.core[place_of(index, before.ranks)];
        for (int k = order() - 1; k >= 0 && ++index[k] == ranks[k]; --k) index[k] = 0;
    }
}

template <class T>
typename SparseHooi<T>::State SparseHooi<T>::state() {
    State result{ranks_, {}, core_};
    for (int m = 0; m < order(); ++m) {
        const auto mine = owned(m);
        result.rows.emplace_back(mine.data, mine.data + mine.rows * mine.columns);
    }
    return result;
}

template <class T>
void SparseHooi<T>::restore(const State& state) {
    ranks_ = state.ranks;
    change_ranks(state.ranks, state.rows);
    for (int m = 0; m < order(); ++m) expand(m);
    core_ = state.core;
}

template <class T>
Tensor<T> SparseHooi<T>::core(const World& world) const {
    Tensor<T> core(world, {ranks_.begin(), ranks_.end()}, "core");
    const auto values = core_first_fastest();
    core.for_each_local([&](Index i, T& value) { value = static_cast<T>(values[core.key(i)]); });
    return core;
}

template <class T>
TuckerModel<T> SparseHooi<T>::model(const World& world, const std::vector<std::int64_t>& lengths) {
    std::vector<std::vector<std::int64_t>> rows;
    for (int m = 0; m < order(); ++m) {
        const auto& index = rows_of(m).index;
        rows.emplace_back(index.begin(), index.begin() + rows_of(m).owned);
    }
    return {lengths, core(world), std::move(rows), state().rows};
}

/// Eigenvalues of the Gram matrix of some rows, falling, and their vectors, column by column; negative ones are zero.
template <class T>
std::pair<std::vector<double>, Gram> SparseHooi<T>::eigen(RowMatrix<const T> rows) {
    auto gram = gram_of<T>(rows);
    sum_over_ranks(comm_, gram);
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
    const auto [values, vectors] = eigen(owned(m));
    const std::vector<T> before(owned(m).data, owned(m).data + owned(m).rows * columns(m));
    multiply<T>({before.data(), owned(m).rows, columns(m), columns(m)}, scaled<T>(values, vectors, columns(m), columns(m)), owned(m));
    expand(m);
}

/// U = Y V S^-1 with the leading eigenvectors V of Y^T Y; the core in this mode is U^T Y = S V^T.
template <class T>
void SparseHooi<T>::take_singular_vectors(int m, RowMatrix<const T> product) {
    const auto [values, vectors] = eigen(product);
    multiply<T>(product, scaled<T>(values, vectors, product.columns, columns(m)), owned(m));
    expand(m);
    if (m + 1 < order()) return;
    const std::size_t w = product.columns;
    core_.assign(w * static_cast<std::size_t>(columns(m)), 0);
    for (std::int64_t c = 0; c < std::min(columns(m), product.columns); ++c)
        for (std::size_t j = 0; j < w; ++j) core_[c + j * static_cast<std::size_t>(columns(m))] = std::sqrt(values[c]) * vectors[j + c * w];
}

template <class T>
std::vector<double> SparseHooi<T>::core_first_fastest() const {
    const std::size_t n = order();
    std::vector<double> result(core_.size());
    std::vector<int> index(n, 0);
    for (double& g : result) {
        g = core_[place_of(index, ranks_)];
        for (std::size_t k = 0; k < n && ++index[k] == ranks_[k]; ++k) index[k] = 0;
    }
    return result;
}

template class SparseHooi<float>;
template class SparseHooi<double>;

}  // namespace arges::decompose

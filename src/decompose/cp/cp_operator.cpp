// Distributed tensors as algorithms for CP use them, a sparse one, of which each rank multiplies its nonzeros in the format that suits
// their modes, and the factors.
#include "decompose/cp/cp_operator.hpp"

#include "base/math.hpp"
#include "base/memory_tally.hpp"
#include "base/splitmix.hpp"
#include "base/stopwatch.hpp"
#include "comm/values.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/cp/sparse_operator.hpp"
#include "decompose/factor_tensor.hpp"
#include "device/failure.hpp"

#include <algorithm>
#include <cmath>

namespace arges::decompose {

template <class T>
void CpData<T>::set_modes(int order) {
    for (int m = 0; m < order; ++m) exchange_.push_back(std::make_unique<RowExchange<T>>(comm_, rows(m), columns_));
}

template <class T>
void CpOperator<T>::mttkrp(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) {
    Stopwatch watch;
    this->comm_.agree([&] { multiply(mode, factors, out); });
    this->seconds_.mttkrp += watch.lap();
    finish_product(mode, out);
}

template <class T>
void CpOperator<T>::mttkrp_all(std::span<const sparse::RowMatrix<const T>> factors, std::span<const sparse::RowMatrix<T>> out) {
    Stopwatch watch;
    this->comm_.agree([&] {
        for (int m = 0; m < this->order(); ++m) multiply(m, factors, out[m]);
    });
    this->seconds_.mttkrp += watch.lap();
    for (int m = 0; m < this->order(); ++m) finish_product(m, out[m]);
}

template <class T>
void CpOperator<T>::finish_product(int mode, sparse::RowMatrix<T> out) {
    Stopwatch watch;
    if (folds_) this->exchange_[mode]->fold(out);
    this->seconds_.communication += watch.lap();
    correct(mode, {out.data, this->rows(mode).owned, out.columns, out.stride});
    this->seconds_.solve += watch.lap();
}

template <class T>
void CpData<T>::start_expand(int mode, sparse::RowMatrix<T> factor) {
    Stopwatch watch;
    factor_changes(mode);
    exchange_[mode]->start_expand(factor);
    seconds_.communication += watch.lap();
}

template <class T>
void CpData<T>::finish_expand(int mode) {
    Stopwatch watch;
    exchange_[mode]->finish_expand();
    seconds_.communication += watch.lap();
}

template <class T>
SparseOperator<T>::SparseOperator(const Communicator& comm, Distributed<T> distributed, sparse::Format format, int columns,
                                  const ElementKernels* device)
    : CpOperator<T>(comm, columns, distributed.folds), distributed_(std::move(distributed)) {
    double squares = 0;
    for (auto value : distributed_.sets[0].nonzeros.values) squares += static_cast<double>(value) * value;
    comm.sum(&squares, 1);
    this->norm_squared_ = squares;
    comm.agree([&] {
        for (auto& set : distributed_.sets) {
            counts_.push_back(set.nonzeros.count());
            kernels_.push_back(sparse::make_mttkrp(set.nonzeros, format, set.modes, device));
            release(set.nonzeros.indices);
            release(set.nonzeros.values);
        }
        if (device != nullptr) device::Failure::the().rethrow();
        this->set_modes(distributed_.rows.size());
    });
}

template <class T>
void SparseOperator<T>::multiply(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) {
    auto& kernel = *kernels_[set_of(mode)];
    kernel.multiply(mode, factors, out);
    if (kernel.format() == sparse::Format::device) device::Failure::the().rethrow();
}

template <class T>
std::int64_t SparseOperator<T>::nonzeros() const {
    return *std::max_element(counts_.begin(), counts_.end());
}

template <class T>
std::int64_t SparseOperator<T>::bytes() const {
    std::int64_t sum = 0;
    for (const auto& kernel : kernels_) sum += kernel->bytes();
    for (const auto& rows : distributed_.rows)
        sum += rows.count() * 8 + rows.rows_shared() * (4 + this->columns_ * std::int64_t{sizeof(T)});
    return sum;
}

double start_value(std::uint64_t seed, int mode, std::int64_t row, int column) {
    auto state = splitmix(seed + 0x51ed270b * static_cast<std::uint64_t>(mode + 1));
    state = splitmix(state ^ static_cast<std::uint64_t>(row));
    return unit_interval(splitmix(state + static_cast<std::uint64_t>(column)));
}

void sum_over_ranks(const Communicator& comm, Gram& gram) { comm.sum(gram.data(), std::ssize(gram)); }

void sum_over_ranks(const Communicator& comm, RowSums& sums) {
    const std::size_t n = std::llround(std::sqrt(static_cast<double>(sums.gram.size())));
    std::vector<double> lower{sums.inner};
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t r = c; r < n; ++r) lower.push_back(sums.gram[r + c * n]);
    comm.sum(lower.data(), std::ssize(lower));
    sums.inner = lower[0];
    auto next = lower.begin() + 1;
    for (std::size_t c = 0; c < n; ++c)
        for (std::size_t r = c; r < n; ++r) sums.gram[r + c * n] = sums.gram[c + r * n] = *next++;
}

template <class T>
void FactorMatrices<T>::add(const ModeRows& rows, int columns, std::uint64_t seed, double shift) {
    const int mode = order();
    rows_.push_back(&rows);
    columns_.push_back(columns);
    auto& data = data_.emplace_back(rows.count() * columns);
    for (std::int64_t i = 0; i < rows.count(); ++i)
        for (int c = 0; c < columns; ++c) data[i * columns + c] = static_cast<T>(start_value(seed, mode, rows.index[i], c) - shift);
}

template <class T>
void FactorMatrices<T>::take(const Communicator& comm, const ModelFactors<T>& model) {
    for (int m = 0; m < order(); ++m) {
        const auto to = matrix(m);
        const auto places = places_of_rows(comm, model.rows(m), rows(m).index);
        const auto values = gathered(comm, model.factor(m));
        for (std::int64_t i = 0; i < to.rows; ++i)
            if (places[i] < 0)
                std::fill_n(to.row(i), to.columns, T(0));
            else
                std::copy_n(values.data() + places[i] * to.columns, to.columns, to.row(i));
    }
}

template <class T>
sparse::RowMatrix<T> FactorMatrices<T>::matrix(int mode) {
    const std::size_t m = mode;
    return {data_[m].data(), rows_[m]->count(), columns_[m], columns_[m]};
}

template <class T>
sparse::RowMatrix<T> FactorMatrices<T>::owned(int mode) {
    auto result = matrix(mode);
    result.rows = rows(mode).owned;
    return result;
}

template <class T>
std::vector<sparse::RowMatrix<const T>> FactorMatrices<T>::views() const {
    std::vector<sparse::RowMatrix<const T>> result;
    for (std::size_t m = 0; m < data_.size(); ++m) result.push_back({data_[m].data(), rows_[m]->count(), columns_[m], columns_[m]});
    return result;
}

template <class T>
std::int64_t FactorMatrices<T>::bytes() const {
    std::int64_t sum = 0;
    for (const auto& data : data_) sum += static_cast<std::int64_t>(data.bytes());
    return sum;
}

template <class T>
CpModel<T> FactorMatrices<T>::model(const World& world, const std::vector<std::int64_t>& lengths, const std::vector<double>& weights,
                                    const std::vector<double>& divisors, bool releases) {
    const auto components = falling_weights(weights);
    std::vector<double> lambda;
    for (auto c : components) lambda.push_back(weights[c]);
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<T>> factors;
    for (int m = 0; m < order(); ++m) {
        const auto& index = this->rows(m).index;
        const auto mine = owned(m);
        const auto own = divisors.size() > weights.size() ? static_cast<std::size_t>(m) * weights.size() : 0;
        rows.emplace_back(index.begin(), index.begin() + mine.rows);
        factors.emplace_back();
        factors.back().reserve(mine.rows * mine.columns);
        for (std::int64_t i = 0; i < mine.rows; ++i)
            for (auto c : components) {
                const double value = mine.row(i)[c], divisor = divisors.empty() ? 1 : divisors[own + static_cast<std::size_t>(c)];
                factors.back().push_back(static_cast<T>(divisor > 0 ? value / divisor : 0));
            }
        if (releases) data_[m] = {};
    }
    return {world, lengths, std::move(lambda), std::move(rows), std::move(factors)};
}

template <class T>
Factors<T>::Factors(CpData<T>& tensor, std::uint64_t seed) : columns_(tensor.columns()) {
    tensor.comm().agree([&] {
        for (int m = 0; m < tensor.order(); ++m) this->add(tensor.rows(m), columns_, seed);
    });
    grams_.resize(this->order());
    for (int m = 0; m < this->order(); ++m) make_gram(tensor, m);
}

template <class T>
void Factors<T>::make_gram(CpData<T>& data, int mode) {
    Stopwatch watch;
    Gram gram;
    data.comm().agree([&] { gram = gram_of<T>(this->owned(mode)); });
    data.seconds().gram += watch.lap();
    sum_over_ranks(data.comm(), gram);
    data.seconds().communication += watch.lap();
    grams_[mode] = std::move(gram);
}

template <class T>
std::vector<double> Factors<T>::unit_columns(int mode) {
    auto& gram = grams_[mode];
    std::vector<double> lengths, scale;
    for (std::size_t c = 0, n = columns_; c < n; ++c) {
        lengths.push_back(std::sqrt(at_least_zero(gram[c * (n + 1)])));
        scale.push_back(lengths.back() > 0 ? 1 / lengths.back() : 0);
    }
    scale_gram(gram, scale);
    scale_columns(this->matrix(mode), scale);
    return lengths;
}

template <class T>
Gram Factors<T>::gram_product(int but) const {
    Gram product(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(columns_), 1);
    for (int m = 0; m < this->order(); ++m)
        if (m != but) multiply_into(product, gram(m));
    return product;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class CpData<T>;                                                                                                              \
    template class CpOperator<T>;                                                                                                          \
    template class SparseOperator<T>;                                                                                                      \
    template class FactorMatrices<T>;                                                                                                      \
    template class Factors<T>;
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

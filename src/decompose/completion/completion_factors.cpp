#include "decompose/completion/completion_factors.hpp"

#include "base/stopwatch.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/factor_tensor.hpp"

#include <omp.h>

#include <cmath>

namespace arges::decompose {

namespace {

/// Adds the squares of the columns of rows to `squares`.
template <class T>
void add_squares(sparse::RowMatrix<T> rows, double* squares) {
    const std::size_t columns = rows.columns;
    const std::size_t threads = omp_get_max_threads();
    std::vector<std::vector<double>> sums(threads, std::vector<double>(columns, 0));
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        auto& sum = sums[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < rows.rows; ++i)
            for (std::size_t c = 0; c < columns; ++c) sum[c] += static_cast<double>(rows.row(i)[c]) * rows.row(i)[c];
    }
    for (const auto& sum : sums)
        for (std::size_t c = 0; c < columns; ++c) squares[c] += sum[c];
}

}  // namespace

template <class T>
CompletionFactors<T>::CompletionFactors(const Communicator& comm, std::span<const ModeRows> rows, int columns, std::uint64_t seed)
    : comm_(comm), rows_(rows), columns_(columns) {
    comm.agree([&] {
        weights_.assign(columns, 1);
        for (std::size_t m = 0; m < rows.size(); ++m) {
            const auto& index = rows[m].index;
            data_.emplace_back(rows[m].count() * columns);
            exchange_.push_back(std::make_unique<RowExchange<T>>(comm, rows[m], columns));
            for (std::size_t i = 0; i < index.size(); ++i)
                for (int c = 0; c < columns; ++c)
                    data_.back()[static_cast<std::int64_t>(i) * columns + c] = static_cast<T>(start_value(seed, m, index[i], c));
        }
    });
}

std::int64_t completion_factors_memory(const SparseShare& share) {
    const auto row = share.columns * share.value_bytes;
    std::int64_t sum = 0;
    for (std::size_t m = 0; m < share.rows.size(); ++m) sum += array_memory(share.rows[m] * row) + share.shared[m] * row;
    return sum;
}

template <class T>
sparse::RowMatrix<T> CompletionFactors<T>::matrix(int mode) {
    return {data_[mode].data(), rows(mode).count(), columns_, columns_};
}

template <class T>
sparse::RowMatrix<T> CompletionFactors<T>::owned(int mode) {
    return {data_[mode].data(), rows(mode).owned, columns_, columns_};
}

template <class T>
Views<T> CompletionFactors<T>::views() const {
    Views<T> result;
    for (std::size_t m = 0; m < data_.size(); ++m) result.push_back({data_[m].data(), rows_[m].count(), columns_, columns_});
    return result;
}

template <class T>
double CompletionFactors<T>::squares() const {
    double sum = 0;
    for (double weight : weights_) sum += order() * std::pow(weight, 2.0 / order());
    return sum;
}

template <class T>
void CompletionFactors<T>::expand(int mode) {
    const Stopwatch watch;
    auto& exchange = *exchange_[mode];
    exchange.start_expand(matrix(mode));
    exchange.finish_expand();
    communication_seconds_ += watch.seconds();
}

template <class T>
void CompletionFactors<T>::start_from(const CpModel<T>& model) {
    for (int m = 0; m < order(); ++m) take_rows<T>(comm_, model.rows(m), model.factor(m), rows(m).index, matrix(m));
    std::vector<double> roots, signs;
    for (double weight : model.lambda()) {
        roots.push_back(std::pow(std::abs(weight), 1.0 / order()));
        signs.push_back(weight < 0 ? -roots.back() : roots.back());
    }
    for (int m = 0; m < order(); ++m) scale_columns(matrix(m), m == 0 ? signs : roots);
}

template <class T>
void CompletionFactors<T>::scale(double factor) {
    for (int m = 0; m < order(); ++m) scale_columns(matrix(m), std::vector<double>(weights_.size(), factor));
}

template <class T>
void CompletionFactors<T>::balance() {
    const auto columns = weights_.size();
    std::vector<double> lengths(columns * data_.size(), 0);
    for (int m = 0; m < order(); ++m) add_squares(owned(m), lengths.data() + m * columns);
    const Stopwatch watch;
    comm_.sum(lengths.data(), std::ssize(lengths));
    communication_seconds_ += watch.seconds();
    std::vector<double> wanted(columns, 1);
    for (std::size_t x = 0; x < lengths.size(); ++x) {
        lengths[x] = std::sqrt(lengths[x]);
        wanted[x % columns] *= std::pow(lengths[x], 1.0 / order());
    }
    for (int m = 0; m < order(); ++m) {
        std::vector<double> factor(columns);
        for (std::size_t c = 0; c < columns; ++c)
            factor[c] = wanted[c] == 0 ? 0 : wanted[c] / lengths[static_cast<std::size_t>(m) * columns + c];
        scale_columns(matrix(m), factor);
    }
    for (std::size_t c = 0; c < columns; ++c) weights_[c] = std::pow(wanted[c], order());
}

template <class T>
CpModel<T> CompletionFactors<T>::model(const World& world, const std::vector<std::int64_t>& lengths) const {
    const auto components = falling_weights(weights_);
    std::vector<double> lambda;
    for (auto c : components) lambda.push_back(weights_[c]);
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<T>> factors;
    for (std::size_t m = 0; m < data_.size(); ++m) {
        const auto owned = rows_[m].owned;
        rows.emplace_back(rows_[m].index.begin(), rows_[m].index.begin() + owned);
        factors.emplace_back();
        factors.back().reserve(owned * columns_);
        for (std::int64_t i = 0; i < owned; ++i)
            for (auto c : components) {
                const double length = std::pow(weights_[c], 1.0 / order());
                const double value = data_[m][i * columns_ + static_cast<std::int64_t>(c)];
                factors.back().push_back(static_cast<T>(length > 0 ? value / length : 0));
            }
    }
    return {world, lengths, std::move(lambda), std::move(rows), std::move(factors)};
}

template <class T>
typename CompletionFactors<T>::Copy CompletionFactors<T>::copy() const {
    Copy result;
    for (const auto& data : data_) result.data.push_back(data.copy());
    result.weights = weights_;
    return result;
}

template <class T>
void CompletionFactors<T>::take_back(const Copy& copy) {
    for (std::size_t m = 0; m < data_.size(); ++m) copy_array(data_[m].data(), copy.data[m].data(), data_[m].bytes(), nullptr);
    weights_ = copy.weights;
}

template class CompletionFactors<float>;
template class CompletionFactors<double>;

}  // namespace arges::decompose

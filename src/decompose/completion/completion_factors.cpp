#include "decompose/completion/completion_factors.hpp"

#include "base/stopwatch.hpp"

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
    : comm_(comm) {
    comm.agree([&] {
        weights_.assign(columns, 1);
        for (const auto& mode : rows) {
            this->add(mode, columns, seed);
            exchange_.push_back(std::make_unique<RowExchange<T>>(comm, mode, columns));
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
double CompletionFactors<T>::squares() const {
    double sum = 0;
    for (double weight : weights_) sum += this->order() * std::pow(weight, 2.0 / this->order());
    return sum;
}

template <class T>
void CompletionFactors<T>::expand(int mode) {
    const Stopwatch watch;
    exchange_[mode]->expand(this->matrix(mode));
    communication_seconds_ += watch.seconds();
}

template <class T>
void CompletionFactors<T>::start_from(const CpModel<T>& model) {
    this->take(comm_, model);
    std::vector<double> roots, signs;
    for (double weight : model.lambda()) {
        roots.push_back(std::pow(std::abs(weight), 1.0 / this->order()));
        signs.push_back(weight < 0 ? -roots.back() : roots.back());
    }
    for (int m = 0; m < this->order(); ++m) scale_columns(this->matrix(m), m == 0 ? signs : roots);
}

template <class T>
void CompletionFactors<T>::scale(double factor) {
    for (int m = 0; m < this->order(); ++m) scale_columns(this->matrix(m), std::vector<double>(weights_.size(), factor));
}

template <class T>
void CompletionFactors<T>::balance() {
    const auto columns = weights_.size();
    std::vector<double> lengths(columns * data_.size(), 0);
    for (int m = 0; m < this->order(); ++m) add_squares(this->owned(m), lengths.data() + m * columns);
    const Stopwatch watch;
    comm_.sum(lengths.data(), std::ssize(lengths));
    communication_seconds_ += watch.seconds();
    std::vector<double> wanted(columns, 1);
    for (std::size_t x = 0; x < lengths.size(); ++x) {
        lengths[x] = std::sqrt(lengths[x]);
        wanted[x % columns] *= std::pow(lengths[x], 1.0 / this->order());
    }
    for (int m = 0; m < this->order(); ++m) {
        std::vector<double> factor(columns);
        for (std::size_t c = 0; c < columns; ++c)
            factor[c] = wanted[c] == 0 ? 0 : wanted[c] / lengths[static_cast<std::size_t>(m) * columns + c];
        scale_columns(this->matrix(m), factor);
    }
    for (std::size_t c = 0; c < columns; ++c) weights_[c] = std::pow(wanted[c], this->order());
}

template <class T>
CpModel<T> CompletionFactors<T>::model(const World& world, const std::vector<std::int64_t>& lengths) {
    std::vector<double> lengths_of_columns;
    for (double weight : weights_) lengths_of_columns.push_back(std::pow(weight, 1.0 / this->order()));
    return FactorMatrices<T>::model(world, lengths, weights_, lengths_of_columns, false);
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

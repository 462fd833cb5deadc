#include "decompose/completion/completion_factors.hpp"

#include "base/stopwatch.hpp"

#include <omp.h>

#include <cmath>

namespace arges::decompose {

namespace {

/// Adds the squares of the columns of rows to `squares`, and as often as these count to the numbers behind them.
template <class T>
void add_squares(sparse::RowMatrix<T> rows, const Buffer<double>& counts, double* squares) {
    const std::size_t columns = rows.columns;
    const std::size_t threads = omp_get_max_threads();
    std::vector<std::vector<double>> sums(threads, std::vector<double>(2 * columns, 0));
#pragma omp parallel num_threads(static_cast <int>(threads))
    {
        auto& sum = sums[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < rows.rows; ++i)
            for (std::size_t c = 0; c < columns; ++c) {
                const double square = static_cast<double>(rows.row(i)[c]) * rows.row(i)[c];
                sum[c] += square;
                sum[columns + c] += counts[i] * square;
            }
    }
    for (const auto& sum : sums)
        for (std::size_t c = 0; c < 2 * columns; ++c) squares[c] += sum[c];
}

}  // namespace

template <class T>
CompletionFactors<T>::CompletionFactors(const Communicator& comm, std::span<const ModeRows> rows, std::vector<Buffer<double>> counts,
                                        int columns, std::uint64_t seed, double shift)
    : comm_(comm), counts_(std::move(counts)) {
    comm.agree([&] {
        weights_.assign(columns, 1);
        for (const auto& mode : rows) {
            this->add(mode, columns, seed, shift);
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
    const auto columns = weights_.size(), order = data_.size();
    std::vector<double> squares(2 * columns * order, 0);
    for (std::size_t m = 0; m < order; ++m) add_squares(this->owned(m), counts_[m], squares.data() + 2 * m * columns);
    const Stopwatch watch;
    comm_.sum(squares.data(), std::ssize(squares));
    communication_seconds_ += watch.seconds();
    const auto part = [&](std::size_t m, std::size_t c) { return std::sqrt(squares[(2 * m + 1) * columns + c]); };
    std::vector<double> wanted(columns, 1);
    weights_.assign(columns, 1);
    lengths_.assign(columns * order, 0);
    for (std::size_t m = 0; m < order; ++m)
        for (std::size_t c = 0; c < columns; ++c) wanted[c] *= std::pow(part(m, c), 1.0 / static_cast<double>(order));
    for (std::size_t m = 0; m < order; ++m) {
        std::vector<double> factor(columns);
        for (std::size_t c = 0; c < columns; ++c) {
            factor[c] = wanted[c] == 0 ? 0 : wanted[c] / part(m, c);
            weights_[c] *= lengths_[m * columns + c] = factor[c] * std::sqrt(squares[2 * m * columns + c]);
        }
        scale_columns(this->matrix(m), factor);
    }
    weighted_squares_ = 0;
    for (double w : wanted) weighted_squares_ += this->order() * w * w;
}

template <class T>
CpModel<T> CompletionFactors<T>::model(const World& world, const std::vector<std::int64_t>& lengths) {
    return FactorMatrices<T>::model(world, lengths, weights_, lengths_, false);
}

template <class T>
typename CompletionFactors<T>::Copy CompletionFactors<T>::copy() const {
    Copy result;
    for (const auto& data : data_) result.data.push_back(data.copy());
    result.weights = weights_;
    result.lengths = lengths_;
    result.weighted_squares = weighted_squares_;
    return result;
}

template <class T>
void CompletionFactors<T>::take_back(const Copy& copy) {
    for (std::size_t m = 0; m < data_.size(); ++m) copy_array(data_[m].data(), copy.data[m].data(), data_[m].bytes(), nullptr);
    weights_ = copy.weights;
    lengths_ = copy.lengths;
    weighted_squares_ = copy.weighted_squares;
}

template class CompletionFactors<float>;
template class CompletionFactors<double>;

}  // namespace arges::decompose

#include "decompose/sparse_operator.hpp"

#include "base/stopwatch.hpp"

#include <algorithm>

namespace arges::decompose {

template <class T>
SparseOperator<T>::SparseOperator(const Communicator& comm, Distributed<T> distributed, sparse::Format format, int columns)
    : comm_(comm), distributed_(std::move(distributed)), columns_(columns) {
    double squares = 0;
    for (auto value : distributed_.sets[0].nonzeros.values) squares += static_cast<double>(value) * static_cast<double>(value);
    comm_.sum(&squares, 1);
    norm_squared_ = squares;
    comm_.agree([&] {
        for (auto& set : distributed_.sets) {
            counts_.push_back(set.nonzeros.count());
            kernels_.push_back(sparse::make_mttkrp(set.nonzeros, format, set.modes, columns));
            set.nonzeros.indices.clear();
            set.nonzeros.values = {};
        }
        for (const auto& rows : distributed_.rows) exchange_.push_back(std::make_unique<RowExchange<T>>(comm_, rows, columns));
    });
}

template <class T>
void SparseOperator<T>::mttkrp(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) {
    Stopwatch watch;
    kernels_[set_of(mode)]->multiply(mode, factors, out);
    seconds_.mttkrp += watch.lap();
    if (distributed_.folds) exchange_[static_cast<std::size_t>(mode)]->fold(out);
    seconds_.communication += watch.lap();
}

template <class T>
void SparseOperator<T>::start_expand(int mode, sparse::RowMatrix<T> factor) {
    Stopwatch watch;
    exchange_[static_cast<std::size_t>(mode)]->start_expand(factor);
    seconds_.communication += watch.lap();
}

template <class T>
void SparseOperator<T>::finish_expand(int mode) {
    Stopwatch watch;
    exchange_[static_cast<std::size_t>(mode)]->finish_expand();
    seconds_.communication += watch.lap();
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
        sum += rows.count() * 8 + rows.rows_shared() * (4 + columns_ * static_cast<std::int64_t>(sizeof(T)));
    return sum;
}

template class SparseOperator<float>;
template class SparseOperator<double>;

}  // namespace arges::decompose

#include "decompose/cp/cp_operator.hpp"

#include "base/stopwatch.hpp"

namespace arges::decompose {

template <class T>
void CpOperator<T>::set_modes(int order, bool folds) {
    folds_ = folds;
    for (int m = 0; m < order; ++m) exchange_.push_back(std::make_unique<RowExchange<T>>(comm_, rows(m), columns_));
}

template <class T>
void CpOperator<T>::mttkrp(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) {
    Stopwatch watch;
    comm_.agree([&] { multiply(mode, factors, out); });
    seconds_.mttkrp += watch.lap();
    finish_product(mode, out);
}

template <class T>
void CpOperator<T>::mttkrp_all(std::span<const sparse::RowMatrix<const T>> factors, std::span<const sparse::RowMatrix<T>> out) {
    Stopwatch watch;
    comm_.agree([&] {
        for (int m = 0; m < order(); ++m) multiply(m, factors, out[m]);
    });
    seconds_.mttkrp += watch.lap();
    for (int m = 0; m < order(); ++m) finish_product(m, out[m]);
}

template <class T>
void CpOperator<T>::finish_product(int mode, sparse::RowMatrix<T> out) {
    Stopwatch watch;
    if (folds_) exchange_[mode]->fold(out);
    seconds_.communication += watch.lap();
    correct(mode, {out.data, rows(mode).owned, out.columns, out.stride});
    seconds_.solve += watch.lap();
}

template <class T>
void CpOperator<T>::start_expand(int mode, sparse::RowMatrix<T> factor) {
    Stopwatch watch;
    factor_changes(mode);
    exchange_[mode]->start_expand(factor);
    seconds_.communication += watch.lap();
}

template <class T>
void CpOperator<T>::finish_expand(int mode) {
    Stopwatch watch;
    exchange_[mode]->finish_expand();
    seconds_.communication += watch.lap();
}

template class CpOperator<float>;
template class CpOperator<double>;

}  // namespace arges::decompose

#include "decompose/cp/factors.hpp"

#include "base/splitmix.hpp"

#include <cmath>

namespace arges::decompose {

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
Factors<T>::Factors(CpOperator<T>& tensor, std::uint64_t seed) : columns_(tensor.columns()) {
    tensor.comm().agree([&] {
        for (int m = 0; m < tensor.order(); ++m) {
            const auto& rows = tensor.rows(m);
            owned_.push_back(rows.owned);
            rows_.push_back(rows.count());
            data_.emplace_back(rows.count() * columns_);
            for (std::int64_t i = 0; i < rows.count(); ++i)
                for (int c = 0; c < columns_; ++c) data_.back()[i * columns_ + c] = static_cast<T>(start_value(seed, m, rows.index[i], c));
        }
    });
    for (int m = 0; m < order(); ++m) {
        tensor.comm().agree([&] { grams_.push_back(gram_of<T>(owned(m))); });
        sum_over_ranks(tensor.comm(), grams_.back());
    }
}

template <class T>
sparse::RowMatrix<T> Factors<T>::matrix(int mode) {
    const std::size_t m = mode;
    return {data_[m].data(), rows_[m], columns_, columns_};
}

template <class T>
sparse::RowMatrix<T> Factors<T>::owned(int mode) {
    auto result = matrix(mode);
    result.rows = owned_[mode];
    return result;
}

template <class T>
std::vector<sparse::RowMatrix<const T>> Factors<T>::views() const {
    std::vector<sparse::RowMatrix<const T>> result;
    for (std::size_t m = 0; m < data_.size(); ++m) result.push_back({data_[m].data(), rows_[m], columns_, columns_});
    return result;
}

template <class T>
Gram Factors<T>::gram_product(int but) const {
    Gram product(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(columns_), 1);
    for (int m = 0; m < order(); ++m)
        if (m != but) multiply_into(product, gram(m));
    return product;
}

template <class T>
std::int64_t Factors<T>::bytes() const {
    std::int64_t sum = 0;
    for (const auto& data : data_) sum += static_cast<std::int64_t>(data.bytes());
    return sum;
}

template class Factors<float>;
template class Factors<double>;

}  // namespace arges::decompose

#include "decompose/tucker/sparse_products.hpp"

#include "base/memory_tally.hpp"
#include "decompose/largest_weight.hpp"
#include "device/failure.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace arges::decompose {

template <class T>
SparseProducts<T>::SparseProducts(const Communicator& comm, Distributed<T> distributed, std::vector<int> ranks, std::uint64_t seed,
                                  double shift, const ElementKernels* device)
    : comm_(comm), distributed_(std::move(distributed)), ranks_(std::move(ranks)), seed_(seed), shift_(shift) {
    scale_weights();
    comm_.agree([&] {
        const bool one_set = distributed_.sets.size() == 1;
        if (device != nullptr) on_device_ = std::make_unique<sparse::DeviceNonzeros<T>>(*device, distributed_.sets[0].nonzeros.rows);
        for (int m = 0; m < order(); ++m) {
            auto& nonzeros = distributed_.sets[one_set ? 0 : static_cast<std::size_t>(m)].nonzeros;
            on_device_ ? on_device_->add(nonzeros, m) : static_cast<void>(kernels_.emplace_back(nonzeros, m));
            if (one_set) continue;
            release(nonzeros.indices);
            release(nonzeros.values);
            release(nonzeros.weights);
        }
        if (on_device_) device::Failure::the().rethrow();
    });
    release(distributed_.sets);
    any_on_device_ = comm_.sum(on_device_ ? 1 : 0) > 0;
    set_ranks(ranks_);
}

/// So that the largest weight is 1, and sums the squares.
template <class T>
void SparseProducts<T>::scale_weights() {
    double largest = 0;
    const auto& first = distributed_.sets[0].nonzeros;
    for (auto weight : first.weights) largest = std::max(largest, static_cast<double>(weight));
    largest = largest_weight(comm_, largest);
    for (auto& set : distributed_.sets)
        for (auto& weight : set.nonzeros.weights) weight = static_cast<T>(static_cast<double>(weight) / largest);
    norm_squared_ = sparse::blocked_sum(first.count(), [&](std::int64_t x) {
        const double value = first.values[x];
        return first.weight(x) * value * value;
    });
    comm_.sum(&norm_squared_, 1);
}

template <class T>
std::int64_t SparseProducts<T>::width(int mode) const {
    return std::accumulate(ranks_.begin(), ranks_.end(), std::int64_t{1}, std::multiplies<>()) / columns(mode);
}

template <class T>
std::vector<std::int64_t> SparseProducts<T>::nonempty() const {
    std::vector<std::int64_t> result;
    for (const auto& rows : distributed_.rows) result.push_back(comm_.sum(rows.owned));
    return result;
}

template <class T>
void SparseProducts<T>::set_ranks(const std::vector<int>& ranks) {
    ranks_ = std::vector<int>(ranks);
    expand_.clear();
    fold_.clear();
    product_ = {};
    factors_ = {};
    std::int64_t largest = 0;
    for (int m = 0; m < order(); ++m) {
        const auto& rows = rows_of(m);
        comm_.agree([&] {
            factors_.add(rows, columns(m), seed_, shift_);
            expand_.push_back(std::make_unique<RowExchange<T>>(comm_, rows, columns(m)));
            fold_.push_back(std::make_unique<RowExchange<T>>(comm_, rows, static_cast<int>(width(m))));
        });
        largest = std::max(largest, rows.count() * width(m));
    }
    comm_.agree([&] { product_ = Buffer<T>(largest); });
}

template <class T>
std::vector<std::int64_t> SparseProducts<T>::owned_rows(int mode) const {
    const auto& rows = rows_of(mode);
    return {rows.index.begin(), rows.index.begin() + rows.owned};
}

template <class T>
std::vector<std::vector<T>> SparseProducts<T>::all_owned() {
    std::vector<std::vector<T>> result;
    for (int m = 0; m < order(); ++m) {
        const auto mine = owned(m);
        result.emplace_back(mine.data, mine.data + mine.rows * mine.columns);
    }
    return result;
}

template <class T>
sparse::RowMatrix<T> SparseProducts<T>::product(int mode) {
    const auto& rows = rows_of(mode);
    const sparse::RowMatrix<T> result{product_.data(), rows.count(), static_cast<int>(width(mode)), width(mode)};
    const auto multiply = [&] { on_device_ ? multiply_there(mode, result) : kernels_[mode].multiply(factors_.views(), result); };
    any_on_device_ ? comm_.agree(multiply) : multiply();
    if (distributed_.folds) fold_[mode]->fold(result);
    return {result.data, rows.owned, result.columns, result.stride};
}

template <class T>
void SparseProducts<T>::multiply_there(int mode, sparse::RowMatrix<T> result) {
    std::vector<sparse::FactorColumns> product;
    std::int64_t after = result.columns;
    for (int m = 0; m < order(); ++m) {
        if (m == mode) continue;
        after /= columns(m);
        auto& take = product.emplace_back(sparse::FactorColumns{m}).take;
        for (std::int64_t c = 0; c < result.columns; ++c) take.push_back(static_cast<std::int32_t>(c / after % columns(m)));
        on_device_->factor_changes(m);
    }
    on_device_->multiply(mode, factors_.views(), product, result);
    device::Failure::the().rethrow();
}

template <class T>
double SparseProducts<T>::subtract_model(const std::vector<double>& core) {
    double squares = 0;
    comm_.agree([&] {
        const std::vector<T> own(core.begin(), core.end());
        for (int m = order(); m-- > 0;) squares = kernels_[m].subtract_model(own, factors_.views());
    });
    comm_.sum(&squares, 1);
    return squares;
}

template class SparseProducts<float>;
template class SparseProducts<double>;

}  // namespace arges::decompose

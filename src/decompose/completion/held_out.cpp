// Elements that are held out of a completion: which they are, and how well a model predicts them.
#include "decompose/completion/held_out.hpp"

#include "partition/value_counts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace arges::decompose {

template <class T>
sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>& nonzeros, double part, std::uint64_t seed) {
    std::vector<std::int64_t> index(nonzeros.indices.size());
    std::vector<bool> goes(nonzeros.values.size());
    for (std::size_t x = 0; x < goes.size(); ++x) {
        for (std::size_t m = 0; m < index.size(); ++m) index[m] = nonzeros.indices[m][x];
        goes[x] = unit_interval(element_hash(seed, index)) < part;
    }
    return split_off(nonzeros, goes);
}

template <class T>
sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>& nonzeros, const std::vector<bool>& goes) {
    const std::size_t count = std::count(goes.begin(), goes.end(), true);
    const auto split = [&](auto& list) {
        std::remove_reference_t<decltype(list)> result;
        result.reserve(count);
        std::size_t kept = 0;
        for (std::size_t x = 0; x < goes.size(); ++x)
            if (goes[x])
                result.push_back(list[x]);
            else
                list[kept++] = list[x];
        list.resize(kept);
        list.shrink_to_fit();
        return result;
    };
    sparse::Nonzeros<T> result;
    result.lengths = nonzeros.lengths;
    for (auto& indices : nonzeros.indices) result.indices.push_back(split(indices));
    result.values = split(nonzeros.values);
    if (!nonzeros.weights.empty()) result.weights = split(nonzeros.weights);
    return result;
}

template <class T>
HeldOut<T>::HeldOut(CompletionFactors<T>& factors, sparse::Nonzeros<T> elements, const Biases<T>& biases, bool has_biases)
    : factors_(factors) {
    const auto& comm = factors.comm();
    const std::size_t order = factors.order();
    std::vector<double> baseline;
    comm.agree([&] { baseline.assign(elements.values.size(), biases.mean); });
    sparse::LocalNonzeros<T> mapped;
    for (std::size_t m = 0; m < order; ++m) {
        const auto& rows = factors.rows(m);
        needed_.push_back(needed_rows(comm, std::span(rows.index).first(rows.owned), std::move(elements.indices[m])));
        if (!biases.rows.empty()) add_biases(needed_.back(), biases.rows[m], baseline);
        comm.agree([&] {
            mapped.rows.push_back(needed_.back().rows.count());
            mapped.indices.push_back(std::move(needed_.back().local));
        });
    }
    double bias_squares = 0, all_weights = 0;
    comm.agree([&] {
        std::size_t kept = 0;
        for (std::size_t x = 0; x < elements.values.size(); ++x) {
            const double beyond = static_cast<double>(elements.values[x]) - baseline[x], weight = elements.weight(x);
            bias_squares += weight * beyond * beyond;
            all_weights += weight;
            if (has_biases) elements.values[x] = static_cast<T>(beyond);
            const double value = elements.values[x];
            if (std::any_of(mapped.indices.begin(), mapped.indices.end(), [&](const auto& indices) { return indices[x] == unmapped; })) {
                ++unknown_;
                unknown_squares_ += weight * value * value;
                continue;
            }
            for (auto& indices : mapped.indices) indices[kept] = indices[x];
            if (!elements.weights.empty()) elements.weights[kept] = elements.weights[x];
            elements.values[kept++] = elements.values[x];
        }
        for (auto& indices : mapped.indices) indices.resize(kept);
        elements.values.resize(kept);
        mapped.values = std::move(elements.values);
        if (!elements.weights.empty()) elements.weights.resize(kept);
        mapped.weights = std::move(elements.weights);
        std::vector<int> modes(order);
        std::iota(modes.begin(), modes.end(), 0);
        elements_ = sorted_elements(mapped, modes);
        for (std::size_t m = 0; m < order; ++m) {
            data_.emplace_back(needed_[m].rows.count() * factors.columns());
            exchange_.push_back(std::make_unique<RowExchange<T>>(comm, needed_[m].rows, factors.columns()));
        }
    });
    unknown_ = comm.sum(unknown_);
    double sums[] = {unknown_squares_, bias_squares, all_weights};
    comm.sum(sums, 3);
    unknown_squares_ = sums[0];
    all_weights_ = sums[2];
    bias_rmse_ = std::sqrt(sums[1] / all_weights_);
}

/// Adds the biases of a mode to what is predicted for the elements. Collective.
template <class T>
void HeldOut<T>::add_biases(const NeededRows& needed, const Buffer<T>& biases, std::vector<double>& baseline) const {
    const auto& comm = factors_.comm();
    Buffer<T> mine;
    std::unique_ptr<RowExchange<T>> exchange;
    comm.agree([&] {
        mine = Buffer<T>(needed.rows.count());
        exchange = std::make_unique<RowExchange<T>>(comm, needed.rows, 1);
    });
    needed.bring<T>(*exchange, {biases.data(), biases.size(), 1, 1}, {mine.data(), mine.size(), 1, 1});
    for (std::size_t x = 0; x < baseline.size(); ++x)
        if (needed.local[x] != unmapped) baseline[x] += static_cast<double>(mine[needed.local[x]]);
}

MemoryTally held_out_memory(const SparseShare& share, std::int64_t count) {
    constexpr std::int64_t number = sizeof(std::int64_t), index = sizeof(std::uint32_t);
    const auto element = share.value_bytes, all = share.element_bytes(), order = std::ssize(share.lengths);
    const auto columns = share.columns;
    MemoryTally tally;
    tally.hold(count * (order * number + all));
    tally.hold(count * number);  // the baselines
    for (auto length : share.lengths) {
        const auto rows = std::min(count, length);
        tally.pass(partition::counting_memory(count, length, true).peak() + 14 * number * rows);
        tally.hold(count * index - count * number);
        tally.hold(3 * rows * number + array_memory(rows * columns * element) + rows * (columns * element + index));
        tally.pass(array_memory(rows * element) + rows * element);
    }
    tally.add(elements_memory(all, count, order));
    tally.hold(-count * (order * index + all + number));
    return tally;
}

template <class T>
double HeldOut<T>::rmse() {
    Views<T> views;
    for (int m = 0; m < factors_.order(); ++m) {
        const auto& needed = needed_[m];
        const sparse::RowMatrix<T> matrix{data_[m].data(), needed.rows.count(), factors_.columns(), factors_.columns()};
        needed.bring<T>(*exchange_[m], factors_.matrix(m), matrix);
        views.push_back(matrix);
    }
    double squares = fit_sums(elements_, views).residual;
    factors_.comm().sum(&squares, 1);
    return std::sqrt((squares + unknown_squares_) / all_weights_);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>&, double, std::uint64_t);                                                   \
    template sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>&, const std::vector<bool>&);                                                \
    template class HeldOut<T>;
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

// Elements of a completion in the order in which they are gone through, and those that are held out of it.
#include "decompose/completion/elements.hpp"

#include "comm/values.hpp"
#include "decompose/completion/held_out.hpp"
#include "partition/value_counts.hpp"
#include "sparse/blocked_sum.hpp"
#include "sparse/index_sort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

namespace arges::decompose {

namespace {

constexpr int chunk = 64;  // columns for which a model's element is found at once

/// The model's element at `index`.
template <class T>
double model_at(const Views<T>& factors, const std::uint32_t* index) {
    const int columns = factors[0].columns;
    double product[chunk], sum = 0;
    for (int first = 0; first < columns; first += chunk) {
        const int n = std::min(chunk, columns - first);
        const T* row = factors[0].row(index[0]) + first;
        for (int r = 0; r < n; ++r) product[r] = row[r];
        for (std::size_t m = 1; m + 1 < factors.size(); ++m) {
            row = factors[m].row(index[m]) + first;
            for (int r = 0; r < n; ++r) product[r] *= row[r];
        }
        row = factors.back().row(index[factors.size() - 1]) + first;
#pragma omp simd reduction(+ : sum)
        for (int r = 0; r < n; ++r) sum += product[r] * static_cast<double>(row[r]);
    }
    return sum;
}

constexpr auto unmapped = std::numeric_limits<std::uint32_t>::max();

/// Ranks that own rows, or -1 where nobody does. Rows are looked up at a rank that a hash of their number names. Collective.
std::vector<std::int64_t> owners_of(const Communicator& comm, std::span<const std::int64_t> owned,
                                    const std::vector<std::int64_t>& wanted) {
    const std::uint64_t ranks = comm.size();
    const auto place = [&](std::int64_t row) { return splitmix(static_cast<std::uint64_t>(row)) % ranks; };
    std::vector<std::vector<std::int64_t>> known(ranks), asked(ranks);
    comm.agree([&] {
        for (auto row : owned) known[place(row)].push_back(row);
        for (auto row : wanted) asked[place(row)].push_back(row);
    });
    known = exchanged(comm, std::move(known));
    asked = exchanged(comm, std::move(asked));
    comm.agree([&] {
        std::vector<std::pair<std::int64_t, std::int64_t>> owner;
        for (std::size_t r = 0; r < known.size(); ++r)
            for (auto row : known[r]) owner.emplace_back(row, r);
        std::sort(owner.begin(), owner.end());
        for (auto& list : asked)
            for (auto& row : list) {
                const auto found = std::lower_bound(owner.begin(), owner.end(), std::pair(row, std::int64_t{0}));
                row = found != owner.end() && found->first == row ? found->second : -1;
            }
    });
    asked = exchanged(comm, std::move(asked));
    std::vector<std::int64_t> result;
    comm.agree([&] {
        std::vector<std::size_t> next(ranks, 0);
        for (auto row : wanted) result.push_back(asked[place(row)][next[place(row)]++]);
    });
    return result;
}

/// Local rows of indices, or `unmapped` where there is none.
std::vector<std::uint32_t> local_rows(const ModeRows& rows, const std::vector<std::int64_t>& indices) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> sorted;
    for (std::size_t i = 0; i < rows.index.size(); ++i) sorted.emplace_back(rows.index[i], static_cast<std::uint32_t>(i));
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> result;
    result.reserve(indices.size());
    for (auto row : indices) {
        const auto found = std::lower_bound(sorted.begin(), sorted.end(), std::pair(row, std::uint32_t{0}));
        result.push_back(found != sorted.end() && found->first == row ? found->second : unmapped);
    }
    return result;
}

}  // namespace

template <class T>
Elements<T> sorted_elements(const sparse::LocalNonzeros<T>& nonzeros, std::span<const int> modes) {
    const auto positions = sparse::lexicographic_positions<std::uint32_t>(nonzeros.indices, nonzeros.rows, modes);
    Elements<T> result;
    result.order = nonzeros.order();
    const std::size_t order = result.order;
    result.values = sparse::reordered(nonzeros.values, positions);
    result.indices.resize(positions.size() * order);
#pragma omp parallel for schedule(static)
    for (std::size_t x = 0; x < positions.size(); ++x)
        for (std::size_t m = 0; m < order; ++m) result.indices[x * order + m] = nonzeros.indices[m][positions[x]];
    return result;
}

template <class T>
RowElements<T> elements_by_row(const sparse::LocalNonzeros<T>& nonzeros, int mode) {
    std::vector<int> modes{mode};
    for (int m = 0; m < nonzeros.order(); ++m)
        if (m != mode) modes.push_back(m);
    RowElements<T> result;
    result.mode = mode;
    result.elements = sorted_elements(nonzeros, modes);
    for (std::int64_t x = 0; x < result.elements.count(); ++x) {
        const auto row = result.elements.index(x)[mode];
        if (!result.rows.empty() && result.rows.back() == row) continue;
        result.rows.push_back(row);
        result.starts.push_back(x);
    }
    result.starts.push_back(result.elements.count());
    return result;
}

MemoryTally elements_memory(std::int64_t element_bytes, std::int64_t count, std::int64_t order) {
    auto tally = sparse::sorting_memory(count);
    const auto positions = tally.held();
    tally.hold(count * (order * std::int64_t{sizeof(std::uint32_t)} + element_bytes));
    tally.hold(-positions);
    return tally;
}

MemoryTally row_elements_memory(std::int64_t element_bytes, std::int64_t count, std::int64_t order, std::int64_t rows) {
    auto tally = elements_memory(element_bytes, count, order);
    // Lists grow to twice of what they need, and are copied then.
    tally.pass(3 * std::min(count, rows) * std::int64_t{sizeof(std::uint32_t) + sizeof(std::int64_t)});
    tally.hold(2 * std::min(count, rows) * std::int64_t{sizeof(std::uint32_t) + sizeof(std::int64_t)});
    return tally;
}

template <class T>
void hadamard(const Views<T>& factors, const std::uint32_t* index, int but, double* h) {
    const int columns = factors[0].columns;
    bool is_first = true;
    for (std::size_t m = 0; m < factors.size(); ++m) {
        if (static_cast<int>(m) == but) continue;
        const T* const row = factors[m].row(index[m]);
        if (is_first) {
#pragma omp simd
            for (int r = 0; r < columns; ++r) h[r] = row[r];
        } else {
#pragma omp simd
            for (int r = 0; r < columns; ++r) h[r] *= row[r];
        }
        is_first = false;
    }
}

template <class T>
FitSums fit_sums(const Elements<T>& elements, const Views<T>& factors) {
    const auto sums = sparse::blocked_sums<2>(elements.count(), [&](std::int64_t x) {
        const double model = model_at(factors, elements.index(x)), e = static_cast<double>(elements.values[x]) - model;
        return std::array<double, 2>{e * e, model * model};
    });
    return {sums[0], sums[1]};
}

template <class T>
double subtract_model(Elements<T>& elements, const Views<T>& factors) {
    return sparse::blocked_sum(elements.count(), [&](std::int64_t x) {
        auto& value = elements.values[x];
        const double e = static_cast<double>(value) - model_at(factors, elements.index(x));
        value = static_cast<T>(e);
        return e * e;
    });
}

template <class T>
double sum_of_squares(std::span<const T> values) {
    return sparse::blocked_sum(std::ssize(values), [&](std::int64_t x) {
        const double value = values[x];
        return value * value;
    });
}

template <class T>
sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>& nonzeros, double part, std::uint64_t seed) {
    std::vector<std::int64_t> index(nonzeros.indices.size());
    std::vector<bool> goes(nonzeros.values.size());
    for (std::size_t x = 0; x < goes.size(); ++x) {
        for (std::size_t m = 0; m < index.size(); ++m) index[m] = nonzeros.indices[m][x];
        goes[x] = unit_interval(element_hash(seed, index)) < part;
    }
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
    return result;
}

template <class T>
HeldOut<T>::HeldOut(CompletionFactors<T>& factors, sparse::Nonzeros<T> elements) : factors_(factors) {
    const auto& comm = factors.comm();
    const std::size_t order = factors.order();
    sparse::LocalNonzeros<T> mapped;
    for (std::size_t m = 0; m < order; ++m) {
        std::vector<std::int64_t> held, known;
        comm.agree([&] { held = partition::distinct(elements.indices[m]); });
        const auto& rows = factors.rows(m);
        auto owner = owners_of(comm, std::span(rows.index).first(rows.owned), held);
        comm.agree([&] {
            std::size_t kept = 0;
            for (std::size_t i = 0; i < held.size(); ++i) {
                if (owner[i] < 0) continue;
                known.push_back(held[i]);
                owner[kept++] = owner[i];
            }
            owner.resize(kept);
        });
        rows_.push_back(match_rows(comm, known, owner));
        comm.agree([&] {
            mapped.rows.push_back(rows_.back().count());
            mapped.indices.push_back(local_rows(rows_.back(), elements.indices[m]));
            elements.indices[m] = {};
            position_.emplace_back();
            for (std::int64_t i = 0; i < rows_.back().owned; ++i) {
                const auto owned = rows.index.begin() + rows.owned;
                position_.back().push_back(std::lower_bound(rows.index.begin(), owned, rows_.back().index[i]) - rows.index.begin());
            }
        });
    }
    comm.agree([&] {
        std::size_t kept = 0;
        for (std::size_t x = 0; x < elements.values.size(); ++x) {
            const double value = elements.values[x];
            if (std::any_of(mapped.indices.begin(), mapped.indices.end(), [&](const auto& indices) { return indices[x] == unmapped; })) {
                ++unknown_;
                unknown_squares_ += value * value;
                continue;
            }
            for (auto& indices : mapped.indices) indices[kept] = indices[x];
            elements.values[kept++] = elements.values[x];
        }
        for (auto& indices : mapped.indices) indices.resize(kept);
        elements.values.resize(kept);
        mapped.values = std::move(elements.values);
        std::vector<int> modes(order);
        std::iota(modes.begin(), modes.end(), 0);
        elements_ = sorted_elements(mapped, modes);
        for (std::size_t m = 0; m < order; ++m) {
            data_.emplace_back(rows_[m].count() * factors.columns());
            exchange_.push_back(std::make_unique<RowExchange<T>>(comm, rows_[m], factors.columns()));
        }
    });
    std::int64_t counts[] = {elements_.count() + unknown_, unknown_};
    comm.sum(counts, 2);
    comm.sum(&unknown_squares_, 1);
    count_ = counts[0];
    unknown_ = counts[1];
}

MemoryTally held_out_memory(const SparseShare& share, std::int64_t count) {
    constexpr std::int64_t number = sizeof(std::int64_t), index = sizeof(std::uint32_t);
    const auto element = share.value_bytes, order = std::ssize(share.lengths);
    const auto columns = share.columns;
    MemoryTally tally;
    tally.hold(count * (order * number + element));
    for (auto length : share.lengths) {
        const auto rows = std::min(count, length);
        tally.pass(partition::counting_memory(count, length, true).peak() + 14 * number * rows);
        tally.hold(count * index - count * number);
        tally.hold(3 * rows * number + array_memory(rows * columns * element) + rows * (columns * element + index));
    }
    tally.add(elements_memory(element, count, order));
    tally.hold(-count * (order * index + element));
    return tally;
}

template <class T>
double HeldOut<T>::rmse() {
    Views<T> views;
    for (int m = 0; m < factors_.order(); ++m) {
        const std::size_t place = m;
        const auto columns = factors_.columns();
        const sparse::RowMatrix<T> matrix{data_[place].data(), rows_[place].count(), columns, columns}, from = factors_.matrix(m);
        for (std::size_t i = 0; i < position_[place].size(); ++i) std::copy_n(from.row(position_[place][i]), columns, matrix.row(i));
        exchange_[place]->expand(matrix);
        views.push_back(matrix);
    }
    double squares = fit_sums(elements_, views).residual;
    factors_.comm().sum(&squares, 1);
    return std::sqrt((squares + unknown_squares_) / static_cast<double>(count_));
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template Elements<T> sorted_elements(const sparse::LocalNonzeros<T>&, std::span<const int>);                                           \
    template RowElements<T> elements_by_row(const sparse::LocalNonzeros<T>&, int);                                                         \
    template void hadamard(const Views<T>&, const std::uint32_t*, int, double*);                                                           \
    template FitSums fit_sums(const Elements<T>&, const Views<T>&);                                                                        \
    template double subtract_model(Elements<T>&, const Views<T>&);                                                                         \
    template double sum_of_squares(std::span<const T>);                                                                                    \
    template sparse::Nonzeros<T> split_off(sparse::Nonzeros<T>&, double, std::uint64_t);                                                   \
    template class HeldOut<T>;
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

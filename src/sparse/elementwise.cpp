// Sorting, merging of duplicates, and sums and products of sparse tensors side by side.
#include "sparse/elementwise.hpp"

#include "base/first_error.hpp"
#include "sparse/merged_positions.hpp"

#include <omp.h>
#include <string>

namespace arges::sparse {

namespace {

template <class T>
void append(Nonzeros<T>& result, const Nonzeros<T>& from, std::int64_t position, T value) {
    for (std::size_t m = 0; m < from.indices.size(); ++m) result.indices[m].push_back(from.indices[m][position]);
    result.values.push_back(value);
}

template <class T>
Nonzeros<T> empty_like(const Nonzeros<T>& a) {
    Nonzeros<T> result;
    result.lengths = a.lengths;
    result.indices.resize(a.lengths.size());
    return result;
}

template <class T>
std::string coordinate(const Nonzeros<T>& nonzeros, std::int64_t x) {
    std::string text;
    for (const auto& index : nonzeros.indices) text += (text.empty() ? "(" : ", ") + std::to_string(index[x]);
    return text + ")";
}

}  // namespace

template <class T>
void sort_nonzeros(Nonzeros<T>& nonzeros, std::span<const int> modes) {
    for (int mode : modes)
        if (mode < 0 || mode >= nonzeros.order())
            throw InvalidArgument("sort of a sparse tensor: mode " + std::to_string(mode) + " of a tensor of order " +
                                  std::to_string(nonzeros.order()) + "; modes count from 0");
    const auto order = lexicographic_positions(nonzeros.indices, nonzeros.lengths, modes);
    for (auto& index : nonzeros.indices) index = reordered(index, order);
    nonzeros.values = reordered(nonzeros.values, order);
}

template <class T>
std::int64_t merge_duplicates(Nonzeros<T>& nonzeros, Duplicates duplicates) {
    const auto order = sorted_by_all_modes(nonzeros);
    auto result = empty_like(nonzeros);
    for (auto x : order) {
        const bool same = result.count() > 0 && compare_coordinates(nonzeros, x, result, result.count() - 1) == 0;
        if (!same)
            append(result, nonzeros, x, nonzeros.values[x]);
        else if (duplicates == Duplicates::refuse)
            throw InvalidArgument("the sparse tensor has two nonzeros at " + coordinate(nonzeros, x) +
                                  " (indices from 0); merge duplicates by sum or keep the first");
        else if (duplicates == Duplicates::sum)
            result.values.back() += nonzeros.values[x];
    }
    const auto gone = nonzeros.count() - result.count();
    nonzeros = std::move(result);
    return gone;
}

template <class T>
void apply(Nonzeros<T>& nonzeros, const std::function<T(T, std::span<const std::int64_t>)>& f) {
    const auto n = nonzeros.values.size(), parts = static_cast<std::size_t>(omp_get_max_threads());
    FirstError error;
#pragma omp parallel for schedule(static, 1)
    for (std::size_t part = 0; part < parts; ++part)
        error.run([&] {
            std::vector<std::int64_t> x(nonzeros.indices.size());
            for (auto i = n * part / parts; i < n * (part + 1) / parts; ++i) {
                for (std::size_t m = 0; m < x.size(); ++m) x[m] = nonzeros.indices[m][i];
                nonzeros.values[i] = f(nonzeros.values[i], x);
            }
        });
    error.rethrow();
}

template <class T>
Nonzeros<T> sum(T alpha, const Nonzeros<T>& a, T beta, const Nonzeros<T>& b) {
    auto result = empty_like(a);
    for_each_pair(a, b, [&](std::int64_t x, std::int64_t y) {
        T value = 0;
        if (x >= 0) value += alpha * a.values[x];
        if (y >= 0) value += beta * b.values[y];
        append(result, x >= 0 ? a : b, x >= 0 ? x : y, value);
    });
    return result;
}

template <class T>
Nonzeros<T> product(const Nonzeros<T>& a, const Nonzeros<T>& b) {
    auto result = empty_like(a);
    for_each_pair(a, b, [&](std::int64_t x, std::int64_t y) {
        if (x >= 0 && y >= 0) append(result, a, x, a.values[x] * b.values[y]);
    });
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void sort_nonzeros(Nonzeros<T>&, std::span<const int>);                                                                       \
    template std::int64_t merge_duplicates(Nonzeros<T>&, Duplicates);                                                                      \
    template void apply(Nonzeros<T>&, const std::function<T(T, std::span<const std::int64_t>)>&);                                          \
    template Nonzeros<T> sum(T, const Nonzeros<T>&, T, const Nonzeros<T>&);                                                                \
    template Nonzeros<T> product(const Nonzeros<T>&, const Nonzeros<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::sparse

// Elements of a completion in the order in which they are gone through.
#include "decompose/completion/elements.hpp"

#include "sparse/blocked_sum.hpp"
#include "sparse/index_sort.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

constexpr int chunk = 64;  // columns for which a model's element is found at once

}  // namespace

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

template <class T>
Elements<T> sorted_elements(const sparse::LocalNonzeros<T>& nonzeros, std::span<const int> modes) {
    const auto positions = sparse::lexicographic_positions<std::uint32_t>(nonzeros.indices, nonzeros.rows, modes);
    Elements<T> result;
    result.order = nonzeros.order();
    const std::size_t order = result.order;
    result.values = sparse::reordered(nonzeros.values, positions);
    if (!nonzeros.weights.empty()) result.weights = sparse::reordered(nonzeros.weights, positions);
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
        return std::array<double, 2>{elements.weight(x) * e * e, elements.weight(x) * model * model};
    });
    return {sums[0], sums[1]};
}

template <class T>
void subtract_model(Elements<T>& elements, const Views<T>& factors) {
    const auto count = elements.count();
#pragma omp parallel for schedule(static)
    for (std::int64_t x = 0; x < count; ++x)
        elements.values[x] = static_cast<T>(static_cast<double>(elements.values[x]) - model_at(factors, elements.index(x)));
}

template <class T>
double sum_of_squares(std::span<const T> values) {
    return sparse::blocked_sum(std::ssize(values), [&](std::int64_t x) {
        const double value = values[x];
        return value * value;
    });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template Elements<T> sorted_elements(const sparse::LocalNonzeros<T>&, std::span<const int>);                                           \
    template RowElements<T> elements_by_row(const sparse::LocalNonzeros<T>&, int);                                                         \
    template void hadamard(const Views<T>&, const std::uint32_t*, int, double*);                                                           \
    template double model_at(const Views<T>&, const std::uint32_t*);                                                                       \
    template FitSums fit_sums(const Elements<T>&, const Views<T>&);                                                                        \
    template void subtract_model(Elements<T>&, const Views<T>&);                                                                           \
    template double sum_of_squares(std::span<const T>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

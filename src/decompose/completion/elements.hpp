/// Elements of a sparse tensor on a rank, as tensor completion goes through them, and a hash of their indices.
#pragma once

#include "base/memory_tally.hpp"
#include "base/splitmix.hpp"
#include "sparse/nonzeros.hpp"
#include "sparse/row_matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::decompose {

/// Factors by mode, with all rows that this rank has of them.
template <class T>
using Views = std::vector<sparse::RowMatrix<const T>>;

/// Elements one after the other, each with its row in every factor.
template <class T>
struct Elements {
    int order = 0;
    std::vector<std::uint32_t> indices;  ///< `order` local rows for each element
    std::vector<T> values;
    std::vector<T> weights{};  ///< of their residuals or losses; none: all count once

    std::int64_t count() const { return std::ssize(values); }
    double weight(std::int64_t x) const { return weights.empty() ? 1 : static_cast<double>(weights[x]); }
    const std::uint32_t* index(std::int64_t x) const { return indices.data() + x * order; }
};

/// Elements sorted by their row in one mode.
template <class T>
struct RowElements {
    int mode = 0;
    Elements<T> elements;
    std::vector<std::uint32_t> rows;   ///< with elements, ascending
    std::vector<std::int64_t> starts;  ///< of each of them among the elements, and the end

    std::int64_t row_count() const { return std::ssize(rows); }
};

/// Elements sorted by their row in modes[0], then modes[1], and so on.
template <class T>
Elements<T> sorted_elements(const sparse::LocalNonzeros<T>& nonzeros, std::span<const int> modes);
/// Elements by their row in a mode; within a row by their rows in the other modes.
template <class T>
RowElements<T> elements_by_row(const sparse::LocalNonzeros<T>& nonzeros, int mode);

/// Memory of sorted_elements(). Pure.
MemoryTally elements_memory(std::int64_t element_bytes, std::int64_t count, std::int64_t order);
/// Memory of elements_by_row(). Pure. @param rows of the mode
MemoryTally row_elements_memory(std::int64_t element_bytes, std::int64_t count, std::int64_t order, std::int64_t rows);

/// h[r] = product of factors[m] at (index[m], r) over the modes but one; -1: over all.
template <class T>
void hadamard(const Views<T>& factors, const std::uint32_t* index, int but, double* h);

/// The model's element at an element's rows. Local.
template <class T>
double model_at(const Views<T>& factors, const std::uint32_t* index);

/// Sums over elements: of the squares of x - model, and of the model, both with their weights.
struct FitSums {
    double residual = 0, model = 0;
};
/// Does not depend on the number of threads. Local.
template <class T>
FitSums fit_sums(const Elements<T>& elements, const Views<T>& factors);

/// value -= model for each element. Local.
template <class T>
void subtract_model(Elements<T>& elements, const Views<T>& factors);

/// Sum of the squares of the values. Local.
template <class T>
double sum_of_squares(std::span<const T> values);

/// The same on every rank, wherever the element is.
inline std::uint64_t element_hash(std::uint64_t seed, std::span<const std::int64_t> index) {
    auto state = splitmix(seed);
    for (auto i : index) state = splitmix(state ^ static_cast<std::uint64_t>(i));
    return state;
}

}  // namespace arges::decompose

// Sparse tensor times vector or matrix, fiber by fiber; the result is sparse in the other modes (Li et al., Optimizing sparse tensor times
// matrix on multi-core and many-core architectures, 2016).
#include "sparse/mode_products.hpp"

#include "arges/error.hpp"
#include "sparse/index_sort.hpp"

#include <algorithm>
#include <string>

namespace arges::sparse {

namespace {

/// Nonzeros sorted so that a fiber along one mode stands together.
struct Fibers {
    std::vector<std::int64_t> order;   ///< positions of the nonzeros
    std::vector<std::int64_t> starts;  ///< in `order`, of each fiber, and the end
    std::vector<int> others;           ///< the other modes
};

template <class T>
Fibers fibers_along(const Nonzeros<T>& nonzeros, int mode, const std::string& operation) {
    if (mode < 0 || mode >= nonzeros.order())
        throw InvalidArgument(operation + ": mode " + std::to_string(mode) + " of a tensor of order " + std::to_string(nonzeros.order()) +
                              "; modes count from 0");
    Fibers result;
    for (int m = 0; m < nonzeros.order(); ++m)
        if (m != mode) result.others.push_back(m);
    auto modes = result.others;
    modes.push_back(mode);
    result.order = lexicographic_positions(nonzeros.indices, nonzeros.lengths, modes);
    for (std::size_t x = 0; x < result.order.size(); ++x) {
        const auto differs = [&](int m) {
            const auto& index = nonzeros.indices[m];
            return index[result.order[x]] != index[result.order[x - 1]];
        };
        if (x == 0 || std::any_of(result.others.begin(), result.others.end(), differs)) result.starts.push_back(x);
    }
    result.starts.push_back(std::ssize(result.order));
    return result;
}

/// The indices of the fibers in one of the other modes.
template <class T>
std::vector<std::int64_t> fiber_indices(const Nonzeros<T>& nonzeros, const Fibers& fibers, int mode) {
    std::vector<std::int64_t> result;
    for (std::size_t f = 0; f + 1 < fibers.starts.size(); ++f) {
        const auto x = fibers.order[fibers.starts[f]];
        result.push_back(nonzeros.indices[mode][x]);
    }
    return result;
}

}  // namespace

template <class T>
Nonzeros<T> times_vector(const Nonzeros<T>& nonzeros, int mode, std::span<const T> vector) {
    const auto fibers = fibers_along(nonzeros, mode, "sparse tensor times vector");
    const std::size_t m = mode;
    if (nonzeros.order() < 2)
        throw InvalidArgument("sparse tensor times vector: the tensor has one mode, the result would be a number; use inner_product()");
    if (std::ssize(vector) != nonzeros.lengths[m])
        throw InvalidArgument("sparse tensor times vector: mode " + std::to_string(mode) + " has length " +
                              std::to_string(nonzeros.lengths[m]) + ", the vector " + std::to_string(vector.size()));
    Nonzeros<T> result;
    for (int other : fibers.others) {
        result.lengths.push_back(nonzeros.lengths[other]);
        result.indices.push_back(fiber_indices(nonzeros, fibers, other));
    }
    result.values.resize(fibers.starts.size() - 1);
    const auto count = result.count();
#pragma omp parallel for schedule(static)
    for (std::int64_t p = 0; p < count; ++p) {
        const std::size_t f = p;
        T sum = 0;
        for (auto i = fibers.starts[f]; i < fibers.starts[f + 1]; ++i) {
            const std::size_t x = fibers.order[i];
            sum += nonzeros.values[x] * vector[nonzeros.indices[m][x]];
        }
        result.values[f] = sum;
    }
    return result;
}

template <class T>
SemiSparse<T> times_matrix(const Nonzeros<T>& nonzeros, int mode, RowMatrix<const T> matrix) {
    const auto fibers = fibers_along(nonzeros, mode, "sparse tensor times matrix");
    const std::size_t m = mode;
    if (matrix.rows != nonzeros.lengths[m])
        throw InvalidArgument("sparse tensor times matrix: mode " + std::to_string(mode) + " has length " +
                              std::to_string(nonzeros.lengths[m]) + ", the matrix " + std::to_string(matrix.rows) + " rows");
    SemiSparse<T> result{nonzeros.lengths, mode, std::vector<std::vector<std::int64_t>>(nonzeros.lengths.size()), {}};
    result.lengths[m] = matrix.columns;
    for (int other : fibers.others) result.indices[other] = fiber_indices(nonzeros, fibers, other);
    const auto count = std::ssize(fibers.starts) - 1;
    result.values.assign(count * matrix.columns, T(0));
#pragma omp parallel for schedule(static)
    for (std::int64_t f = 0; f < count; ++f) {
        T* to = result.values.data() + f * matrix.columns;
        for (auto i = fibers.starts[f]; i < fibers.starts[f + 1]; ++i) {
            const std::size_t x = fibers.order[i];
            const T* row = matrix.row(nonzeros.indices[m][x]);
            const T value = nonzeros.values[x];
#pragma omp simd
            for (int r = 0; r < matrix.columns; ++r) to[r] += value * row[r];
        }
    }
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template Nonzeros<T> times_vector(const Nonzeros<T>&, int, std::span<const T>);                                                        \
    template SemiSparse<T> times_matrix(const Nonzeros<T>&, int, RowMatrix<const T>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::sparse

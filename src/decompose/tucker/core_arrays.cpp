#include "decompose/tucker/core_arrays.hpp"

#include "local/blas.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace arges::decompose {

namespace {

/// Elements before a mode and behind it.
std::pair<std::size_t, std::size_t> around(const std::vector<int>& lengths, int mode) {
    std::size_t before = 1, behind = 1;
    for (int m = 0; m < static_cast<int>(lengths.size()); ++m)
        if (m != mode) (m < mode ? before : behind) *= static_cast<std::size_t>(lengths[m]);
    return {before, behind};
}

/// Calls with the places of the elements, the first mode fastest. @param f  (place in the array)
template <class F>
void for_first_fastest(const std::vector<int>& lengths, std::size_t count, F&& f) {
    std::vector<int> index(lengths.size(), 0);
    for (std::size_t x = 0; x < count; ++x) {
        f(x, place_in_core(index, lengths));
        for (std::size_t k = 0; k < index.size() && ++index[k] == lengths[k]; ++k) index[k] = 0;
    }
}

}  // namespace

std::size_t place_in_core(const std::vector<int>& index, const std::vector<int>& lengths) {
    std::size_t place = 0;
    for (std::size_t m = 0; m < index.size(); ++m)
        place = place * static_cast<std::size_t>(lengths[m]) + static_cast<std::size_t>(index[m]);
    return place;
}

template <class T>
std::vector<T> core_unfolding(const std::vector<double>& core, const std::vector<int>& lengths, int mode, bool by_columns) {
    const auto [outer, inner] = around(lengths, mode);
    const std::size_t rows = lengths[mode], columns = outer * inner;
    std::vector<T> result(core.size());
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < inner; ++i) {
                const auto column = o * inner + i;
                result[by_columns ? r + column * rows : column + r * columns] = static_cast<T>(core[(o * rows + r) * inner + i]);
            }
    return result;
}

std::vector<double> times_in_mode(const std::vector<double>& core, const std::vector<int>& lengths, int mode,
                                  const std::vector<double>& matrix) {
    const auto [outer, inner] = around(lengths, mode);
    const std::size_t length = lengths[mode];
    std::vector<double> result(core.size(), 0);
    for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t b = 0; b < length; ++b)
            for (std::size_t a = 0; a < length; ++a)
                for (std::size_t i = 0; i < inner; ++i)
                    result[(o * length + b) * inner + i] += matrix[a + b * length] * core[(o * length + a) * inner + i];
    return result;
}

std::vector<double> slice_products(const std::vector<double>& a, const std::vector<double>& b, const std::vector<int>& lengths, int mode) {
    const auto rows = core_unfolding<double>(a, lengths, mode, false), others = core_unfolding<double>(b, lengths, mode, false);
    const std::int64_t length = lengths[mode], width = std::ssize(rows) / length;
    std::vector<double> products;
    for (std::int64_t j = 0; j < length; ++j)
        for (std::int64_t i = 0; i < length; ++i)
            products.push_back(
                std::inner_product(rows.begin() + i * width, rows.begin() + (i + 1) * width, others.begin() + j * width, 0.0));
    return products;
}

template <class T>
Tensor<T> core_tensor(const World& world, const std::vector<double>& core, const std::vector<int>& lengths) {
    Tensor<T> result(world, {lengths.begin(), lengths.end()}, "core");
    std::vector<double> values(core.size());
    for_first_fastest(lengths, core.size(), [&](std::size_t x, std::size_t place) { values[x] = core[place]; });
    result.for_each_local([&](Index i, T& value) { value = static_cast<T>(values[result.key(i)]); });
    return result;
}

template <class T>
std::vector<double> core_array(const Tensor<T>& core) {
    const auto values = core.gather();
    const std::vector<int> lengths(core.extents().begin(), core.extents().end());
    std::vector<double> result(values.size());
    for_first_fastest(lengths, values.size(), [&](std::size_t x, std::size_t place) { result[place] = static_cast<double>(values[x]); });
    return result;
}

// Some rows at a time: BLAS makes a copy of them, on each thread and as long as it gets (40 MB and more by some kernels of OpenBLAS).
template <class T>
void multiply_rows(sparse::RowMatrix<const T> rows, const std::vector<T>& transform, sparse::RowMatrix<T> result, T scale) {
    constexpr std::int64_t rows_at_once = 1 << 13;
    for (std::int64_t begin = 0; begin < rows.rows; begin += rows_at_once)
        local::gemm<T>({result.columns, std::min(rows_at_once, rows.rows - begin), rows.columns}, T(1),
                       {transform.data(), rows.columns, true}, {rows.row(begin), rows.stride, false}, scale,
                       {result.row(begin), result.stride, false});
}

template <class T>
std::vector<double> inner_products(const Communicator& comm, sparse::RowMatrix<const T> a, sparse::RowMatrix<const T> b) {
    constexpr std::int64_t rows_at_once = 1 << 12;  // few enough to be summed in single precision
    std::vector<double> sum(static_cast<std::size_t>(a.columns) * static_cast<std::size_t>(b.columns), 0);
    std::vector<T> part(sum.size());
    for (std::int64_t begin = 0; begin < a.rows; begin += rows_at_once) {
        local::gemm<T>({a.columns, b.columns, std::min(rows_at_once, a.rows - begin)}, T(1), {a.row(begin), a.stride, false},
                       {b.row(begin), b.stride, true}, T(0), {part.data(), a.columns, false});
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(part[i]);
    }
    comm.sum(sum.data(), std::ssize(sum));
    return sum;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<T> core_unfolding(const std::vector<double>&, const std::vector<int>&, int, bool);                                \
    template Tensor<T> core_tensor(const World&, const std::vector<double>&, const std::vector<int>&);                                     \
    template std::vector<double> core_array(const Tensor<T>&);                                                                             \
    template void multiply_rows(sparse::RowMatrix<const T>, const std::vector<T>&, sparse::RowMatrix<T>, T);                               \
    template std::vector<double> inner_products(const Communicator&, sparse::RowMatrix<const T>, sparse::RowMatrix<const T>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

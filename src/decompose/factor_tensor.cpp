#include "decompose/factor_tensor.hpp"

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"
#include "interface/world_state.hpp"

#include <algorithm>
#include <functional>

namespace arges::decompose {

IndexRanges checked_ranges(const std::string& title, const std::vector<std::int64_t>& lengths, IndexRanges ranges) {
    if (ranges.begin.empty() && ranges.end.empty()) return {std::vector<std::int64_t>(lengths.size(), 0), lengths};
    if (ranges.begin.size() != lengths.size() || ranges.end.size() != lengths.size())
        throw InvalidArgument(title + ": ranges of " + std::to_string(ranges.begin.size()) + " and " + std::to_string(ranges.end.size()) +
                              " indices for " + std::to_string(lengths.size()) + " modes; give a begin and an end for each mode");
    for (std::size_t m = 0; m < lengths.size(); ++m)
        if (ranges.begin[m] < 0 || ranges.begin[m] > ranges.end[m] || ranges.end[m] > lengths[m])
            throw InvalidArgument(title + ": the range [" + std::to_string(ranges.begin[m]) + ", " + std::to_string(ranges.end[m]) +
                                  ") is not within mode " + std::to_string(m + 1) + " of length " + std::to_string(lengths[m]));
    return ranges;
}

std::size_t checked_mode(const std::string& title, int mode, int order) {
    if (mode < 0 || mode >= order)
        throw InvalidArgument(title + ": there is no mode " + std::to_string(mode) +
                              (order == 0 ? "; it has no modes" : "; modes are 0 to " + std::to_string(order - 1)));
    return mode;
}

template <class T>
void check_rows(const std::string& title, const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& columns,
                const std::vector<std::vector<std::int64_t>>& rows, const std::vector<std::vector<T>>& factors) {
    const auto number = [](auto n) { return std::to_string(n); };
    if (rows.size() != lengths.size() || factors.size() != lengths.size())
        throw InvalidArgument(title + ": rows of " + number(rows.size()) + " and values of " + number(factors.size()) + " factors for " +
                              number(lengths.size()) + " modes; give both for each mode");
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        const auto where = title + ", mode " + number(m + 1);
        if (lengths[m] < 0) throw InvalidArgument(where + ": length " + number(lengths[m]) + "; lengths must not be negative");
        const auto wrong = std::find_if(rows[m].begin(), rows[m].end(), [&](auto row) { return row < 0 || row >= lengths[m]; });
        if (wrong != rows[m].end())
            throw InvalidArgument(where + ": row " + number(*wrong) + " of a factor of " + number(lengths[m]) + " rows; rows run from 0");
        if (std::adjacent_find(rows[m].begin(), rows[m].end(), std::greater_equal<>()) != rows[m].end())
            throw InvalidArgument(where + ": the numbers of rows do not ascend; sort them, and give each row once");
        std::int64_t values = 0;
        if (__builtin_mul_overflow(std::ssize(rows[m]), columns[m], &values) || std::ssize(factors[m]) != values)
            throw InvalidArgument(where + ": " + number(factors[m].size()) + " values for " + number(rows[m].size()) + " rows of " +
                                  number(columns[m]) + " elements; give all elements of each row");
    }
}

template <class T>
std::vector<T> gathered_rows(const Communicator& comm, const std::vector<std::int64_t>& rows, const std::vector<T>& values,
                             std::int64_t length, std::int64_t columns) {
    const auto all_rows = gathered(comm, rows);
    const auto all_values = gathered(comm, values);
    std::vector<T> result;
    comm.agree([&] {
        if (std::ssize(all_values) != std::ssize(all_rows) * columns)
            throw InvalidArgument("model: the ranks have rows of different lengths; give the same components on all");
        const auto elements = saturated_product(length, columns);
        result.assign(static_cast<std::size_t>(array_bytes(elements, sizeof(T))) / sizeof(T), T(0));
    });
    for (std::size_t i = 0; i < all_rows.size(); ++i)
        std::copy_n(all_values.data() + static_cast<std::int64_t>(i) * columns, columns, result.data() + all_rows[i] * columns);
    return result;
}

template <class T>
Tensor<T> factor_tensor(const World& world, std::span<const std::int64_t> rows, std::span<const T> values, std::int64_t columns,
                        std::int64_t begin, std::int64_t end) {
    Tensor<T> result(world, {end - begin, columns}, "factor");
    std::vector<std::int64_t> keys;
    std::vector<T> elements;
    world.state()->agree([&] {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i] < begin || rows[i] >= end) continue;
            for (std::int64_t c = 0; c < columns; ++c) {
                keys.push_back(rows[i] - begin + c * (end - begin));
                elements.push_back(values[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)]);
            }
        }
    });
    result.write(keys, elements);
    return result;
}

template <class T>
void take_rows(const Communicator& comm, const std::vector<std::int64_t>& rows, const std::vector<T>& values,
               std::span<const std::int64_t> wanted, sparse::RowMatrix<T> matrix) {
    const auto all_rows = gathered(comm, rows);
    const auto all_values = gathered(comm, values);
    std::vector<std::pair<std::int64_t, std::size_t>> place;
    comm.agree([&] {
        for (std::size_t i = 0; i < all_rows.size(); ++i) place.emplace_back(all_rows[i], i);
    });
    std::sort(place.begin(), place.end());
    const std::size_t columns = matrix.columns;
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        const auto number = wanted[i];
        const auto found = std::lower_bound(place.begin(), place.end(), std::pair(number, std::size_t{0}));
        if (found == place.end() || found->first != number)
            std::fill_n(matrix.row(i), columns, T(0));
        else
            std::copy_n(all_values.data() + found->second * columns, columns, matrix.row(i));
    }
}

std::vector<std::string> numbered_labels(char letter, int count) {
    std::vector<std::string> result;
    for (int m = 1; m <= count; ++m) result.push_back(letter + std::to_string(m));
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void check_rows(const std::string&, const std::vector<std::int64_t>&, const std::vector<std::int64_t>&,                       \
                             const std::vector<std::vector<std::int64_t>>&, const std::vector<std::vector<T>>&);                           \
    template std::vector<T> gathered_rows(const Communicator&, const std::vector<std::int64_t>&, const std::vector<T>&, std::int64_t,      \
                                          std::int64_t);                                                                                   \
    template Tensor<T> factor_tensor(const World&, std::span<const std::int64_t>, std::span<const T>, std::int64_t, std::int64_t,          \
                                     std::int64_t);                                                                                        \
    template void take_rows(const Communicator&, const std::vector<std::int64_t>&, const std::vector<T>&, std::span<const std::int64_t>,   \
                            sparse::RowMatrix<T>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

/// Sorting of nonzeros by multi-word keys.
#pragma once

#include "base/memory_tally.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace arges::sparse {

/// Smallest number of bits that holds 0 .. length - 1; index_bits(1) = 0, index_bits(5) = 3.
int index_bits(std::int64_t length);

/// Fills keys[x] with one word of the key of nonzero order[x].
using KeyWord = std::function<void(std::span<const std::int64_t> order, std::span<std::uint64_t> keys)>;

/// The positions 0 .. count - 1, sorted by keys of one or more words; equal keys keep their order. Word `w` fills the low bits[w]
/// bits of its keys; word 0 is the most significant. A threaded radix sort, least significant digit first; the result does not
/// depend on the number of threads.
std::vector<std::int64_t> sorted_positions(std::int64_t count, std::span<const KeyWord> words, std::span<const int> bits);

/// Memory of sorted_positions() and lexicographic_positions(); what it holds at the end is the result. Pure.
MemoryTally sorting_memory(std::int64_t count);

/// The positions of nonzeros sorted by their index in the first column, then the second, and so on. @param lengths of the columns' modes
template <class Index>
std::vector<std::int64_t> lexicographic_positions(std::int64_t count, std::span<const std::span<const Index>> columns,
                                                  std::span<const std::int64_t> lengths);

/// Likewise by their index in modes[0], then modes[1], and so on. `indices` is by mode, `lengths` as well.
template <class Index>
std::vector<std::int64_t> lexicographic_positions(const std::vector<std::vector<Index>>& indices, std::span<const std::int64_t> lengths,
                                                  std::span<const int> modes) {
    std::vector<std::span<const Index>> columns;
    std::vector<std::int64_t> of_columns;
    for (int mode : modes) {
        columns.emplace_back(indices[mode]);
        of_columns.push_back(lengths[mode]);
    }
    return lexicographic_positions<Index>(indices.empty() ? 0 : std::ssize(indices[0]), columns, of_columns);
}

/// All values of `source` in a new order, with `padding` zeros behind them.
template <class V>
std::vector<V> reordered(const std::vector<V>& source, std::span<const std::int64_t> order, std::size_t padding = 0) {
    std::vector<V> result(order.size() + padding);
    const auto n = std::ssize(order);
#pragma omp parallel for schedule(static)
    for (std::int64_t x = 0; x < n; ++x) result[x] = source[order[x]];
    return result;
}

}  // namespace arges::sparse

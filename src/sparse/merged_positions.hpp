/// Two sparse tensors side by side.
#pragma once

#include "arges/error.hpp"
#include "sparse/index_sort.hpp"
#include "sparse/nonzeros.hpp"

#include <numeric>

namespace arges::sparse {

/// -1, 0 or 1 as the coordinate of nonzero x of `a` is before, at or after that of nonzero y of `b`, mode 0 first.
template <class T>
int compare_coordinates(const Nonzeros<T>& a, std::int64_t x, const Nonzeros<T>& b, std::int64_t y) {
    for (std::size_t m = 0; m < a.indices.size(); ++m) {
        const auto i = a.indices[m][x], j = b.indices[m][y];
        if (i != j) return i < j ? -1 : 1;
    }
    return 0;
}

/// Positions of the nonzeros sorted by all modes, mode 0 first.
template <class T>
std::vector<std::int64_t> sorted_by_all_modes(const Nonzeros<T>& nonzeros) {
    std::vector<int> modes(nonzeros.lengths.size());
    std::iota(modes.begin(), modes.end(), 0);
    return lexicographic_positions(nonzeros.indices, nonzeros.lengths, modes);
}

/// Calls f(x, y) for each coordinate of `a` or `b`, in order, with the positions there; -1 where it is not. @throws
/// InvalidArgument for different lengths
template <class T, class F>
void for_each_pair(const Nonzeros<T>& a, const Nonzeros<T>& b, F&& f) {
    if (a.lengths != b.lengths)
        throw InvalidArgument("element-wise work on sparse tensors: the lengths differ; both tensors need the same order and lengths");
    const auto in_a = sorted_by_all_modes(a), in_b = sorted_by_all_modes(b);
    for (std::size_t i = 0, j = 0; i < in_a.size() || j < in_b.size();) {
        const int order = i == in_a.size() ? 1 : j == in_b.size() ? -1 : compare_coordinates(a, in_a[i], b, in_b[j]);
        f(order <= 0 ? in_a[i] : -1, order >= 0 ? in_b[j] : -1);
        i += order <= 0;
        j += order >= 0;
    }
}

}  // namespace arges::sparse

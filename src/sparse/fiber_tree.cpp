// Compressed sparse fiber trees (Smith and Karypis, Tensor-matrix products with a compressed sparse tensor, 2015) with
// levels only where nodes have several nonzeros.
#include "sparse/fiber_tree.hpp"

#include "sparse/index_sort.hpp"

#include <algorithm>
#include <numeric>

namespace arges::sparse {

namespace {

/// For each nonzero the first position in `modes` at which it differs from its predecessor; 0 for the first nonzero.
std::vector<std::uint8_t> first_differences(const std::vector<std::vector<std::uint32_t>>& sorted, std::int64_t count) {
    std::vector<std::uint8_t> result(count, 0);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 1; i < count; ++i) {
        const std::size_t x = i;
        std::size_t level = 0;
        while (level + 1 < sorted.size() && sorted[level][x] == sorted[level][x - 1]) ++level;
        result[x] = static_cast<std::uint8_t>(level);
    }
    return result;
}

}  // namespace

template <class T>
FiberTree<T>::FiberTree(const LocalNonzeros<T>& nonzeros, std::vector<int> mode_order, double least_fill)
    : modes(std::move(mode_order)), count(nonzeros.count()) {
    const auto positions = lexicographic_positions(nonzeros.indices, nonzeros.rows, modes);
    std::vector<std::vector<std::uint32_t>> sorted;
    for (int mode : modes) sorted.push_back(reordered(nonzeros.indices[mode], positions, padding));
    values = reordered(nonzeros.values, positions, padding);
    if (!nonzeros.weights.empty()) weights = reordered(nonzeros.weights, positions);

    const auto difference = first_differences(sorted, count);
    std::vector<std::int64_t> nodes(modes.size(), 0);
    for (auto d : difference) ++nodes[d];
    std::partial_sum(nodes.begin(), nodes.end(), nodes.begin());
    std::size_t depth = 1;
    while (depth + 1 < modes.size() && static_cast<double>(count) >= least_fill * static_cast<double>(nodes[depth])) ++depth;

    levels.resize(depth);
    for (std::size_t l = 0; l < depth; ++l) {
        levels[l].ids.reserve(static_cast<std::size_t>(nodes[l]) + padding);
        levels[l].starts.reserve(static_cast<std::size_t>(nodes[l]) + 1);
    }
    for (std::int64_t i = 0; i < count; ++i) {
        const std::size_t x = i;
        for (std::size_t l = difference[x]; l < depth; ++l) {
            levels[l].ids.push_back(sorted[l][x]);
            levels[l].starts.push_back(l + 1 < depth ? std::ssize(levels[l + 1].ids) : i);
        }
    }
    for (std::size_t l = 0; l < depth; ++l) {
        levels[l].starts.push_back(l + 1 < depth ? nodes[l + 1] : count);
        levels[l].ids.resize(levels[l].ids.size() + padding, 0);
    }
    for (auto l = depth; l < modes.size(); ++l) flat.push_back(std::move(sorted[l]));
}

MemoryTally fiber_tree_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::span<const int> modes,
                              std::int64_t count) {
    constexpr auto padding = FiberTree<double>::padding;
    constexpr std::int64_t index = sizeof(std::uint32_t), node = index + sizeof(std::int64_t);
    const auto order = std::ssize(modes), room = count + static_cast<std::int64_t>(padding);
    MemoryTally tally;
    tally.add(sorting_memory(count));
    tally.hold(room * (order * index + element_bytes) + count);  // sorted, and differences of a byte
    const auto filled = static_cast<double>(count) / FiberTree<double>::default_least_fill;
    double tuples = 1;
    std::int64_t level_bytes = 0, kept = room * element_bytes;
    for (std::int64_t p = 0; p < order; ++p) {
        tuples *= rows[modes[p]];
        const auto most = std::min(tuples, p == 0 ? static_cast<double>(count) : filled);
        const bool may_be_level = p == 0 || p + 1 < order;
        const auto as_level = may_be_level ? static_cast<std::int64_t>(most + static_cast<double>(padding)) * node : 0;
        level_bytes += as_level;
        kept += p == 0 ? as_level : std::max(as_level, room * index);
    }
    tally.hold(level_bytes);
    tally.hold(kept - tally.held());
    return tally;
}

template <class T>
std::int64_t FiberTree<T>::bytes() const {
    auto total = (values.size() + weights.size()) * sizeof(T);
    for (const auto& level : levels) total += level.ids.size() * sizeof(std::uint32_t) + level.starts.size() * sizeof(std::int64_t);
    for (const auto& index : flat) total += index.size() * sizeof(std::uint32_t);
    return total;
}

template <class T>
typename FiberTree<T>::Range FiberTree<T>::range(std::int64_t begin, std::int64_t end) const {
    const auto depth = levels.size();
    Range result{std::vector<std::int64_t>(depth + 1, 0), std::vector<std::int64_t>(depth + 1, 0)};
    if (begin >= end) return result;
    const auto parent = [](const Level& level, std::int64_t child) {
        return std::upper_bound(level.starts.begin(), level.starts.end(), child) - level.starts.begin() - 1;
    };
    result.begin[depth] = begin;
    result.end[depth] = end;
    for (auto l = depth; l-- > 0;) {
        result.begin[l] = parent(levels[l], result.begin[l + 1]);
        result.end[l] = parent(levels[l], result.end[l + 1] - 1) + 1;
    }
    return result;
}

std::vector<int> modes_from(int root, std::span<const std::int64_t> rows) {
    std::vector<int> modes(rows.size());
    std::iota(modes.begin(), modes.end(), 0);
    std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) {
        if ((a == root) != (b == root)) return a == root;
        return rows[a] < rows[b];
    });
    return modes;
}

template struct FiberTree<float>;
template struct FiberTree<double>;

}  // namespace arges::sparse

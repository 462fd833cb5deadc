/// Sparse matrices and tensors for benchmarks, the same on any number of ranks.
#pragma once

#include "arges/arges.hpp"
#include "base/splitmix.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace arges::bench {

inline double random_number(std::int64_t state) { return unit_interval(splitmix(static_cast<std::uint64_t>(state))); }

/// Each rank makes its share of `count` elements. Values follow from the indices, so that it does not matter which of equal ones is kept.
template <class F>
SparseTensor<double> made(const World& world, const std::vector<std::int64_t>& lengths, std::int64_t count, const std::string& name,
                          F index) {
    SparseEntries<double> mine;
    mine.indices.resize(lengths.size());
    for (auto e = std::int64_t{world.rank()}; e < count; e += world.size()) {
        const std::vector<std::int64_t> at = index(e);
        for (std::size_t m = 0; m < at.size(); ++m) mine.indices[m].push_back(at[m]);
        mine.values.push_back(1 + static_cast<double>(std::accumulate(at.begin(), at.end(), std::int64_t{0}) % 7));
    }
    return SparseTensor<double>::from_entries(world, lengths, mine, Duplicates::keep_first, name);
}

/// An R-MAT graph of 2^scale vertices with about 8 edges for each (a = .57, b = c = .19; Chakrabarti, Zhan, Faloutsos, 2004).
inline SparseTensor<double> rmat(const World& world, int scale) {
    const std::int64_t vertices = std::int64_t{1} << scale;
    return made(world, {vertices, vertices}, 8 * vertices, "A", [scale](std::int64_t e) {
        std::int64_t row = 0, column = 0;
        for (int level = 0; level < scale; ++level) {
            const double u = random_number(e * 64 + level + 1);
            row = 2 * row + (u >= 0.76 ? 1 : 0);
            column = 2 * column + ((u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0);
        }
        return std::vector{row, column};
    });
}

/// Of order 3: each bit of an index is 0 as often as in an R-MAT graph.
inline SparseTensor<double> crowded_tensor(const World& world, int bits) {
    const auto n = std::int64_t{1} << bits;
    return made(world, {n, n, n}, 500000, "T", [bits](std::int64_t e) {
        std::vector<std::int64_t> at(3, 0);
        for (int bit = 0; bit < 3 * bits; ++bit) {
            auto& index = at[static_cast<std::size_t>(bit % 3)];
            index = 2 * index + (random_number(e * 64 + bit) >= 0.76 ? 1 : 0);
        }
        return at;
    });
}

/// Elements anywhere.
inline SparseTensor<double> rectangle(const World& world, std::int64_t rows, std::int64_t columns) {
    return made(world, {rows, columns}, 500000, "B", [=](std::int64_t e) {
        return std::vector{static_cast<std::int64_t>(random_number(2 * e) * static_cast<double>(rows)),
                           static_cast<std::int64_t>(random_number(2 * e + 1) * static_cast<double>(columns))};
    });
}

/// A 3D mesh of n^3 points with 27 neighbours.
inline SparseTensor<double> mesh(const World& world, std::int64_t n) {
    SparseEntries<double> mine;
    mine.indices.resize(2);
    for (auto v = world.rank(); v < n * n * n; v += world.size())
        for (std::int64_t d = 0; d < 27; ++d) {
            const auto x = v % n + d % 3 - 1, y = v / n % n + d / 3 % 3 - 1, z = v / n / n + d / 9 - 1;
            if (std::min({x, y, z}) < 0 || std::max({x, y, z}) >= n) continue;
            mine.indices[0].push_back(v);
            mine.indices[1].push_back(x + n * (y + n * z));
            mine.values.push_back(d == 13 ? 26 : -1);
        }
    return SparseTensor<double>::from_entries(world, {n * n * n, n * n * n}, mine, Duplicates::refuse, "M");
}

}  // namespace arges::bench

/// Sparse matrices for benchmarks, the same on any number of ranks.
#pragma once

#include "arges/arges.hpp"
#include "base/splitmix.hpp"

#include <algorithm>
#include <cstdint>

namespace arges::bench {

/// An R-MAT graph of 2^scale vertices with about 8 edges for each (a = .57, b = c = .19; Chakrabarti, Zhan, Faloutsos, 2004). Each rank
/// makes its share of the edges.
inline SparseTensor<double> rmat(const World& world, int scale) {
    const std::int64_t vertices = std::int64_t{1} << scale, edges = 8 * vertices;
    SparseEntries<double> mine;
    mine.indices.resize(2);
    for (auto e = world.rank(); e < edges; e += world.size()) {
        std::int64_t row = 0, column = 0;
        for (int level = 0; level < scale; ++level) {
            const double u = unit_interval(splitmix(static_cast<std::uint64_t>(e) * 64 + static_cast<std::uint64_t>(level) + 1));
            row = 2 * row + (u >= 0.76 ? 1 : 0);
            column = 2 * column + ((u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0);
        }
        mine.indices[0].push_back(row);
        mine.indices[1].push_back(column);
        mine.values.push_back(1 + static_cast<double>(e % 7));
    }
    return SparseTensor<double>::from_entries(world, {vertices, vertices}, mine, Duplicates::keep_first, "A");
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

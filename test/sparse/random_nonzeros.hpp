/// Random sparse tensors for the tests of src/sparse, and dense references.
#pragma once

#include "sparse/mttkrp.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace arges::sparse::test {

/// The same numbers with every library: splitmix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t bits() {
        auto z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
    /// In [-1, 1).
    double value() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; }

private:
    std::uint64_t state_;
};

/// What a random tensor looks like.
struct Shape {
    std::vector<std::int64_t> rows;
    std::int64_t nonzeros = 0;  ///< at most; fewer if the tensor has fewer elements
    int giant_mode = -1;        ///< three of four nonzeros have index 1 in this mode
};

inline std::string name(const Shape& shape) {
    std::string result;
    for (auto n : shape.rows) result += std::to_string(n) + " x ";
    return result + std::to_string(shape.nonzeros) +
           (shape.giant_mode < 0 ? "" : ", giant slice in mode " + std::to_string(shape.giant_mode));
}

/// Distinct coordinates in no order.
template <class T>
LocalNonzeros<T> random_nonzeros(const Shape& shape, std::uint64_t seed) {
    Random random(seed);
    LocalNonzeros<T> result;
    result.rows = shape.rows;
    result.indices.resize(shape.rows.size());
    std::set<std::vector<std::uint32_t>> seen;
    for (std::int64_t tries = 0; tries < 4 * shape.nonzeros && result.count() < shape.nonzeros; ++tries) {
        std::vector<std::uint32_t> x;
        for (auto n : shape.rows) x.push_back(static_cast<std::uint32_t>(random.below(n)));
        if (shape.giant_mode >= 0 && random.below(4) > 0) x[static_cast<std::size_t>(shape.giant_mode)] = 1;
        if (!seen.insert(x).second) continue;
        for (std::size_t m = 0; m < x.size(); ++m) result.indices[m].push_back(x[m]);
        result.values.push_back(static_cast<T>(random.value()));
    }
    return result;
}

/// Matrices with rows(m) x columns random elements; the stride is larger than the number of columns.
template <class T>
struct Matrices {
    std::vector<std::vector<T>> data;
    std::vector<RowMatrix<const T>> views;

    Matrices(const std::vector<std::int64_t>& rows, int columns, std::uint64_t seed, int extra_stride = 3) {
        Random random(seed);
        for (auto n : rows) {
            const auto stride = static_cast<std::int64_t>(columns + extra_stride);
            auto& matrix = data.emplace_back(static_cast<std::size_t>(n * stride));
            for (auto& a : matrix) a = static_cast<T>(random.value());
            views.push_back({matrix.data(), n, columns, stride});
        }
    }
};

/// Shapes of orders 1 to 8: empty rows, lengths 1 and prime, 0 and 1 nonzeros, skew, dense and hypersparse, more than 64 index
/// bits.
inline std::vector<Shape> shapes() {
    return {{{17}, 9},
            {{7, 5}, 0},
            {{7, 5}, 1},
            {{13, 11}, 143},
            {{300, 2}, 100},
            {{5, 6, 7}, 1},
            {{5, 6, 7}, 0},
            {{6, 5, 4}, 120},
            {{100, 90, 80}, 500},
            {{11, 400, 3}, 700},
            {{40, 30, 20}, 600, 0},
            {{40, 30, 20}, 600, 1},
            {{40, 30, 20}, 600, 2},
            {{2, 1, 500}, 400},
            {{1000, 1000, 1000}, 300},
            {{7, 5, 6, 4}, 500},
            {{60, 50, 1, 40}, 300, 3},
            {{200, 3, 70, 5}, 900},
            {{5, 4, 3, 4, 5}, 300},
            {{31, 29, 3, 40, 2}, 400, 1},
            {{4, 3, 5, 2, 6, 3}, 500},
            {{50, 1, 20, 2, 9, 70}, 300},
            {{3, 4, 2, 5, 2, 3, 4}, 200},
            {{2, 9, 2, 5, 2, 3, 4, 30}, 200},
            {{300, 500, 260, 700, 510, 900, 600, 400}, 200}};
}

}  // namespace arges::sparse::test

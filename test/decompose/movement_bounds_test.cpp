// Lower bounds on what ranks move, against sets of products and against algorithms.
#include "decompose/distribution/movement_bounds.hpp"

#include "base/splitmix.hpp"
#include "decompose/distribution/dense_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

namespace arges::test {
namespace {

using namespace decompose;
using Lengths = std::vector<std::int64_t>;

/// Elements of A and of the result that some products A(i, k) A(j, k), i > j, touch.
std::int64_t touched(const std::set<std::tuple<int, int, int>>& products) {
    std::set<std::pair<int, int>> inputs, results;
    for (const auto& [i, j, k] : products) {
        inputs.insert({i, k});
        inputs.insert({j, k});
        results.insert({i, j});
    }
    return static_cast<std::int64_t>(inputs.size() + results.size());
}

TEST(GramBound, NoSetOfProductsTouchesLess) {
    std::uint64_t state = 1;
    const auto below = [&](int n) { return static_cast<int>(splitmix(state++) % static_cast<std::uint64_t>(n)); };
    for (int round = 0; round < 3000; ++round) {
        const int length = 2 + below(7), width = 1 + below(6);
        std::set<std::tuple<int, int, int>> products;
        // Rows of a set with each other, or of two sets, for some k; and a few at random.
        std::vector<int> rows, others;
        for (int i = 0; i < length; ++i) (below(2) == 0 ? rows : others).push_back(i);
        const auto& partners = below(2) == 0 ? rows : others;
        const int depth = below(width + 1);
        for (int a : rows)
            for (int b : partners)
                for (int k = 0; k < depth; ++k)
                    if (a != b) products.insert({std::max(a, b), std::min(a, b), k});
        for (int extra = below(6); extra > 0; --extra) {
            const int a = below(length), b = below(length);
            if (a != b) products.insert({std::max(a, b), std::min(a, b), below(width)});
        }
        EXPECT_LE(gram_access(length, width, static_cast<double>(products.size())), static_cast<double>(touched(products)) + 1e-9);
    }
}

TEST(GramBound, IsReachedByTheObviousWays) {
    // A wide matrix stays, and parts of results are sent: all but this rank's share of what is below the diagonal.
    EXPECT_NEAR(gram_bound(300, 90000, 2), 299 * 299 / 2.0 - 300 * 299 / 4.0, 1e-6);
    EXPECT_NEAR(gram_bound(300, 90000, 2) / (300 * 299 / 4.0), 1, 0.01);
    // All products of a matrix touch all of it.
    EXPECT_NEAR(gram_access(40, 50, 40 * 39 / 2 * 50), 40 * 50 + 40 * 39 / 2, 1e-6);
    EXPECT_EQ(gram_bound(300, 90000, 1), 0);
    EXPECT_EQ(gram_bound(1, 90000, 8), 0);
    EXPECT_EQ(gram_bound(2, 3, 8), 0) << "more ranks than products";
    for (double ranks : {2.0, 8.0, 64.0, 4096.0})
        for (double length : {3.0, 30.0, 1000.0})
            for (double width : {2.0, 100.0, 1e6}) EXPECT_GE(gram_bound(length, width, ranks), 0);
}

TEST(ProductBound, IsTheFactorWhereTheTensorStays) {
    // The tensor stays, each rank needs the whole factor, and has 1/P of it.
    EXPECT_NEAR(product_bound(300, 90000, 30, 4), 300 * 30 * 0.75, 1e-6);
    EXPECT_EQ(product_bound(300, 90000, 30, 1), 0);
}

/// Rows that a rank of a grid gets and gives in a sweep, for each column.
double rows_of_grid(const Lengths& lengths, const Lengths& grid) {
    double rows = 0, ranks = 1;
    for (auto p : grid) ranks *= static_cast<double>(p);
    for (std::size_t m = 0; m < grid.size(); ++m)
        rows += 2 * static_cast<double>(lengths[m]) * (1 / static_cast<double>(grid[m]) - 1 / ranks);
    return rows;
}

TEST(SweepBound, NoGridMovesLess) {
    for (const auto& lengths : {Lengths{24, 24, 24}, Lengths{60, 12, 24}, Lengths{12, 240, 1}})
        for (std::int64_t a : {1, 2, 3, 4, 6, 12})
            for (std::int64_t b : {1, 2, 3, 4, 6, 12})
                for (std::int64_t c : {1, 2, 3, 4, 6, 12}) {
                    if (lengths[0] % a != 0 || lengths[1] % b != 0 || lengths[2] % c != 0) continue;
                    const double bound = sweep_bound(lengths, 5, static_cast<double>(a * b * c));
                    EXPECT_LE(bound, 5 * rows_of_grid(lengths, {a, b, c}) + 1e-6);
                    if (a == b && b == c && lengths[0] == lengths[2]) {
                        EXPECT_NEAR(bound, 5 * rows_of_grid(lengths, {a, b, c}), 1e-6);
                    }
                }
    EXPECT_EQ(sweep_bound(Lengths{24, 24, 24}, 5, 1), 0);
}

/// Where it leaves the tensor in place, one product takes a half of what a sweep takes.
TEST(SweepBound, IsTwiceThatOfAProductThatLeavesTheTensor) {
    EXPECT_NEAR(sweep_bound(Lengths{800, 800, 800}, 32, 512), 2 * mttkrp_bound(Lengths{800, 800, 800}, 32, 512), 1);
    EXPECT_NEAR(mttkrp_bound(Lengths{192, 192, 192}, 24, 4) * 8, 42021, 1);
}

}  // namespace
}  // namespace arges::test

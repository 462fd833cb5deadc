#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace arges::test {
namespace {

using Lengths = std::vector<std::int64_t>;

TEST(Torus, IsReadAndShownAsText) {
    EXPECT_EQ(Torus::parse("4x4x2").lengths(), (Lengths{4, 4, 2}));
    EXPECT_EQ(Torus::parse("7").to_string(), "7");
    EXPECT_EQ(Torus({4, 4, 2}).ranks(), 32);
    EXPECT_EQ(Torus().ranks(), 1);
    EXPECT_EQ(Torus().to_string(), "1");
}

TEST(PrimeFactors, MultiplyToTheNumber) {
    EXPECT_EQ(prime_factors(12), (Lengths{2, 2, 3}));
    EXPECT_TRUE(prime_factors(1).empty());
    for (std::int64_t n = 1; n < 2000; ++n) {
        std::int64_t product = 1;
        const auto factors = prime_factors(n);
        EXPECT_TRUE(std::is_sorted(factors.begin(), factors.end()));
        for (auto p : factors) {
            product *= p;
            EXPECT_EQ(prime_factors(p).size(), 1U);
        }
        EXPECT_EQ(product, n);
    }
}

TEST(Unfolding, KeepsNeighbours) {
    EXPECT_EQ(unfold(Torus({4, 3})).lengths, (Lengths{2, 2, 3}));
    EXPECT_EQ(unfold(Torus({1, 6})).lengths, (Lengths{2, 3}));
    EXPECT_TRUE(unfold(Torus({1})).lengths.empty());
}

TEST(GridsForProducts, LeaveFewRanksIdleForSmallerFactors) {
    auto lengths = [](std::int64_t ranks) {
        std::vector<Lengths> result;
        for (const auto& grid : grids_for_products(Torus({ranks}))) result.push_back(grid.lengths);
        return result;
    };
    EXPECT_EQ(lengths(1), (std::vector<Lengths>{{}}));
    EXPECT_EQ(lengths(2), (std::vector<Lengths>{{2}})) << "one rank would be no distribution";
    EXPECT_EQ(lengths(13), (std::vector<Lengths>{{13}, {2, 2, 3}}));
    EXPECT_EQ(lengths(8), (std::vector<Lengths>{{2, 2, 2}, {7}}));
    EXPECT_EQ(lengths(31), (std::vector<Lengths>{{31}, {2, 3, 5}, {2, 2, 7}, {29}}));
    for (std::int64_t ranks : {64, 997, 4096, 1000003, 1000000}) {
        const auto grids = grids_for_products(Torus({ranks}));
        EXPECT_EQ(grids[0].ranks(), ranks);
        for (const auto& grid : grids) {
            EXPECT_LE(grid.ranks(), ranks);
            EXPECT_GE(10 * grid.ranks(), 9 * ranks);
        }
    }
}

TEST(DetectedTorus, PutsTheRanksOfANodeInnermost) {
    EXPECT_EQ(detected_torus(64, 16).lengths(), (Lengths{16, 4}));
    EXPECT_EQ(detected_torus(8, 8).lengths(), (Lengths{8}));
    EXPECT_EQ(detected_torus(6, 1).lengths(), (Lengths{6}));
    EXPECT_EQ(detected_torus(10, 4).lengths(), (Lengths{10})) << "nodes that are not full";
}

}  // namespace
}  // namespace arges::test

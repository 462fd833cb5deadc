#include "partition/grid.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace arges::test {
namespace {

using namespace partition;
using Lengths = std::vector<std::int64_t>;

/// All grids by trying every number up to `ranks` in every mode.
std::set<Grid> grids_by_trial(std::int64_t ranks, int order) {
    std::set<Grid> result;
    Grid grid(static_cast<std::size_t>(order), 1);
    while (true) {
        std::int64_t product = 1;
        for (auto g : grid) product *= g;
        if (product == ranks) result.insert(grid);
        std::size_t mode = 0;
        while (mode < grid.size() && grid[mode] == ranks) grid[mode++] = 1;
        if (mode == grid.size()) return result;
        ++grid[mode];
    }
}

TEST(Grid, AllGridsAreThoseFoundByTrialInOrder) {
    for (int order = 1; order <= 4; ++order)
        for (std::int64_t ranks = 1; ranks <= 24; ++ranks) {
            const auto expected = grids_by_trial(ranks, order);
            EXPECT_EQ(all_grids(ranks, order), std::vector<Grid>(expected.begin(), expected.end())) << ranks << " ranks, order " << order;
        }
}

TEST(Grid, NumbersOfGridsAreThePapers) {
    EXPECT_EQ(all_grids(12, 3).size(), 18);
    EXPECT_EQ(all_grids(16, 3).size(), 15);
    EXPECT_EQ(all_grids(128, 3).size(), 36);
}

TEST(Grid, GreedyGridIsSplatts) {
    EXPECT_EQ(greedy_grid(16, {4'800'000, 1'800'000, 1'800'000}), (Grid{4, 2, 2}));  // amazon
    EXPECT_EQ(greedy_grid(128, {23'000'000, 23'000'000, 166}), (Grid{16, 8, 1}));    // fb-m
    const Lengths nell{119982, 89997, 29000}, fbm{189808, 189614, 166}, wn18rr{39610, 31881, 11}, yago{6480, 10, 6327, 189};
    for (const auto& lengths : {nell, fbm}) {
        EXPECT_EQ(greedy_grid(4, lengths), (Grid{2, 2, 1}));
        EXPECT_EQ(greedy_grid(8, lengths), (Grid{4, 2, 1}));
        EXPECT_EQ(greedy_grid(16, lengths), (Grid{4, 4, 1}));
    }
    EXPECT_EQ(greedy_grid(4, wn18rr), (Grid{2, 2, 1}));
    EXPECT_EQ(greedy_grid(16, wn18rr), (Grid{4, 4, 1}));
    EXPECT_EQ(greedy_grid(4, yago), (Grid{2, 1, 2, 1}));
    EXPECT_EQ(greedy_grid(16, yago), (Grid{4, 1, 4, 1}));
    EXPECT_EQ(greedy_grid(1, yago), (Grid{1, 1, 1, 1}));
    EXPECT_EQ(greedy_grid(6, {1, 1, 1}), (Grid{3, 2, 1}));  // the target is 0
}

TEST(Grid, CandidatesPlaceTheLastTwoPrimesInEveryWay) {
    const Lengths amazon{4'800'000, 1'800'000, 1'800'000};
    const std::vector<Grid> six{{4, 1, 4}, {4, 2, 2}, {4, 4, 1}, {8, 1, 2}, {8, 2, 1}, {16, 1, 1}};
    EXPECT_EQ(candidate_grids(16, amazon), six);
    EXPECT_EQ(candidate_grids(16, amazon, Shortening::divide), six);
    EXPECT_EQ(candidate_grids(6, amazon).size(), 9);                 // unequal primes
    EXPECT_EQ(candidate_grids(4, {100, 100, 100, 100}).size(), 10);  // order 4
    EXPECT_EQ(candidate_grids(5, amazon).size(), 3);
    EXPECT_EQ(candidate_grids(1, amazon), (std::vector<Grid>{{1, 1, 1}}));
    const Lengths fbm{23'000'000, 23'000'000, 166};
    for (const auto& grid : candidate_grids(128, fbm)) EXPECT_EQ(grid[2] % 2, 0) << "literal base 4x4x2: " << to_string(grid);
    for (const auto& grid : candidate_grids(128, fbm, Shortening::divide)) EXPECT_EQ(grid[0] % 8, 0) << "base 8x4x1: " << to_string(grid);
}

TEST(Grid, CandidatesHaveSlicesForTheirLayers) {
    EXPECT_EQ(candidate_grids(4, {100, 1, 3}), (std::vector<Grid>{{2, 1, 2}, {4, 1, 1}}));
    EXPECT_EQ(candidate_grids(4, {1, 1, 1}).size(), 6);  // none has
}

TEST(Grid, PredictionTakesTheLeastImbalanceThenTheLeastRows) {
    const Lengths lengths{100, 40, 10};
    const auto balanced = [](int, std::int64_t layers) { return Lengths(static_cast<std::size_t>(layers), 5); };
    EXPECT_EQ(predicted_grid(4, lengths, balanced), (Grid{4, 1, 1}));  // 25 + 40 + 10 rows for each rank; 2x2x1 has 50 + 20 + 10
    const auto last_only = [](int mode, std::int64_t layers) {
        Lengths counts(static_cast<std::size_t>(layers), 6);
        if (mode < 2) counts[0] = 12;
        return counts;
    };
    EXPECT_EQ(predicted_grid(4, lengths, last_only), (Grid{1, 1, 4}));
    EXPECT_DOUBLE_EQ(layer_imbalance({2, 2, 1}, last_only), 1.0 / 3);    // two modes of three with 12 against 6
    EXPECT_EQ(predicted_grid(4, {8, 8, 8}, balanced), (Grid{1, 2, 2}));  // all alike: 2x2 cuts touch least, and the first of them
}

TEST(Grid, ImbalanceOfCounts) {
    EXPECT_DOUBLE_EQ(imbalance({4, 3, 1}), 0.75);
    EXPECT_DOUBLE_EQ(imbalance({0, 0}), 0);
    EXPECT_DOUBLE_EQ(imbalance({}), 0);
}

TEST(Grid, TextAndBack) {
    EXPECT_EQ(to_string(Grid{2, 12, 1}), "2x12x1");
    EXPECT_EQ(parse_grid("2x12x1", 3), (Grid{2, 12, 1}));
    EXPECT_EQ(ranks({2, 12, 1}), 24);
    for (const auto* text : {"", "2x2", "2x2x2x2", "2x2x", "x2x2", "2x0x2", "2x-1x2", "2,2,2", "2x2x2 ", "axbxc", "2x2x1.5",
                             "99999999999999999999x1x1", "4294967296x4294967296x4294967296"})
        EXPECT_THROW(parse_grid(text, 3), InvalidArgument) << text;
    try {
        parse_grid("2x2", 3);
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ(error.what(), "grid '2x2': it has 2 numbers, the tensor has 3 modes; write one number of ranks for each "
                                   "of the 3 modes, such as 2x2x1");
    }
}

TEST(Grid, NoRanksAreRefused) {
    EXPECT_THROW(all_grids(0, 3), InvalidArgument);
    EXPECT_THROW(greedy_grid(-1, {3, 3}), InvalidArgument);
    EXPECT_THROW(candidate_grids(4, {}), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

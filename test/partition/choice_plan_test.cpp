#include "partition/choice_plan.hpp"

#include "statistics_tensors.hpp"

#include <gtest/gtest.h>

#include <random>

namespace arges::test {
namespace {

using namespace partition;

/// Of uniformly random nonzeros the expectation is what counting gives, but for the largest of the ranks against the mean.
TEST(ChoicePlan, ExpectsWhatRandomTensorsHave) {
    std::mt19937_64 random(4);
    const std::vector<std::int64_t> lengths{3000, 2000, 40};
    TensorIndices tensor{lengths, {}};
    tensor.indices.resize(3);
    for (int x = 0; x < 40000; ++x)
        for (std::size_t m = 0; m < 3; ++m) tensor.indices[m].push_back(below(random, lengths[m]));
    const SliceTable table(tensor.view());
    for (const Grid& grid : {Grid{8, 1, 1}, Grid{1, 8, 1}, Grid{2, 2, 2}, Grid{4, 1, 2}, Grid{1, 1, 8}}) {
        const auto counted = iteration_seconds(count_distribution(table, MediumGrain{grid, {}}), 16);
        const auto expected = expected_seconds(grid, lengths, 40000, 16);
        EXPECT_NEAR(expected, counted, 0.1 * counted) << to_string(grid);
    }
}

/// More seconds, more to look at; too few, and nothing is looked at.
TEST(ChoicePlan, LooksAtWhatTheIterationsPayFor) {
    const std::vector<std::int64_t> lengths{40943, 40943, 11};
    ChoicePlan last;
    for (const double share : {0.0, 1e-3, 1e-2, 0.05, 0.2, 1.0, 10.0, 1000.0}) {
        const auto plan = plan_choice(lengths, 86835, 12, 16, {}, share);
        EXPECT_GE(plan.grids.size() * plan.rules.size(), last.grids.size() * last.rules.size()) << share;
        if (plan.grids.size() * plan.rules.size() == last.grids.size() * last.rules.size()) {
            EXPECT_GE(plan.sample, last.sample) << share;
        }
        EXPECT_LE(plan.sample, plan.largest);
        EXPECT_TRUE(plan.share > 0 && plan.share <= 1);
        last = plan;
    }
    EXPECT_EQ(plan_choice(lengths, 86835, 12, 16, {}, 0).sample, 0);
    EXPECT_EQ(last.grids.size(), all_grids(12, 3).size());
    EXPECT_EQ(last.rules, all_policies());
    for (std::size_t i = 1; i < last.grids.size(); ++i)
        EXPECT_LE(expected_seconds(last.grids[i - 1], lengths, 86835, 16), expected_seconds(last.grids[i], lengths, 86835, 16));
}

/// Grids with more layers than slices come last.
TEST(ChoicePlan, PrefersGridsThatFit) {
    for (const std::int64_t all : {4, 6, 9, 10}) {
        const std::vector<std::int64_t> lengths{3, 5000, 2};
        const auto grid = plan_choice(lengths, 100, all, 16, {}, 0).grids.front();
        for (std::size_t n = 0; n < 3; ++n) EXPECT_LE(grid[n], lengths[n]) << to_string(grid);
    }
    EXPECT_EQ(ranks(plan_choice({1, 1}, 0, 4, 16, {}, 0).grids.front()), 4);
    ChoiceOptions options;
    options.grids = {{2, 2, 1}};
    options.rules = {parse_layer_rule("set")};
    for (const double share : {0.0, 1e9}) {
        const auto plan = plan_choice({30, 5000, 20}, 1000, 4, 16, options, share);
        EXPECT_EQ(plan.grids, options.grids);
        EXPECT_EQ(plan.rules, options.rules);
    }
}

/// With more to look at the choice gets better, up to what counting all would take.
TEST(ChoicePlan, MoreSecondsFindBetterDistributions) {
    for (const auto* name : {"wn18rr-3d", "yago-4d"}) {
        const auto tensor = shipped_tensor(name);
        const SliceTable table(tensor.view());
        const auto seconds = [&](const MediumGrain& medium) { return iteration_seconds(count_distribution(table, medium), 16); };
        for (const std::int64_t all : {2, 8, 16}) {
            ChoiceOptions options;
            options.near = 1;
            const auto best = seconds(choose_medium(tensor.view(), all, 16, options)[0].distribution);
            const auto found = [&](double share) {
                return seconds(choose_within(Team(), tensor.view(), all, 16, options, share).distribution);
            };
            EXPECT_LE(found(0), 2.5 * best) << name << " on " << all;
            EXPECT_LE(found(0.05), 2 * best) << name << " on " << all;
            EXPECT_LE(found(1000), 1.03 * best) << name << " on " << all;
        }
    }
}

}  // namespace
}  // namespace arges::test

#include "partition/choice_plan.hpp"

#include "statistics_tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

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

/// Irregular tensors: modes of very different lengths, indices crowded at low ones, and a band between the first two modes.
TensorIndices irregular_tensor(std::mt19937_64& random) {
    const auto order = static_cast<std::size_t>(3 + below(random, 2));
    std::uniform_real_distribution<double> unit(0, 1);
    TensorIndices tensor;
    std::vector<double> powers;
    for (std::size_t m = 0; m < order; ++m) {
        tensor.lengths.push_back(static_cast<std::int64_t>(std::pow(10, (m < 2 ? 2.5 : 1) + (m < 2 ? 2 : 3) * unit(random))));
        powers.push_back(1 + 2 * unit(random));
    }
    const auto band = unit(random) < 0.5 ? 0 : unit(random);
    std::set<std::vector<std::int64_t>> tuples;
    for (auto left = 15000 + below(random, 25000); left > 0; --left) {
        std::vector<std::int64_t> tuple;
        for (std::size_t m = 0; m < order; ++m)
            tuple.push_back(static_cast<std::int64_t>(std::pow(unit(random), powers[m]) * static_cast<double>(tensor.lengths[m])));
        const auto width = tensor.lengths[1] / 200;
        if (unit(random) < band)
            tuple[1] = std::clamp<std::int64_t>(tuple[0] * tensor.lengths[1] / tensor.lengths[0] + below(random, 2 * width + 1) - width, 0,
                                                tensor.lengths[1] - 1);
        tuples.insert(tuple);
    }
    tensor.indices.resize(order);
    for (const auto& tuple : tuples)
        for (std::size_t m = 0; m < order; ++m) tensor.indices[m].push_back(tuple[m]);
    return tensor;
}

double seconds(const TensorIndices& tensor, const MediumGrain& medium) {
    return iteration_seconds(count_distribution(SliceTable(tensor.view()), medium), 16);
}

/// What the choice loses against the best of all candidates.
double found_to_best(const TensorIndices& tensor, std::int64_t ranks, double share) {
    ChoiceOptions options;
    options.near = 1;
    const auto found = seconds(tensor, choose_within(Team(), tensor.view(), ranks, 16, options, share).distribution);
    options.look_ups = std::numeric_limits<double>::infinity();
    return found / choose_medium(tensor.view(), ranks, 16, options)[0].seconds;
}

/// A twentieth of a run finds what is nearly the best of all.
TEST(ChoicePlan, FindsDistributionsNearTheBest) {
    std::mt19937_64 random(6);
    const std::vector<std::int64_t> ranks{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 768, 1536};
    double sum = 0;
    int near = 0, far = 0;
    constexpr int tensors = 30;
    for (int t = 0; t < tensors; ++t) {
        const auto tensor = t == 0 ? shipped_tensor("wn18rr-3d") : t == 1 ? shipped_tensor("yago-4d") : irregular_tensor(random);
        const auto all = t == 0 ? 1536 : t == 1 ? 16 : ranks[static_cast<std::size_t>(t) % ranks.size()];
        const auto ratio = found_to_best(tensor, all, 0.05);
        EXPECT_LE(ratio, 1.15) << tensor.text() << " on " << all;
        near += ratio <= 1.05;
        far += ratio > 1.1;
        sum += ratio;
    }
    EXPECT_GE(near, 24);
    EXPECT_LE(far, 1);
    EXPECT_LE(sum / tensors, 1.03);
}

/// With more to look at the choice gets better, up to what counting all would take.
TEST(ChoicePlan, MoreSecondsFindBetterDistributions) {
    for (const auto* name : {"wn18rr-3d", "yago-4d"}) {
        const auto tensor = shipped_tensor(name);
        for (const std::int64_t all : {2, 8, 16}) {
            EXPECT_LE(found_to_best(tensor, all, 0), 2.5) << name << " on " << all;
            EXPECT_LE(found_to_best(tensor, all, 0.05), 1.05) << name << " on " << all;
            EXPECT_LE(found_to_best(tensor, all, 1000), 1.03) << name << " on " << all;
        }
    }
}

}  // namespace
}  // namespace arges::test

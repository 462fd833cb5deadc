#include "partition/choose.hpp"

#include "arges/error.hpp"
#include "statistics_tensors.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <limits>
#include <random>
#include <set>

namespace arges::test {
namespace {

using namespace partition;

constexpr double always_full = std::numeric_limits<double>::infinity();

std::string text(const MediumChoice& choice) {
    const auto& [grid, layers, rows, excess] = choice.distribution;
    return to_string(grid) + " " + to_string(layers) + " " + std::to_string(choice.seconds) + (choice.counted ? "" : " estimated");
}

std::vector<std::string> texts(const std::vector<MediumChoice>& choices) {
    std::vector<std::string> result;
    for (const auto& choice : choices) result.push_back(text(choice));
    return result;
}

TEST(Choose, SecondsAreThoseOfTheSlowestRankOfEachPhase) {
    ModeCounts mode;
    mode.nonzeros = {10, 20};
    mode.owned = {5, 1};
    mode.sent = {3, 2};
    mode.received = {1, 2};
    mode.messages = {1, 7};
    const DistributionCounts counts{2, {mode, mode}};
    const IterationCosts costs{1, 10, 0.5, 100, 8};
    // Rank 1 has most nonzeros and messages, rank 0 most rows.
    EXPECT_DOUBLE_EQ(iteration_seconds(counts, 3, costs), 2 * (3 * (20 + 50 + 4 * 4) + 700));
    EXPECT_DOUBLE_EQ(iteration_seconds(counts, 100, costs), 2 * (100 * (20 + 50 + 4 * 4) + 700));
}

TEST(Choose, RanksAllDistributionsByTheirCounts) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 30; ++round) {
        const auto tensor = random_tensor(random);
        const auto all = 1 + below(random, 12);
        SCOPED_TRACE(tensor.text() + " on " + std::to_string(all));
        const SliceTable table(tensor.view());
        ChoiceOptions options;
        options.look_ups = always_full;
        options.near = 1;
        const auto choices = choose_medium(tensor.view(), all, 16, options);
        ASSERT_FALSE(choices.empty());
        double last = 0;
        std::set<std::string> names;
        for (const auto& choice : choices) {
            EXPECT_TRUE(choice.counted);
            EXPECT_EQ(ranks(choice.distribution.grid), all);
            const auto counts = count_distribution(table, choice.distribution);
            EXPECT_EQ(choice.seconds, iteration_seconds(counts, 16));
            EXPECT_EQ(choice.volume_rows_max, max_mean(total_volume(counts)).max);
            EXPECT_GE(choice.seconds, last);
            last = choice.seconds;
            EXPECT_TRUE(names.insert(text(choice)).second);
        }
        // No grid and policy that is possible is better than the first.
        for (const auto& grid : all_grids(all, tensor.order())) {
            bool possible = true;
            for (std::size_t n = 0; n < grid.size(); ++n) possible = possible && grid[n] <= table.modes[n].count();
            if (!possible) continue;
            for (const auto* rule : {"nnz", "set", "ordered-1", "ordered-2", "max-min"})
                EXPECT_GE(iteration_seconds(count_distribution(table, MediumGrain{grid, parse_layer_rule(rule)}), 16), choices[0].seconds);
        }
    }
}

TEST(Choose, OfEquallyFastOnesTheLeastVolumeComesFirst) {
    std::mt19937_64 random(2);
    int other = 0;
    for (int round = 0; round < 40; ++round) {
        const auto tensor = random_tensor(random);
        const auto all = 2 + below(random, 11);
        ChoiceOptions by_time, options;
        by_time.near = 1;
        by_time.look_ups = options.look_ups = always_full;
        const auto fastest = choose_medium(tensor.view(), all, 16, by_time), choices = choose_medium(tensor.view(), all, 16, options);
        ASSERT_EQ(fastest.size(), choices.size());
        const auto limit = options.near * fastest[0].seconds;
        EXPECT_LE(choices[0].seconds, limit);
        for (const auto& choice : choices) EXPECT_TRUE(choice.seconds > limit || choice.volume_rows_max >= choices[0].volume_rows_max);
        other += choices[0].volume_rows_max < fastest[0].volume_rows_max;
    }
    EXPECT_GT(other, 0) << "the rule changed nothing";
}

/// Seconds of the best distribution, and of the one that is found when samples rank the candidates.
struct BestAndFound {
    double best = 0, found = 0;
    bool counted = false;
};

BestAndFound best_and_found(const TensorIndices& tensor, std::int64_t all, std::int64_t sample) {
    ChoiceOptions full, sampled;
    full.near = sampled.near = 1;
    full.look_ups = always_full;
    sampled.look_ups = 0;
    sampled.sample = sample;
    const auto best = choose_medium(tensor.view(), all, 16, full), found = choose_medium(tensor.view(), all, 16, sampled);
    EXPECT_EQ(best.size(), found.size());
    const auto seconds = iteration_seconds(count_distribution(SliceTable(tensor.view()), found[0].distribution), 16);
    EXPECT_TRUE(!found[0].counted || found[0].seconds == seconds);
    return {best[0].seconds, seconds, found[0].counted};
}

TEST(Choose, SamplesFindWhatFullCountsFind) {
    const auto wn18rr = best_and_found(shipped_tensor("wn18rr-3d"), 16, 1 << 13),
               yago = best_and_found(shipped_tensor("yago-4d"), 8, 1 << 14);
    EXPECT_TRUE(wn18rr.counted);
    EXPECT_TRUE(yago.counted);
    EXPECT_LE(wn18rr.found, 1.02 * wn18rr.best);
    EXPECT_LE(yago.found, 1.02 * yago.best);
}

TEST(Choose, SmallSamplesFindSomethingNearlyAsGood) {
    const auto wn18rr = best_and_found(shipped_tensor("wn18rr-3d"), 16, 256), yago = best_and_found(shipped_tensor("yago-4d"), 8, 256);
    EXPECT_FALSE(wn18rr.counted);
    EXPECT_FALSE(yago.counted);
    EXPECT_LE(wn18rr.found, 1.1 * wn18rr.best);
    EXPECT_LE(yago.found, 1.1 * yago.best);
}

TEST(Choose, AGivenGridOrPolicyIsKept) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 20; ++round) {
        const auto tensor = random_tensor(random);
        const auto grids = all_grids(6, tensor.order());
        for (double look_ups : {0.0, always_full}) {
            ChoiceOptions options;
            options.look_ups = look_ups;
            options.rules = {parse_layer_rule("ordered-3")};
            for (const auto& choice : choose_medium(tensor.view(), 6, 4, options))
                EXPECT_EQ(to_string(choice.distribution.layers), "ordered-3");
            options.rules.clear();
            options.grids = {grids[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(grids.size())))]};
            for (const auto& choice : choose_medium(tensor.view(), 6, 4, options)) EXPECT_EQ(choice.distribution.grid, options.grids[0]);
            EXPECT_THROW(choose_medium(tensor.view(), 5, 4, options), InvalidArgument);
        }
    }
}

TEST(Choose, ThreadsDoNotMatter) {
    const auto tensor = shipped_tensor("wn18rr-3d");
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const auto one = choose_medium(tensor.view(), 16, 16);
    omp_set_num_threads(3);
    const auto three = choose_medium(tensor.view(), 16, 16);
    omp_set_num_threads(threads);
    EXPECT_EQ(texts(one), texts(three));
}

TEST(Choose, BeatsSplattsAndThePredictedGrid) {
    const auto tensor = shipped_tensor("wn18rr-3d");
    const SliceTable table(tensor.view());
    const auto best = choose_medium(tensor.view(), 16, 16)[0];
    for (const auto& grid : {greedy_grid(16, tensor.lengths), predicted_grid(16, tensor.lengths, layer_counts(table))})
        EXPECT_LT(best.seconds, iteration_seconds(count_distribution(table, MediumGrain{grid, {}}), 16));
}

TEST(Choose, MoreRanksThanSlicesOrNonzeros) {
    for (const auto& tensor : {TensorIndices{{3, 2}, {{1}, {0}}}, TensorIndices{{3, 2}, {{}, {}}}, TensorIndices{{0, 0}, {{}, {}}}})
        for (double look_ups : {0.0, always_full}) {
            ChoiceOptions options;
            options.look_ups = look_ups;
            const auto choices = choose_medium(tensor.view(), 6, 4, options);
            EXPECT_FALSE(choices.empty());
            EXPECT_EQ(ranks(choices[0].distribution.grid), 6);
        }
}

TEST(Choose, NoRanksOrColumnsAreRefused) {
    const TensorIndices tensor{{3, 2}, {{1}, {0}}};
    EXPECT_THROW(choose_medium(tensor.view(), 0, 16), InvalidArgument);
    EXPECT_THROW(choose_medium(tensor.view(), 4, 0), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

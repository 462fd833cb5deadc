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
        const auto choices = choose_medium(table, all, 16, options);
        ASSERT_FALSE(choices.empty());
        double last = 0;
        std::set<std::string> names;
        for (const auto& choice : choices) {
            EXPECT_TRUE(choice.counted);
            EXPECT_EQ(ranks(choice.distribution.grid), all);
            EXPECT_EQ(choice.seconds, iteration_seconds(count_distribution(table, choice.distribution), 16));
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
                EXPECT_GE(iteration_seconds(count_distribution(table, MediumGrain{grid, parse_layer_rule(rule)}), 16),
                          choices[0].seconds);
        }
    }
}

TEST(Choose, SamplesFindWhatFullCountsFind) {
    const auto wn18rr = shipped_tensor("wn18rr-3d"), yago = shipped_tensor("yago-4d");
    const auto check = [](const TensorIndices& tensor, std::int64_t all) {
        const SliceTable table(tensor.view());
        ChoiceOptions full, sampled;
        full.look_ups = always_full;
        sampled.look_ups = 0;
        const auto best = choose_medium(table, all, 16, full), found = choose_medium(table, all, 16, sampled);
        EXPECT_EQ(best.size(), found.size());
        EXPECT_TRUE(found[0].counted);
        EXPECT_LE(found[0].seconds, 1.05 * best[0].seconds) << tensor.text() << " on " << all << ": " << text(found[0]) << ", best "
                                                            << text(best[0]);
    };
    check(wn18rr, 16);
    check(yago, 8);
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
    const auto best = choose_medium(table, 16, 16)[0];
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

// The choice of a distribution by all ranks together: it is what one rank with all nonzeros chooses, and what a run then does.
#include "decompose/distribution/choose_distribution.hpp"

#include "base/splitmix.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "partition/choice_plan.hpp"
#include "partition/choose_sample.hpp"
#include "partition/statistics.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace arges::test {
namespace {

using namespace partition;
using decompose::RankTeam;
using decompose::view_of;
using sparse::Nonzeros;

/// 3 modes of 700, 5000 and 31 slices, crowded at low indices, with slices that most samples find heavy; about 12,000 nonzeros.
Nonzeros<double> skewed_tensor(std::uint64_t seed) {
    std::map<std::vector<std::int64_t>, double> values;
    std::uint64_t state = seed;
    const auto index = [&](std::int64_t length) {
        state = splitmix(state);
        const auto x = unit_interval(state);
        return static_cast<std::int64_t>(x * x * x * static_cast<double>(length));
    };
    for (int x = 0; x < 16000; ++x) values[{index(700), index(5000), index(31)}] = 1;
    Nonzeros<double> result{{{700, 5000, 31}, std::vector<std::vector<std::int64_t>>(3)}, {}};
    for (const auto& [indices, value] : values) {
        for (std::size_t m = 0; m < 3; ++m) result.indices[m].push_back(indices[m]);
        result.values.push_back(value);
    }
    return result;
}

void expect_equal(const DistributionCounts& a, const DistributionCounts& b) {
    ASSERT_EQ(a.modes.size(), b.modes.size());
    for (std::size_t m = 0; m < a.modes.size(); ++m) {
        EXPECT_EQ(a.modes[m].nonzeros, b.modes[m].nonzeros);
        EXPECT_EQ(a.modes[m].owned, b.modes[m].owned);
        EXPECT_EQ(a.modes[m].held, b.modes[m].held);
        EXPECT_EQ(a.modes[m].sent, b.modes[m].sent);
        EXPECT_EQ(a.modes[m].received, b.modes[m].received);
        EXPECT_EQ(a.modes[m].messages, b.modes[m].messages);
        EXPECT_EQ(a.modes[m].connectivity, b.modes[m].connectivity);
    }
}

class ChooseDistribution : public testing::Test {
protected:
    /// The counts of a distribution, from a sample.
    static DistributionCounts estimate(const Team& team, const TensorPart& tensor, std::span<const SampleSize> sizes,
                                       const SampleSize& size, const GridLayers& layers, const TensorTotals& totals) {
        TensorSample sample(team, tensor, sizes);
        sample.look_at(size);
        return sample.counts(layers, {}, totals, RowRule::holders, 0.1);
    }

    void expect_same_choice(const Nonzeros<double>& whole, std::int64_t ranks, const ChoiceOptions& options) const {
        const auto mine = part_of(whole, comm_);
        const auto expected = choose_medium(view_of(whole), ranks, 16, options);
        const auto found = choose_medium(RankTeam(comm_), partition::counted_tensor(RankTeam(comm_), view_of(mine)), ranks, 16, options);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(to_string(found[i].distribution.grid), to_string(expected[i].distribution.grid));
            EXPECT_EQ(to_string(found[i].distribution.layers), to_string(expected[i].distribution.layers));
            EXPECT_EQ(found[i].seconds, expected[i].seconds);
            EXPECT_EQ(found[i].volume_rows_max, expected[i].volume_rows_max);
            EXPECT_EQ(found[i].counted, expected[i].counted);
        }
    }

    Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(ChooseDistribution, EstimatesAreThoseOfOneRank) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto whole = seed < 4 ? random_sparse(seed) : skewed_tensor(seed);
        const auto mine = part_of(whole, comm_);
        const SliceTable table(view_of(whole));
        TensorTotals totals{whole.count(), {}};
        for (const auto& mode : table.modes) totals.slices.push_back(mode.count());
        const auto grids = all_grids(12, whole.order());
        GridLayers layers{grids[seed % grids.size()], {}};
        const LayerRule rule{seed % 2 == 0 ? LayerPolicy::nonzeros : LayerPolicy::set, 1};
        for (std::size_t m = 0; m < table.modes.size(); ++m)
            layers.finders.push_back(std::make_shared<const LayerFinder>(cut_mode(table.modes[m], rule, layers.grid[m])));
        const std::vector<double> few(table.modes.size(), 0.1), more(table.modes.size(), 0.5), all(table.modes.size(), 1);
        const std::vector<SampleSize> sizes{{few, 0.2, 30}, {more, 0.4, 30}, {all, 1, SampleSize::no_limit}};
        const auto whole_part = whole_tensor(view_of(whole), table);
        const auto part = counted_tensor(RankTeam(comm_), view_of(mine));
        for (std::size_t last = 0; last < sizes.size(); ++last)
            for (std::size_t s = 0; s <= last; s += 1 + last / 2) {
                SCOPED_TRACE("seed " + std::to_string(seed) + " sizes " + std::to_string(s) + " of " + std::to_string(last));
                const std::span wanted(sizes.data(), last + 1);
                const auto found = estimate(RankTeam(comm_), part, wanted, sizes[s], layers, totals);
                expect_equal(found, estimate(Team(), whole_part, wanted, sizes[s], layers, totals));
                if (sizes[s].is_everything()) expect_equal(found, count_distribution(table, MediumGrain{layers.grid, rule}));
            }
    }
}

TEST_F(ChooseDistribution, DoesNotDependOnWhoHasTheNonzeros) {
    for (std::uint64_t seed = 0; seed < 6; ++seed)
        for (const double look_ups : {0.0, std::numeric_limits<double>::infinity()}) {
            SCOPED_TRACE("seed " + std::to_string(seed));
            ChoiceOptions options;
            options.look_ups = look_ups;
            options.sample = 16;
            expect_same_choice(random_sparse(seed), seed % 2 == 0 ? comm_.size() : 6, options);
        }
    ChoiceOptions small;
    small.look_ups = 0;
    small.sample = 64;
    expect_same_choice(skewed_tensor(1), comm_.size(), {});
    expect_same_choice(skewed_tensor(3), 12, small);
    expect_same_choice(skewed_tensor(4), 48, small);
}

/// A bounded choice by all ranks is that of one rank, whatever it may cost, and is one of those that the costly choice ranks.
TEST_F(ChooseDistribution, WithinABudgetDoesNotDependOnWhoHasTheNonzeros) {
    for (std::uint64_t seed = 0; seed < 8; ++seed)
        for (const double share : {0.0, 0.05, 2.0, 50.0, 1e9}) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " share " + std::to_string(share));
            const auto whole = seed < 4 ? random_sparse(seed) : skewed_tensor(seed);
            const auto mine = part_of(whole, comm_);
            const auto ranks = seed % 2 == 0 ? comm_.size() : 12;
            const auto expected = choose_within(Team(), view_of(whole), ranks, 16, {}, share);
            const auto found = choose_within(RankTeam(comm_), view_of(mine), ranks, 16, {}, share);
            EXPECT_EQ(to_string(found.distribution.grid), to_string(expected.distribution.grid));
            EXPECT_EQ(to_string(found.distribution.layers), to_string(expected.distribution.layers));
            EXPECT_EQ(found.seconds, expected.seconds);
            EXPECT_EQ(found.volume_rows_max, expected.volume_rows_max);
        }
}

TEST(ExpectedIterations, AreTenForADecadeOfTheToleranceAndNoMoreThanAllowed) {
    using decompose::expected_iterations;
    EXPECT_EQ(expected_iterations(7, 0), 7);
    EXPECT_EQ(expected_iterations(10, 1e-5), 10);
    EXPECT_NEAR(expected_iterations(1000, 1e-5), 50, 1e-9);
    EXPECT_EQ(expected_iterations(1000, 2), 1);
}

TEST_F(ChooseDistribution, ARunHasTheLoadsAndVolumesOfTheChoice) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto whole = seed == 0 ? skewed_tensor(5) : random_sparse(seed);
        if (whole.count() == 0) continue;
        const auto mine = part_of(whole, comm_);
        const auto expected = choose_within(Team(), view_of(whole), comm_.size(), 10, {}, 0.05).distribution;
        const auto chosen = decompose::choose_distribution(comm_, mine, {});
        if (comm_.size() > 1) {
            EXPECT_EQ(chosen.grid, to_string(expected.grid)) << "seed " << seed;
            EXPECT_EQ(chosen.policy, to_string(expected.layers)) << "seed " << seed;
        }
        EXPECT_GE(chosen.seconds, 0);
        const auto d = decompose::distribute(comm_, mine, chosen.plan);
        std::int64_t moved = 0;
        for (const auto& rows : d.rows) moved += 2 * (rows.rows_shared() + rows.rows_needed());
        const MediumGrain taken{parse_grid(chosen.grid, whole.order()), parse_layer_rule(chosen.policy)};
        const auto volume = total_volume(count_distribution(SliceTable(view_of(whole)), taken));
        EXPECT_EQ(comm_.maximum(moved), max_mean(volume).max) << "seed " << seed;
    }
}

/// Nonzeros of the slices of each rank in a mode.
std::vector<std::int64_t> loads(const Nonzeros<double>& whole, const decompose::SliceOwners& owners, std::size_t mode, std::int64_t ranks) {
    std::vector<std::int64_t> result(static_cast<std::size_t>(ranks), 0);
    for (auto slice : whole.indices[mode]) {
        const auto place = std::lower_bound(owners.slices.begin(), owners.slices.end(), slice) - owners.slices.begin();
        ++result[static_cast<std::size_t>(owners.owner[static_cast<std::size_t>(place)])];
    }
    return result;
}

/// CP-ALS waits for the slowest rank in each mode, CP-OPT once for all of them.
TEST_F(ChooseDistribution, CoarseHypergraphsBalanceWhatIsWaitedFor) {
    std::map<std::vector<std::int64_t>, double> values;
    std::uint64_t state = 3;
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>((state = splitmix(state)) % n); };
    for (int x = 0; x < 6000; ++x) values[{below(400), below(300), below(200)}] = 1;
    Nonzeros<double> whole{{{400, 300, 200}, std::vector<std::vector<std::int64_t>>(3)}, {}};
    for (const auto& [indices, value] : values) {
        for (std::size_t m = 0; m < 3; ++m) whole.indices[m].push_back(indices[m]);
        whole.values.push_back(value);
    }
    const auto mean = static_cast<double>(whole.count()) / static_cast<double>(comm_.size());
    const auto mine = part_of(whole, comm_);
    for (const auto weights : {CoarseWeights::by_mode, CoarseWeights::summed}) {
        decompose::DistributionRequest request;
        request.distribution = "coarse-hypergraph";
        request.coarse_weights = weights;
        const auto owners = decompose::choose_distribution(comm_, mine, request).plan.owners;
        std::vector<std::int64_t> sums(static_cast<std::size_t>(comm_.size()), 0);
        for (std::size_t m = 0; m < 3; ++m) {
            const auto of_mode = loads(whole, owners[m], m, comm_.size());
            for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += of_mode[p];
            if (weights == CoarseWeights::by_mode) {
                EXPECT_LT(static_cast<double>(max_mean(of_mode).max), 1.15 * mean) << "mode " << m;
            }
        }
        EXPECT_LT(static_cast<double>(max_mean(sums).max), 3 * 1.06 * mean) << (weights == CoarseWeights::summed ? "summed" : "by mode");
    }
}

/// The defaults of both are the same, and what is measured comes through.
TEST(IterationCosts, FollowFromTheMachine) {
    const IterationCosts defaults, same = decompose::iteration_costs(MachineModel());
    EXPECT_DOUBLE_EQ(same.per_nonzero_column, defaults.per_nonzero_column);
    EXPECT_DOUBLE_EQ(same.per_row_column, defaults.per_row_column);
    EXPECT_DOUBLE_EQ(same.per_byte, defaults.per_byte);
    EXPECT_DOUBLE_EQ(same.per_message, defaults.per_message);
    EXPECT_EQ(same.per_visit, defaults.per_visit);
    EXPECT_EQ(same.per_count, defaults.per_count);
    EXPECT_EQ(same.per_look_up, defaults.per_look_up);
    MachineModel slow;
    slow.bytes_per_second /= 10;
    slow.nonzero_column_seconds = 3e-9;
    const auto costs = decompose::iteration_costs(slow);
    EXPECT_DOUBLE_EQ(costs.per_byte, 10 * defaults.per_byte);
    EXPECT_EQ(costs.per_nonzero_column, 3e-9);
}

TEST_F(ChooseDistribution, KeepsWhatTheRequestGives) {
    const auto mine = part_of(skewed_tensor(6), comm_);
    for (const char* policy : {"nnz", "ordered-3", "max-min"}) {
        decompose::DistributionRequest request;
        request.policy = policy;
        EXPECT_EQ(decompose::choose_distribution(comm_, mine, request).policy, policy);
        request.grid = "1x" + std::to_string(comm_.size()) + "x1";
        EXPECT_EQ(decompose::choose_distribution(comm_, mine, request).grid, request.grid);
    }
    for (const char* grid : {"best", "greedy", "predicted"}) {
        decompose::DistributionRequest request;
        request.grid = grid;
        EXPECT_EQ(ranks(parse_grid(decompose::choose_distribution(comm_, mine, request).grid, 3)), comm_.size());
    }
}

}  // namespace
}  // namespace arges::test

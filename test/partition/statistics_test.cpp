#include "partition/statistics.hpp"

#include "arges/error.hpp"
#include "statistics_tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace arges::test {
namespace {

using namespace partition;
using IndexOwners = std::map<std::int64_t, std::int64_t>;
using RankSets = std::map<std::int64_t, std::set<std::int64_t>>;

/// What ranks send for the rows of a mode: each pair of owner and other holder, one by one.
ModeCounts counts_by_pairs(const RankSets& holders, const IndexOwners& owner, std::int64_t ranks, bool fold) {
    const std::vector<std::int64_t> zeros(static_cast<std::size_t>(ranks), 0);
    ModeCounts counts{{}, zeros, zeros, zeros, zeros, zeros, 0};
    std::set<std::tuple<bool, std::int64_t, std::int64_t>> messages;
    const auto send = [&](bool folding, std::int64_t from, std::int64_t to) {
        ++counts.sent[static_cast<std::size_t>(from)];
        ++counts.received[static_cast<std::size_t>(to)];
        messages.emplace(folding, from, to);
    };
    for (const auto& [row, ranks_of_row] : holders) {
        ++counts.owned[static_cast<std::size_t>(owner.at(row))];
        counts.connectivity += static_cast<std::int64_t>(ranks_of_row.size()) - 1;
        for (auto holder : ranks_of_row) {
            ++counts.held[static_cast<std::size_t>(holder)];
            if (holder == owner.at(row)) continue;
            send(false, owner.at(row), holder);
            if (fold) send(true, holder, owner.at(row));
        }
    }
    for (const auto& message : messages) ++counts.messages[static_cast<std::size_t>(std::get<1>(message))];
    return counts;
}

void expect_equal(const ModeCounts& counts, const ModeCounts& expected) {
    EXPECT_EQ(counts.nonzeros, expected.nonzeros);
    EXPECT_EQ(counts.owned, expected.owned);
    EXPECT_EQ(counts.held, expected.held);
    EXPECT_EQ(counts.sent, expected.sent);
    EXPECT_EQ(counts.received, expected.received);
    EXPECT_EQ(counts.messages, expected.messages);
    EXPECT_EQ(counts.connectivity, expected.connectivity);
}

/// IndexOwners in the layers of a mode, from the rank of each nonzero, the ranks of each layer and its rows.
IndexOwners owners_by_layers(const RankSets& holders, const Boundaries& boundaries, const std::vector<std::vector<std::int64_t>>& ranks,
                             RowRule rule) {
    IndexOwners owner;
    for (std::size_t l = 0; l + 1 < boundaries.size(); ++l) {
        LayerRows layer{boundaries[l], boundaries[l + 1], {}};
        for (auto rank : ranks[l]) {
            layer.held.emplace_back();
            for (const auto& [row, held_by] : holders)
                if (row >= layer.begin && row < layer.end && held_by.contains(rank)) layer.held.back().push_back(row);
        }
        const auto result = assign_rows(layer, rule);
        for (std::size_t i = 0; i < result.rows.size(); ++i) owner[result.rows[i]] = ranks[l][static_cast<std::size_t>(result.owner[i])];
    }
    return owner;
}

RankSets holders_of(const std::vector<std::int64_t>& indices, const std::vector<std::int64_t>& part) {
    RankSets holders;
    for (std::size_t k = 0; k < indices.size(); ++k) holders[indices[k]].insert(part[k]);
    return holders;
}

std::vector<std::int64_t> numbers_of(const std::vector<std::int64_t>& part, std::int64_t ranks) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0);
    for (auto p : part) ++counts[static_cast<std::size_t>(p)];
    return counts;
}

void check_medium(const TensorIndices& tensor, const SliceTable& table, const MediumGrain& medium) {
    SCOPED_TRACE(to_string(medium.grid) + " " + to_string(medium.layers) + " " + to_string(medium.rows));
    const auto all = ranks(medium.grid);
    std::vector<Boundaries> boundaries;
    std::vector<std::int64_t> part(static_cast<std::size_t>(tensor.count()), 0);
    for (std::size_t n = 0; n < table.modes.size(); ++n) {
        boundaries.push_back(cut_mode(table.modes[n], medium.layers, medium.grid[n]));
        for (std::size_t k = 0; k < part.size(); ++k) part[k] = part[k] * medium.grid[n] + layer_of(boundaries[n], tensor.indices[n][k]);
    }
    const auto counts = count_distribution(table, medium);
    ASSERT_EQ(counts.ranks, all);
    for (std::size_t n = 0; n < table.modes.size(); ++n) {
        std::vector<std::vector<std::int64_t>> ranks_of(static_cast<std::size_t>(medium.grid[n]));
        for (std::int64_t rank = 0; rank < all; ++rank) {
            auto rest = rank;
            for (auto m = medium.grid.size() - 1; m > n; --m) rest /= medium.grid[m];
            ranks_of[static_cast<std::size_t>(rest % medium.grid[n])].push_back(rank);
        }
        const auto holders = holders_of(tensor.indices[n], part);
        auto expected = counts_by_pairs(holders, owners_by_layers(holders, boundaries[n], ranks_of, medium.rows), all, true);
        expected.nonzeros = numbers_of(part, all);
        expect_equal(counts.modes[n], expected);
    }
}

TEST(Statistics, MediumGrainEqualsBruteForce) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 120; ++round) {
        const auto tensor = random_tensor(random);
        SCOPED_TRACE(tensor.text());
        const SliceTable table(tensor.view());
        const std::vector<std::int64_t> sizes{1, 2, 6, 8, 130};
        const auto grids = all_grids(sizes[static_cast<std::size_t>(below(random, 5))], tensor.order());
        const auto& grid = grids[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(grids.size())))];
        for (auto rows : {RowRule::even, RowRule::claim, RowRule::holders})
            check_medium(tensor, table, {grid, parse_layer_rule(round % 2 == 0 ? "nnz" : "ordered-2"), rows});
    }
}

TEST(Statistics, FineGrainEqualsBruteForce) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 120; ++round) {
        const auto tensor = random_tensor(random);
        SCOPED_TRACE(tensor.text());
        const auto all = 1 + below(random, 70);
        for (auto rows : {RowRule::even, RowRule::claim, RowRule::holders}) {
            auto fine = fine_random(tensor.count(), all, 7);
            fine.rows = rows;
            const std::vector<std::int64_t> part(fine.part.begin(), fine.part.end());
            std::vector<std::int64_t> everyone(static_cast<std::size_t>(all));
            std::iota(everyone.begin(), everyone.end(), 0);
            const auto counts = count_distribution(SliceTable(tensor.view()), fine);
            for (std::size_t n = 0; n < counts.modes.size(); ++n) {
                const auto holders = holders_of(tensor.indices[n], part);
                const auto owner = owners_by_layers(holders, {0, tensor.lengths[n]}, {everyone}, rows);
                auto expected = counts_by_pairs(holders, owner, all, true);
                expected.nonzeros = numbers_of(part, all);
                expect_equal(counts.modes[n], expected);
            }
        }
    }
}

TEST(Statistics, CoarseGrainEqualsBruteForce) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 120; ++round) {
        const auto tensor = random_tensor(random);
        SCOPED_TRACE(tensor.text());
        const SliceTable table(tensor.view());
        CoarseGrain coarse{1 + below(random, 9), {}};
        std::vector<IndexOwners> owner(table.modes.size());
        for (std::size_t n = 0; n < table.modes.size(); ++n) {
            coarse.owner.emplace_back();
            for (auto slice : table.modes[n].slices) {
                owner[n][slice] = below(random, coarse.ranks);
                coarse.owner[n].push_back(static_cast<std::int32_t>(owner[n][slice]));
            }
        }
        const auto counts = count_distribution(table, coarse);
        for (std::size_t n = 0; n < table.modes.size(); ++n) {
            RankSets holders;
            std::vector<std::int64_t> multiplied_by;
            for (std::size_t k = 0; k < tensor.indices[n].size(); ++k) {
                for (std::size_t m = 0; m < table.modes.size(); ++m)
                    holders[tensor.indices[n][k]].insert(owner[m].at(tensor.indices[m][k]));
                multiplied_by.push_back(owner[n].at(tensor.indices[n][k]));
            }
            auto expected = counts_by_pairs(holders, owner[n], coarse.ranks, false);
            expected.nonzeros = numbers_of(multiplied_by, coarse.ranks);
            expect_equal(counts.modes[n], expected);
        }
    }
}

TEST(Statistics, CutsOfThreeNonzeros) {
    // HyperTensor's small example: nonzeros (1,2,3), (2,3,1), (3,1,2).
    const TensorIndices tensor{{3, 3, 3}, {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}};
    const SliceTable table(tensor.view());
    const CoarseGrain apart{9, {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}};
    std::int64_t cut = 0;
    for (const auto& mode : count_distribution(table, apart).modes) cut += mode.connectivity;
    EXPECT_EQ(cut, 18);
    cut = 0;
    for (const auto& mode : count_distribution(table, fine_blocks(3, 3)).modes) cut += mode.connectivity + mode.sent[0];
    EXPECT_EQ(cut, 0);
}

TEST(Statistics, AllgatherMovesAllRows) {
    const TensorIndices tensor{{4, 3}, {{0, 1, 3, 3}, {0, 0, 1, 2}}};
    const SliceTable table(tensor.view());
    const CoarseGrain coarse{2, {{0, 0, 1}, {0, 1, 1}}};
    const auto counts = count_allgather(table, coarse);
    EXPECT_EQ(counts.modes[0].sent, (std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(counts.modes[0].received, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(counts.modes[1].sent, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(counts.modes[0].nonzeros, (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(counts.modes[1].messages, (std::vector<std::int64_t>{1, 1}));
}

TEST(Statistics, FineDistributionsAreBalanced) {
    EXPECT_EQ(fine_blocks(10, 4).part, (std::vector<std::int32_t>{0, 0, 1, 1, 1, 2, 2, 3, 3, 3}));
    const auto first = fine_random(100000, 10), second = fine_random(100000, 10), other = fine_random(100000, 10, 1);
    EXPECT_EQ(first.part, second.part);
    EXPECT_NE(first.part, other.part);
    std::vector<std::int64_t> counts(10, 0);
    for (auto p : first.part) ++counts[static_cast<std::size_t>(p)];
    for (auto count : counts) EXPECT_NEAR(static_cast<double>(count), 10000, 500);
}

TEST(Statistics, RandomNonzerosHaveTheExpectedHolders) {
    // A row with c nonzeros is held by P (1 - (1 - 1 / P)^c) of P ranks on average.
    const auto tensor = shipped_tensor("yago-4d");
    const SliceTable table(tensor.view());
    const auto counts = count_distribution(table, fine_random(tensor.count(), 32));
    for (std::size_t n = 0; n < table.modes.size(); ++n) {
        const auto& mode = table.modes[n];
        double expected = 0;
        for (std::size_t s = 0; s < mode.slices.size(); ++s)
            expected += 32 * (1 - std::pow(1 - 1.0 / 32, static_cast<double>(mode.start[s + 1] - mode.start[s])));
        const auto held = max_mean(counts.modes[n].held);
        EXPECT_NEAR(32 * held.mean, expected, 0.005 * expected);
    }
}

TEST(Statistics, WrongDistributionsAreRefused) {
    const TensorIndices tensor{{4, 3}, {{0, 1, 3, 3}, {0, 0, 1, 2}}};
    const SliceTable table(tensor.view());
    EXPECT_THROW(count_distribution(table, MediumGrain{{2, 2, 1}, {}}), InvalidArgument);
    EXPECT_THROW(count_distribution(table, MediumGrain{{2, 0}, {}}), InvalidArgument);
    EXPECT_THROW(count_distribution(table, FineGrain{2, {0, 1, 0}}), InvalidArgument);
    EXPECT_THROW(count_distribution(table, FineGrain{2, {0, 1, 0, 2}}), InvalidArgument);
    EXPECT_THROW(count_distribution(table, FineGrain{0, {0, 0, 0, 0}}), InvalidArgument);
    EXPECT_THROW(count_distribution(table, CoarseGrain{2, {{0, 0, 1}}}), InvalidArgument);
    EXPECT_THROW(count_distribution(table, CoarseGrain{2, {{0, 0, 1}, {0, 1}}}), InvalidArgument);
    EXPECT_THROW(count_distribution(table, CoarseGrain{2, {{0, 0, 1}, {0, 1, -1}}}), InvalidArgument);
    EXPECT_THROW(coarse_blocks(table, 0), InvalidArgument);
}

/// Largest and mean nonzeros and volumes of SPLATT's distribution.
struct SplattCounts {
    std::int64_t ranks, nonzeros_mean, nonzeros_max, volume_mean, volume_max;
};

void expect_splatts(const TensorIndices& tensor, const SplattCounts& expected) {
    SCOPED_TRACE(tensor.text() + " on " + std::to_string(expected.ranks));
    const SliceTable table(tensor.view());
    const auto counts = count_distribution(table, MediumGrain{greedy_grid(expected.ranks, tensor.lengths), {}, RowRule::claim});
    const auto nonzeros = max_mean(counts.modes[0].nonzeros), volume = max_mean(total_volume(counts));
    EXPECT_EQ(std::floor(nonzeros.mean), expected.nonzeros_mean);
    EXPECT_EQ(nonzeros.max, expected.nonzeros_max);
    EXPECT_EQ(std::floor(volume.mean), expected.volume_mean);
    EXPECT_EQ(volume.max, expected.volume_max);
}

TEST(Statistics, SplattsCounts) {
    const auto wn18rr = shipped_tensor("wn18rr-3d"), yago = shipped_tensor("yago-4d");
    expect_splatts(wn18rr, {4, 21708, 22397, 25147, 26646});
    expect_splatts(wn18rr, {16, 5427, 6730, 11622, 14498});
    expect_splatts(yago, {4, 50272, 59294, 4726, 5940});
    expect_splatts(yago, {16, 12568, 29395, 3291, 9382});  // where SPLATT itself crashes
}

TEST(Statistics, RatiosOfThePolicies) {
    const auto tensor = shipped_tensor("wn18rr-3d");
    const SliceTable table(tensor.view());
    const std::map<std::string, std::vector<int>> thousandths{{"nnz", {388, 497, 722}},
                                                              {"set", {917, 631, 1}},
                                                              {"ordered-1", {518, 382, 685}},
                                                              {"ordered-2", {774, 286, 454}},
                                                              {"max-min", {555, 582, 750}}};
    for (const auto& [rule, expected] : thousandths) {
        const auto ratios = imbalances(count_distribution(table, MediumGrain{{4, 4, 1}, parse_layer_rule(rule), RowRule::even}));
        EXPECT_EQ(std::lround(1000 * ratios.nonzeros), expected[0]) << rule;
        EXPECT_EQ(std::lround(1000 * ratios.volume), expected[1]) << rule;
        EXPECT_EQ(std::lround(1000 * ratios.rows), expected[2]) << rule;
    }
}

TEST(Statistics, PredictedGrids) {
    struct Pick {
        const TensorIndices& tensor;
        std::string grid;
        std::int64_t ranks;
        int imbalance;  // in ten-thousandths
    };
    const auto wn18rr = shipped_tensor("wn18rr-3d"), yago = shipped_tensor("yago-4d");
    for (const auto& pick :
         {Pick{wn18rr, "4x1x1", 4, 1974}, Pick{wn18rr, "8x1x1", 8, 2289}, Pick{wn18rr, "12x1x1", 12, 2419}, Pick{wn18rr, "2x8x1", 16, 4290},
          Pick{wn18rr, "4x16x1", 64, 4968}, Pick{yago, "2x2x1x1", 4, 512}, Pick{yago, "4x2x1x1", 8, 725}, Pick{yago, "3x2x2x1", 12, 1861},
          Pick{yago, "4x2x2x1", 16, 1868}, Pick{yago, "4x1x16x1", 64, 3121}}) {
        SCOPED_TRACE(pick.tensor.text() + " on " + std::to_string(pick.ranks));
        const SliceTable table(pick.tensor.view());
        const auto grid = predicted_grid(pick.ranks, pick.tensor.lengths, layer_counts(table));
        EXPECT_EQ(to_string(grid), pick.grid);
        EXPECT_EQ(std::lround(10000 * layer_imbalance(grid, layer_counts(table))), pick.imbalance);
    }
}

TEST(Statistics, HyperTensorsTable) {
    const auto tensor = shipped_tensor("wn18rr-3d");
    const SliceTable table(tensor.view());
    const auto coarse = summaries(count_distribution(table, coarse_blocks(table, 4)));
    const std::vector<std::int64_t> loads{21722, 21714, 34796}, volumes{25585, 23987, 18};
    const std::vector<double> mean_volumes{18257.00, 13708.25, 8.25};
    for (std::size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(coarse[n].nonzeros.max, loads[n]);
        EXPECT_DOUBLE_EQ(coarse[n].nonzeros.mean, 21708.75);
        EXPECT_EQ(coarse[n].sent.max, volumes[n]);
        EXPECT_DOUBLE_EQ(coarse[n].sent.mean, mean_volumes[n]);
        EXPECT_EQ(coarse[n].messages.max, 3);
        EXPECT_DOUBLE_EQ(coarse[n].messages.mean, 3);
    }
    FineGrain modulo{4, {}};
    for (std::int64_t k = 0; k < tensor.count(); ++k) modulo.part.push_back(static_cast<std::int32_t>(k % 4));
    const auto fine = count_distribution(table, modulo), blocks = count_distribution(table, fine_blocks(tensor.count(), 4));
    const std::vector<std::int64_t> of_modulo{75394, 41374, 66}, of_blocks{4, 39880, 66};
    for (std::size_t n = 0; n < 3; ++n) {
        EXPECT_EQ(max_mean(fine.modes[n].nonzeros).max, 21709);
        EXPECT_EQ(2 * fine.modes[n].connectivity, of_modulo[n]);
        EXPECT_EQ(2 * blocks.modes[n].connectivity, of_blocks[n]);
    }
}

}  // namespace
}  // namespace arges::test

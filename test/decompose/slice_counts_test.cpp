// Slices counted and layers cut by all ranks together, against counts of all indices on each rank.
#include "decompose/distribution/slice_counts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace arges::test {
namespace {

using Numbers = std::vector<std::int64_t>;
using decompose::RankTeam;

/// A tensor that all ranks know: modes of few slices or many, a crowded one, and lengths for which no array can be made; at
/// times no nonzero.
sparse::Nonzeros<double> random_tensor(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::int64_t lengths[] = {1, 2, 7, 100, 5000, std::int64_t{1} << 40};
    sparse::Nonzeros<double> result;
    const auto count = seed % 7 == 0 ? 0 : random() % 2000;
    for (int m = 0; m < 3; ++m) {
        const auto length = lengths[random() % 6];
        const auto crowded = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
        result.lengths.push_back(length);
        auto& indices = result.indices.emplace_back();
        for (std::uint64_t i = 0; i < count; ++i)
            indices.push_back(random() % 3 == 0 ? crowded : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length)));
    }
    result.values.assign(count, 1);
    return result;
}

/// Parts of very different sizes: some ranks have nothing.
sparse::Nonzeros<double> some_part_of(const sparse::Nonzeros<double>& whole, std::uint64_t seed, const Communicator& comm) {
    std::mt19937_64 random(seed + 1000);
    const auto ranks = static_cast<std::uint64_t>(comm.size());
    sparse::Nonzeros<double> mine{whole.lengths, std::vector<Numbers>(whole.lengths.size()), {}};
    for (std::size_t x = 0; x < whole.values.size(); ++x) {
        const auto one = random() % ranks, other = random() % ranks;
        if (static_cast<std::int64_t>(std::min(one, other)) != comm.rank()) continue;
        for (std::size_t m = 0; m < whole.lengths.size(); ++m) mine.indices[m].push_back(whole.indices[m][x]);
        mine.values.push_back(1);
    }
    return mine;
}

class SliceCounting : public testing::Test {
protected:
    Communicator comm_{MPI_COMM_WORLD};
    RankTeam team_{comm_};
};

TEST_F(SliceCounting, CountsTheSlicesOfAllRanks) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const auto whole = random_tensor(seed);
        const auto mine = some_part_of(whole, seed, comm_);
        const auto part = counted_tensor(decompose::RankTeam(comm_), decompose::view_of(mine));
        EXPECT_EQ(part.view.lengths, whole.lengths);
        for (std::size_t m = 0; m < whole.lengths.size(); ++m) {
            std::map<std::int64_t, std::int64_t> counts;
            for (auto index : whole.indices[m]) ++counts[index];
            Numbers slices, nonzeros, own;
            for (const auto& [slice, count] : counts) {
                slices.push_back(slice);
                nonzeros.push_back(count);
            }
            const auto& mode = part.modes[m];
            ASSERT_EQ(mode.start.size(), mode.slices.size() + 1);
            for (std::size_t s = 0; s < mode.slices.size(); ++s) own.push_back(mode.start[s + 1] - mode.start[s]);
            EXPECT_EQ(team_.all_gather(mode.slices), slices) << "in the order of ranks they are ascending";
            EXPECT_EQ(team_.all_gather(own), nonzeros);
        }
    }
}

TEST_F(SliceCounting, CutsLayersAsOneRankWithAllIndices) {
    const partition::LayerRule rules[] = {{partition::LayerPolicy::nonzeros, 1},
                                          {partition::LayerPolicy::set, 1},
                                          {partition::LayerPolicy::ordered, 2},
                                          {partition::LayerPolicy::max_min, 1}};
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        const auto whole = random_tensor(seed);
        const auto mine = some_part_of(whole, seed, comm_);
        const auto part = counted_tensor(decompose::RankTeam(comm_), decompose::view_of(mine));
        std::vector<partition::LayerCut> cuts;
        std::vector<partition::Boundaries> expected;
        for (std::size_t m = 0; m < whole.lengths.size(); ++m) {
            std::map<std::int64_t, std::int64_t> counts;
            for (auto index : whole.indices[m]) ++counts[index];
            for (const std::int64_t layers : {1, 2, 5, 16}) {
                const auto length = whole.lengths[m];
                const auto equal_boundaries = partition::equal_layers(length, layers);
                Numbers equal(static_cast<std::size_t>(layers), 0);
                for (auto index : whole.indices[m])
                    for (std::size_t l = 0; l < equal.size(); ++l)
                        if (equal_boundaries[l] <= index && index < equal_boundaries[l + 1]) ++equal[l];
                EXPECT_EQ(partition::count_layers(team_, part, m, layers), equal);
                partition::LayerChain chain(length, static_cast<std::int64_t>(whole.values.size()), layers);
                for (const auto& [slice, count] : counts) chain.feed(slice, count);
                for (const auto& rule : rules) {
                    cuts.push_back({m, layers, rule});
                    expected.push_back(rule.policy == partition::LayerPolicy::nonzeros ? chain.finish()
                                                                                       : partition::corrected_layers(rule, length, equal));
                }
            }
        }
        EXPECT_EQ(partition::cut_modes(team_, part, cuts), expected);
    }
}

/// The boundaries of a grid, for which only the modes that it cuts are counted.
TEST_F(SliceCounting, CutsTheModesOfAGrid) {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const auto* policy : {"nnz", "set", "ordered-1", "max-min"}) {
            const auto whole = random_tensor(seed);
            const auto mine = some_part_of(whole, seed, comm_);
            const partition::Grid grid{1, 4, 3};
            const auto rule = partition::parse_layer_rule(policy);
            const auto found = partition::cut_grid(team_, decompose::view_of(mine), grid, rule);
            EXPECT_EQ(found, cut_modes(team_, counted_tensor(team_, decompose::view_of(mine)), {{0, 1, rule}, {1, 4, rule}, {2, 3, rule}}))
                << "seed " << seed << " " << policy;
        }
}

/// What ranks tell each other.
TEST_F(SliceCounting, PassesNumbersAmongRanks) {
    const auto rank = comm_.rank(), size = comm_.size();
    Numbers sums{rank, 1, -rank};
    team_.sum(sums);
    EXPECT_EQ(sums, (Numbers{size * (size - 1) / 2, size, -size * (size - 1) / 2}));
    std::vector<Numbers> letters;
    for (std::int64_t r = 0; r < size; ++r) letters.emplace_back(static_cast<std::size_t>(r % 3), 100 * rank + r);
    const auto arrived = team_.all_to_all(letters);
    for (std::int64_t r = 0; r < size; ++r)
        EXPECT_EQ(arrived[static_cast<std::size_t>(r)], Numbers(static_cast<std::size_t>(rank % 3), 100 * r + rank));
    const auto last = team_.pass_along({}, [&](Numbers before) {
        before.push_back(rank);
        return before;
    });
    Numbers all;
    for (std::int64_t r = 0; r < size; ++r) all.push_back(r);
    EXPECT_EQ(last, all);
}

}  // namespace
}  // namespace arges::test

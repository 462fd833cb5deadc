// Partitions of hypergraphs by all ranks together, beside those of one rank that has everything.
#include "partition/hypergraph/spread_hypergraph.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "decompose/distribution/given_parts.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "support/hypergraphs.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace arges::test {
namespace {

using namespace partition;
using decompose::RankTeam;
using partition::test::expect_balance;
using partition::test::random_hypergraph;
using partition::test::random_parts;

/// Which rank has each vertex: at random, in blocks, or all on one.
std::vector<std::int64_t> random_owners(std::int64_t vertices, std::int64_t ranks, RandomNumbers& random) {
    const auto kind = random.below(4);
    const auto only = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ranks)));
    std::vector<std::int64_t> owners;
    for (std::int64_t v = 0; v < vertices; ++v)
        owners.push_back(kind == 0   ? only
                         : kind == 1 ? v * ranks / vertices
                                     : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ranks))));
    return owners;
}

class SpreadPartition : public testing::Test {
protected:
    /// This rank's vertices of a hypergraph that all ranks have.
    HypergraphShare share_of(const Hypergraph& whole, const std::vector<std::int64_t>& owners) const {
        HypergraphShare result;
        result.all_nets = whole.nets();
        HypergraphData data;
        data.constraints = whole.constraints();
        std::vector<std::uint32_t> place(owners.size());
        for (std::size_t v = 0; v < owners.size(); ++v) {
            if (owners[v] != comm_.rank()) continue;
            place[v] = static_cast<std::uint32_t>(data.vertices++);
            result.vertices.push_back(static_cast<std::int64_t>(v));
            const auto weights = whole.weights(static_cast<std::int64_t>(v));
            data.weights.insert(data.weights.end(), weights.begin(), weights.end());
        }
        for (std::int64_t net = 0; net < whole.nets(); ++net) {
            const auto before = data.pins.size();
            for (auto pin : whole.pins(net))
                if (owners[pin] == comm_.rank()) data.pins.push_back(place[pin]);
            if (data.pins.size() == before) continue;
            result.nets.push_back(net);
            data.net_begin.push_back(static_cast<std::int64_t>(data.pins.size()));
            data.costs.push_back(whole.cost(net));
        }
        result.hypergraph = Hypergraph(std::move(data));
        return result;
    }

    static VertexParts mine_of(const HypergraphShare& share, const VertexParts& parts) {
        VertexParts mine;
        for (auto v : share.vertices) mine.push_back(parts[static_cast<std::size_t>(v)]);
        return mine;
    }

    /// Parts of all vertices, on every rank.
    VertexParts whole_parts(const HypergraphShare& share, const VertexParts& mine) const {
        const auto numbers = gathered(comm_, share.vertices);
        const auto parts = gathered(comm_, mine);
        EXPECT_EQ(numbers.size(), parts.size());
        VertexParts result(parts.size(), -1);
        for (std::size_t i = 0; i < parts.size(); ++i) result[static_cast<std::size_t>(numbers[i])] = parts[i];
        return result;
    }

    /// @param most pins, or none to gather all nets
    void expect_gathered(const HypergraphShare& share, const Hypergraph& whole, std::optional<std::int64_t> most,
                         const std::string& what) const {
        const SpreadNets nets(team_, share);
        const auto found = most ? nets.gathered(*most) : nets.gathered();
        if (comm_.rank() != 0) return;
        const auto& h = found.hypergraph;
        ASSERT_EQ(h.vertices(), whole.vertices()) << what;
        ASSERT_EQ(h.constraints(), whole.constraints()) << what;
        for (std::int64_t v = 0; v < h.vertices(); ++v)
            for (int c = 0; c < h.constraints(); ++c) EXPECT_EQ(h.weight(v, c), whole.weight(v, c)) << what;
        std::size_t too_many = 2;  // nets of so many pins are left out
        for (auto left = most.value_or(0); most && too_many < 100; ++too_many) {
            for (std::int64_t net = 0; net < whole.nets(); ++net)
                if (whole.pins(net).size() == too_many) left -= static_cast<std::int64_t>(too_many);
            if (left < 0) break;
        }
        std::int64_t at = 0;
        for (std::int64_t net = 0; net < whole.nets(); ++net) {
            std::vector<std::uint32_t> expected(whole.pins(net).begin(), whole.pins(net).end());
            std::sort(expected.begin(), expected.end());
            if (most && (expected.size() < 2 || expected.size() >= too_many)) continue;
            ASSERT_LT(at, h.nets()) << what;
            EXPECT_EQ(std::vector<std::uint32_t>(h.pins(at).begin(), h.pins(at).end()), expected) << what;
            if (!expected.empty()) {
                EXPECT_EQ(h.cost(at), whole.cost(net)) << what;
            }
            ++at;
        }
        EXPECT_EQ(at, h.nets()) << what;
    }

    /// Coarsens as far as the number of parts allows.
    static PartitionOptions far_coarsened() {
        PartitionOptions options;
        options.gathered = options.direct = 1;
        options.imbalance = 0.05;
        return options;
    }

    Communicator comm_{MPI_COMM_WORLD};
    RankTeam team_{comm_};
};

TEST_F(SpreadPartition, RankZeroGathersTheWholeHypergraph) {
    RandomNumbers random(1);
    for (int i = 0; i < 60; ++i) {
        const auto whole = random_hypergraph(random.below(60), random.below(50), 1 + static_cast<int>(random.below(3)), random);
        const auto share = share_of(whole, random_owners(whole.vertices(), comm_.size(), random));
        for (std::optional<std::int64_t> most : {std::optional<std::int64_t>{}, {1000}, {100}, {20}, {0}})
            expect_gathered(share, whole, most, "hypergraph " + std::to_string(i) + ", pins " + std::to_string(most.value_or(-1)));
    }
}

TEST_F(SpreadPartition, CutsAndPlacesOfOthersAreThoseOfTheWhole) {
    RandomNumbers random(2);
    for (int i = 0; i < 60; ++i) {
        const auto whole = random_hypergraph(random.below(60), random.below(50), 1, random);
        const auto owners = random_owners(whole.vertices(), comm_.size(), random);
        const auto share = share_of(whole, owners);
        const auto parts = random_parts(whole, 1 + random.below(9), random);
        EXPECT_EQ(cut(team_, share, mine_of(share, parts)), cut(whole, parts));
        const auto others = SpreadNets(team_, share).places(mine_of(share, parts)).others;
        for (std::size_t net = 0; net < share.nets.size(); ++net) {
            std::set<std::int32_t> expected;
            for (auto pin : whole.pins(share.nets[net]))
                if (owners[pin] != comm_.rank()) expected.insert(parts[pin]);
            const auto found = others.parts_of(static_cast<std::int64_t>(net));
            EXPECT_EQ(found.size(), expected.size());
            EXPECT_EQ(std::set<std::int32_t>(found.begin(), found.end()), expected);
        }
    }
}

/// The tensor with the nonzeros of all ranks, those of rank 0 first.
sparse::Nonzeros<double> all_ranks(const sparse::Nonzeros<double>& mine, const Communicator& comm) {
    sparse::Nonzeros<double> result{mine.lengths, {}, gathered(comm, mine.values)};
    for (const auto& indices : mine.indices) result.indices.push_back(gathered(comm, indices));
    return result;
}

TEST_F(SpreadPartition, SharesOfTensorsAreThoseOfTheModels) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto mine = part_of(random_sparse(seed), comm_);
        const auto whole = all_ranks(mine, comm_);
        const SliceTable table(decompose::view_of(whole));
        const auto what = "seed " + std::to_string(seed);
        const auto fine = decompose::fine_grain_share(comm_, mine);
        expect_gathered(fine, fine_grain_hypergraph(table), {}, what);
        for (auto weights : {CoarseWeights::by_mode, CoarseWeights::summed}) {
            const auto coarse = decompose::coarse_grain_share(comm_, mine, weights);
            expect_gathered(coarse.share, coarse_grain_hypergraph(table, weights), {}, what);
            ASSERT_EQ(coarse.slices.size(), table.modes.size());
            for (std::size_t m = 0; m < table.modes.size(); ++m)
                EXPECT_EQ(gathered(comm_, coarse.slices[m]), table.modes[m].slices) << what;
        }
    }
}

/// Where nothing is to be coarsened, parts do not depend on the ranks.
TEST_F(SpreadPartition, SmallOnesAreThoseOfOneRank) {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (std::int64_t count : {std::int64_t{1}, std::int64_t{3}, comm_.size()}) {
            const auto mine = part_of(random_sparse(seed), comm_);
            const auto whole = all_ranks(mine, comm_);
            const SliceTable table(decompose::view_of(whole));
            const auto fine = decompose::fine_grain_share(comm_, mine);
            EXPECT_EQ(whole_parts(fine, partition_spread(team_, fine, count)), partition_hypergraph(fine_grain_hypergraph(table), count));
            const auto coarse = decompose::coarse_grain_share(comm_, mine, CoarseWeights::by_mode).share;
            EXPECT_EQ(whole_parts(coarse, partition_spread(team_, coarse, count)),
                      partition_hypergraph(coarse_grain_hypergraph(table), count));
        }
}

TEST_F(SpreadPartition, CoarsenedRandomOnesAreBalancedAndBelowRandomParts) {
    RandomNumbers random(3);
    for (int i = 0; i < 10; ++i) {
        const auto vertices = std::int64_t{300} << i % 5;
        const auto whole = random_hypergraph(vertices, vertices + random.below(static_cast<std::uint64_t>(vertices)), 1, random);
        const auto share = share_of(whole, random_owners(vertices, comm_.size(), random));
        for (std::int64_t count : {std::int64_t{2}, std::int64_t{3}, comm_.size()}) {
            const auto parts = whole_parts(share, partition_spread(team_, share, count, far_coarsened()));
            expect_balance(whole, parts, count, 0.05);
            if (count > 1) {
                EXPECT_LT(cut(whole, parts), cut(whole, random_parts(whole, count, random))) << vertices << " in " << count;
            }
        }
    }
}

/// Nonzeros in blocks along the diagonal, and some anywhere.
sparse::Nonzeros<double> block_tensor(std::int64_t blocks, std::int64_t length, std::int64_t count, double strays, RandomNumbers& random) {
    std::set<std::vector<std::int64_t>> nonzeros;
    for (std::int64_t x = 0; x < count; ++x) {
        const auto anywhere = random.below(1000) < strays * 1000;
        const auto block = random.below(static_cast<std::uint64_t>(blocks));
        std::vector<std::int64_t> nonzero;
        for (int m = 0; m < 3; ++m)
            nonzero.push_back(anywhere ? random.below(static_cast<std::uint64_t>(blocks * length))
                                       : block * length + random.below(static_cast<std::uint64_t>(length)));
        nonzeros.insert(nonzero);
    }
    sparse::Nonzeros<double> result{std::vector<std::int64_t>(3, blocks * length), std::vector<std::vector<std::int64_t>>(3), {}};
    for (const auto& nonzero : nonzeros) {
        for (std::size_t m = 0; m < 3; ++m) result.indices[m].push_back(nonzero[m]);
        result.values.push_back(1);
    }
    return result;
}

/// Coarsening within ranks, with nonzeros distributed one by one and in the order of slices, loses little against one rank that sees all.
TEST_F(SpreadPartition, CutsAreNearThoseOfOneRank) {
    RandomNumbers random(4);
    for (double strays : {0.05, 0.3})
        for (const bool in_order : {true, false}) {
            const auto tensor = block_tensor(48, 20, 16000, strays, random);
            const auto whole = fine_grain_hypergraph(SliceTable(decompose::view_of(tensor)));
            std::vector<std::int64_t> owners;
            for (std::int64_t v = 0; v < whole.vertices(); ++v)
                owners.push_back(in_order ? v * comm_.size() / whole.vertices() : v % comm_.size());
            const auto share = share_of(whole, owners);
            for (std::int64_t count : {std::int64_t{2}, std::int64_t{8}, comm_.size()}) {
                auto options = far_coarsened();
                options.gathered = 4000;
                const auto parts = whole_parts(share, partition_spread(team_, share, count, options));
                expect_balance(whole, parts, count, 0.05);
                PartitionOptions alone;
                alone.imbalance = 0.05;
                if (comm_.rank() != 0) continue;
                const auto best = cut(whole, partition_hypergraph(whole, count, alone)), found = cut(whole, parts);
                EXPECT_LE(static_cast<double>(found), 1.1 * static_cast<double>(best)) << strays << " " << in_order << " " << count;
            }
        }
}

TEST_F(SpreadPartition, AllConstraintsAreBalanced) {
    RandomNumbers random(5);
    for (auto weights : {CoarseWeights::by_mode, CoarseWeights::summed}) {
        const auto mine = part_of(block_tensor(24, 40, 20000, 0.1, random), comm_);
        const auto whole = all_ranks(mine, comm_);
        const auto h = coarse_grain_hypergraph(SliceTable(decompose::view_of(whole)), weights);
        const auto share = decompose::coarse_grain_share(comm_, mine, weights).share;
        for (std::int64_t count : {std::int64_t{2}, comm_.size()}) {
            auto options = far_coarsened();
            const auto parts = whole_parts(share, partition_spread(team_, share, count, options));
            expect_balance(h, parts, count, 0.05);
            if (count > 1) {
                EXPECT_LT(cut(h, parts), cut(h, random_parts(h, count, random)));
            }
        }
    }
}

TEST_F(SpreadPartition, VerticesWithoutNetsAndWithoutWeight) {
    for (std::int64_t weight : {0, 1})
        for (std::int64_t count : {2, 5}) {
            HypergraphData data;
            data.vertices = 3000;
            data.weights.assign(3000, weight);
            const Hypergraph whole(data);
            RandomNumbers random(6);
            const auto share = share_of(whole, random_owners(whole.vertices(), comm_.size(), random));
            const auto parts = whole_parts(share, partition_spread(team_, share, count, far_coarsened()));
            data.weights.clear();
            expect_balance(Hypergraph(data), parts, count, 0.05);
        }
}

TEST_F(SpreadPartition, RefusesWrongOptions) {
    RandomNumbers random(7);
    const auto whole = random_hypergraph(20, 20, 1, random);
    const auto share = share_of(whole, random_owners(20, comm_.size(), random));
    EXPECT_THROW(partition_spread(team_, share, 0), InvalidArgument);
    EXPECT_THROW(partition_spread(team_, share, 2, {.imbalance = -1}), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

#include "partition/hypergraph/partition_hypergraph.hpp"

#include "arges/error.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/hypergraph/initial_partition.hpp"
#include "support/hypergraphs.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace arges::partition::test {
namespace {

constexpr std::int64_t part_counts[] = {1, 2, 3, 5, 8, 16, 64};

Hypergraph unit_hypergraph(std::int64_t vertices, const std::vector<std::vector<std::uint32_t>>& nets) {
    HypergraphData data;
    data.vertices = vertices;
    for (const auto& net : nets) {
        data.pins.insert(data.pins.end(), net.begin(), net.end());
        data.net_begin.push_back(static_cast<std::int64_t>(data.pins.size()));
    }
    return Hypergraph(std::move(data));
}

/// A net for each pair of neighbours in a grid, vertices numbered in random order.
Hypergraph grid(std::uint32_t rows, std::uint32_t columns, RandomNumbers& random) {
    const auto number = random.permutation(std::int64_t{rows} * columns);
    std::vector<std::vector<std::uint32_t>> nets;
    for (std::uint32_t i = 0; i < rows; ++i)
        for (std::uint32_t j = 0; j < columns; ++j) {
            if (i + 1 < rows) nets.push_back({number[i * columns + j], number[(i + 1) * columns + j]});
            if (j + 1 < columns) nets.push_back({number[i * columns + j], number[i * columns + j + 1]});
        }
    return unit_hypergraph(std::int64_t{rows} * columns, nets);
}

/// Clusters of `size` vertices with many nets within them, and `between` nets across.
Hypergraph clusters(std::uint32_t count, std::uint32_t size, std::uint32_t between, RandomNumbers& random) {
    const auto number = random.permutation(std::int64_t{count} * size);
    std::vector<std::vector<std::uint32_t>> nets;
    for (std::uint32_t c = 0; c < count; ++c)
        for (std::uint32_t i = 0; i < 4 * size; ++i) {
            std::vector<std::uint32_t> net;
            for (auto pins = 2 + random.below(5); pins > 0; --pins) net.push_back(number[c * size + random.below(size)]);
            nets.push_back(net);
        }
    for (std::uint32_t i = 0; i < between; ++i)
        nets.push_back({random.below(std::uint64_t{count} * size), random.below(std::uint64_t{count} * size)});
    return unit_hypergraph(std::int64_t{count} * size, nets);
}

TEST(PartitionHypergraph, RandomOnesAreBalancedAndNotWorseThanRandomParts) {
    RandomNumbers random(1);
    for (int i = 0; i < 12; ++i) {
        const auto vertices = std::int64_t{1} << (4 + i % 7);
        const auto h = random_hypergraph(vertices, vertices + random.below(vertices), 1, random);
        for (auto count : part_counts) {
            const auto parts = partition_hypergraph(h, count);
            expect_balance(h, parts, count, 0.03);
            std::int64_t best = std::numeric_limits<std::int64_t>::max();
            for (int j = 0; j < 5; ++j) best = std::min(best, cut(h, random_parts(h, count, random)));
            // Random parts are not balanced: where there are few vertices for each part, that may save them cuts.
            if (vertices >= 8 * count) {
                EXPECT_LE(cut(h, parts), best) << vertices << " vertices, " << count << " parts";
            }
        }
    }
}

TEST(PartitionHypergraph, GridsAreCutAlongShortLines) {
    RandomNumbers random(2);
    const auto h = grid(40, 60, random);
    const std::int64_t known[] = {0, 40, 80, 140, 220, 380};  // straight cuts into 1, 2, 3, 5, 8, 16 parts, or nearly
    for (std::size_t i = 0; i < std::size(known); ++i) {
        const auto parts = partition_hypergraph(h, part_counts[i], {.imbalance = 0.05});
        expect_balance(h, parts, part_counts[i], 0.05);
        EXPECT_LE(cut(h, parts), known[i] + known[i] / 5) << part_counts[i];
    }
}

TEST(PartitionHypergraph, PlantedClustersAreFound) {
    RandomNumbers random(3);
    for (std::uint32_t count : {2u, 3u, 5u, 8u, 16u}) {
        const auto h = clusters(count, 100, 40, random);
        const auto parts = partition_hypergraph(h, count);
        expect_balance(h, parts, count, 0.03);
        EXPECT_LE(cut(h, parts), 40);
    }
}

TEST(PartitionHypergraph, ClusteringFirstFindsThemToo) {
    RandomNumbers random(4);
    const auto h = clusters(8, 500, 100, random);
    PartitionOptions options;
    options.direct = 500;
    const auto parts = partition_hypergraph(h, 8, options);
    expect_balance(h, parts, 8, 0.03);
    EXPECT_LE(cut(h, parts), 120);
}

TEST(PartitionHypergraph, SameInputGivesTheSameParts) {
    RandomNumbers random(5);
    const auto h = random_hypergraph(3000, 4000, 2, random);
    const auto parts = partition_hypergraph(h, 7);
    EXPECT_EQ(partition_hypergraph(h, 7), parts);
    EXPECT_NE(partition_hypergraph(h, 7, {.seed = 2}), parts);
}

TEST(PartitionHypergraph, DegenerateOnes) {
    for (auto count : part_counts) {
        EXPECT_TRUE(partition_hypergraph(Hypergraph(), count).empty());
        const auto no_nets = unit_hypergraph(100, {});
        expect_balance(no_nets, partition_hypergraph(no_nets, count), count, 0);
        const auto few = unit_hypergraph(3, {{0, 1, 2}, {0, 2}});
        expect_balance(few, partition_hypergraph(few, count), count, 0);
        const auto one = unit_hypergraph(1, {{0}, {0}, {}});
        expect_balance(one, partition_hypergraph(one, count), count, 0);
        std::vector<std::vector<std::uint32_t>> single(200);
        for (std::uint32_t v = 0; v < 200; ++v) single[v] = {v};
        const auto loops = unit_hypergraph(200, single);
        const auto parts = partition_hypergraph(loops, count);
        expect_balance(loops, parts, count, 0);
        EXPECT_EQ(cut(loops, parts), 0);
        std::vector<std::uint32_t> all(1000);
        std::iota(all.begin(), all.end(), 0u);
        const auto one_net = unit_hypergraph(1000, {all, all});
        const auto shared = partition_hypergraph(one_net, count);
        expect_balance(one_net, shared, count, 0.03);
        EXPECT_LE(cut(one_net, shared), 2 * (count - 1));
    }
}

TEST(PartitionHypergraph, GiantVerticesAndVerticesWithoutWeight) {
    RandomNumbers random(6);
    HypergraphData data;
    data.vertices = 300;
    for (int net = 0; net < 500; ++net) {
        for (int pin = 0; pin < 4; ++pin) data.pins.push_back(random.below(300));
        data.net_begin.push_back(static_cast<std::int64_t>(data.pins.size()));
    }
    auto giant = data;
    giant.weights.assign(300, 1);
    giant.weights[17] = 100000;
    const Hypergraph with_giant(giant);
    auto weightless = data;
    weightless.weights.assign(300, 0);
    const Hypergraph without_weight(weightless);
    for (auto count : part_counts) {
        expect_balance(with_giant, partition_hypergraph(with_giant, count), count, 0.03);
        const auto parts = partition_hypergraph(without_weight, count);
        const Hypergraph unit(data);
        expect_balance(unit, parts, count, 0.03);
    }
}

TEST(PartitionHypergraph, AllConstraintsAreBalanced) {
    RandomNumbers random(7);
    const auto plain = clusters(8, 200, 300, random);
    for (int constraints : {2, 3, 4})
        for (std::int64_t count : {2, 3, 8, 16}) {
            HypergraphData data;
            data.vertices = plain.vertices();
            data.constraints = constraints;
            for (std::int64_t net = 0; net < plain.nets(); ++net) {
                data.pins.insert(data.pins.end(), plain.pins(net).begin(), plain.pins(net).end());
                data.net_begin.push_back(static_cast<std::int64_t>(data.pins.size()));
            }
            data.weights.assign(static_cast<std::size_t>(data.vertices * constraints), 0);
            for (std::int64_t v = 0; v < data.vertices; ++v) {
                const auto constraint = random.below(static_cast<std::uint64_t>(constraints));
                data.weights[static_cast<std::size_t>(v * constraints + constraint)] = 1 + random.below(3);
            }
            const Hypergraph h(std::move(data));
            const auto parts = partition_hypergraph(h, count, {.imbalance = 0.1});
            expect_balance(h, parts, count, 0.1);
            EXPECT_LT(cut(h, parts), cut(h, random_parts(h, count, random)));
        }
}

TEST(PartitionHypergraph, LittleWorkGivesCheapPartsThatAreValid) {
    RandomNumbers random(8);
    const auto h = clusters(20, 200, 500, random);
    for (std::int64_t work : {0, 1000, 1000000, 10000000})
        for (std::int64_t count : {2, 7, 64}) {
            PartitionOptions options;
            options.work = work;
            const auto parts = partition_hypergraph(h, count, options);
            expect_balance(h, parts, count, 0.03);
            EXPECT_LT(static_cast<double>(cut(h, parts)), 1.02 * static_cast<double>(cut(h, random_parts(h, count, random))))
                << work << " " << count;
        }
}

TEST(PartitionHypergraph, RefusesWrongOptions) {
    const auto h = unit_hypergraph(2, {{0, 1}});
    EXPECT_THROW(partition_hypergraph(h, 0), InvalidArgument);
    EXPECT_THROW(partition_hypergraph(h, std::int64_t{1} << 31), InvalidArgument);
    EXPECT_THROW(partition_hypergraph(h, 2, {.imbalance = -0.1}), InvalidArgument);
    EXPECT_THROW(partition_hypergraph(h, 2, {.imbalance = std::numeric_limits<double>::quiet_NaN()}), InvalidArgument);
}

TEST(PartitionHypergraph, RealTensorsAreCutFarBelowBlocks) {
    for (const auto* name : {"wn18rr-3d.tns.gz", "yago-4d.tns.gz"}) {
        const auto tensor = test_tensor(name);
        const auto fine = fine_grain_hypergraph(SliceTable(tensor.view()));
        const auto parts = partition_hypergraph(fine, 16);
        expect_balance(fine, parts, 16, 0.03);
        EXPECT_LT(2 * cut(fine, parts), cut(fine, contiguous_parts(fine, 16))) << name;
    }
}

}  // namespace
}  // namespace arges::partition::test

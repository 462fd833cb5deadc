#include "partition/hypergraph/hypergraph.hpp"

#include "arges/error.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "support/hypergraphs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace arges::partition::test {
namespace {

/// The cut by definition, from sets.
std::int64_t naive_cut(const Hypergraph& h, const VertexParts& parts) {
    std::int64_t sum = 0;
    for (std::int64_t net = 0; net < h.nets(); ++net) {
        std::set<std::int32_t> connected;
        for (auto pin : h.pins(net)) connected.insert(parts[pin]);
        if (!connected.empty()) sum += h.cost(net) * (static_cast<std::int64_t>(connected.size()) - 1);
    }
    return sum;
}

VertexParts every_vertex_alone(const Hypergraph& h) {
    VertexParts parts(static_cast<std::size_t>(h.vertices()));
    for (std::size_t v = 0; v < parts.size(); ++v) parts[v] = static_cast<std::int32_t>(v);
    return parts;
}

std::string message(const HypergraphData& data) {
    try {
        Hypergraph h(data);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

/// Part of nonzeros by their number, cut of the nets of each mode doubled: both phases.
std::vector<std::int64_t> volumes_by_mode(const Hypergraph& h, const SliceTable& table, const VertexParts& parts) {
    const auto first = first_slices(table);
    const auto lambda = connectivity(h, parts);
    std::vector<std::int64_t> result;
    for (std::size_t m = 0; m + 1 < first.size(); ++m) {
        std::int64_t sum = 0;
        for (auto net = first[m]; net < first[m + 1]; ++net) sum += 2 * (lambda[static_cast<std::size_t>(net)] - 1);
        result.push_back(sum);
    }
    return result;
}

TEST(Hypergraph, ListsTheNetsOfVerticesAndDropsRepeatedPins) {
    HypergraphData data;
    data.vertices = 4;
    data.net_begin = {0, 4, 4, 6};
    data.pins = {2, 0, 2, 2, 0, 3};
    data.costs = {5, 7, 11};
    data.weights = {1, 2, 3, 4};
    const Hypergraph h(data);
    EXPECT_EQ(h.nets(), 3);
    EXPECT_EQ(h.pin_count(), 4);
    EXPECT_EQ(std::vector<std::uint32_t>(h.pins(0).begin(), h.pins(0).end()), (std::vector<std::uint32_t>{2, 0}));
    EXPECT_TRUE(h.pins(1).empty());
    EXPECT_EQ(std::vector<std::uint32_t>(h.nets_of(0).begin(), h.nets_of(0).end()), (std::vector<std::uint32_t>{0, 2}));
    EXPECT_TRUE(h.nets_of(1).empty());
    EXPECT_EQ(h.total_weights(), std::vector<std::int64_t>{10});
    EXPECT_EQ(cut(h, {0, 0, 1, 2}), 16);
    EXPECT_EQ(part_weights(h, {0, 0, 1, 2}, 4), (std::vector<std::int64_t>{3, 3, 4, 0}));
    EXPECT_DOUBLE_EQ(imbalance(h, {0, 0, 1, 2}, 4), 0.6);
}

TEST(Hypergraph, CutsAreThoseOfTheDefinition) {
    RandomNumbers random(1);
    for (int i = 0; i < 200; ++i) {
        const auto h = random_hypergraph(random.below(30), random.below(40), 1 + static_cast<int>(random.below(3)), random);
        const auto parts = random_parts(h, 1 + random.below(9), random);
        EXPECT_EQ(cut(h, parts), naive_cut(h, parts));
        for (std::int64_t v = 0; v < h.vertices(); ++v)
            for (auto net : h.nets_of(v)) {
                const auto pins = h.pins(net);
                EXPECT_EQ(std::count(pins.begin(), pins.end(), static_cast<std::uint32_t>(v)), 1);
            }
    }
}

TEST(Hypergraph, RefusesWhatIsNone) {
    HypergraphData good;
    good.vertices = 2;
    good.net_begin = {0, 2};
    good.pins = {0, 1};
    EXPECT_EQ(message(good), "");
    const auto with = [&](auto change) {
        auto data = good;
        change(data);
        return message(data);
    };
    EXPECT_NE(with([](auto& d) { d.pins[1] = 2; }).find("vertex 2, but there are only 2"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.net_begin = {0, 1}; }).find("ascend"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.net_begin = {0, 2, 1, 2}; }).find("ascend"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.costs = {1, 1}; }).find("costs"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.weights = {1}; }).find("weights"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.weights = {1, -1}; }).find("negative"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.weights = {INT64_MAX, 1}; }).find("scale them down"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.constraints = 0; }).find("at least one weight"), std::string::npos);
    EXPECT_NE(with([](auto& d) { d.vertices = std::int64_t{1} << 32; }).find("below 2^32"), std::string::npos);
    const Hypergraph h(good);
    EXPECT_THROW(cut(h, {0}), InvalidArgument);
    EXPECT_THROW(cut(h, {0, -1}), InvalidArgument);
    EXPECT_THROW(part_weights(h, {0, 2}, 2), InvalidArgument);
}

/// The 3 x 3 x 3 tensor of hypertensor-sc15, Figure 1: nonzeros (1,2,3), (2,3,1), (3,1,2).
TEST(HypergraphModels, CutsOfTheExampleAreThoseOfThePaper) {
    const TensorIndices tensor({3, 3, 3}, {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}});
    const SliceTable table(tensor.view());
    const auto coarse = coarse_grain_hypergraph(table);
    EXPECT_EQ(coarse.vertices(), 9);
    EXPECT_EQ(coarse.constraints(), 3);
    EXPECT_EQ(cut(coarse, every_vertex_alone(coarse)), 18);

    const auto fine = fine_grain_hypergraph(table);
    EXPECT_EQ(fine.vertices(), 3);
    EXPECT_EQ(fine.nets(), 9);
    EXPECT_EQ(cut(fine, every_vertex_alone(fine)), 0);
}

TEST(HypergraphModels, HaveTheNetsOfTheDefinition) {
    RandomNumbers random(2);
    for (int i = 0; i < 100; ++i) {
        const auto tensor = random_tensor(2 + static_cast<int>(random.below(4)), random.below(40), random);
        const auto view = tensor.view();
        const SliceTable table(view);
        const auto first = first_slices(table);
        const auto order = view.lengths.size();
        std::map<std::pair<std::size_t, std::int64_t>, std::set<std::uint32_t>> coarse_nets, fine_nets;
        const auto number = [&](std::size_t m, std::int64_t x) {
            const auto& of_mode = table.modes[m].slices;
            const auto row = std::lower_bound(of_mode.begin(), of_mode.end(), view.indices[m][static_cast<std::size_t>(x)]);
            return static_cast<std::uint32_t>(first[m] + (row - of_mode.begin()));
        };
        for (std::int64_t x = 0; x < view.count(); ++x)
            for (std::size_t m = 0; m < order; ++m) {
                fine_nets[{m, view.indices[m][static_cast<std::size_t>(x)]}].insert(static_cast<std::uint32_t>(x));
                for (std::size_t other = 0; other < order; ++other)
                    coarse_nets[{m, view.indices[m][static_cast<std::size_t>(x)]}].insert(number(other, x));
            }
        const auto coarse = coarse_grain_hypergraph(table), fine = fine_grain_hypergraph(table);
        ASSERT_EQ(coarse.nets(), static_cast<std::int64_t>(coarse_nets.size()));
        ASSERT_EQ(fine.nets(), coarse.nets());
        std::int64_t net = 0;
        for (const auto& [slice, vertices] : coarse_nets) {
            auto expected = vertices;
            for (auto row = first[slice.first]; row < first[slice.first + 1]; ++row)
                if (row != net) expected.erase(static_cast<std::uint32_t>(row));
            const auto pins = coarse.pins(net), nonzeros = fine.pins(net);
            EXPECT_EQ(std::set<std::uint32_t>(pins.begin(), pins.end()), expected);
            EXPECT_EQ(std::set<std::uint32_t>(nonzeros.begin(), nonzeros.end()), fine_nets[slice]);
            EXPECT_EQ(coarse.weight(net, static_cast<int>(slice.first)), static_cast<std::int64_t>(nonzeros.size()));
            ++net;
        }
        const auto summed = coarse_grain_hypergraph(table, CoarseWeights::summed);
        EXPECT_EQ(summed.total_weights(), std::vector<std::int64_t>{view.count() * static_cast<std::int64_t>(order)});
        EXPECT_EQ(summed.pin_count(), coarse.pin_count());
    }
}

TEST(HypergraphModels, LongModesTakeNoArraysOfTheirLength) {
    const TensorIndices tensor({std::int64_t{1} << 50, 4}, {{std::int64_t{1} << 49, 3}, {5, 3}, {std::int64_t{1} << 49, 0}});
    const SliceTable table(tensor.view());
    EXPECT_EQ(table.modes[0].slices, (std::vector<std::int64_t>{5, std::int64_t{1} << 49}));
    EXPECT_EQ(table.modes[0].slice, (std::vector<std::uint32_t>{1, 0, 1}));
    EXPECT_EQ(first_slices(table), (std::vector<std::int64_t>{0, 2, 4}));
    EXPECT_EQ(fine_grain_hypergraph(table).nets(), 4);
    const TensorIndices outside({2, 2}, {{0, 2}});
    EXPECT_THROW(SliceTable(outside.view()), InvalidArgument);
}

TEST(HypergraphModels, VolumesOfARealTensorAreKnown) {
    const auto tensor = test_tensor("wn18rr-3d.tns.gz");
    const SliceTable table(tensor.view());
    const auto fine = fine_grain_hypergraph(table);
    VertexParts distributed(static_cast<std::size_t>(fine.vertices())), blocks(distributed.size());
    for (std::size_t v = 0; v < distributed.size(); ++v) {
        distributed[v] = static_cast<std::int32_t>(v % 4);
        blocks[v] = static_cast<std::int32_t>(v * 4 / blocks.size());
    }
    EXPECT_EQ(volumes_by_mode(fine, table, distributed), (std::vector<std::int64_t>{75394, 41374, 66}));
    EXPECT_EQ(volumes_by_mode(fine, table, blocks), (std::vector<std::int64_t>{4, 39880, 66}));
}

}  // namespace
}  // namespace arges::partition::test

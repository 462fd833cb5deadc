// Refinement and coarsening of hypergraphs that are a part of larger ones.
#include "partition/hypergraph/kway_refine.hpp"

#include "partition/hypergraph/coarsen.hpp"
#include "support/hypergraphs.hpp"

#include <gtest/gtest.h>

#include <set>

namespace arges::partition::test {
namespace {

/// The hypergraph of those vertices that move, with all nets, and what it has to know of the others.
struct Movable {
    Movable(const Hypergraph& whole, const VertexParts& parts, std::int64_t count, RandomNumbers& random) {
        std::vector<std::uint32_t> place(static_cast<std::size_t>(whole.vertices()));
        HypergraphData data;
        for (std::uint32_t v = 0; v < place.size(); ++v) {
            if (random.below(2) == 0) continue;
            place[v] = static_cast<std::uint32_t>(vertices.size());
            vertices.push_back(v);
            data.weights.push_back(whole.weight(v));
        }
        data.vertices = static_cast<std::int64_t>(vertices.size());
        for (std::int64_t net = 0; net < whole.nets(); ++net) {
            std::set<std::int32_t> elsewhere;
            for (auto pin : whole.pins(net))
                if (std::binary_search(vertices.begin(), vertices.end(), pin))
                    data.pins.push_back(place[pin]);
                else
                    elsewhere.insert(parts[pin]);
            data.net_begin.push_back(static_cast<std::int64_t>(data.pins.size()));
            data.costs.push_back(whole.cost(net));
            others.parts.insert(others.parts.end(), elsewhere.begin(), elsewhere.end());
            others.net_begin.push_back(static_cast<std::int64_t>(others.parts.size()));
        }
        others.weights = part_weights(whole, parts, count);
        hypergraph = Hypergraph(std::move(data));
    }

    Hypergraph hypergraph;
    std::vector<std::uint32_t> vertices;
    OtherVertices others;
};

/// Moves of some vertices lower the cut of the whole, and keep its parts within their limits.
TEST(KwayRefine, SeesTheVerticesThatStay) {
    RandomNumbers random(1);
    std::int64_t gained = 0;
    for (int i = 0; i < 100; ++i) {
        const auto whole = random_hypergraph(2 + random.below(80), random.below(90), 1, random);
        const auto count = 2 + static_cast<std::int64_t>(random.below(6));
        const auto before = random_parts(whole, count, random);
        Movable some(whole, before, count, random);
        auto limit = *std::max_element(some.others.weights.begin(), some.others.weights.end());
        VertexParts mine;
        for (auto v : some.vertices) mine.push_back(before[v]);
        WorkBudget work(1 << 20);
        refine_parts(some.hypergraph, count, {limit}, 4, random, work, mine, &some.others);
        auto after = before;
        for (std::size_t v = 0; v < mine.size(); ++v) after[some.vertices[v]] = mine[v];
        EXPECT_LE(cut(whole, after), cut(whole, before));
        gained += cut(whole, before) - cut(whole, after);
        for (auto weight : part_weights(whole, after, count)) EXPECT_LE(weight, limit);
    }
    EXPECT_GT(gained, 0);
}

TEST(Coarsen, KeepsAllNetsWhereTheyAreWanted) {
    RandomNumbers random(2);
    for (int i = 0; i < 50; ++i) {
        const auto h = random_hypergraph(1 + random.below(60), random.below(60), 2, random);
        ClusterLimits limits;
        limits.weight = {30, 30};
        limits.fewest = 1 + random.below(40);
        WorkBudget work(1 << 20);
        for (const bool by_nets : {true, false}) {
            const auto clustering = by_nets ? cluster_vertices(h, limits, random, work) : cluster_neighbors(h, limits);
            const auto coarse = contract(h, clustering, KeptNets::all), useful = contract(h, clustering);
            ASSERT_EQ(coarse.nets(), h.nets());
            EXPECT_EQ(coarse.total_weights(), h.total_weights());
            for (std::int64_t v = 0; v < coarse.vertices(); ++v)
                for (int c = 0; c < 2; ++c) EXPECT_LE(coarse.weight(v, c), 30);
            const auto parts = random_parts(coarse, 5, random);
            VertexParts finer;
            for (auto cluster : clustering.cluster) finer.push_back(parts[cluster]);
            EXPECT_EQ(cut(coarse, parts), cut(h, finer));
            EXPECT_EQ(cut(useful, parts), cut(h, finer));
        }
    }
}

}  // namespace
}  // namespace arges::partition::test

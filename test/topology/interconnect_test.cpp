#include "topology/interconnect.hpp"

#include "arges/error.hpp"
#include "topology/unfold.hpp"

#include "support/level_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace arges::test {
namespace {

using Lengths = std::vector<std::int64_t>;

std::vector<std::int64_t> coordinates(std::int64_t rank, const Lengths& lengths) {
    std::vector<std::int64_t> result;
    for (const auto l : lengths) {
        result.push_back(rank % l);
        rank /= l;
    }
    return result;
}

/// Every message, link by link.
Links::Use routed(const Torus& torus, Dimensions among) {
    const auto unfolded = unfold(torus).lengths;
    const auto ranks = torus.ranks();
    std::int64_t group = 1;
    for (std::size_t t = 0; t < unfolded.size(); ++t)
        if ((among >> t & 1) != 0) group *= unfolded[t];
    std::map<std::tuple<std::size_t, bool, std::int64_t>, double> load;  // dimension, downwards?, lower rank of the link
    std::vector<bool> used(torus.lengths().size(), false);
    const double share = 1.0 / static_cast<double>(group - 1);
    for (std::int64_t from = 0; from < ranks; ++from)
        for (std::int64_t to = 0; to < ranks; ++to) {
            const auto a = coordinates(from, unfolded), b = coordinates(to, unfolded);
            bool talk = from != to;
            for (std::size_t t = 0; t < a.size(); ++t) talk = talk && (a[t] == b[t] || (among >> t & 1) != 0);
            if (!talk) continue;
            auto at = coordinates(from, torus.lengths());
            const auto goal = coordinates(to, torus.lengths());
            std::int64_t stride = 1, now = from;
            for (std::size_t d = 0; d < at.size(); ++d) {
                const auto length = torus.lengths()[d];
                const auto up = (goal[d] - at[d] + length) % length;
                const bool downwards = 2 * up > length || (2 * up == length && goal[d] < at[d]);
                if (at[d] != goal[d]) used[d] = true;
                while (at[d] != goal[d]) {
                    const auto next = (at[d] + (downwards ? length - 1 : 1)) % length;
                    const auto lower = downwards ? now + (next - at[d]) * stride : now;
                    load[{d, downwards, lower}] += share;
                    now += (next - at[d]) * stride;
                    at[d] = next;
                }
                stride *= length;
            }
        }
    Links::Use use;
    double sum = 0;
    for (const auto& [link, bytes] : load) {
        use.busiest = std::max(use.busiest, bytes);
        sum += bytes;
    }
    use.hops = sum / static_cast<double>(ranks);
    use.mean = sum / (2.0 * static_cast<double>(ranks * std::count(used.begin(), used.end(), true)));
    return use;
}

TEST(Links, CarryWhatMessagesPutOnThemOneByOne) {
    std::mt19937 random(5);
    const std::vector<Lengths> shapes{{2},    {7},    {8},    {12},   {16},      {4, 4},    {2, 9},    {16, 4},  {12, 3},
                                      {5, 6}, {2, 8}, {1, 6}, {6, 1}, {2, 4, 4}, {2, 2, 2}, {3, 2, 4}, {4, 1, 8}};
    for (const auto& shape : shapes) {
        const Torus torus(shape);
        const auto dimensions = unfold(torus).dimensions();
        const auto links = Links::of_torus(torus, {}, {1e9, 0});
        for (int i = 0; i < 6; ++i) {
            const auto all = (Dimensions{1} << dimensions) - 1;
            const auto among = i == 0 ? all : std::uniform_int_distribution<Dimensions>(1, all)(random);
            const auto use = links.use(among), oracle = routed(torus, among);
            EXPECT_NEAR(use.busiest, oracle.busiest, 1e-9) << torus.to_string() << " " << among;
            EXPECT_NEAR(use.mean, oracle.mean, 1e-9) << torus.to_string() << " " << among;
            EXPECT_NEAR(use.hops, oracle.hops, 1e-9) << torus.to_string() << " " << among;
            EXPECT_NEAR(use.cost, std::max(1.0, oracle.busiest), 1e-9);
            EXPECT_GE(use.cost, links.least_cost());
        }
    }
}

TEST(Links, OfLongLinesFollowFromTheirMiddle) {
    const auto links = Links::of_torus(Torus({4096}), {}, {1e9, 0});
    EXPECT_NEAR(links.cost(dimension(0)), 1, 1e-9) << "neighbours";
    EXPECT_NEAR(links.cost(~Dimensions{0}), 4096.0 / 4 * 4096 / 4095, 4096.0 / 8) << "between an eighth and a quarter of the length";
    EXPECT_GT(links.cost(dimension(11)), links.cost(dimension(5))) << "ranks that lie farther apart";
}

TEST(Links, AreAsFastAsTheMachineSays) {
    Interconnect interconnect;
    interconnect.link_bytes_per_second = {1e9, 4e9};
    const auto links = Links::of_torus(Torus({2, 2}), interconnect, {4e9, 0});
    EXPECT_NEAR(links.cost(dimension(0)), 4, 1e-9);
    EXPECT_NEAR(links.cost(dimension(1)), 1, 1e-9);
    interconnect.link_bytes_per_second = {2e9};
    EXPECT_NEAR(Links::of_torus(Torus({2, 2}), interconnect, {4e9, 0}).cost(dimension(1)), 2, 1e-9);
}

TEST(Links, HaveOneRateOrOneForEachDimension) {
    Interconnect interconnect;
    interconnect.link_bytes_per_second = {1e9, 4e9, 2e9};
    EXPECT_THROW(Links::of_torus(Torus({2, 2}), interconnect, {4e9, 0}), InvalidArgument);
    EXPECT_THROW(topology_of(4, Torus({2, 2}), 1, interconnect, {4e9, 0}), InvalidArgument);
    EXPECT_NO_THROW(topology_of(4, {}, 1, interconnect, {4e9, 0})) << "no torus";
    EXPECT_NO_THROW(topology_of(8, Torus({2, 2, 2}), 1, interconnect, {4e9, 0}));
}

TEST(Links, OfNodesAreSharedByTheirRanks) {
    Interconnect interconnect;
    const auto fast = Links::of_nodes(4, 4, interconnect, {1e9, 0});
    interconnect.node_bytes_per_second = 1e9;
    const auto shared = Links::of_nodes(4, 4, interconnect, {1e9, 0});
    for (const auto& links : {fast, shared}) EXPECT_LT(links.cost(dimension(0) | dimension(1)), 1) << "within a node";
    EXPECT_NEAR(fast.cost(dimension(2) | dimension(3)), 1, 1e-9);
    EXPECT_NEAR(shared.cost(dimension(2) | dimension(3)), 4, 1e-9);
    EXPECT_LT(shared.cost(~Dimensions{0}), 4) << "some of the bytes stay in the node";
    EXPECT_NEAR(fast.cost(dimension(0) | dimension(1)), 0.5, 1e-9) << "where nothing else is known";
    for (const double near : {5e8, 8e9}) {
        interconnect.on_node_bytes_per_second = near;
        const auto measured = Links::of_nodes(4, 4, interconnect, {1e9, 0});
        EXPECT_NEAR(measured.cost(dimension(0) | dimension(1)), 1e9 / near, 1e-9);
        EXPECT_NEAR(measured.cost(dimension(2) | dimension(3)), 4, 1e-9);
        for (Dimensions among = 1; among < 16; ++among) EXPECT_LE(measured.least_cost(), measured.cost(among)) << among;
    }
}

/// Levels of random lengths and rates, some of them without bottlenecks; messages of all ranks over every link of an explicit tree with
/// cables between siblings.
TEST(Links, OfLevelsCarryWhatMessagesPutOnThemOneByOne) {
    std::mt19937 random(7);
    const auto chance = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
    for (const auto& lengths : std::vector<Lengths>{{4, 4}, {2, 4, 2, 4}, {3, 2, 2}, {1, 6, 2}, {2, 2, 3, 1, 2}, {6}}) {
        Interconnect interconnect;
        interconnect.levels = Torus(lengths);
        double ranks = 1;
        for (const auto length : lengths) {
            const double rate = ranks * 1e9 * (0.2 + chance());
            interconnect.level_bytes_per_second.push_back(chance() < 0.3 ? 0 : rate);
            interconnect.level_pair_bytes_per_second.push_back(chance() < 0.3 ? 0 : rate / static_cast<double>(length));
            ranks *= static_cast<double>(length);
        }
        const auto links = Links::of_levels(interconnect, {1e9, 0});
        const auto grid = unfold(interconnect.levels);
        for (Dimensions among = 1; among < Dimensions{1} << grid.dimensions(); ++among) {
            LevelGraph graph(interconnect, 1e9);
            double group = 1;
            for (int t = 0; t < grid.dimensions(); ++t)
                if ((among >> t & 1) != 0) group *= static_cast<double>(grid.lengths[static_cast<std::size_t>(t)]);
            for (std::int64_t from = 0; from < grid.ranks(); ++from)
                for (std::int64_t to = 0; to < grid.ranks(); ++to) {
                    bool talk = from != to;
                    for (int t = 0; t < grid.dimensions(); ++t)
                        talk = talk && ((among >> t & 1) != 0 || grid.coordinate(from, t) == grid.coordinate(to, t));
                    if (talk) graph.send(from, to, 1e9 / (group - 1));
                }
            EXPECT_NEAR(links.cost(among), graph.seconds(), 1e-9) << interconnect.levels.to_string() << " " << among;
            EXPECT_GE(links.cost(among), links.least_cost() * (1 - 1e-9));
        }
    }
}

TEST(Links, OfAFewCablesAreSharedByGroups) {
    Interconnect interconnect;
    interconnect.levels = Torus({2, 4, 4});
    interconnect.level_bytes_per_second = {1e9, 0, 0};
    interconnect.level_pair_bytes_per_second = {0, 0, 2e9};
    const auto links = Links::of_levels(interconnect, {1e9, 0});
    const Dimensions group = 7, groups = 24;  // 2 x 4, and 4 in two factors
    EXPECT_NEAR(links.cost(group), 1, 1e-9) << "8 ranks that have all cables that they need";
    EXPECT_NEAR(links.cost(groups), 8 / 3.0 / 2, 1e-9) << "of what 8 ranks send a third goes to each other group";
    EXPECT_NEAR(links.cost(dimension(3)), 4, 1e-9) << "between two groups one pair of them has cables";
    EXPECT_NEAR(links.use(groups).busiest, 8 / 3.0, 1e-9) << "bytes on the cables";
}

TEST(Links, OfLevelsHaveANumberForEach) {
    Interconnect interconnect;
    interconnect.level_bytes_per_second = {1e9};
    EXPECT_THROW(Links::of_levels(interconnect, {1e9, 0}), InvalidArgument) << "no levels";
    interconnect.levels = Torus({2, 2});
    EXPECT_THROW(Links::of_levels(interconnect, {1e9, 0}), InvalidArgument);
    interconnect.level_bytes_per_second = {1e9, 0};
    EXPECT_NO_THROW(Links::of_levels(interconnect, {1e9, 0}));
    interconnect.level_pair_bytes_per_second = {1, 2, 3};
    EXPECT_THROW(topology_of(4, {}, 1, interconnect, {1e9, 0}), InvalidArgument);
    EXPECT_NO_THROW(topology_of(4, Torus({4}), 1, interconnect, {1e9, 0})) << "a torus is given";
    interconnect.level_pair_bytes_per_second = {};
    interconnect.torus = Torus({4});
    EXPECT_THROW(topology_of(4, {}, 1, interconnect, {1e9, 0}), InvalidArgument) << "either a torus or levels";
}

TEST(Topology, IsGivenOrReadOrDetected) {
    Interconnect interconnect;
    EXPECT_EQ(topology_of(8, {}, 1, interconnect, {1, 0}).torus, Torus({8}));
    EXPECT_FALSE(topology_of(8, {}, 1, interconnect, {1, 0}).links);
    EXPECT_EQ(topology_of(8, {}, 4, interconnect, {1, 0}).torus, Torus({4, 2}));
    EXPECT_TRUE(topology_of(8, {}, 4, interconnect, {1, 0}).links);
    EXPECT_TRUE(topology_of(8, Torus({8}), 1, interconnect, {1, 0}).links) << "a ring";
    interconnect.torus = Torus({2, 4});
    EXPECT_EQ(topology_of(8, {}, 4, interconnect, {1, 0}).torus, Torus({2, 4}));
    EXPECT_EQ(topology_of(8, Torus({8}), 4, interconnect, {1, 0}).torus, Torus({8}));
    EXPECT_EQ(topology_of(6, {}, 1, interconnect, {1, 0}).torus, Torus({6})) << "another number of ranks";
    interconnect.ranks_per_node = 3;
    EXPECT_EQ(topology_of(6, {}, 2, interconnect, {1, 0}).torus, Torus({3, 2}));
    interconnect.ranks_per_node = 1;
    EXPECT_FALSE(topology_of(6, {}, 2, interconnect, {1, 0}).links);
    interconnect.torus = {};
    interconnect.levels = Torus({2, 2, 2});
    interconnect.level_pair_bytes_per_second = {0, 0, 0.1};
    const auto cost = [&](const Torus& given) { return topology_of(8, given, 1, interconnect, {1, 0}).links->cost(4); };
    EXPECT_EQ(topology_of(8, {}, 1, interconnect, {1, 0}).torus, Torus({2, 2, 2}));
    EXPECT_EQ(cost({}), 40);
    EXPECT_EQ(cost(Torus({2, 2, 2})), 40) << "the levels by name";
    EXPECT_EQ(cost(Torus({2, 4})), 2) << "a torus";
    EXPECT_EQ(topology_of(6, {}, 1, interconnect, {1, 0}).torus, Torus({6})) << "another number of ranks";
}

}  // namespace
}  // namespace arges::test

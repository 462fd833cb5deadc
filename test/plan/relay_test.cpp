#include "plan/movement/relay.hpp"

#include "topology/interconnect.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace arges::test {
namespace {

using Lengths = std::vector<std::int64_t>;

/// Elements that go over each link of a torus: dimension, upwards?, rank below the link.
class Routes {
public:
    explicit Routes(Lengths lengths) : lengths_(std::move(lengths)) {}

    void send(std::int64_t from, std::int64_t to, double elements) {
        std::int64_t stride = 1;
        for (std::size_t d = 0; d < lengths_.size(); ++d) {
            const auto length = lengths_[d];
            auto at = from / stride % length;
            const auto goal = to / stride % length, up = (goal - at + length) % length;
            const bool upwards = 2 * up < length || (2 * up == length && goal > at);
            for (; at != goal; at = (at + (upwards ? 1 : length - 1)) % length) {
                const auto here = from + ((upwards ? at : (at + length - 1) % length) - from / stride % length) * stride;
                load_[{d, upwards, here}] += elements;
            }
            from += (goal - from / stride % length) * stride;
            stride *= length;
        }
    }
    double busiest() const {
        double most = 0;
        for (const auto& [link, elements] : load_) most = std::max(most, elements);
        return most;
    }
    double sum() const {
        double all = 0;
        for (const auto& [link, elements] : load_) all += elements;
        return all;
    }

private:
    Lengths lengths_;
    std::map<std::tuple<std::size_t, bool, std::int64_t>, double> load_;
};

/// A vector that is spread over all ranks, gathered along some dimensions; or parts of sums that are scattered along them.
Movement gather_along(const RankGrid& grid, Dimensions among, std::int64_t elements_per_rank, bool gathers) {
    SlotMapping wide, narrow;
    std::vector<int> relayed;
    for (const bool gone : {false, true})
        for (int t = 0; t < grid.dimensions(); ++t)
            if (((among >> t & 1) != 0) == gone) {
                wide.torus.push_back(t);
                (gone ? relayed : narrow.torus).push_back(t);
            }
    const Lengths extents{grid.ranks() * elements_per_rank};
    const Layout at_rest(grid, extents, Symmetry::none(1), {wide});
    const Layout working(grid, extents, Symmetry::none(1), {narrow}, gathers ? std::vector<int>{} : relayed);
    return gathers ? copy_between(at_rest, working) : copy_between(working, at_rest);
}

std::vector<RelayStage> stages_of(const Links::Way& way, const RankGrid& grid) {
    std::vector<RelayStage> result;
    for (const auto& stage : way.stages) {
        result.push_back({{}, stage.way});
        for (int t = 0; t < grid.dimensions(); ++t)
            if ((stage.along >> t & 1) != 0) result.back().torus.push_back(t);
    }
    return result;
}

/// Takes the steps of all ranks. By rank: what each element of its buffer has come to be; a sum counts the parts that it is made of.
std::vector<std::vector<double>> take_steps(const std::vector<Relay>& relays, std::vector<std::vector<double>> buffers, Routes& routes) {
    for (std::size_t step = 0; step < relays[0].steps().size(); ++step) {
        const auto before = buffers;
        for (std::size_t rank = 0; rank < relays.size(); ++rank)
            for (const auto& piece : relays[rank].steps()[step].receives) {
                const auto peer = static_cast<std::size_t>(piece.peer);
                const auto& sends = relays[peer].steps()[step].sends;
                const auto sent = std::find_if(sends.begin(), sends.end(), [&](const auto& s) {
                    return s.peer == static_cast<std::int64_t>(rank) && s.begin == piece.begin;
                });
                EXPECT_TRUE(sent != sends.end() && sent->count == piece.count);
                routes.send(piece.peer, static_cast<std::int64_t>(rank), static_cast<double>(piece.count));
                for (auto e = static_cast<std::size_t>(piece.begin); e < static_cast<std::size_t>(piece.begin + piece.count); ++e)
                    buffers[rank][e] = relays[rank].gathers() ? before[peer][e] : buffers[rank][e] + before[peer][e];
            }
    }
    return buffers;
}

/// Every way that a machine offers, on tori of many shapes: all comes to all, each part of a sum once, and links carry what they are said
/// to.
TEST(Relay, GathersAndSumsOverTheLinksThatAreExpected) {
    std::mt19937 random(3);
    int relayed = 0;
    for (const auto& shape : {Lengths{4, 4}, {16, 4}, {2, 9}, {12}, {6, 5}, {2, 4, 4}, {3, 2, 4}, {32}, {8, 1, 3}, {7}}) {
        const Torus torus(shape);
        const auto grid = unfold(torus);
        const auto links = Links::of_torus(torus, {}, {1e9, 1e-6});
        const auto all = (Dimensions{1} << grid.dimensions()) - 1;
        for (int i = 0; i < 6; ++i) {
            const auto among = i == 0 ? all : std::uniform_int_distribution<Dimensions>(1, all)(random);
            for (const auto& way : links.gathers(among))
                for (const bool gathers : {true, false}) {
                    constexpr std::int64_t elements = 4;
                    auto movement = gather_along(grid, among, elements, gathers);
                    ASSERT_TRUE(relay_shape(movement));
                    movement.stages = stages_of(way, grid);
                    if (movement.stages.empty()) continue;
                    SCOPED_TRACE(torus.to_string() + " along " + std::to_string(among));
                    std::vector<Relay> relays;
                    std::vector<std::vector<double>> buffers;
                    for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
                        relays.emplace_back(movement, rank);
                        const auto own = relays.back().block_of(rank);
                        auto& buffer = buffers.emplace_back(static_cast<std::size_t>(relays.back().elements()), gathers ? -1.0 : 1.0);
                        if (gathers) std::fill_n(buffer.begin() + own.begin, own.count, static_cast<double>(rank));
                    }
                    Routes routes(shape);
                    buffers = take_steps(relays, std::move(buffers), routes);
                    const double group = static_cast<double>(relays[0].elements()) / elements, moved = (group - 1) * elements;
                    for (std::int64_t rank = 0; rank < grid.ranks(); ++rank)
                        for (std::int64_t peer = 0; peer < grid.ranks(); ++peer) {
                            bool in_group = true;
                            for (int t = 0; t < grid.dimensions(); ++t)
                                in_group = in_group && ((among >> t & 1) != 0 || grid.coordinate(rank, t) == grid.coordinate(peer, t));
                            if (!in_group || (!gathers && peer != rank)) continue;
                            const auto block = relays[static_cast<std::size_t>(rank)].block_of(peer);
                            EXPECT_EQ(block.count, elements);
                            for (auto e = block.begin; e < block.begin + block.count; ++e)
                                ASSERT_EQ(buffers[static_cast<std::size_t>(rank)][static_cast<std::size_t>(e)],
                                          gathers ? static_cast<double>(peer) : group);
                        }
                    // Two stages on a line need not have the same busiest link.
                    EXPECT_LE(routes.busiest(), way.busiest * moved + 1e-9 * moved);
                    if (static_cast<int>(way.stages.size()) == links.lines_of(among)) {
                        EXPECT_NEAR(routes.busiest(), way.busiest * moved, 1e-9 * moved);
                    }
                    EXPECT_NEAR(routes.sum(), way.hops * moved * static_cast<double>(grid.ranks()), 1e-9 * routes.sum());
                    ++relayed;
                }
        }
    }
    EXPECT_GT(relayed, 100);
}

TEST(Relay, IsOfferedWhereItBeatsMessagesThatGoStraight) {
    const auto links = Links::of_torus(Torus({16, 4}), {}, {1e9, 0});
    const auto line = (Dimensions{1} << 4) - 1;
    const auto least_cost = [](const std::vector<Links::Way>& ways) {
        return std::min_element(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.cost < b.cost; })->cost;
    };
    EXPECT_NEAR(links.cost(line), 2.25 * 16 / 15, 1e-9) << "two pieces on average; those that go half of the way round meet on some links";
    EXPECT_NEAR(least_cost(links.gathers(line)), 1, 1e-9) << "round the ring each link carries half of what a rank receives";
    Interconnect interconnect;
    interconnect.node_bytes_per_second = 1e9;
    const auto nodes = Links::of_nodes(4, 16, interconnect, {1e9, 0});
    EXPECT_NEAR(nodes.cost(63), 60.0 * 4 / 63, 1e-9) << "60 of 63 words leave the node, over a link of 4 ranks";
    EXPECT_NEAR(least_cost(nodes.gathers(63)), (15.0 * 4 + 48 * 0.5) / 63, 1e-9) << "each word enters a node once";
}

TEST(Relay, HasNoShapeWhereMessagesDiffer) {
    const RankGrid grid{{2, 2}};
    const auto none = Symmetry::none(1);
    const auto along = [](int t) {
        SlotMapping mapping;
        mapping.torus = {t};
        return mapping;
    };
    const Layout by_first(grid, {8}, none, {along(0)}), by_second(grid, {8}, none, {along(1)}), all(grid, {8}, none, {SlotMapping()});
    EXPECT_FALSE(relay_shape(copy_between(by_first, by_second)));
    EXPECT_FALSE(relay_shape(copy_between(all, by_first))) << "nothing moves";
    EXPECT_TRUE(relay_shape(copy_between(by_first, all)));
    const Layout parts(grid, {8}, none, {SlotMapping()}, {0});
    EXPECT_FALSE(relay_shape(copy_between(parts, all))) << "copies of a sum";
    EXPECT_FALSE(relay_shape(copy_between(parts, by_second)));
    EXPECT_TRUE(relay_shape(copy_between(parts, by_first)));
}

}  // namespace
}  // namespace arges::test

#include "topology/rank_order.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace arges::test {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The text of an InvalidArgument that `work` throws.
template <class Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Coordinates, AreReadFromLines) {
    EXPECT_EQ(parse_coordinates("# x y\n0 0\n\n 1\t0 # second\n0 1\n-1 7", "f", 4), (ProcessCoordinates{{0, 0}, {1, 0}, {0, 1}, {-1, 7}}));
}

TEST(Coordinates, AreRefusedWhereLinesAreWrong) {
    EXPECT_EQ(refusal([] { parse_coordinates("0 0\n1 b\n", "f", 2); }),
              "coordinates in f, line 2: \"b\" is not a whole number; write a line for each process in the order of MPI_COMM_WORLD, e.g. "
              "\"0 3 1\"");
    EXPECT_NE(refusal([] { parse_coordinates("0 0\n1.5 0\n", "f", 2); }).find("line 2: \"1.5\""), std::string::npos);
    EXPECT_NE(refusal([] { parse_coordinates("0 99999999999999999999\n", "f", 1); }).find("is not a whole number"), std::string::npos);
    EXPECT_NE(refusal([] { parse_coordinates("0 0\n1\n", "f", 2); }).find("line 2: 1 coordinates, but 2 in the lines before"),
              std::string::npos);
    EXPECT_NE(refusal([] { parse_coordinates("0 0\n1 0\n", "f", 3); }).find("there are 2 lines for 3 processes"), std::string::npos);
    EXPECT_NE(refusal([] { parse_coordinates("", "f", 1); }).find("there are 0 lines for 1 processes"), std::string::npos);
}

/// Random boxes of a machine, their processes in random order: each is found where it is.
TEST(PlacedProcesses, LieWhereTheirCoordinatesSay) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; ++round) {
        Numbers lengths;
        std::int64_t ranks = 1;
        for (std::uint64_t d = 1 + random() % 4; d > 0; --d) lengths.push_back(1 + static_cast<std::int64_t>(random() % 5));
        for (const auto l : lengths) ranks *= l;
        std::vector<Numbers> values;  // that occur in a dimension, ascending
        for (const auto l : lengths) {
            std::set<std::int64_t> some;
            while (static_cast<std::int64_t>(some.size()) < l) some.insert(static_cast<std::int64_t>(random() % 9) - 2);
            values.emplace_back(some.begin(), some.end());
        }
        Numbers place(static_cast<std::size_t>(ranks));
        std::iota(place.begin(), place.end(), 0);
        std::shuffle(place.begin(), place.end(), random);
        ProcessCoordinates coordinates;
        for (auto p : place) {
            coordinates.emplace_back();
            for (std::size_t d = 0; d < lengths.size(); p /= lengths[d++])
                coordinates.back().push_back(values[d][static_cast<std::size_t>(p % lengths[d])]);
        }
        const auto placed = place_on_torus(coordinates, round % 2 == 0 ? Torus() : Torus(lengths), "f");
        EXPECT_EQ(placed.torus, Torus(lengths));
        EXPECT_EQ(placed.rank, place);
    }
}

TEST(PlacedProcesses, AreRefusedWhereTheyDoNotFillATorus) {
    EXPECT_EQ(
        refusal([] {
            place_on_torus({{0, 0}, {1, 0}, {0, 0}}, {}, "f");
        }),
        "coordinates in f: processes 0 and 2 are both at 0 0; where a node has several, add the number within the node as a coordinate");
    EXPECT_NE(refusal([] {
                  place_on_torus({{0, 0}, {1, 0}, {0, 1}}, {}, "f");
              }).find("3 processes are spread over 2 2 places"),
              std::string::npos);
    EXPECT_NE(refusal([] {
                  place_on_torus({{0, 0}, {1, 0}}, Torus({1, 2}), "f");
              }).find("those of a torus 2x1, but 1x2 is given"),
              std::string::npos);
    ProcessCoordinates diagonal(40000, Numbers(8));  // 40000^8 places
    for (std::size_t p = 0; p < diagonal.size(); ++p) std::fill(diagonal[p].begin(), diagonal[p].end(), static_cast<std::int64_t>(p));
    EXPECT_NE(refusal([&] { place_on_torus(diagonal, {}, "f"); }).find("they do not fill a torus"), std::string::npos);
}

/// Random placements: a permutation, in which the ranks of a node follow each other in their old order.
TEST(OrderByNodes, PutsTheRanksOfANodeTogether) {
    EXPECT_EQ(order_by_nodes({5, 3, 5, 3, 9}), (Numbers{0, 2, 1, 3, 4}));
    EXPECT_TRUE(order_by_nodes({}).empty());
    std::mt19937_64 random(8);
    for (int round = 0; round < 200; ++round) {
        Numbers node(1 + random() % 40);
        for (auto& n : node) n = static_cast<std::int64_t>(random() % 6) * 1000;
        const auto order = order_by_nodes(node);
        Numbers old(node.size(), -1), seen;
        for (std::size_t r = 0; r < node.size(); ++r) old[static_cast<std::size_t>(order[r])] = static_cast<std::int64_t>(r);
        for (std::size_t i = 0; i < old.size(); ++i) {
            ASSERT_GE(old[i], 0);
            const auto here = node[static_cast<std::size_t>(old[i])];
            const auto before = i > 0 ? node[static_cast<std::size_t>(old[i - 1])] : -1;
            if (here != before) {
                EXPECT_EQ(std::count(seen.begin(), seen.end(), here), 0);
                seen.push_back(here);
            } else {
                EXPECT_LT(old[i - 1], old[i]);
            }
        }
    }
}

}  // namespace
}  // namespace arges::test

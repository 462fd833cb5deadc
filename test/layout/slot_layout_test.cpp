#include "layout/slot_layout.hpp"

#include "arges/error.hpp"
#include "layout/layout.hpp"
#include "support/trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace arges::test {
namespace {

/// Every orbit is stored exactly once over all coordinates, locate() finds it from each of its elements, nothing else is stored.
void check_cover(const SlotLayout& layout, const SlotCase& c, const std::vector<Orbit>& orbits) {
    struct Stored {
        std::int64_t coordinate, index;
        Tuple tuple;
    };
    std::map<Tuple, Stored> stored;
    for (std::int64_t coordinate = 0; coordinate < layout.grid_length(); ++coordinate) {
        std::int64_t last = -1;
        EXPECT_LE(layout.local_size(coordinate), layout.max_local_size());
        layout.for_each(coordinate, [&](std::int64_t index, const std::int64_t* x) {
            EXPECT_GT(index, last) << "local indices must ascend";
            EXPECT_LT(index, layout.local_size(coordinate));
            last = index;
            Tuple tuple(x, x + c.extents.size());
            EXPECT_TRUE(stored.emplace(tuple, Stored{coordinate, index, tuple}).second);
        });
    }
    std::size_t found = 0;
    for (const auto& orbit : orbits) {
        const Orbit::Member* representative = nullptr;
        for (const auto& member : orbit.members)
            if (stored.count(member.tuple) > 0) {
                EXPECT_EQ(representative, nullptr) << "an orbit is stored twice";
                representative = &member;
                ++found;
            }
        EXPECT_EQ(representative == nullptr, orbit.allowed == Allowed::zero);
        for (const auto& member : orbit.members) {
            auto x = member.tuple;
            const auto found_at = layout.find(x.data());
            EXPECT_EQ(x, member.tuple) << "find() changes nothing";
            const auto at = layout.locate(x.data());
            EXPECT_EQ(found_at.zero, at.zero);
            if (!at.zero) {
                EXPECT_EQ(found_at.coordinate, at.coordinate);
                EXPECT_EQ(found_at.index, at.index);
                EXPECT_EQ(found_at.negative, at.negative);
                EXPECT_EQ(found_at.conjugate, at.conjugate);
                EXPECT_EQ(found_at.real, at.real);
            }
            EXPECT_EQ(at.zero, orbit.allowed == Allowed::zero);
            EXPECT_EQ(at.real, orbit.allowed == Allowed::real);
            EXPECT_FALSE(at.outside && !at.zero);
            if (at.zero || representative == nullptr) continue;
            const auto& where = stored.at(representative->tuple);
            EXPECT_EQ(at.coordinate, where.coordinate);
            EXPECT_EQ(at.index, where.index);
            EXPECT_EQ(x, representative->tuple);
            EXPECT_EQ(at.negative, member.negative != representative->negative);
            if (!at.real) {
                EXPECT_EQ(at.conjugate, member.conjugate != representative->conjugate);
            }
            EXPECT_EQ(layout.orbit_size(x.data()), static_cast<std::int64_t>(orbit.members.size()));
        }
    }
    EXPECT_EQ(found, stored.size());
}

TEST(SlotLayout, StoresEveryOrbitOnceInThePackedWay) {
    for (const auto& c : slot_cases()) {
        SCOPED_TRACE(c.text);
        const auto orbits = orbits_of(c);
        for (std::int64_t grid_length : {1, 2, 3, 4, 7, 40}) {
            const auto layout = SlotLayout::packed(c.node, c.extents, grid_length);
            check_cover(layout, c, orbits);
            std::int64_t total = 0;
            for (std::int64_t p = 0; p < grid_length; ++p) total += layout.local_size(p);
            EXPECT_EQ(total, layout.size()) << "the packed way has no padding";
        }
    }
}

TEST(SlotLayout, StoresEveryOrbitOnceInTheRowWay) {
    int cases = 0;
    for (const auto& c : slot_cases()) {
        if (c.node.children.size() != 2 || c.node.kind == NodeKind::product) continue;
        ++cases;
        SCOPED_TRACE(c.text);
        const auto orbits = orbits_of(c);
        for (std::int64_t grid_length : {1, 2, 3, 4, 7, 40}) {
            const auto layout = SlotLayout::rows(c.node, c.extents, grid_length);
            check_cover(layout, c, orbits);
            std::int64_t total = 0, largest = 0;
            for (std::int64_t p = 0; p < grid_length; ++p) {
                total += layout.local_size(p);
                largest = std::max(largest, layout.local_size(p));
            }
            EXPECT_EQ(total, layout.size()) << "the row way has no padding";
            EXPECT_EQ(largest, layout.max_local_size());
        }
    }
    EXPECT_GT(cases, 4);
    EXPECT_THROW(SlotLayout::rows(leaf(0), Tuple{5}, 2), InvalidArgument);
}

/// Random physical phases per dimension; virtual factors make up equal phases.
TEST(SlotLayout, StoresEveryOrbitOnceInTheBlockWay) {
    std::mt19937_64 random(1);
    for (const auto& c : slot_cases()) {
        SCOPED_TRACE(c.text);
        const auto orbits = orbits_of(c);
        for (int trial = 0; trial < 8; ++trial) {
            RankGrid grid;
            std::vector<std::vector<int>> torus(c.extents.size());
            for (std::size_t d = 0; d < torus.size(); ++d)
                if (random() % (1 + torus.size() / 2) == 0) {
                    torus[d].push_back(grid.dimensions());
                    grid.lengths.push_back(2 + static_cast<std::int64_t>(random() % 2));
                }
            const auto mapping = block_mapping(grid, c.node, torus);
            if (!mapping.is_blocks()) continue;
            std::vector<std::int64_t> physical;
            for (const auto& list : torus) physical.push_back(list.empty() ? 1 : grid.lengths[static_cast<std::size_t>(list[0])]);
            const auto layout = SlotLayout::blocks(c.node, c.extents, physical, mapping.virtual_factor);
            check_cover(layout, c, orbits);
        }
    }
}

/// The elements of all windows together are those of the whole; each window knows what is outside.
TEST(SlotLayout, CutsThePackedIndexIntoWindows) {
    for (const auto& c : slot_cases()) {
        SCOPED_TRACE(c.text);
        for (std::int64_t grid_length : {1, 3}) {
            const auto whole = SlotLayout::packed(c.node, c.extents, grid_length);
            std::int64_t total = 0;
            for (std::int64_t part = 0; part < 4; ++part) {
                const auto begin = whole.size() * part / 4, end = whole.size() * (part + 1) / 4;
                const auto window = SlotLayout::packed(c.node, c.extents, grid_length, begin, end);
                EXPECT_EQ(window.size(), end - begin);
                std::int64_t count = 0, largest = 0;
                for (std::int64_t coordinate = 0; coordinate < grid_length; ++coordinate) {
                    count += window.local_size(coordinate);
                    largest = std::max(largest, window.local_size(coordinate));
                    std::int64_t visited = 0;
                    window.for_each(coordinate, [&](std::int64_t index, const std::int64_t* x) {
                        EXPECT_EQ(index, visited++);
                        Tuple there(x, x + c.extents.size()), elsewhere = there;
                        const auto at = window.locate(there.data());
                        EXPECT_FALSE(at.outside);
                        EXPECT_EQ(at.coordinate, coordinate);
                        EXPECT_EQ(at.index, index);
                        EXPECT_EQ(whole.locate(elsewhere.data()).coordinate, coordinate) << "a window keeps elements where they are";
                    });
                    EXPECT_EQ(visited, window.local_size(coordinate));
                }
                EXPECT_EQ(count, end - begin);
                EXPECT_EQ(largest, window.max_local_size());
                total += count;
                if (begin > 0) {
                    Tuple first(c.extents.size());
                    whole.for_each(0, [&](std::int64_t index, const std::int64_t* x) {
                        if (index == 0) first.assign(x, x + c.extents.size());
                    });
                    EXPECT_TRUE(window.locate(first.data()).outside);
                }
            }
            EXPECT_EQ(total, whole.size());
        }
    }
}

/// The same in blocks: each coordinate has the same range of local indices, with their padding.
TEST(SlotLayout, CutsBlocksIntoWindows) {
    std::mt19937_64 random(2);
    int cut = 0;
    for (const auto& c : slot_cases()) {
        SCOPED_TRACE(c.text);
        std::vector<std::vector<int>> torus(c.extents.size());
        RankGrid grid;
        for (auto& list : torus)
            if (random() % 2 == 0) {
                list.push_back(grid.dimensions());
                grid.lengths.push_back(2);
            }
        const auto mapping = block_mapping(grid, c.node, torus);
        if (!mapping.is_blocks()) continue;
        std::vector<std::int64_t> physical;
        for (const auto& list : torus) physical.push_back(list.empty() ? 1 : 2);
        const auto make = [&](std::int64_t begin, std::int64_t end) {
            return SlotLayout::blocks(c.node, c.extents, physical, mapping.virtual_factor, begin, end);
        };
        const auto whole = make(0, -1);
        EXPECT_FALSE(whole.is_cut());
        if (!whole.is_blocks()) continue;
        for (std::int64_t coordinate = 0; coordinate < whole.grid_length(); ++coordinate) {
            std::map<Tuple, std::int64_t> expected, found;
            whole.for_each(coordinate, [&](std::int64_t i, const std::int64_t* x) { expected[Tuple(x, x + c.extents.size())] = i; });
            for (std::int64_t part = 0; part < 3; ++part) {
                const auto begin = whole.size() * part / 3, end = whole.size() * (part + 1) / 3;
                const auto window = make(begin, end);
                EXPECT_EQ(window.is_cut(), end - begin < whole.size());
                EXPECT_EQ(window.local_size(coordinate), end - begin);
                window.for_each(coordinate, [&](std::int64_t i, const std::int64_t* x) {
                    const Tuple tuple(x, x + c.extents.size());
                    EXPECT_TRUE(found.emplace(tuple, begin + i).second);
                    auto stored = tuple;
                    const auto at = window.locate(stored.data());
                    EXPECT_EQ(stored, tuple);
                    EXPECT_FALSE(at.outside);
                    EXPECT_EQ(at.coordinate, coordinate);
                    EXPECT_EQ(at.index, i);
                });
                for (const auto& [tuple, i] : expected) {
                    auto stored = tuple;
                    EXPECT_EQ(window.locate(stored.data()).outside, i < begin || i >= end);
                }
            }
            EXPECT_EQ(found, expected);
            ++cut;
        }
    }
    EXPECT_GT(cut, 20);
}

/// DESIGN.md section 3 and the header: antisym(a,b), extent 5, phase 2, a on two coordinates, b virtual.
TEST(SlotLayout, HoldsTheBlocksOfTheExample) {
    const Tuple extents{5, 5};
    const auto layout = SlotLayout::blocks(antisymmetric({leaf(0), leaf(1)}), extents, {2, 1}, {1, 2});
    EXPECT_EQ(layout.grid_length(), 2);
    EXPECT_EQ(layout.virtual_blocks(), 2);
    EXPECT_EQ(layout.local_size(0), 12);  // two blocks of C(3 + 1, 2)
    std::map<std::int64_t, std::vector<Tuple>> blocks;
    layout.for_each(0, [&](std::int64_t index, const std::int64_t* x) { blocks[index / 6].push_back({x[0], x[1]}); });
    EXPECT_EQ(blocks[0], (std::vector<Tuple>{{0, 2}, {0, 4}, {2, 4}}));
    EXPECT_EQ(blocks[1], (std::vector<Tuple>{{0, 1}, {0, 3}, {2, 3}}));
    blocks.clear();
    layout.for_each(1, [&](std::int64_t index, const std::int64_t* x) { blocks[index / 6].push_back({x[0], x[1]}); });
    EXPECT_EQ(blocks[0], (std::vector<Tuple>{{1, 2}, {1, 4}, {3, 4}}));
    EXPECT_EQ(blocks[1], (std::vector<Tuple>{{1, 3}}));
}

TEST(SlotLayout, RefusesDifferentPhasesInAGroup) {
    const Tuple extents{5, 5};
    EXPECT_THROW(SlotLayout::blocks(symmetric({leaf(0), leaf(1)}), extents, {2, 1}, {1, 1}), InvalidArgument);
    const auto same = SlotLayout::blocks(leaf(0), Tuple{5}, {3}, {1});
    EXPECT_EQ(same, SlotLayout::packed(leaf(0), Tuple{5}, 3)) << "for a leaf the two ways agree";
}

}  // namespace
}  // namespace arges::test

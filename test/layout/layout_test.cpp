#include "layout/layout.hpp"

#include "arges/error.hpp"
#include "interface/dense/tensor_state.hpp"
#include "layout/element_locator.hpp"
#include "support/layouts.hpp"
#include "support/shapes.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <map>

namespace arges::test {
namespace {

TEST(RankGrid, CountsTheFirstDimensionFastest) {
    const RankGrid grid{{2, 3}};
    EXPECT_EQ(grid.ranks(), 6);
    EXPECT_EQ(grid.coordinate(5, 0), 1);
    EXPECT_EQ(grid.coordinate(5, 1), 2);
    EXPECT_EQ(grid.stride(1), 2);
    EXPECT_EQ(RankGrid{}.ranks(), 1);
}

/// Every orbit is on as many ranks as there are copies, at the coordinate that ElementLocator says.
void check_layout(const Layout& layout, const Shape& shape) {
    SCOPED_TRACE(shape.text() + ": " + layout.to_string());
    const auto ranks = layout.grid().ranks();
    std::map<std::vector<std::int64_t>, std::int64_t> copies;
    std::int64_t first_copies = 0;
    const ElementLocator locator(layout);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const auto sizes = layout.local_sizes(rank), strides = layout.strides(rank);
        std::int64_t product = 1;
        for (std::size_t s = 0; s < sizes.size(); ++s) {
            EXPECT_EQ(strides[s], product);
            product *= sizes[s];
        }
        std::int64_t same = layout.copy_offset(rank);
        for (int s = 0; s < layout.slots(); ++s) {
            same += layout.rank_at(layout.coordinate(rank, s), s);
            EXPECT_EQ(layout.grid().coordinate_of(layout.mapping(s).all(), rank), layout.coordinate(rank, s));
        }
        EXPECT_EQ(same, rank);
        EXPECT_EQ(layout.local_size(rank), product);
        EXPECT_LE(product, layout.max_local_size());
        for_each_element(layout, rank, [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
            EXPECT_GE(offset, 0);
            EXPECT_LT(offset, product);
            ++copies[x];
            first_copies += layout.is_first_copy(rank) ? 1 : 0;
            const auto at = locator.locate(x.data());
            EXPECT_EQ(at.offset, offset);
            EXPECT_FALSE(at.negative || at.conjugate || at.zero);
            if (layout.is_first_copy(rank)) {
                EXPECT_EQ(at.rank, rank);
            }
        });
    }
    EXPECT_EQ(first_copies, layout.packed_size());
    EXPECT_EQ(static_cast<std::int64_t>(copies.size()), layout.packed_size());
    for (const auto& [x, count] : copies) EXPECT_EQ(count, layout.copies());
}

/// Prime numbers of ranks above every extent: some ranks are left out, so that the others share.
TEST(Layout, OfALargeTensorIsSpreadOverAnyNumberOfRanks) {
    for (const std::int64_t ranks : {5, 11, 13, 17, 23, 101, 997})
        for (const std::int64_t extent : {10, 40}) {
            const auto grids = grids_for_products(Torus({ranks}));
            const std::vector<std::int64_t> extents(4, extent);
            for (const char* const tree : {"", "sym(a,b) sym(c,d)", "sym(sym(a,b),sym(c,d))"}) {
                const auto layout = spread_layout(grids, extents, Symmetry::parse("abcd", tree));
                SCOPED_TRACE(layout.to_string());
                EXPECT_LE(layout.grid().ranks(), ranks);
                if (layout.packed_size() / ranks > 1000) {
                    EXPECT_LE(layout.max_local_size() * ranks, 3 * layout.packed_size());
                }
            }
        }
}

TEST(Layout, StoresEveryOrbitOncePerCopy) {
    std::mt19937_64 random(1);
    for (const auto& shape : shapes())
        for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{}, {2}, {5}, {2, 3}, {2, 2, 3}}) {
            const RankGrid grid{lengths};
            const auto symmetry = shape.symmetry();
            for (const bool blocks : {false, true}) check_layout(random_layout(grid, shape.extents, symmetry, random, blocks), shape);
            check_layout(default_layout(grid, shape.extents, symmetry), shape);
            check_layout(block_layout(grid, shape.extents, symmetry), shape);
        }
}

TEST(Layout, OfNewTensorsIsBalanced) {
    const auto symmetry = Symmetry::parse("abij", "antisym(a,b) antisym(i,j)");
    for (std::int64_t ranks : {1, 2, 3, 5, 8, 12, 30, 64, 97, 1024}) {
        const auto grid = unfold(Torus({ranks}));
        const auto layout = default_layout(grid, {20, 20, 10, 10}, symmetry);
        EXPECT_EQ(layout.copies(), 1);
        const auto ideal = static_cast<double>(layout.packed_size()) / static_cast<double>(ranks);
        EXPECT_LE(static_cast<double>(layout.max_local_size()), 1.35 * ideal + 1) << ranks;
        EXPECT_EQ(default_layout(grid, {20, 20, 10, 10}, symmetry), layout) << "the same on every rank";
    }
    const auto small = default_layout(unfold(Torus({64})), {2, 3}, Symmetry::none(2));
    EXPECT_EQ(small.copies(), 16) << "no rank holds nothing where copies can be held";
}

TEST(Layout, ShowsItselfAsText) {
    const RankGrid grid{{2, 3, 2}};
    const auto symmetry = Symmetry::parse("abij", "antisym(a,b) antisym(i,j)");
    const Layout layout(grid, {6, 6, 4, 4}, symmetry, {{{0}, {}, {}}, {{1}, {}, {}}}, {2});
    EXPECT_EQ(layout.to_string({"a", "b", "i", "j"}), "(ab)/2 (ij)/3 x2 parts of a sum");
    EXPECT_FALSE(layout == Layout(grid, {6, 6, 4, 4}, symmetry, {{{0}, {}, {}}, {{1}, {}, {}}}));
    EXPECT_EQ(default_layout(grid, {}, Symmetry::none(0)).to_string(), "scalar x12 copies");
    EXPECT_EQ(layout.slot_of_torus(1), 1);
    EXPECT_TRUE(layout.is_partial(2));
    EXPECT_THROW(Layout(grid, {6, 6}, Symmetry::none(2), {{{0}, {}, {}}, {{0}, {}, {}}}), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

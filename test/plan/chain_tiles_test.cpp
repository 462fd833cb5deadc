// Which products of a chain run tile by tile, and along which axes.
#include "plan/product/chain_tiles.hpp"

#include "support/product_text.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// Parts of a chain as text: "0-1 k8 2", for products 0 and 1 in tiles of 8 indices of k, and product 2 as a whole.
std::string parts(const std::string& text, const std::map<char, std::int64_t>& extents, const PairOrder& order, std::int64_t room) {
    const auto plan = unmapped_plan(product_of(text, extents, 1), order);
    std::vector<std::int64_t> length;
    for (const auto& axis : plan.axes) length.push_back(axis.size);
    std::string result;
    for (const auto& part : tiled_products(plan, length, room)) {
        result += (result.empty() ? "" : " ") + std::to_string(part.first);
        if (part.last > part.first) result += "-" + std::to_string(part.last);
        for (const auto& tile : part.tiles) {
            const auto label = static_cast<std::size_t>(plan.axes[static_cast<std::size_t>(tile.axis)].labels[0]);
            result += " " + plan.spec.label_names[label] + std::to_string(tile.length);
        }
    }
    return result;
}

TEST(ChainTiles, KeepKhatriRaoProductsInTheCache) {
    const std::map<char, std::int64_t> extents{{'a', 24}, {'i', 400}, {'j', 400}, {'k', 400}};
    const PairOrder factors_first{{1, 2}, {0, 3}};
    EXPECT_EQ(parts("ijk,ja,ka->ia", extents, factors_first, 64 << 10), "0-1 k6");
    EXPECT_EQ(parts("ijk,ja,ka->ia", extents, factors_first, 4 << 10), "0 1")
        << "with tiles of one k and some j the factors would be read again too often";
    EXPECT_EQ(parts("ijk,ja,ka->ia", extents, factors_first, 4 << 20), "0 1") << "all of it stays in the cache";
    EXPECT_EQ(parts("ijk,ia,ja->ka", extents, factors_first, 64 << 10), "0-1 j6") << "the slowest axis of both factors";
}

TEST(ChainTiles, KeepTensorsBetweenProductsWithMatricesInTheCache) {
    std::map<char, std::int64_t> extents;
    for (char l : std::string("bcdeijklm")) extents[l] = 24;
    EXPECT_EQ(parts("ijklm,jb,kc,ld,me->ibcde", extents, {{0, 4}, {3, 5}, {2, 6}, {1, 7}}, 64 << 10), "0-1 k1 j4 2-3 e1 d4");
}

TEST(ChainTiles, AreNotTakenWhereOtherOperandsWouldBeReadAgainTooOften) {
    // The only axis that the result in between has is none of the large tensor: each tile would read the tensor again.
    EXPECT_EQ(parts("ij,ja,ab->ib", {{'i', 500}, {'j', 500}, {'a', 500}, {'b', 500}}, {{0, 1}, {2, 3}}, 1000), "0 1");
    // Each tile reads the matrix over k and a again.
    const auto with = [](std::int64_t k) { return std::map<char, std::int64_t>{{'i', 30}, {'j', 60}, {'k', k}, {'a', 100}}; };
    EXPECT_EQ(parts("ijk,ka,ja->ia", with(50), {{0, 1}, {2, 3}}, 12000), "0-1 j4");
    EXPECT_EQ(parts("ijk,ka,ja->ia", with(500), {{0, 1}, {2, 3}}, 12000), "0 1");
}

TEST(ChainTiles, LeaveRunsOfTheLargestTensorLong) {
    // The tensor first: its result has i, the fastest axis, and j.
    const PairOrder tensor_first{{0, 2}, {1, 3}};
    EXPECT_EQ(parts("ijk,ja,ka->ia", {{'a', 10}, {'i', 400}, {'j', 50}, {'k', 60}}, tensor_first, 60000), "0-1 i100");
    EXPECT_EQ(parts("ijk,ja,ka->ia", {{'a', 50}, {'i', 400}, {'j', 50}, {'k', 60}}, tensor_first, 60000), "0 1");
}

TEST(ChainTiles, AreNotNeededForEmptyAxes) {
    EXPECT_EQ(parts("ijk,ja,ka->ia", {{'a', 24}, {'i', 0}, {'j', 400}, {'k', 0}}, {{1, 2}, {0, 3}}, 64), "0 1");
}

}  // namespace
}  // namespace arges::test

// Orbit sizes of stored elements against counting the elements of the full tensor.
#include "layout/slot_layout.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace arges::test {
namespace {

/// For each coordinate and local index, how many index tuples of the slot are found there; zeros by symmetry are nowhere.
std::vector<std::vector<double>> counted(const SlotLayout& slot, const std::vector<std::int64_t>& extents) {
    std::vector<std::vector<double>> sizes;
    for (std::int64_t coordinate = 0; coordinate < slot.grid_length(); ++coordinate)
        sizes.emplace_back(static_cast<std::size_t>(slot.local_size(coordinate)), 0);
    std::int64_t all = 1;
    for (const auto n : extents) all *= n;
    for (std::int64_t key = 0; key < all; ++key) {
        std::vector<std::int64_t> x;
        for (auto rest = key; const auto n : extents) {
            x.push_back(rest % n);
            rest /= n;
        }
        const auto at = slot.locate(x.data());
        if (!at.zero && !at.outside) sizes[static_cast<std::size_t>(at.coordinate)][static_cast<std::size_t>(at.index)] += 1;
    }
    return sizes;
}

void expect_counted(const SlotLayout& slot, const std::vector<std::int64_t>& extents) {
    const auto wanted = counted(slot, extents);
    for (std::int64_t coordinate = 0; coordinate < slot.grid_length(); ++coordinate)
        EXPECT_EQ(orbit_sizes(slot, coordinate), wanted[static_cast<std::size_t>(coordinate)]) << "coordinate " << coordinate;
}

struct Slot {
    std::string names, tree;
    std::vector<std::int64_t> extents;  // by dimension, which is by position here
};

TEST(OrbitSizes, AreThoseThatCountingGives) {
    const std::vector<Slot> slots{{"a", "", {5}},
                                  {"ab", "sym(a,b)", {4, 4}},
                                  {"ab", "antisym(a,b)", {5, 5}},
                                  {"ab", "hollow(a,b)", {3, 3}},
                                  {"abc", "sym(a,b,c)", {3, 3, 3}},
                                  {"aibj", "sym(product(a,i),product(b,j))", {3, 2, 3, 2}},
                                  {"aibj", "antisym(product(a,i),product(b,j))", {2, 3, 2, 3}},
                                  {"pqrs", "sym(sym(p,q),sym(r,s))", {3, 3, 3, 3}},
                                  {"aibjck", "sym(product(a,i),product(b,j),product(c,k))", {2, 2, 2, 2, 2, 2}},
                                  {"abcd", "sym(a,b,c,d)", {2, 2, 2, 2}},
                                  {"abicdj", "sym(product(sym(a,b),i),product(sym(c,d),j))", {2, 2, 2, 2, 2, 2}},
                                  {"ab", "sym(a,b)", {0, 0}}};
    for (const auto& [names, tree, extents] : slots) {
        SCOPED_TRACE(tree);
        const auto node = Symmetry::parse(names, tree).slots()[0];
        for (const std::int64_t grid_length : {1, 2, 3, 7}) {
            expect_counted(SlotLayout::packed(node, extents, grid_length), extents);
            if (node.children.size() == 2) expect_counted(SlotLayout::rows(node, extents, grid_length), extents);
        }
        const auto size = SlotLayout::packed(node, extents, 1).size();
        if (size > 2) expect_counted(SlotLayout::packed(node, extents, 2, 1, size - 1), extents);
    }
}

/// Against locate(), which knows it for each element by itself.
TEST(RealIndices, AreThoseOfElementsThatLocateSaysAreReal) {
    const std::vector<Slot> slots{{"ab", "hermitian(a,b)", {5, 5}},
                                  {"ab", "sym(a,b)", {4, 4}},
                                  {"aibj", "hermitian(product(a,i),product(b,j))", {3, 2, 3, 2}},
                                  {"pqrs", "hermitian(sym(p,q),sym(r,s))", {3, 3, 3, 3}},
                                  {"pqrs", "sym(hermitian(p,q),hermitian(r,s))", {3, 3, 3, 3}}};
    for (const auto& [names, tree, extents] : slots) {
        SCOPED_TRACE(tree);
        const auto node = Symmetry::parse(names, tree).slots()[0];
        std::vector<SlotLayout> layouts;
        for (const std::int64_t grid_length : {1, 3}) {
            layouts.push_back(SlotLayout::packed(node, extents, grid_length));
            layouts.push_back(SlotLayout::rows(node, extents, grid_length));
        }
        layouts.push_back(SlotLayout::packed(node, extents, 2, 1, 5));
        if (tree.size() == 14) layouts.push_back(SlotLayout::blocks(node, extents, {2, 1}, {1, 2}));
        for (const auto& slot : layouts)
            for (std::int64_t coordinate = 0; coordinate < slot.grid_length(); ++coordinate) {
                std::vector<std::int64_t> wanted;
                slot.for_each(coordinate, [&](std::int64_t i, const std::int64_t* x) {
                    std::vector<std::int64_t> tuple(x, x + slot.width());
                    if (slot.locate(tuple.data()).real) wanted.push_back(i);
                });
                EXPECT_EQ(real_indices(slot, coordinate), wanted) << "coordinate " << coordinate;
            }
    }
}

TEST(OrbitSizes, AreZeroForPadding) {
    const auto node = Symmetry::parse("ab", "antisym(a,b)").slots()[0];
    const std::vector<std::int64_t> extents{5, 5};
    expect_counted(SlotLayout::blocks(node, extents, {2, 1}, {1, 2}), extents);
}

}  // namespace
}  // namespace arges::test

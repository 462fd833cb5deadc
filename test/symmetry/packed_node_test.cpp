#include "symmetry/packed_node.hpp"

#include "arges/error.hpp"
#include "support/trees.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

TEST(PackedNode, NumbersSortedChildrenWithTheFirstFastest) {
    const Tuple extents{3, 3};
    const PackedNode sym(symmetric({leaf(0), leaf(1)}), extents, false), anti(antisymmetric({leaf(0), leaf(1)}), extents, false);
    const std::vector<Tuple> with_diagonal{{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}}, without{{0, 1}, {0, 2}, {1, 2}};
    EXPECT_EQ(sym.size(), 6);
    EXPECT_EQ(anti.size(), 3);
    Tuple x(2);
    for (std::int64_t i = 0; i < 6; ++i) {
        sym.unpack(i, x.data());
        EXPECT_EQ(x, with_diagonal[static_cast<std::size_t>(i)]);
    }
    for (std::int64_t i = 0; i < 3; ++i) {
        anti.unpack(i, x.data());
        EXPECT_EQ(x, without[static_cast<std::size_t>(i)]);
    }
}

/// C(m+k-1, k) for symmetric, C(m, k) for strict nodes, products multiply; eri over 6: C(21+1, 2).
TEST(PackedNode, HasTheSizeOfTheFormula) {
    auto size = [](std::string_view names, std::string_view text, Tuple extents) {
        const auto symmetry = Symmetry::parse(names, text);
        return PackedNode(symmetry.slots()[0], extents, false).size();
    };
    EXPECT_EQ(size("pqrs", "sym(sym(p,q),sym(r,s))", {6, 6, 6, 6}), 231);
    EXPECT_EQ(size("abij", "sym(product(a,i),product(b,j))", {5, 5, 3, 3}), 120);
    EXPECT_EQ(size("abc", "antisym(a,b,c)", {7, 7, 7}), 35);
    EXPECT_EQ(size("abc", "hollow(a,b,c)", {7, 7, 7}), 35);
    EXPECT_EQ(size("abc", "sym(a,b,c)", {7, 7, 7}), 84);
    EXPECT_EQ(size("ab", "hermitian(a,b)", {7, 7}), 28);
    EXPECT_EQ(size("ab", "antisym(a,b)", {1, 1}), 0);
}

TEST(PackedNode, PacksEveryOrbitOnceAndFindsItFromEveryElement) {
    for (const auto& c : slot_cases()) {
        SCOPED_TRACE(c.text);
        const PackedNode node(c.node, c.extents, false);
        EXPECT_EQ(node.width(), static_cast<int>(c.extents.size()));
        std::set<std::int64_t> indices;
        for (const auto& orbit : orbits_of(c)) {
            std::int64_t index = -1;
            bool negative = false, conjugate = false;
            for (const auto& member : orbit.members) {
                auto x = member.tuple;
                const auto found = node.canonicalize(x.data(), nullptr);
                EXPECT_EQ(found.zero, orbit.allowed == Allowed::zero);
                EXPECT_EQ(found.real, orbit.allowed == Allowed::real);
                EXPECT_NE(orbit.allowed, Allowed::imaginary);
                if (found.zero) continue;
                EXPECT_EQ(node.pack(x.data()), found.index);
                EXPECT_EQ(node.orbit_size(x.data(), nullptr), static_cast<std::int64_t>(orbit.members.size()));
                Tuple again(x.size());
                node.unpack(found.index, again.data());
                EXPECT_EQ(again, x);
                if (index < 0) {
                    index = found.index;
                    negative = found.negative;
                    conjugate = found.conjugate;
                }
                EXPECT_EQ(found.index, index);
                EXPECT_EQ(found.negative != negative, member.negative) << "an element has the wrong sign";
                if (!found.real) {
                    EXPECT_EQ(found.conjugate != conjugate, member.conjugate);
                }
            }
            if (orbit.allowed != Allowed::zero) indices.insert(index);
        }
        EXPECT_EQ(static_cast<std::int64_t>(indices.size()), node.size());
        if (!indices.empty()) {
            EXPECT_EQ(*indices.rbegin(), node.size() - 1);
        }
    }
}

TEST(PackedNode, SeparatesWhatItCombines) {
    for (const auto& c : slot_cases()) {
        if (c.node.kind == NodeKind::leaf) continue;
        SCOPED_TRACE(c.text);
        for (const bool keep_equal : {false, true}) {
            const PackedNode node(c.node, c.extents, keep_equal);
            std::vector<std::int64_t> children(c.node.children.size());
            for (std::int64_t i = 0; i < node.size(); ++i) {
                node.separate(i, children.data());
                EXPECT_EQ(node.combine(children.data()), i);
                EXPECT_TRUE(std::is_sorted(children.begin(), children.end()));
                EXPECT_LT(children.back(), node.children()[0].size());
            }
        }
    }
}

TEST(PackedNode, WorksForLargeExtents) {
    const std::int64_t n = 100000;
    const PackedNode pair(antisymmetric({leaf(0), leaf(1)}), Tuple{n, n}, false);
    const PackedNode triple(symmetric({leaf(0), leaf(1), leaf(2)}), Tuple{n, n, n}, false);
    EXPECT_EQ(pair.size(), n * (n - 1) / 2);
    for (std::int64_t i : {std::int64_t{0}, pair.size() / 3, pair.size() - 1}) {
        Tuple x(2);
        pair.unpack(i, x.data());
        EXPECT_LT(x[0], x[1]);
        EXPECT_EQ(pair.pack(x.data()), i);
    }
    for (std::int64_t i : {std::int64_t{1}, triple.size() / 7, triple.size() - 1}) {
        Tuple x(3);
        triple.unpack(i, x.data());
        EXPECT_LT(x[2], n);
        EXPECT_EQ(triple.pack(x.data()), i);
    }
    const Tuple huge{std::int64_t{1} << 40, std::int64_t{1} << 40};
    EXPECT_THROW(PackedNode(product({leaf(0), leaf(1)}), huge, false), InvalidArgument);
}

/// DESIGN.md section 3: antisym(a,b), n = 5, phase 2: block (0,1) owns its diagonal, block (1,0) does not.
TEST(PackedNode, OwnsDiagonalsByResidue) {
    const PackedNode block(antisymmetric({leaf(0), leaf(1)}), Tuple{3, 3}, true);
    EXPECT_EQ(block.size(), 6);
    const Tuple diagonal{1, 1}, above{0, 1}, r01{0, 1}, r10{1, 0}, r00{0, 0};
    EXPECT_TRUE(block.owns(diagonal.data(), r01.data()));
    EXPECT_FALSE(block.owns(diagonal.data(), r10.data()));
    EXPECT_FALSE(block.owns(diagonal.data(), r00.data()));
    for (const auto* r : {&r01, &r10, &r00}) EXPECT_TRUE(block.owns(above.data(), r->data()));
    const PackedNode sym(symmetric({leaf(0), leaf(1)}), Tuple{3, 3}, true);
    EXPECT_TRUE(sym.owns(diagonal.data(), r00.data()));
    EXPECT_EQ(sym.orbit_size(diagonal.data(), r00.data()), 1);
    EXPECT_EQ(sym.orbit_size(diagonal.data(), r01.data()), 2);
}

}  // namespace
}  // namespace arges::test

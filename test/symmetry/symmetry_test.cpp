#include "arges/symmetry.hpp"

#include "arges/error.hpp"
#include "support/dense_oracle.hpp"
#include "support/shapes.hpp"
#include "symmetry/canonical_form.hpp"
#include "symmetry/permutation_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace arges::test {
namespace {

TEST(Symmetry, IsReadFromItsOwnText) {
    for (const auto& shape : shapes()) {
        const auto symmetry = shape.symmetry();
        EXPECT_EQ(symmetry.order(), static_cast<int>(shape.names.size()));
        const auto text = symmetry.to_string(shape.names);
        if (!shape.is_turned) {
            EXPECT_EQ(Symmetry::parse(shape.names, text == "none" ? "" : text), symmetry) << text;
        }
        std::vector<int> dims;
        for (const auto& slot : symmetry.slots())
            for (int d : slot.dimensions()) dims.push_back(d);
        std::sort(dims.begin(), dims.end());
        std::vector<int> all(shape.names.size());
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(dims, all);
    }
}

TEST(Symmetry, SimplifiesProductsAndSortsSlots) {
    EXPECT_EQ(Symmetry::parse("abij", "product(antisym(i,j), product(antisym(a,b)))"), Symmetry::parse("abij", "antisym(a,b)antisym(i,j)"));
    EXPECT_EQ(Symmetry::parse("abij", " sym( i , j ) ").to_string("abij"), "sym(i,j)");
    EXPECT_EQ(Symmetry::parse("abij", "sym(i,j)").slots().size(), 3);
    EXPECT_EQ(Symmetry::parse("abij", "sym(i,j)").to_string(), "sym(c,d)");
    EXPECT_TRUE(Symmetry::parse("ab", "product(a,b)").trivial());
    EXPECT_EQ(Symmetry::none(3).to_string(), "none");
    EXPECT_EQ(Symmetry().order(), -1);
    EXPECT_EQ(Symmetry(symmetric({leaf(1), leaf(3)})).order(), 4);
}

TEST(Symmetry, ComesFromRelationVectors) {
    EXPECT_EQ(Symmetry::from_relations({AS, NS, AS, NS}), Symmetry::parse("abij", "antisym(a,b) antisym(i,j)"));
    EXPECT_EQ(Symmetry::from_relations({NS, SY, SY, NS, SH, NS}), Symmetry::parse("abcdef", "sym(b,c,d) hollow(e,f)"));
    EXPECT_EQ(Symmetry::from_relations({NS, NS}), Symmetry::none(2));
    EXPECT_EQ(Symmetry::from_relations({}).order(), 0);
}

TEST(PermutationGroup, HasTheRightSize) {
    auto size = [](const char* names, const char* text) { return group_of(Symmetry::parse(names, text)).size(); };
    EXPECT_EQ(size("pqrs", "sym(sym(p,q),sym(r,s))"), 8);
    EXPECT_EQ(size("abcijk", "antisym(a,b,c) antisym(i,j,k)"), 36);
    EXPECT_EQ(size("abij", "sym(product(a,i),product(b,j))"), 2);
    EXPECT_EQ(size("abcdefgh", "sym(sym(sym(a,b),sym(c,d)),sym(sym(e,f),sym(g,h)))"), 128);
    const auto pair = group_of(antisymmetric({leaf(0), leaf(1)}), 2);
    ASSERT_EQ(pair.size(), 2U);
    EXPECT_EQ(pair[0], (SignedPermutation{{0, 1}, false, false}));
    EXPECT_EQ(pair[1], (SignedPermutation{{1, 0}, true, false}));
    std::vector<SymmetryNode> leaves;
    for (int d = 0; d < 12; ++d) leaves.push_back(leaf(d));
    EXPECT_GT(group_size(symmetric(leaves)), max_group_size);
    EXPECT_THROW(group_of(symmetric(leaves), 12), Unsupported);
}

/// Of all permutations of up to six dimensions, those in the group are found, with sign and conjugation.
TEST(PermutationGroup, ContainsItsElementsAndNoOthers) {
    for (const auto& shape : shapes()) {
        const auto symmetry = shape.symmetry();
        const auto group = group_of(symmetry);
        for (const auto& g : group) {
            SignedPermutation p = g;
            EXPECT_TRUE(contains(symmetry, p)) << shape.text();
            EXPECT_EQ(p, g) << shape.text();
        }
        if (symmetry.order() > 6) continue;
        SignedPermutation p;
        p.image.resize(static_cast<std::size_t>(symmetry.order()));
        std::iota(p.image.begin(), p.image.end(), 0);
        std::size_t found = 0;
        do {
            auto attempt = p;
            found += contains(symmetry, attempt) ? 1 : 0;
        } while (std::next_permutation(p.image.begin(), p.image.end()));
        EXPECT_EQ(found, group.size()) << shape.text();
    }
}

/// The factor of a composition is the product of the factors.
TEST(PermutationGroup, IsClosedWithConsistentSigns) {
    for (const auto& shape : shapes()) {
        const auto symmetry = shape.symmetry();
        const auto group = group_of(symmetry);
        for (std::size_t i = 0; i < group.size(); i += 1 + group.size() / 20)
            for (std::size_t j = 0; j < group.size(); j += 1 + group.size() / 20) {
                SignedPermutation both;
                for (int d : group[i].image) both.image.push_back(group[j].image[static_cast<std::size_t>(d)]);
                both.negative = group[i].negative != group[j].negative;
                both.conjugate = group[i].conjugate != group[j].conjugate;
                auto found = both;
                EXPECT_TRUE(contains(symmetry, found));
                EXPECT_EQ(found, both) << shape.text();
            }
    }
}

/// The library's groups and forms against the definition of a tree.
TEST(PermutationGroup, IsTheOneOfTheDefinition) {
    for (const auto& shape : shapes()) {
        std::vector<GroupElement> found;
        for (const auto& g : group_of(shape.symmetry())) found.push_back({g.image, g.negative, g.conjugate});
        auto wanted = group_elements(shape.symmetry());
        std::sort(found.begin(), found.end());
        std::sort(wanted.begin(), wanted.end());
        EXPECT_EQ(found, wanted) << shape.text();
    }
}

TEST(CanonicalForm, RelatesTheElementsOfAnOrbitAndSaysWhatTheyMayBe) {
    for (const auto& shape : shapes()) {
        SCOPED_TRACE(shape.text());
        const auto symmetry = shape.symmetry();
        const auto group = group_elements(symmetry);
        const Dense all(shape.extents);
        std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> first;  // an element for each form
        const auto step = 1 + all.data.size() * group.size() / 20000;
        for (std::size_t k = 0; k < all.data.size(); k += step) {
            const auto x = all.index(k);
            const auto form = canonical_form(symmetry, x);
            const auto allowed = allowed_values(symmetry, group, x);
            EXPECT_EQ(form.zero, allowed == Allowed::zero);
            EXPECT_EQ(form.real, allowed == Allowed::real);
            EXPECT_NE(allowed, Allowed::imaginary);
            const auto& other = first.emplace(form.index, x).first->second;
            EXPECT_TRUE(std::any_of(group.begin(), group.end(), [&](const auto& g) { return permuted(x, g) == other; }));
            for (const auto& g : group) {
                const auto there = canonical_form(symmetry, permuted(x, g));
                ASSERT_EQ(there.index, form.index);
                if (form.zero) continue;
                EXPECT_EQ(there.negative != form.negative, g.negative);
                if (!form.real) {
                    EXPECT_EQ(there.conjugate != form.conjugate, g.conjugate);
                }
            }
        }
    }
}

}  // namespace
}  // namespace arges::test

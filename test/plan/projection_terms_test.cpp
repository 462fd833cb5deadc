
#include "support/contractions.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// Number of terms for C = projection(A * B) over extents 3.
std::size_t terms(const OperandText& c, const OperandText& a, const OperandText& b = {},
                  Projection projection = Projection::antisymmetrized) {
    std::map<char, std::int64_t> n;
    for (const auto* o : {&c, &a, &b})
        for (char l : o->labels) n[l] = 3;
    return pairwise_product({c, a, b, n, projection}, RankGrid{}).terms.size();
}

const OperandText pair{"abij", "antisym(a,b) antisym(i,j)"};
constexpr auto none = Projection::none;

TEST(ProjectionTerms, AreOneWhereTheProductHasTheSymmetry) {
    EXPECT_EQ(terms(pair, {"abef", "antisym(a,b) antisym(e,f)"}, {"efij", "antisym(e,f) antisym(i,j)"}, none), 1U);
    EXPECT_EQ(terms(pair, {"abef", "antisym(a,b) antisym(e,f)"}, {"efij", "antisym(e,f) antisym(i,j)"}), 1U);
    EXPECT_EQ(terms({"ij", "sym(i,j)"}, {"ij", ""}, {}, Projection::canonical), 1U);
    EXPECT_EQ(terms({"ijkl", "sym(i,j)"}, {"jilk", "sym(i,j) sym(l,k)"}, {}, none), 1U);
}

/// P(ab), P(ij), P(ab)P(ij), P(i/jk), P(i/jk)P(a/bc) of coupled-cluster papers.
TEST(ProjectionTerms, AreThePermutationsOfCoupledClusterPapers) {
    EXPECT_EQ(terms(pair, {"be", ""}, {"aeij", "antisym(a,e) antisym(i,j)"}), 2U);
    EXPECT_EQ(terms(pair, {"mi", ""}, {"abmj", "antisym(a,b) antisym(m,j)"}), 2U);
    EXPECT_EQ(terms(pair, {"mbej", ""}, {"aeim", "antisym(a,e) antisym(i,m)"}), 4U);
    EXPECT_EQ(terms(pair, {"ai", ""}, {"bj", ""}), 4U);
    EXPECT_EQ(terms({"ijk", "antisym(i,j,k)"}, {"i", ""}, {"jk", "antisym(j,k)"}), 3U);
    EXPECT_EQ(terms({"ijk", "antisym(i,j,k)"}, {"j", ""}, {"ik", "antisym(i,k)"}), 3U);
    const OperandText triple{"abcijk", "antisym(a,b,c) antisym(i,j,k)"};
    EXPECT_EQ(terms(triple, {"ai", ""}, {"bcjk", "antisym(b,c) antisym(j,k)"}), 9U);
    EXPECT_EQ(terms(triple, {"abei", "antisym(a,b)"}, {"ecjk", "antisym(e,c) antisym(j,k)"}), 9U);
    EXPECT_EQ(terms(triple, {"ad", ""}, {"dbcijk", "antisym(d,b,c) antisym(i,j,k)"}), 3U);
}

/// Section 2.3 of the notes on Cyclops.
TEST(ProjectionTerms, AreTheCosetsOfTheSymmetryThatIsThere) {
    const OperandText four{"ijkl", "antisym(i,j,k,l)"};
    EXPECT_EQ(terms({"ijk", "antisym(i,j,k)"}, {"ijk", ""}), 6U);
    EXPECT_EQ(terms({"ijk", "antisym(i,j,k)"}, {"ijk", "antisym(i,j)"}), 3U);
    EXPECT_EQ(terms(four, {"ijkl", "antisym(i,j)"}), 12U);
    EXPECT_EQ(terms(four, {"ijkl", "antisym(i,j) antisym(k,l)"}), 6U);
    EXPECT_EQ(terms(four, {"ijkl", "antisym(i,j,k)"}), 4U);
    EXPECT_EQ(terms(pair, {"abij", "antisym(a,b)"}), 2U);
    EXPECT_EQ(terms(pair, {"abij", ""}), 4U);
    EXPECT_EQ(terms({"ij", "sym(i,j)"}, {"ij", ""}, {}, Projection::symmetrized), 2U);
    EXPECT_EQ(terms({"pqrs", "sym(sym(p,q),sym(r,s))"}, {"pqrs", ""}, {}, Projection::symmetrized), 8U);
    EXPECT_EQ(terms({"pqrs", "sym(sym(p,q),sym(r,s))"}, {"pqrs", "sym(p,q)"}, {}, Projection::symmetrized), 4U);
    EXPECT_EQ(terms({"pqrs", "sym(sym(p,q),sym(r,s))"}, {"pqrs", "sym(product(p,q),product(r,s))"}, {}, Projection::symmetrized), 4U);
    EXPECT_EQ(terms({"abij", "sym(product(a,i),product(b,j))"}, {"ai", ""}, {"bj", ""}, Projection::symmetrized), 2U);
}

/// Summed labels may be renamed along with the output's.
TEST(ProjectionTerms, SeeSymmetryThroughSummedLabels) {
    EXPECT_EQ(terms({"ij", "sym(i,j)"}, {"ijkl", "sym(product(i,k),product(j,l))"}, {"kl", "sym(k,l)"}, none), 1U);
    EXPECT_THROW(terms({"ij", "sym(i,j)"}, {"ijkl", "sym(product(i,k),product(j,l))"}, {"kl", ""}, none), InvalidArgument);
}

TEST(ProjectionTerms, CarrySignsAndBeginWithTheIdentity) {
    const auto spec =
        pairwise_product({{"ij", "antisym(i,j)"}, {"ij", ""}, {}, {{'i', 3}, {'j', 3}}, Projection::antisymmetrized}, RankGrid{});
    ASSERT_EQ(spec.terms.size(), 2U);
    EXPECT_EQ(spec.terms[0], (LabelTerm{{0, 1}, false, false}));
    EXPECT_EQ(spec.terms[1], (LabelTerm{{1, 0}, true, false}));
}

/// Antisymmetrizing what is symmetric, or symmetrizing what is antisymmetric, sums to zero: both terms are there.
TEST(ProjectionTerms, OfTheOtherKindAreNotLeftOut) {
    EXPECT_EQ(terms({"ij", "antisym(i,j)"}, {"ij", "sym(i,j)"}), 2U);
    EXPECT_EQ(terms({"ij", "sym(i,j)"}, {"ij", "antisym(i,j)"}, {}, Projection::symmetrized), 2U);
}

TEST(ProjectionTerms, RefuseWhatTheProductDoesNotHave) {
    EXPECT_THROW(terms(pair, {"ai", ""}, {"bj", ""}, none), InvalidArgument);
    EXPECT_THROW(terms({"ij", "hollow(i,j)"}, {"ij", "sym(i,j)"}, {}, none), InvalidArgument);
    EXPECT_EQ(terms({"ij", "hollow(i,j)"}, {"ij", "antisym(i,j)"}, {"ij", "antisym(i,j)"}, none), 1U);
    EXPECT_EQ(terms({"ij", "sym(i,j)"}, {"ij", "hollow(i,j)"}, {}, none), 1U);
    EXPECT_THROW(terms({"ij", "antisym(i,j)"}, {"ij", "sym(i,j)"}, {"ij", "sym(i,j)"}, none), InvalidArgument);
}

/// A hollow node wants zeros wherever two of its children have equal indices, and gets them only where a factor has them all.
TEST(ProjectionTerms, WantEveryZeroOfAHollowOutput) {
    const OperandText pairs{"abij", "hollow(product(a,i),product(b,j))"};
    EXPECT_THROW(terms(pairs, {"abij", "antisym(sym(a,b),sym(i,j))"}, {}, none), InvalidArgument);
    EXPECT_THROW(terms(pairs, {"abij", "sym(product(a,i),product(b,j))"}, {}, none), InvalidArgument);
    EXPECT_THROW(terms({"abc", "hollow(a,b,c)"}, {"abc", "sym(a,b,c)"}, {}, none), InvalidArgument);
    EXPECT_EQ(terms(pairs, {"abij", "hollow(product(b,j),product(a,i))"}, {}, none), 1U);
    EXPECT_EQ(terms(pairs, {"ab", "hollow(a,b)"}, {"ij", "sym(i,j)"}, none), 1U);
    EXPECT_EQ(terms(pairs, {"abij", "antisym(a,b) antisym(i,j)"}, {}, none), 1U);
    EXPECT_EQ(terms({"ab", "hollow(a,b)"}, {"abcc", "hollow(a,b,c)", "abcd"}, {}, none), 1U);
    EXPECT_EQ(
        terms({"abij", "hollow(sym(a,b),sym(i,j))"}, {"abij", "antisym(sym(a,b),sym(i,j))"}, {"abij", "antisym(sym(a,b),sym(i,j))"}, none),
        1U);
    EXPECT_THROW(terms({"abij", "hollow(sym(a,b),sym(i,j))"}, {"abij", "sym(a,b,i,j)"}, {}, none), InvalidArgument);
}

TEST(ProjectionTerms, OfDiagonalsLookAtWhatTheySay) {
    EXPECT_THROW(terms({"iiii", "sym(antisym(p,q),antisym(r,s))", "pqrs"}, {"i", ""}, {}, none), InvalidArgument);
    EXPECT_THROW(terms({"iiii", "sym(hollow(p,q),hollow(r,s))", "pqrs"}, {"i", ""}, {}, Projection::canonical), InvalidArgument);
    EXPECT_EQ(terms({"iiii", "sym(sym(p,q),sym(r,s))", "pqrs"}, {"i", ""}, {}, none), 1U);
}

}  // namespace
}  // namespace arges::test

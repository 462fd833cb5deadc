#include "plan/index_groups.hpp"

#include "support/contractions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace arges::test {
namespace {

/// The groups as text: labels, in which operands, kind; sorted.
std::vector<std::string> groups_of_case(const ContractionText& text) {
    const auto letters = label_letters(text);
    std::vector<std::string> result;
    for (const auto& g : index_groups(pairwise_product(text, RankGrid{}))) {
        std::string s;
        for (int l : g.labels) s += letters[static_cast<std::size_t>(l)];
        s += std::string(" ") + (g.in(operand_a) ? "A" : "") + (g.in(operand_b) ? "B" : "") + (g.in(operand_c) ? "C" : "");
        const auto& tree = g.in(operand_c) ? *g.tree[operand_c] : g.in(operand_a) ? *g.tree[operand_a] : *g.tree[operand_b];
        const std::map<NodeKind, std::string> names{{NodeKind::leaf, ""}, {NodeKind::antisymmetric, " antisym"},
                                                    {NodeKind::symmetric, " sym"}, {NodeKind::hollow, " hollow"}};
        result.push_back(s + names.at(tree.kind) + (g.needs_weights() ? " weighted" : "") +
                         (g.constant_weight() != 1 ? " x" + std::to_string(static_cast<int>(g.constant_weight())) : ""));
    }
    std::sort(result.begin(), result.end());
    return result;
}

using Texts = std::vector<std::string>;

TEST(IndexGroups, OfTheLadderStayPacked) {
    EXPECT_EQ(groups_of_case(contraction_cases(6, 3, 4)["ladder"]),
              (Texts{"ab AC antisym", "ef AB antisym x2", "ij BC antisym"}));
    const auto spec = pairwise_product(contraction_cases(6, 3, 4)["ladder"], RankGrid{});
    std::vector<std::int64_t> sizes;
    for (const auto& g : index_groups(spec)) sizes.push_back(g.size);
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{15, 15, 3}));
}

TEST(IndexGroups, OfTheRingAreSingleLabels) {
    EXPECT_EQ(groups_of_case(contraction_cases(6, 3, 4)["ring"]), (Texts{"a BC", "b AC", "e AB", "i BC", "j AC", "m AB"}));
}

/// Of antisym(a,b,e) the pair (a,b) goes to the result; of antisym(i,m,n) the pair (m,n) meets antisym(m,n).
TEST(IndexGroups, KeepPartsOfATriple) {
    EXPECT_EQ(groups_of_case(contraction_cases(6, 3, 4)["t3t2"]),
              (Texts{"ab BC antisym", "e AB", "i BC", "j AC", "mn AB antisym x2"}));
    EXPECT_EQ(groups_of_case(contraction_cases(6, 3, 4)["model6as"]),
              (Texts{"abc AC antisym", "ijk AB antisym x6", "xyz BC antisym"}));
}

TEST(IndexGroups, OfSymmetricSumsAreWeighted) {
    EXPECT_EQ(groups_of_case(contraction_cases(6, 3, 4)["sy"]), (Texts{"ab AC sym", "ij AB sym weighted", "kl BC sym"}));
    std::map<char, std::int64_t> n{{'i', 3}, {'j', 3}, {'k', 3}};
    EXPECT_EQ(groups_of_case({{"k", ""}, {"ijk", "hollow(i,j,k)"}, {}, n, Projection::none, true}),
              (Texts{"ij A hollow x2", "k AC"}));
    EXPECT_EQ(groups_of_case({{"", ""}, {"ij", "antisym(i,j)"}, {}, n, Projection::none, true}), (Texts{"i A", "j A"}))
        << "a sum of one antisymmetric pair is not folded: each orbit sums to zero";
}

TEST(IndexGroups, MultiplyKindsOfBatchLabels) {
    EXPECT_EQ(groups_of_case(contraction_cases(6, 3, 4)["hadamard"]), (Texts{"ij ABC hollow"}));
    std::map<char, std::int64_t> n{{'i', 3}, {'j', 3}};
    auto batch = [&](const char* a, const char* b, const char* c) {
        return groups_of_case({{"ij", c}, {"ij", a}, {"ij", b}, n, Projection::canonical});
    };
    EXPECT_EQ(batch("antisym(i,j)", "hollow(i,j)", "antisym(i,j)"), (Texts{"ij ABC antisym"}));
    EXPECT_EQ(batch("sym(i,j)", "sym(i,j)", "sym(i,j)"), (Texts{"ij ABC sym"}));
    EXPECT_EQ(batch("hollow(i,j)", "hollow(i,j)", "hollow(i,j)"), (Texts{"ij ABC hollow"}));
    EXPECT_EQ(batch("sym(i,j)", "antisym(i,j)", "antisym(i,j)"), (Texts{"i ABC", "j ABC"}));
    EXPECT_EQ(batch("sym(i,j)", "", "sym(i,j)"), (Texts{"i ABC", "j ABC"}));
}

TEST(IndexGroups, KeepCompositeNodesWhole) {
    std::map<char, std::int64_t> n;
    for (char l : std::string("abcdijkl")) n[l] = 3;
    const std::string pairs = "sym(product(a,i),product(b,j))";
    EXPECT_EQ(groups_of_case({{"abij", pairs}, {"abij", pairs}, {"", ""}, n}), (Texts{"aibj AC sym"}));
    EXPECT_EQ(groups_of_case({{"", ""}, {"abij", pairs}, {"abij", pairs}, n}), (Texts{"aibj AB sym weighted"}));
    EXPECT_EQ(groups_of_case({{"ij", ""}, {"abij", pairs}, {"ab", ""}, n}), (Texts{"a AB", "b AB", "i AC", "j AC"}));
    EXPECT_EQ(groups_of_case(contraction_cases(6, 3, 4)["composite"]), (Texts{"pq AC sym", "rs AB sym weighted"}))
        << "a broken composite node leaves the nodes below it";
}

/// A repeated label is a diagonal, which no packed group can be.
TEST(IndexGroups, BreakGroupsWithDiagonals) {
    std::map<char, std::int64_t> n{{'i', 3}, {'j', 3}, {'k', 3}};
    EXPECT_EQ(groups_of_case({{"ik", ""}, {"iij", "sym(y,z)", "xyz"}, {"jk", ""}, n}), (Texts{"i AC", "j AB", "k BC"}));
    EXPECT_EQ(groups_of_case({{"i", ""}, {"ij", "sym(i,j)"}, {"ij", "antisym(i,j)"}, n}), (Texts{"i ABC", "j AB"}));
}

}  // namespace
}  // namespace arges::test

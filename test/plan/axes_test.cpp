#include "plan/product/axes.hpp"

#include "support/contractions.hpp"
#include "support/product_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace arges::test {
namespace {

/// The axes as text: labels, in which operands, kind; sorted.
std::vector<std::string> axes_of_case(const ContractionText& text) {
    const auto letters = label_letters(text);
    std::vector<std::string> result;
    for (const auto& g : axes_of(pairwise_product(text, RankGrid{}))) {
        std::string s;
        for (int l : g.labels) s += letters[static_cast<std::size_t>(l)];
        s += std::string(" ") + (g.in(0) ? "A" : "") + (!text.unary && g.in(1) ? "B" : "") + (g.is_contracted() ? "" : "C");
        const auto& tree = g.is_contracted() ? g.node() : *g.tree.back();
        const std::map<NodeKind, std::string> names{
            {NodeKind::leaf, ""}, {NodeKind::antisymmetric, " antisym"}, {NodeKind::symmetric, " sym"}, {NodeKind::hollow, " hollow"}};
        result.push_back(s + names.at(tree.kind) + (g.needs_weights() ? " weighted" : "") +
                         (g.constant_weight() != 1 ? " x" + std::to_string(static_cast<int>(g.constant_weight())) : ""));
    }
    std::sort(result.begin(), result.end());
    return result;
}

using Texts = std::vector<std::string>;

TEST(Axes, OfTheLadderStayPacked) {
    EXPECT_EQ(axes_of_case(contraction_cases(6, 3, 4)["ladder"]), (Texts{"ab AC antisym", "ef AB antisym x2", "ij BC antisym"}));
    const auto spec = pairwise_product(contraction_cases(6, 3, 4)["ladder"], RankGrid{});
    std::vector<std::int64_t> sizes;
    for (const auto& g : axes_of(spec)) sizes.push_back(g.size);
    EXPECT_EQ(sizes, (std::vector<std::int64_t>{15, 15, 3}));
}

TEST(Axes, OfTheRingAreSingleLabels) {
    EXPECT_EQ(axes_of_case(contraction_cases(6, 3, 4)["ring"]), (Texts{"a BC", "b AC", "e AB", "i BC", "j AC", "m AB"}));
}

/// Of antisym(a,b,e) the pair (a,b) goes to the result; of antisym(i,m,n) the pair (m,n) meets antisym(m,n).
TEST(Axes, KeepPartsOfATriple) {
    EXPECT_EQ(axes_of_case(contraction_cases(6, 3, 4)["t3t2"]), (Texts{"ab BC antisym", "e AB", "i BC", "j AC", "mn AB antisym x2"}));
    EXPECT_EQ(axes_of_case(contraction_cases(6, 3, 4)["model6as"]), (Texts{"abc AC antisym", "ijk AB antisym x6", "xyz BC antisym"}));
}

TEST(Axes, OfSymmetricSumsAreWeighted) {
    EXPECT_EQ(axes_of_case(contraction_cases(6, 3, 4)["sy"]), (Texts{"ab AC sym", "ij AB sym weighted", "kl BC sym"}));
    std::map<char, std::int64_t> n{{'i', 3}, {'j', 3}, {'k', 3}};
    EXPECT_EQ(axes_of_case({{"k", ""}, {"ijk", "hollow(i,j,k)"}, {}, n, Projection::none, true}), (Texts{"ij A hollow x2", "k AC"}));
    EXPECT_EQ(axes_of_case({{"", ""}, {"ij", "antisym(i,j)"}, {}, n, Projection::none, true}), (Texts{"i A", "j A"}))
        << "a sum of one antisymmetric pair is not folded: each orbit sums to zero";
}

TEST(Axes, MultiplyKindsOfBatchLabels) {
    EXPECT_EQ(axes_of_case(contraction_cases(6, 3, 4)["hadamard"]), (Texts{"ij ABC hollow"}));
    std::map<char, std::int64_t> n{{'i', 3}, {'j', 3}};
    auto batch = [&](const char* a, const char* b, const char* c) {
        return axes_of_case({{"ij", c}, {"ij", a}, {"ij", b}, n, Projection::canonical});
    };
    EXPECT_EQ(batch("antisym(i,j)", "hollow(i,j)", "antisym(i,j)"), (Texts{"ij ABC antisym"}));
    EXPECT_EQ(batch("sym(i,j)", "sym(i,j)", "sym(i,j)"), (Texts{"ij ABC sym"}));
    EXPECT_EQ(batch("hollow(i,j)", "hollow(i,j)", "hollow(i,j)"), (Texts{"ij ABC hollow"}));
    EXPECT_EQ(batch("sym(i,j)", "antisym(i,j)", "antisym(i,j)"), (Texts{"i ABC", "j ABC"}));
    EXPECT_EQ(batch("sym(i,j)", "", "sym(i,j)"), (Texts{"i ABC", "j ABC"}));
}

TEST(Axes, KeepCompositeNodesWhole) {
    std::map<char, std::int64_t> n;
    for (char l : std::string("abcdijkl")) n[l] = 3;
    const std::string pairs = "sym(product(a,i),product(b,j))";
    EXPECT_EQ(axes_of_case({{"abij", pairs}, {"abij", pairs}, {"", ""}, n}), (Texts{"aibj AC sym"}));
    EXPECT_EQ(axes_of_case({{"", ""}, {"abij", pairs}, {"abij", pairs}, n}), (Texts{"aibj AB sym weighted"}));
    EXPECT_EQ(axes_of_case({{"ij", ""}, {"abij", pairs}, {"ab", ""}, n}), (Texts{"a AB", "b AB", "i AC", "j AC"}));
    EXPECT_EQ(axes_of_case(contraction_cases(6, 3, 4)["composite"]), (Texts{"pq AC sym", "rs AB sym weighted"}))
        << "a broken composite node leaves the nodes below it";
}

/// Among several factors two may share a packed axis, whether they are multiplied first or last; three may not.
TEST(Axes, OfChainsStayPackedWhereTwoShareThem) {
    const std::map<char, std::int64_t> n{{'a', 4}, {'b', 4}, {'e', 4}, {'f', 4}, {'i', 3}, {'j', 3}, {'x', 5}};
    const auto labels_of = [&](const std::string& text, const std::map<std::string, std::string>& trees) {
        std::vector<std::string> result;
        const auto spec = product_of(text, n, 4, trees);
        for (const auto& axis : axes_of(spec)) {
            std::string labels;
            for (int l : axis.labels) labels += spec.label_names[static_cast<std::size_t>(l)];
            result.push_back(labels);
        }
        std::sort(result.begin(), result.end());
        return result;
    };
    EXPECT_EQ(labels_of("abef,efij,ix->abjx", {{"abef", "antisym(a,b) antisym(e,f)"}, {"efij", "antisym(e,f) antisym(i,j)"}}),
              (Texts{"ab", "ef", "i", "j", "x"}));
    EXPECT_EQ(labels_of("efab,ix,efij->abjx", {{"efab", "sym(e,f)"}, {"efij", "sym(e,f)"}}), (Texts{"a", "b", "ef", "i", "j", "x"}));
    EXPECT_EQ(labels_of("ef,ef,ef->", {{"ef", "sym(e,f)"}}), (Texts{"e", "f"}));
}

/// A repeated label is a diagonal, which no packed group can be.
TEST(Axes, BreakGroupsWithDiagonals) {
    std::map<char, std::int64_t> n{{'i', 3}, {'j', 3}, {'k', 3}};
    EXPECT_EQ(axes_of_case({{"ik", ""}, {"iij", "sym(y,z)", "xyz"}, {"jk", ""}, n}), (Texts{"i AC", "j AB", "k BC"}));
    EXPECT_EQ(axes_of_case({{"i", ""}, {"ij", "sym(i,j)"}, {"ij", "antisym(i,j)"}, n}), (Texts{"i ABC", "j AB"}));
}

}  // namespace
}  // namespace arges::test

// The order of the steps of products with sparse factors, against what makes any order right.
#include "plan/sparse/sparse_order.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace arges {
namespace {

struct Case {
    OrderedTerm term;
    std::vector<StepOperand> factors;
};

Case random_case(std::mt19937_64& random) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Case result;
    const int labels = 1 + below(6), factors = 1 + below(5);
    for (int l = 0; l < labels; ++l) result.term.extents.push_back(std::vector<std::int64_t>{0, 1, 2, 7, 100, 1 << 20}[below(6)]);
    std::set<int> there;
    for (int f = 0; f < factors; ++f) {
        auto& factor = result.factors.emplace_back();
        for (int order = 1 + below(3); order > 0; --order) factor.labels.push_back(below(labels));
        there.insert(factor.labels.begin(), factor.labels.end());
        factor.is_sparse = f == 0 || below(3) > 0;
        if (factor.is_sparse) factor.nonzeros = below(1000);
    }
    for (int label : there)
        if (below(2) == 0) result.term.output.push_back(label);
    std::shuffle(result.term.output.begin(), result.term.output.end(), random);
    result.term.makes_sparse = !result.term.output.empty() && below(2) == 0;
    return result;
}

/// The next step where all products are given by a function.
template <class F>
StepChoice chosen(const OrderedTerm& term, const std::vector<StepOperand>& factors, F&& counts) {
    for (MeasuredPairs measured;;) {
        auto found = next_step(term, factors, measured);
        if (auto* const choice = std::get_if<StepChoice>(&found)) return *choice;
        for (const auto& pair : std::get<std::vector<FactorPair>>(found)) {
            EXPECT_TRUE(factors.at(pair.a).is_sparse && factors.at(pair.b).is_sparse && pair.a != pair.b);
            EXPECT_TRUE(std::is_sorted(pair.output.begin(), pair.output.end()));
            EXPECT_EQ(measured.count(pair), 0U) << "it has been told";
            measured.emplace(pair, counts(pair));
        }
    }
}

TEST(SparseOrders, TakeAllFactorsOnceAndKeepTheLabelsThatAreNeeded) {
    test::for_each_seed(0, 2000, [](std::mt19937_64& random) {
        auto [term, factors] = random_case(random);
        for (;;) {
            const auto choice = chosen(term, factors, [&](const FactorPair&) -> std::optional<ProductCounts> {
                if (random() % 2 == 0) return {};
                return ProductCounts{static_cast<double>(random() % 1000), {}};
            });
            ASSERT_FALSE(choice.operands.empty());
            EXPECT_EQ(std::set(choice.operands.begin(), choice.operands.end()).size(), choice.operands.size());
            EXPECT_TRUE(factors.at(choice.operands[0]).is_sparse);
            std::set<int> taken, left(term.output.begin(), term.output.end());
            for (std::size_t f = 0; f < factors.size(); ++f) {
                const bool is_taken = std::find(choice.operands.begin(), choice.operands.end(), f) != choice.operands.end();
                (is_taken ? taken : left).insert(factors[f].labels.begin(), factors[f].labels.end());
            }
            for (int label : choice.output) EXPECT_TRUE(taken.count(label)) << label;
            for (int label : taken) EXPECT_TRUE(!left.count(label) || SparseStep::has(choice.output, label)) << label;
            EXPECT_EQ(SparseStep::distinct(choice.output), choice.output);
            if (choice.is_last) {
                EXPECT_EQ(choice.operands.size(), factors.size());
                EXPECT_EQ(choice.output, term.output);
                EXPECT_EQ(choice.is_sparse, term.makes_sparse);
                return;
            }
            ASSERT_FALSE(choice.output.empty()) << "a sparse tensor has a mode";
            const auto next = after_step(factors, choice, {choice.output, 10, choice.is_sparse});
            ASSERT_LE(next.size(), factors.size());
            ASSERT_TRUE(next.size() < factors.size() || choice.operands.size() == 1);
            factors = next;
        }
    });
}

TEST(SparseOrders, BeginWithThePairOfFewestMultiplications) {
    // A chain: each pair of neighbours is measured, and one of them has the fewest.
    for (std::size_t best = 0; best < 4; ++best) {
        OrderedTerm term{{50, 50, 50, 50, 50, 50}, {0, 5}, true, false};
        std::vector<StepOperand> factors;
        for (int f = 0; f < 5; ++f) factors.push_back({{f, f + 1}, 1000, true});
        const auto choice = chosen(term, factors, [&](const FactorPair& pair) -> std::optional<ProductCounts> {
            return ProductCounts{pair.a == best && pair.b == best + 1 ? 10.0 : 1e9, {}};
        });
        EXPECT_EQ(choice.operands, (std::vector<std::size_t>{best, best + 1}));
    }
}

TEST(SparseOrders, FormNothingLargerThanAMask) {
    OrderedTerm term{{50, 50, 50}, {0, 2}, true, false};
    const std::vector<StepOperand> factors{{{0, 1}, 1000, true}, {{1, 2}, 1000, true}, {{0, 2}, 100, true}};
    const auto choice = chosen(term, factors, [](const FactorPair&) { return std::optional<ProductCounts>(); });
    EXPECT_EQ(choice.operands, (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_TRUE(choice.is_last && choice.is_sparse);
}

TEST(SparseOrders, StepsHaveTheFactorsThatAreChosen) {
    OrderedTerm term{{50, 60, 70}, {0, 2}, true, true, {"i", "j", "k"}, 16};
    std::vector<StepOperand> factors{{{1, 2}, 10.6, true}, {{0, 1}, 20, true, false, true}, {{2}}};
    factors[1].element_bytes = 4;
    const auto step = step_of(term, factors, {{1, 0}, {0, 2}, true, false}, ProductCounts{30, 25});
    ASSERT_EQ(step.sparse.size(), 2U);
    EXPECT_EQ(step.sparse[0].labels, (std::vector<int>{0, 1}));
    EXPECT_EQ(step.sparse[1].nonzeros, 11) << "expected numbers are rounded";
    EXPECT_TRUE(step.dense.empty() && !step.result);
    EXPECT_EQ(step.actor, 0);
    EXPECT_FALSE(step.actor_is_mask);
    EXPECT_EQ(step.bytes_of(0), 4);
    EXPECT_EQ(step.bytes_of(1), 16);
    EXPECT_EQ(step.counts->products, 30);
    EXPECT_EQ(step_of(term, factors, {{1}, {0}, true, false}, {}).actor, -1) << "alone it acts on nothing";
    const auto beside = step_of(term, factors, {{0, 2}, {1}, false, false}, {});
    EXPECT_EQ(beside.dense.size(), 1U);
    EXPECT_EQ(beside.actor, -1);
    factors[0].is_mask = true;
    EXPECT_TRUE(step_of(term, factors, {{1, 0}, {0, 2}, true, false}, {}).actor_is_mask) << "the other one of the two";
}

TEST(SparseOrders, CountsAreKeptByNonzerosAndTheLabelsThatMatter) {
    const StepOperand a{.labels = {0, 1}, .is_sparse = true, .pattern = 3}, b{.labels = {1, 2}, .is_sparse = true, .pattern = 4};
    EXPECT_EQ(counts_key(a, b, {2, 0}), counts_key(a, b, {0, 2, 5})) << "in any order, and no others";
    EXPECT_NE(counts_key(a, b, {0, 2}), counts_key(a, b, {0}));
    EXPECT_NE(counts_key(a, b, {0, 2}), counts_key(b, a, {0, 2}));
    auto other = b;
    other.pattern = 5;
    EXPECT_NE(counts_key(a, b, {0, 2}), counts_key(a, other, {0, 2}));
}

}  // namespace
}  // namespace arges

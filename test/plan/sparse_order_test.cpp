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
    Product product;
    std::vector<Operand> factors;
};

Case random_case(std::mt19937_64& random) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Case result;
    const int labels = 1 + below(6), factors = 1 + below(5);
    for (int l = 0; l < labels; ++l) result.product.label_extents.push_back(std::vector<std::int64_t>{0, 1, 2, 7, 100, 1 << 20}[below(6)]);
    std::set<int> there;
    for (int f = 0; f < factors; ++f) {
        auto& factor = result.factors.emplace_back();
        for (int order = 1 + below(3); order > 0; --order) factor.labels.push_back(below(labels));
        there.insert(factor.labels.begin(), factor.labels.end());
        if (f == 0 || below(3) > 0) factor.stored = {static_cast<double>(below(1000))};
    }
    auto& output = result.product.output;
    for (int label : there)
        if (below(2) == 0) output.labels.push_back(label);
    std::shuffle(output.labels.begin(), output.labels.end(), random);
    if (!output.labels.empty() && below(2) == 0) output.stored.emplace();
    return result;
}

Operand nonzeros(std::vector<int> labels, double count) { return {.labels = std::move(labels), .stored = StoredNonzeros{count}}; }

/// With a sparse output.
Product sparse_product(std::vector<std::int64_t> extents, std::vector<int> output) {
    Product product;
    product.label_extents = std::move(extents);
    product.output = nonzeros(std::move(output), 0);
    return product;
}

/// The next step where all products are given by a function.
template <class F>
StepChoice chosen(const Product& product, const std::vector<Operand>& factors, F&& counts) {
    for (MeasuredPairs measured;;) {
        auto found = next_step(product, factors, measured);
        if (auto* const choice = std::get_if<StepChoice>(&found)) return *choice;
        for (const auto& pair : std::get<std::vector<FactorPair>>(found)) {
            EXPECT_TRUE(factors.at(pair.a).is_sparse() && factors.at(pair.b).is_sparse() && pair.a != pair.b);
            EXPECT_TRUE(std::is_sorted(pair.output.begin(), pair.output.end()));
            EXPECT_EQ(measured.count(pair), 0U) << "it has been told";
            measured.emplace(pair, counts(pair));
        }
    }
}

TEST(SparseOrders, TakeAllFactorsOnceAndKeepTheLabelsThatAreNeeded) {
    test::for_each_seed(0, 2000, [](std::mt19937_64& random) {
        auto [product, factors] = random_case(random);
        for (;;) {
            const auto choice = chosen(product, factors, [&](const FactorPair&) -> std::optional<ProductCounts> {
                if (random() % 2 == 0) return {};
                return ProductCounts{static_cast<double>(random() % 1000), {}};
            });
            ASSERT_FALSE(choice.operands.empty());
            EXPECT_EQ(std::set(choice.operands.begin(), choice.operands.end()).size(), choice.operands.size());
            EXPECT_TRUE(factors.at(choice.operands[0]).is_sparse());
            std::set<int> taken, left(product.output.labels.begin(), product.output.labels.end());
            for (std::size_t f = 0; f < factors.size(); ++f) {
                const bool is_taken = std::find(choice.operands.begin(), choice.operands.end(), f) != choice.operands.end();
                (is_taken ? taken : left).insert(factors[f].labels.begin(), factors[f].labels.end());
            }
            for (int label : choice.output) EXPECT_TRUE(taken.count(label)) << label;
            for (int label : taken) EXPECT_TRUE(!left.count(label) || SparseStep::has(choice.output, label)) << label;
            EXPECT_EQ(SparseStep::distinct(choice.output), choice.output);
            if (choice.is_last) {
                EXPECT_EQ(choice.operands.size(), factors.size());
                EXPECT_EQ(choice.output, product.output.labels);
                EXPECT_EQ(choice.is_sparse, product.output.is_sparse());
                return;
            }
            ASSERT_FALSE(choice.output.empty()) << "a sparse tensor has a mode";
            const auto next = after_step(factors, choice, step_of(product, factors, choice, {}).output);
            ASSERT_LE(next.size(), factors.size());
            ASSERT_TRUE(next.size() < factors.size() || choice.operands.size() == 1);
            factors = next;
        }
    });
}

TEST(SparseOrders, BeginWithThePairOfFewestMultiplications) {
    // A chain: each pair of neighbours is measured, and one of them has the fewest.
    for (std::size_t best = 0; best < 4; ++best) {
        const auto product = sparse_product({50, 50, 50, 50, 50, 50}, {0, 5});
        std::vector<Operand> factors;
        for (int f = 0; f < 5; ++f) factors.push_back(nonzeros({f, f + 1}, 1000));
        const auto choice = chosen(product, factors, [&](const FactorPair& pair) -> std::optional<ProductCounts> {
            return ProductCounts{pair.a == best && pair.b == best + 1 ? 10.0 : 1e9, {}};
        });
        EXPECT_EQ(choice.operands, (std::vector<std::size_t>{best, best + 1}));
    }
}

TEST(SparseOrders, FormNothingLargerThanAMask) {
    const auto product = sparse_product({50, 50, 50}, {0, 2});
    const std::vector<Operand> factors{nonzeros({0, 1}, 1000), nonzeros({1, 2}, 1000), nonzeros({0, 2}, 100)};
    const auto choice = chosen(product, factors, [](const FactorPair&) { return std::optional<ProductCounts>(); });
    EXPECT_EQ(choice.operands, (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_TRUE(choice.is_last && choice.is_sparse);
}

TEST(SparseOrders, StepsHaveTheFactorsThatAreChosen) {
    auto product = sparse_product({50, 60, 70}, {0, 2});
    product.element_bytes = 16;
    std::vector<Operand> factors{nonzeros({1, 2}, 10.6), nonzeros({0, 1}, 20), {.labels = {2}}};
    factors[1].role = Role::actor;
    factors[1].element_bytes = 4;
    product.factors = factors;
    const auto step = step_of(product, factors, {{1, 0}, {0, 2}, true, false}, ProductCounts{30, 25});
    ASSERT_EQ(step.sparse().size(), 2U);
    EXPECT_EQ(step.sparse()[0].labels, (std::vector<int>{0, 1}));
    EXPECT_EQ(step.sparse()[1].stored->count, 11) << "expected numbers are rounded";
    EXPECT_TRUE(step.dense().empty() && step.output.is_sparse());
    EXPECT_EQ(step.acting(), local::Acting::first);
    EXPECT_EQ(step.bytes_of(step.factors[0]), 4);
    EXPECT_EQ(step.bytes_of(step.factors[1]), 16);
    EXPECT_EQ(step.counts->products, 30);
    EXPECT_EQ(step_of(product, factors, {{1}, {0}, true, false}, {}).acting(), local::Acting::none) << "alone it acts on nothing";
    const auto beside = step_of(product, factors, {{0, 2}, {1}, false, false}, {});
    EXPECT_EQ(beside.dense().size(), 1U);
    EXPECT_EQ(beside.acting(), local::Acting::none);
    factors[0].role = Role::mask;
    EXPECT_EQ(step_of(product, factors, {{1, 0}, {0, 2}, true, false}, {}).acting(), local::Acting::second_mask)
        << "the other one of the two";
}

TEST(SparseOrders, CountsAreKeptByNonzerosAndTheLabelsThatMatter) {
    const Operand a{.labels = {0, 1}, .stored = StoredNonzeros{0, {}, 3}}, b{.labels = {1, 2}, .stored = StoredNonzeros{0, {}, 4}};
    EXPECT_EQ(counts_key(a, b, {2, 0}), counts_key(a, b, {0, 2, 5})) << "in any order, and no others";
    EXPECT_NE(counts_key(a, b, {0, 2}), counts_key(a, b, {0}));
    EXPECT_NE(counts_key(a, b, {0, 2}), counts_key(b, a, {0, 2}));
    auto other = b;
    other.stored->pattern = 5;
    EXPECT_NE(counts_key(a, b, {0, 2}), counts_key(a, other, {0, 2}));
}

}  // namespace
}  // namespace arges

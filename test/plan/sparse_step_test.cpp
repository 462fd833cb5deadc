// Plans of products with sparse factors, without data.
#include "arges/error.hpp"
#include "plan/sparse/sparse_step.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <variant>

namespace arges {
namespace {

constexpr int i = 0, j = 1, k = 2;

SparseStep square(std::int64_t n, double nonzeros, double products, double result) {
    SparseStep step;
    step.label_extents = {n, n, n};
    step.label_names = {"i", "j", "k"};
    for (const auto& labels : {std::vector{i, j}, std::vector{j, k}})
        step.factors.push_back({.labels = labels, .stored = StoredNonzeros{nonzeros}});
    step.kept = step.output.labels = {i, k};
    step.output.stored.emplace();
    step.counts = ProductCounts{products, result};
    return step;
}

PlanOptions with_limit(std::int64_t bytes) {
    PlanOptions options;
    options.memory_limit = bytes;
    return options;
}

TEST(SparseStepPlans, UseAllRanksOfAnyNumber) {
    const auto step = square(1 << 20, 1 << 24, 1e10, 1e9);
    for (const std::int64_t ranks : {1, 2, 3, 5, 7, 13, 16, 60, 64, 97, 4096, 262144}) {
        SCOPED_TRACE(ranks);
        const auto plan = plan_sparse_step(step, ranks, with_limit(std::numeric_limits<std::int64_t>::max()));
        EXPECT_EQ(plan.grid.ranks(), ranks);
        EXPECT_NEAR(plan.products * static_cast<double>(ranks) / 1e10, 1, 1e-9);
        EXPECT_GE(plan.memory_bytes * static_cast<double>(ranks), 1e9 * 24);
    }
}

TEST(SparseStepPlans, KeepWithinTheLimitOrSayWhatTheyNeed) {
    const auto step = square(1 << 16, 1 << 20, 1e9, 1e8);
    for (const std::int64_t ranks : {4, 12, 64, 1024}) {
        SCOPED_TRACE(ranks);
        const auto free = plan_sparse_step(step, ranks, with_limit(std::numeric_limits<std::int64_t>::max()));
        double before = std::numeric_limits<double>::infinity();
        for (const double part : {0.5, 0.7, 1.0, 2.0}) {
            const auto limit = static_cast<std::int64_t>(part * free.memory_bytes);
            try {
                const auto plan = plan_sparse_step(step, ranks, with_limit(limit));
                EXPECT_LE(plan.memory_bytes - 0.3 * plan.finished_bytes, static_cast<double>(limit));
                EXPECT_LE(plan.seconds, before * (1 + 1e-12));
                EXPECT_GE(plan.seconds, free.seconds * (1 - 1e-12));
                before = plan.seconds;
                if (plan.phases.parts > 1) {
                    EXPECT_LT(part, 1);
                    EXPECT_TRUE(step.has_output(plan.phases.label));
                }
            } catch (const OutOfMemory&) {
                EXPECT_LT(part, 1);
            }
        }
    }
    EXPECT_THROW(plan_sparse_step(step, 4, with_limit(1000)), OutOfMemory);
}

/// A product that gives little of much is made part by part where memory is short: beside the result only a part of the sums is there.
TEST(SparseStepPlans, DivideAProductIntoPhasesWhereMemoryIsShort) {
    const auto step = square(1 << 20, 1 << 24, 4e10, 1e8);
    for (const std::int64_t ranks : {16, 64, 256}) {
        SCOPED_TRACE(ranks);
        const auto free = plan_sparse_step(step, ranks, with_limit(std::numeric_limits<std::int64_t>::max()));
        EXPECT_EQ(free.phases.parts, 1);
        // The result, and the factor that is not divided.
        const auto least = (1e8 * 24 + (1 << 24) * 72.0) / static_cast<double>(ranks);
        auto limit = free.memory_bytes;
        double seconds = free.seconds;
        std::int64_t parts = 1;
        for (; limit > 1.2 * least; limit *= 0.9) {
            const auto plan = plan_sparse_step(step, ranks, with_limit(static_cast<std::int64_t>(limit)));
            EXPECT_LE(plan.memory_bytes - 0.3 * plan.finished_bytes, limit);
            EXPECT_GE(plan.phases.parts, parts);
            if (plan.phases.parts == parts) {
                EXPECT_GE(plan.seconds, seconds * (1 - 1e-12));
            }
            parts = plan.phases.parts;
            seconds = plan.seconds;
        }
        EXPECT_GT(parts, 1);
        EXPECT_NE(to_string(plan_sparse_step(step, ranks, with_limit(static_cast<std::int64_t>(limit / 0.9))), step).find("phases over"),
                  std::string::npos);
        EXPECT_GE(plan_sparse_step(step, ranks, with_limit(std::numeric_limits<std::int64_t>::max()), 8).phases.parts, 8);
    }
}

TEST(SparseStepPlans, EachIndexIsInOnePhase) {
    for (std::int64_t index = 0; index < 200; ++index)
        for (const std::int64_t parts : {1, 2, 4, 8, 64}) {
            std::int64_t found = 0;
            for (std::int64_t number = 0; number < parts; ++number) {
                if (!SparsePhases{0, parts, number}.has(index)) continue;
                ++found;
                // Divided again, it is in one of the two halves.
                EXPECT_NE((SparsePhases{0, 2 * parts, number}.has(index)), (SparsePhases{0, 2 * parts, number + parts}.has(index)));
            }
            EXPECT_EQ(found, 1);
        }
}

/// What is sampled matters: a product with few multiplications and much to send is not spread over all three labels.
TEST(SparseStepPlans, ExpectWhatSamplesSay) {
    auto step = square(1 << 16, 1 << 20, 1e9, 1e8);
    EXPECT_EQ(expected_nonzeros(step), 1e8);
    step.counts.reset();
    EXPECT_NEAR(expected_nonzeros(step) / (1 << 24), 1, 0.01);  // at random: 2^20 * 2^20 / 2^16, hardly two at one place
    step.counts = ProductCounts{1e9, std::nullopt};
    EXPECT_LT(expected_nonzeros(step), 1e9);
    EXPECT_GT(expected_nonzeros(step), 8e8);
}

TEST(SparseStepPlans, LeaveOperandsWhereTheyLieIfThatIsFaster) {
    SparseStep step;
    step.label_extents = {1 << 20, 1 << 20};
    step.label_names = {"i", "j"};
    LabelGrid grid{{8, 1}};
    step.factors = {{.labels = {i, j}, .stored = StoredNonzeros{1 << 24, grid.layout_of({i, j})}}};
    step.kept = step.output.labels = {i};
    step.output.stored.emplace();
    const auto plan = plan_sparse_step(step, 8, with_limit(std::numeric_limits<std::int64_t>::max()));
    EXPECT_EQ(plan.grid.parts, grid.parts);
    EXPECT_EQ(plan.sparse_bytes, 0);
}

/// The sums of the rows of a matrix on several ranks.
SparseStep rows_of_matrix() {
    SparseStep step;
    step.label_extents = {1 << 20, 1 << 20};
    step.label_names = {"i", "j"};
    step.factors = {{.labels = {i, j}, .stored = StoredNonzeros{1 << 24, {}, 7}}};
    step.kept = step.output.labels = {i};
    step.output.stored.emplace();
    return step;
}

TEST(SparseStepPlans, AreByAHashWhereNonzerosAreUneven) {
    const auto options = with_limit(std::numeric_limits<std::int64_t>::max());
    for (const double uneven : {1.0, 1.05, 4.0}) {
        auto step = rows_of_matrix();
        std::optional<SparseStepPlan> plan;
        std::size_t asked = 0;
        for (MeasuredImbalances measured; !plan; ++asked) {
            auto found = plan_by_imbalance(step, 8, options, 1, measured);
            if (auto* const made = std::get_if<SparseStepPlan>(&found)) {
                plan = *made;
                break;
            }
            const auto& layout = std::get<SparseLayout>(found);
            for (const auto& known : measured) EXPECT_FALSE(known.first == layout) << "it has been told";
            const bool by_hash = !layout.digits.empty() && layout.digits[0].by_hash;
            measured.emplace_back(layout, by_hash ? 1.01 : uneven);
        }
        EXPECT_EQ(plan->grid.by_hash, uneven > 2) << uneven;
        EXPECT_EQ(asked, uneven > 1.1 ? 2U : 1U);
        EXPECT_EQ(to_string(*plan, step).find(" by a hash") != std::string::npos, uneven > 2);
    }
}

TEST(SparseStepPlans, AskForNoImbalanceThatDoesNotMatter) {
    const auto options = with_limit(std::numeric_limits<std::int64_t>::max());
    const auto is_plan = [&](const SparseStep& step, std::int64_t ranks, const MeasuredImbalances& measured) {
        return std::holds_alternative<SparseStepPlan>(plan_by_imbalance(step, ranks, options, 1, measured));
    };
    auto step = rows_of_matrix();
    EXPECT_TRUE(is_plan(step, 1, {})) << "one rank";
    EXPECT_FALSE(is_plan(step, 8, {}));
    const auto layout = std::get<SparseLayout>(plan_by_imbalance(step, 8, options, 1, {}));
    EXPECT_TRUE(is_plan(step, 8, {{layout, std::nullopt}})) << "it cannot be found out";
    step.factors[0].stored->pattern = 0;
    EXPECT_TRUE(is_plan(step, 8, {})) << "not computed yet";
    EXPECT_TRUE(is_plan(square(100, 1000, 1e4, 1e3), 8, {})) << "two sparse factors are always spread by a hash";
}

TEST(SparseStepKeys, TellStepsApart) {
    const auto step = rows_of_matrix();
    const auto differs = [&](auto change) {
        auto other = step;
        change(other);
        return key_of(other) != key_of(step);
    };
    EXPECT_FALSE(differs([](SparseStep& s) { s.label_names = {"a", "b"}; })) << "letters do not matter";
    EXPECT_FALSE(differs([](SparseStep& s) { s.factors[0].stored->count = 5; })) << "the pattern says how many there are";
    EXPECT_TRUE(differs([](SparseStep& s) { s.factors[0].stored->pattern = 8; }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.factors[0].labels = {j, i}; }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.kept = {j}; }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.element_bytes = 16; }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.label_extents[i] = 5; }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.output.stored.reset(); }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.factors.push_back({.labels = {j}}); }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.factors.push_back(s.factors[0]); }));
    EXPECT_TRUE(differs([](SparseStep& s) { s.factors[0].element_bytes = 4; })) << "elements are converted";
    EXPECT_TRUE(differs([](SparseStep& s) {
        s.factors[0].role = Role::actor;
        s.factors[0].element_bytes = 4;
    }));
}

}  // namespace
}  // namespace arges

// Plans of products with sparse factors, without data.
#include "arges/error.hpp"
#include "plan/sparse/sparse_step.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace arges {
namespace {

constexpr int i = 0, j = 1, k = 2;

SparseStep square(std::int64_t n, std::int64_t nonzeros, double products, double result) {
    SparseStep step;
    step.label_extents = {n, n, n};
    step.label_names = {"i", "j", "k"};
    step.sparse = {{{i, j}, nonzeros}, {{j, k}, nonzeros}};
    step.output = {i, k};
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
                EXPECT_LE(plan.memory_bytes, static_cast<double>(limit));
                EXPECT_LE(plan.seconds, before * (1 + 1e-12));
                EXPECT_GE(plan.seconds, free.seconds * (1 - 1e-12));
                before = plan.seconds;
            } catch (const OutOfMemory&) {
                EXPECT_LT(part, 1);
            }
        }
    }
    EXPECT_THROW(plan_sparse_step(step, 4, with_limit(1000)), OutOfMemory);
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
    step.sparse = {{{i, j}, 1 << 24, grid.layout_of({i, j})}};
    step.output = {i};
    const auto plan = plan_sparse_step(step, 8, with_limit(std::numeric_limits<std::int64_t>::max()));
    EXPECT_EQ(plan.grid.parts, grid.parts);
    EXPECT_EQ(plan.sparse_bytes, 0);
}

}  // namespace
}  // namespace arges

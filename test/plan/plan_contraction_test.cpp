#include "plan/product/product_plan.hpp"

#include "plan/product/estimate_cost.hpp"
#include "plan/product/plan_product.hpp"
#include "plan/report/plan_report.hpp"
#include "support/contractions.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

RankGrid grid_of(std::int64_t ranks) { return unfold(Torus({ranks})); }

/// What every plan must satisfy.
void check_plan(const ProductPlan& plan, const PlanOptions& options) {
    const auto ranks = plan.spec.output.layout.grid().ranks();
    ASSERT_EQ(plan.mapping.size(), plan.axes.size());
    std::set<int> used;
    std::int64_t on_grid = 1;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        for (int t : plan.mapping[a].all()) EXPECT_TRUE(used.insert(t).second) << "a torus dimension is used twice";
        on_grid *= plan.grid_lengths[a];
    }
    EXPECT_EQ(ranks % on_grid, 0);
    EXPECT_LE(plan.cost.working_bytes, options.memory_limit);
    EXPECT_GE(plan.cost.flops * static_cast<double>(ranks), plan.cost.useful_flops * 0.999);
    for (std::size_t o = 0; o < plan.operands.size(); ++o) {
        const auto& w = plan.operands[o];
        if (plan.rows && o == plan.rows->operand) continue;  // it is read by rows, not by axes
        EXPECT_EQ(w.axes.size(), static_cast<std::size_t>(w.layout.slots()));
        for (std::size_t a = 0; a < plan.axes.size(); ++a)
            EXPECT_EQ(std::count(w.axes.begin(), w.axes.end(), static_cast<int>(a)), plan.axes[a].in(o) ? 1 : 0);
    }
}

TEST(PlanContraction, WorksForEveryNumberOfRanks) {
    for (const auto mapping : {GroupMapping::packed, GroupMapping::blocks})
        for (const auto& [name, text] : contraction_cases(8, 4, 5))
            for (std::int64_t ranks = 1; ranks <= 64; ++ranks) {
                if (mapping == GroupMapping::blocks && ranks % 4 != 0 && ranks > 8) continue;
                SCOPED_TRACE(name + " on " + std::to_string(ranks));
                PlanOptions options;
                options.group_mapping = mapping;
                const auto spec = pairwise_product(text, grid_of(ranks), mapping);
                const auto plan = plan_contraction(spec, options);
                check_plan(plan, options);
                EXPECT_FALSE(ranks <= 8 && explain(plan).empty());
            }
}

TEST(PlanContraction, WorksForHugeMachines) {
    for (const auto& [name, text] : contraction_cases(300, 60, 40))
        for (std::int64_t ranks : {4096, 131072, 65537}) {
            SCOPED_TRACE(name + " on " + std::to_string(ranks));
            check_plan(plan_contraction(pairwise_product(text, grid_of(ranks)), {}), {});
        }
}

TEST(PlanContraction, IsTheSameEveryTime) {
    for (const auto& [name, text] : contraction_cases(10, 4, 5))
        for (std::int64_t ranks : {1, 6, 16, 24, 4096}) {
            const auto spec = pairwise_product(text, grid_of(ranks));
            const auto first = plan_contraction(spec, {}), second = plan_contraction(spec, {});
            EXPECT_EQ(first, second) << name;
            EXPECT_EQ(explain(first), explain(second));
        }
}

TEST(PlanContraction, CutsIntoPanelsWhereMemoryIsShort) {
    for (const char* name : {"mm", "ladder", "model6as"})
        for (std::int64_t ranks : {4, 8}) {
            SCOPED_TRACE(std::string(name) + " on " + std::to_string(ranks));
            const auto spec = pairwise_product(contraction_cases(40, 10, std::string(name) == "mm" ? 256 : 10)[name], grid_of(ranks));
            PlanOptions options;
            const auto whole = plan_contraction(spec, options);
            ASSERT_TRUE(whole.windows.empty());
            ASSERT_GT(whole.cost.working_bytes, 0);
            options.memory_limit = whole.cost.working_bytes / 3;
            const auto cut = plan_contraction(spec, options);
            check_plan(cut, options);
            EXPECT_GT(cut.window_count(), 1);
            EXPECT_NE(explain(cut).find("for lack of memory"), std::string::npos);
            options.memory_limit = 16;
            try {
                plan_product(spec, options);
                ADD_FAILURE() << "16 bytes are not enough";
            } catch (const OutOfMemory& e) {
                EXPECT_NE(std::string(e.what()).find("needs at least"), std::string::npos);
                EXPECT_NE(std::string(e.what()).find("16 B"), std::string::npos) << e.what();
            }
        }
}

/// Windows cover the axes: what all parts hold is what the whole layout holds.
TEST(PlanContraction, HasWindowsThatCoverTheWhole) {
    PlanOptions options;
    options.memory_limit = 60000;
    const auto plan = plan_contraction(pairwise_product(contraction_cases(40, 10, 100)["mm"], grid_of(4)), options);
    ASSERT_GT(plan.window_count(), 1);
    for (std::int64_t rank = 0; rank < 4; ++rank)
        for (std::size_t o = 0; o < plan.operands.size(); ++o) {
            std::int64_t total = 0;
            std::vector<std::int64_t> range(plan.windows.size(), 0);
            for (std::int64_t w = 0; w < plan.window_count(); ++w) {
                total += plan.window_layout(o, range).local_size(rank);
                for (std::size_t i = 0; i < range.size(); ++i) {
                    if (++range[i] < plan.windows[i].count) break;
                    range[i] = 0;
                }
            }
            EXPECT_EQ(total * plan.parts(o), plan.operands[o].layout.local_size(rank) * plan.window_count());
        }
}

/// Most words that a rank sends or receives, counted over the lists of all ranks.
std::int64_t busiest_words(const ProductPlan& plan) {
    std::int64_t most = 0, sent_in_all = 0, received_in_all = 0;
    for (std::int64_t rank = 0; rank < plan.spec.output.layout.grid().ranks(); ++rank) {
        std::int64_t sent = 0, received = 0;
        for (const auto& v : exact_volume(plan, rank)) {
            sent += v.sent;
            received += v.received;
        }
        most = std::max({most, sent, received});
        sent_in_all += sent;
        received_in_all += received;
    }
    EXPECT_EQ(sent_in_all, received_in_all);
    return most;
}

/// Section 2.5 of the notes on lower bounds, column "default", in bytes per rank.
TEST(PlanContraction, MovesNoMoreThanTheBestGridForMatrices) {
    const auto text = contraction_cases(40, 10, 1024)["mm"];
    for (const auto& [ranks, most] : std::map<std::int64_t, std::int64_t>{{4, 4194304}, {8, 4194304}, {16, 3145728}}) {
        const auto plan = plan_contraction(pairwise_product(text, grid_of(ranks)), {});
        const auto bytes = busiest_words(plan) * 8;
        EXPECT_LE(bytes, most) << explain(plan);
        EXPECT_GE(static_cast<double>(bytes), 8 * matmul_lower_bound_words(1024, 1024, 1024, static_cast<double>(ranks)));
        // The estimate of the search is exact for plain labels.
        std::vector<std::int64_t> counted(3, 0);
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const auto volume = exact_volume(plan, rank);
            for (std::size_t o = 0; o < 3; ++o) counted[o] = std::max(counted[o], o == plan.result() ? volume[o].sent : volume[o].received);
        }
        EXPECT_EQ(plan.cost.words, counted);
    }
}

TEST(PlanContraction, SendsAsMuchAsItReceives) {
    for (const auto& [name, text] : contraction_cases(6, 4, 4))
        for (std::int64_t ranks : {2, 3, 6, 8})
            for (const auto mapping : {GroupMapping::packed, GroupMapping::blocks}) {
                PlanOptions options;
                options.group_mapping = mapping;
                busiest_words(plan_contraction(pairwise_product(text, grid_of(ranks), mapping), options));
            }
}

/// Numbers of section 2.1 of the notes: 1024 cubed on 4, 8 and 16 ranks.
TEST(LowerBound, IsThatOfTheTightTheorem) {
    EXPECT_NEAR(8 * matmul_lower_bound_words(1024, 1024, 1024, 4), 3695608, 1);
    EXPECT_NEAR(8 * matmul_lower_bound_words(1024, 1024, 1024, 8), 3145728, 1);
    EXPECT_NEAR(8 * matmul_lower_bound_words(1024, 1024, 1024, 16), 2390505, 1);
    EXPECT_NEAR(8 * matmul_lower_bound_words(1024, 1024, 1024, 2), 3270564, 1);
    EXPECT_EQ(matmul_lower_bound_words(1024, 1024, 1024, 1), 0);
}

}  // namespace
}  // namespace arges::test

// Plans of products of many tensors: what stays, what runs together, what moves in the first and in the second run.
#include "plan/product/plan_product.hpp"
#include "plan/product/step_memory.hpp"

#include "plan/report/plan_report.hpp"
#include "support/product_text.hpp"

#include <gtest/gtest.h>

#include <map>

namespace arges::test {
namespace {

std::map<char, std::int64_t> lengths(std::int64_t tensor, std::int64_t columns, const std::string& letters) {
    std::map<char, std::int64_t> result;
    for (char l : letters)
        if (l >= 'a' && l <= 'z') result[l] = l < 'i' ? columns : tensor;
    return result;
}

/// Bytes of the busiest rank: inputs received and results sent.
std::int64_t bytes(const PlannedProduct& plan, const Product& spec) { return plan_report(plan, spec, {}).bytes; }

/// 1024 x 1024 matrices on 13 ranks: all of them would split one label and move 7.7 MB, 12 of them move 2.8.
TEST(PlanProduct, LeavesRanksIdleWhereFewerMoveLess) {
    for (const auto& [ranks, working, moved] : {std::array<std::int64_t, 3>{13, 12, 2797568}, {31, 30, 1961440}}) {
        auto spec = product_of("ij,jk->ik", {{'i', 1024}, {'j', 1024}, {'k', 1024}}, ranks);
        PlanOptions options;
        options.grids = grids_for_products(Torus({ranks}));
        spec = settled(plan_product(spec, options), spec);
        const auto report = plan_report(plan_product(spec, options), spec, options);
        EXPECT_EQ(report.ranks, ranks);
        EXPECT_EQ(report.steps[0].working_ranks, working);
        EXPECT_EQ(report.bytes, moved);
        EXPECT_NE(explain(report).find(std::to_string(ranks - working) + " of " + std::to_string(ranks) + " ranks are idle"),
                  std::string::npos);
        options.grids.resize(1);
        EXPECT_GT(plan_report(plan_product(spec, options), spec, options).bytes, 2 * moved);
    }
}

/// Messages cost nothing beside their bytes.
PlanOptions by_bytes() {
    PlanOptions options;
    options.machine.message_seconds = 0;
    return options;
}

/// From balanced layouts in the first run, and what the best grid moves when operands lie as it wants them in the second.
TEST(PlanProduct, MovesWhatTheBestGridMovesFromTheSecondRunOn) {
    struct Row {
        std::string text;
        std::int64_t tensor, columns, ranks, first_at_most, second;
    };
    const std::vector<Row> rows{{"ij,jk->ik", 1024, 0, 4, 4194304, 4194304},
                                {"ij,jk->ik", 1024, 0, 8, 4194304, 3145728},
                                {"ij,jk->ik", 1024, 0, 16, 3145728, 2621440},
                                {"ijk,ja,ka->ia", 192, 24, 4, 55296, 46080},
                                {"ijk,ja,ka->ia", 192, 24, 8, 50688, 41472},
                                {"ijk,ja,ka->ia", 192, 24, 16, 43776, 39168},
                                {"ijklm,ja,ka,la,ma->ia", 16, 24, 4, 9216, 8448},
                                {"ijklm,ja,ka,la,ma->ia", 16, 24, 8, 9600, 8832},
                                {"ijklm,ja,ka,la,ma->ia", 16, 24, 16, 8832, 8256},
                                {"ijklm,jb,kc,ld,me->ibcde", 16, 16, 4, 2102272, 6144},
                                {"ijklm,jb,kc,ld,me->ibcde", 16, 16, 8, 1580032, 7168},
                                {"ijklm,jb,kc,ld,me->ibcde", 16, 16, 16, 925184, 7680}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.text + " on " + std::to_string(row.ranks));
        auto spec = product_of(row.text, lengths(row.tensor, row.columns, row.text), row.ranks);
        auto plan = plan_product(spec, by_bytes());
        EXPECT_LE(bytes(plan, spec), row.first_at_most);
        spec = settled(plan, spec);
        plan = plan_product(spec, by_bytes());
        EXPECT_EQ(bytes(plan, spec), row.second);
    }
}

TEST(PlanProduct, RunsMttkrpOnOneGridAndLeavesTheTensor) {
    for (const std::int64_t ranks : {1, 2, 6, 8, 64, 4096}) {
        const auto spec = product_of("ijk,ja,ka->ia", {{'i', 512}, {'j', 512}, {'k', 512}, {'a', 24}}, ranks);
        const auto plan = plan_product(spec, by_bytes());
        ASSERT_EQ(plan.steps.size(), 1U);
        const auto* const product = plan.steps[0].product();
        ASSERT_NE(product, nullptr);
        EXPECT_TRUE(product->operands[0].in_place);
        for (std::size_t a = 0; a < product->axes.size(); ++a)
            EXPECT_TRUE(product->axes[a].labels[0] != spec.factors[1].labels[1] || product->grid_lengths[a] == 1)
                << "the columns are not split";
    }
}

/// Whatever the limit is, there is a plan whose parts all fit together, or an end.
TEST(PlanProduct, FitsAsAWholeOrIsRefused) {
    const std::map<char, std::int64_t> extents{{'i', 24}, {'j', 20}, {'k', 30}, {'l', 12}};
    for (const char* text : {"ij->ji", "ij->i", "ij,jk->ik", "ij,jk,kl->il", "ij,jk,kl,li->"})
        for (const std::int64_t ranks : {1, 2, 6, 8}) {
            int refused = 0;
            for (std::int64_t limit = 1 << 20; limit >= 0; limit = limit * 2 / 3 - 1) {
                const auto spec = product_of(text, extents, ranks);
                PlanOptions options;
                options.memory_limit = limit;
                try {
                    const auto plan = plan_product(spec, options);
                    auto taken = intermediate_bytes(plan, spec.element_bytes) + new_place_bytes(plan, spec);
                    for (const auto& step : plan.steps)
                        EXPECT_LE(step_memory(step, spec.element_bytes, {}).workspace + taken, limit) << text;
                } catch (const OutOfMemory&) {
                    ++refused;
                }
            }
            EXPECT_LT(refused, 20) << text << " on " << ranks;
        }
}

TEST(PlanProduct, IsCutIntoSlicesOrRefusedWithTheRanksThatWouldDo) {
    const auto spec = product_of("ijk,ja,ka->ia", {{'i', 200}, {'j', 200}, {'k', 200}, {'a', 24}}, 4);
    const auto whole = plan_product(spec, {});
    ASSERT_TRUE(whole.steps[0].product()->windows.empty());
    PlanOptions tight;
    tight.memory_limit = whole.steps[0].product()->cost.working_bytes / 3;
    const auto cut = plan_product(spec, tight);
    EXPECT_FALSE(cut.steps[0].product()->windows.empty());
    EXPECT_LE(cut.steps[0].product()->cost.working_bytes, tight.memory_limit);
    EXPECT_EQ(bytes(cut, spec), bytes(whole, spec)) << "slices do not move more";
    tight.memory_limit = -1000000;
    try {
        plan_product(spec, tight);
        FAIL() << "a plan without memory";
    } catch (const OutOfMemory& error) {
        EXPECT_NE(std::string(error.what()).find("ranks would do"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace arges::test

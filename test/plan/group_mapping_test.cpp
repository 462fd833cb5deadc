// Symmetric groups packed, in blocks, or as is best for each product: what the search makes of the choice.
#include "plan/product/ranked_grids.hpp"
#include "plan/report/plan_report.hpp"
#include "support/contractions.hpp"
#include "support/random_network.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <random>

namespace arges::test {
namespace {

PlanOptions with_mapping(GroupMapping mapping) {
    PlanOptions options;
    options.group_mapping = mapping;
    return options;
}

double seconds_of(const Product& spec, const PlanOptions& options) {
    return plan_product(spec, options).seconds(spec.element_bytes, options);
}

bool has_blocks(const PlanReport& report) {
    for (const auto& step : report.steps)
        for (const auto& part : step.grid)
            if (part.in_blocks) return true;
    return false;
}

/// Tensors packed and in blocks, pairs and networks: the choice is never slower than each of its sides.
TEST(GroupMapping, BestIsNeverSlower) {
    int in_blocks = 0;
    for (const auto at_rest : {GroupMapping::packed, GroupMapping::blocks})
        for (const auto& [name, text] : contraction_cases(12, 6, 6))
            for (const std::int64_t ranks : {1, 2, 6, 8, 64}) {
                SCOPED_TRACE(name + " on " + std::to_string(ranks));
                const auto spec = pairwise_product(text, unfold(Torus({ranks})), at_rest);
                const double best = seconds_of(spec, with_mapping(GroupMapping::best));
                const double packed = seconds_of(spec, with_mapping(GroupMapping::packed));
                EXPECT_LE(best, packed * (1 + 1e-9));
                EXPECT_LE(best, seconds_of(spec, with_mapping(GroupMapping::blocks)) * (1 + 1e-9));
                in_blocks += best < packed * (1 - 1e-3) ? 1 : 0;
                if (at_rest == GroupMapping::packed) {
                    EXPECT_GE(best, packed * 0.99) << "packed tensors gain next to nothing by blocks";
                }
            }
    EXPECT_GT(in_blocks, 3) << "tensors in blocks stay there where moving them costs more than padding";
}

TEST(GroupMapping, BestOfNetworksIsNeverSlower) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        std::mt19937_64 random(seed);
        const RandomNetwork network(random, static_cast<int>(2 + seed % 3), true);
        SCOPED_TRACE(network.text());
        const auto grid = unfold(Torus({seed % 2 == 0 ? 8 : 6}));
        const auto operand = [&](const NetworkOperand& factor) {
            const auto make = random() % 2 == 0 ? block_layout : default_layout;
            return Operand{make(grid, network.extents_of(factor), factor.symmetry), factor.labels, false, "A"};
        };
        Product spec;
        spec.label_extents = network.extents;
        spec.label_names.assign(network.extents.size(), "a");
        spec.terms = {identity_term(network.extents.size())};
        for (const auto& factor : network.factors) spec.factors.push_back(operand(factor));
        spec.output = operand({network.output, Symmetry::none(static_cast<int>(network.output.size()))});
        spec.output_is_free = seed % 3 == 0;
        EXPECT_LE(seconds_of(spec, with_mapping(GroupMapping::best)), seconds_of(spec, with_mapping(GroupMapping::packed)) * (1 + 1e-9));
        EXPECT_GT(seconds_of(spec, with_mapping(GroupMapping::blocks)), 0);
    }
}

TEST(GroupMapping, IsPackedWherePaddingWouldCount) {
    auto spec = pairwise_product(contraction_cases(12, 6, 6).at("sy"), unfold(Torus({8})), GroupMapping::blocks);
    const auto options = with_mapping(GroupMapping::best);
    EXPECT_TRUE(has_blocks(plan_report(plan_product(spec, options), spec, options)));
    spec.may_pad = false;
    EXPECT_FALSE(has_blocks(plan_report(plan_product(spec, options), spec, options)));
}

TEST(GroupMapping, ChoicesAreAllOfFewGroups) {
    const auto groups = [](const char* name) {
        const auto spec = pairwise_product(contraction_cases(8, 4, 5).at(name), unfold(Torus({4})));
        return unmapped_plan(spec, {{0, 1}});
    };
    EXPECT_EQ(choices_of_blocks(groups("ladder"), GroupMapping::best).size(), 8U);
    EXPECT_EQ(choices_of_blocks(groups("ladder"), GroupMapping::packed).size(), 1U);
    EXPECT_EQ(choices_of_blocks(groups("ladder"), GroupMapping::blocks), (std::vector<AxesInBlocks>{{true, true, true}}));
    EXPECT_EQ(choices_of_blocks(groups("mm"), GroupMapping::best).size(), 1U);
}

/// Example of docs/padding.md: 8 dimensions, 16 ranks, n = 14, where the free group has phase 2 in each of four dimensions.
TEST(GroupMapping, ReportsBlocksAndTheirPadding) {
    const ContractionText text{{"abij", "sym(a,b) sym(i,j)"},
                               {"abef", "sym(a,b) sym(e,f)"},
                               {"efij", "sym(e,f) sym(i,j)"},
                               {{'a', 9}, {'b', 9}, {'e', 9}, {'f', 9}, {'i', 9}, {'j', 9}}};
    const auto spec = pairwise_product(text, unfold(Torus({8})), GroupMapping::blocks);
    const auto options = with_mapping(GroupMapping::blocks);
    const auto report = plan_report(plan_product(spec, options), spec, options);
    ASSERT_TRUE(has_blocks(report));
    EXPECT_GT(report.steps[0].padding, 0.05);
    EXPECT_GT(report.tensor_padding, 0.05);
    EXPECT_NE(explain(report).find(" block"), std::string::npos);
    const auto packed = pairwise_product(text, unfold(Torus({8})));
    const auto other = plan_report(plan_product(packed, {}), packed, {});
    EXPECT_FALSE(has_blocks(other));
    EXPECT_LT(other.tensor_padding, report.tensor_padding);
}

}  // namespace
}  // namespace arges::test

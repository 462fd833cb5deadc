// Plans of products of many tensors: what stays, what runs together, what moves in the first and in the second run.
#include "plan/plan_product.hpp"

#include "plan/plan_report.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

#include <map>

namespace arges::test {
namespace {

/// "ijk,ja,ka->ia" with extents by letter, tensors in the layouts that new ones get.
ProductSpec product_of(const std::string& text, const std::map<char, std::int64_t>& extents, std::int64_t ranks) {
    ProductSpec spec;
    std::map<char, int> number;
    for (const auto& [letter, extent] : extents) {
        number[letter] = static_cast<int>(number.size());
        spec.label_extents.push_back(extent);
        spec.label_names.emplace_back(1, letter);
    }
    const auto grid = unfold(Torus({ranks}));
    auto operand = [&](const std::string& letters) {
        OperandSpec result;
        std::vector<std::int64_t> shape;
        for (char l : letters) {
            result.labels.push_back(number.at(l));
            shape.push_back(extents.at(l));
        }
        result.layout = default_layout(grid, shape, Symmetry::none(static_cast<int>(shape.size())));
        result.name = letters;
        return result;
    };
    const auto arrow = text.find("->");
    for (std::size_t begin = 0; begin < arrow;) {
        const auto end = std::min(text.find(',', begin), arrow);
        spec.factors.push_back(operand(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    spec.output = operand(text.substr(arrow + 2));
    spec.output_is_free = true;
    LabelTerm identity;
    for (std::size_t l = 0; l < extents.size(); ++l) identity.image.push_back(static_cast<int>(l));
    spec.terms = {identity};
    return spec;
}

std::map<char, std::int64_t> lengths(std::int64_t tensor, std::int64_t columns, const std::string& letters) {
    std::map<char, std::int64_t> result;
    for (char l : letters)
        if (l >= 'a' && l <= 'z') result[l] = l < 'i' ? columns : tensor;
    return result;
}

/// Bytes of the busiest rank: inputs received and results sent.
std::int64_t bytes(const PlannedProduct& plan, const ProductSpec& spec) { return plan_report(plan, spec, {}).bytes; }

/// The columns "default" and "plan" of the notes on lower bounds, section 2.5.
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
        auto plan = plan_product(spec, {});
        EXPECT_LE(bytes(plan, spec), row.first_at_most);
        spec = settled(plan, spec);
        plan = plan_product(spec, {});
        EXPECT_EQ(bytes(plan, spec), row.second);
    }
}

TEST(PlanProduct, RunsMttkrpOnOneGridAndLeavesTheTensor) {
    for (const std::int64_t ranks : {1, 2, 6, 8, 64, 4096}) {
        const auto spec = product_of("ijk,ja,ka->ia", {{'i', 512}, {'j', 512}, {'k', 512}, {'a', 24}}, ranks);
        const auto plan = plan_product(spec, {});
        ASSERT_EQ(plan.steps.size(), 1U);
        ASSERT_TRUE(plan.steps[0].fused.has_value());
        EXPECT_TRUE(plan.steps[0].fused->inputs[0].in_place);
        EXPECT_EQ(plan.steps[0].fused->places(spec.factors[1].labels[1]), 1) << "the columns are not split";
    }
}

TEST(PlanProduct, IsCutIntoSlicesOrRefusedWithTheRanksThatWouldDo) {
    const auto spec = product_of("ijk,ja,ka->ia", {{'i', 200}, {'j', 200}, {'k', 200}, {'a', 24}}, 4);
    const auto whole = plan_product(spec, {});
    ASSERT_EQ(whole.steps[0].fused->slices, 1);
    PlanOptions tight;
    tight.memory_limit = whole.steps[0].fused->cost.working_bytes / 3;
    const auto cut = plan_product(spec, tight);
    EXPECT_GT(cut.steps[0].fused->slices, 1);
    EXPECT_LE(cut.steps[0].fused->cost.working_bytes, tight.memory_limit);
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

// Orders of products: what symmetry and memory change.
#include "plan/order/product_order.hpp"

#include "support/product_text.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

std::vector<std::array<int, 2>> order_of(const Product& spec, const PlanOptions& options = {}) {
    const auto steps = ProductSteps::forecast(spec, options);
    return product_order(steps.nodes(), spec, options);
}

using Steps = std::vector<std::array<int, 2>>;
const Steps left_first{{0, 1}, {2, 3}}, right_first{{1, 2}, {0, 3}};

/// T(abk) V(abc) W(cd): with 36 pairs ab it pays to sum them first, with the 15 packed ones to multiply V and W first.
TEST(ProductOrder, CountsPackedGroupsWithTheirPackedSize) {
    const std::map<char, std::int64_t> extents{{'a', 6}, {'b', 6}, {'k', 30}, {'c', 30}, {'d', 36}};
    const std::string text = "abk,abc,cd->kd";
    EXPECT_EQ(order_of(product_of(text, extents, 1)), left_first);
    const std::map<std::string, std::string> both{{"abk", "antisym(a,b)"}, {"abc", "antisym(a,b)"}};
    EXPECT_EQ(order_of(product_of(text, extents, 1, both)), right_first);
    EXPECT_EQ(order_of(product_of(text, extents, 1, {{"abc", "antisym(a,b)"}})), left_first) << "the group is not packed in T";
}

/// A group of which only one label is summed is unpacked.
TEST(ProductOrder, CountsBrokenGroupsWithAllElements) {
    const std::map<char, std::int64_t> extents{{'a', 20}, {'b', 20}, {'c', 20}, {'d', 20}};
    const std::string text = "ab,bc,cd->ad";
    EXPECT_EQ(order_of(product_of(text, extents, 1)), order_of(product_of(text, extents, 1, {{"ab", "sym(a,b)"}, {"bc", "sym(b,c)"}})));
}

/// A(ik) B(kj) C(jl): the order of fewer products makes a matrix of 10 x 100000, the other one of 60 x 60.
TEST(ProductOrder, AvoidsResultsThatDoNotFit) {
    const auto spec = product_of("ik,kj,jl->il", {{'i', 10}, {'j', 100000}, {'k', 60}, {'l', 60}}, 1);
    EXPECT_EQ(order_of(spec), left_first);
    PlanOptions tight;
    tight.memory_limit = 1 << 20;
    EXPECT_EQ(order_of(spec, tight), right_first);
}

}  // namespace
}  // namespace arges::test

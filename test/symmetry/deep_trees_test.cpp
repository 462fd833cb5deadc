// Trees of too many levels and of things that are none are refused, and do not overflow the stack.
#include "arges/error.hpp"
#include "arges/symmetry.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace arges::test {
namespace {

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

/// The message of the refusal.
template <class F>
std::string refused(const F& f) {
    try {
        f();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    ADD_FAILURE() << "not refused";
    return "";
}

TEST(DeepTrees, InTextAreRefusedWithTheirPosition) {
    for (const char* open : {"(", "sym(", "product(", "hermitian(a,"})
        for (int times : {63, 1000, 400000}) {
            const auto message = refused([&] { Symmetry::parse("ab", repeated(open, times)); });
            EXPECT_LT(message.size(), 600U);
            EXPECT_TRUE(std::string(open) == "(" || message.find("nodes within each other") != std::string::npos) << message;
        }
    refused([] { Symmetry::parse("ab", repeated("product(", 400000) + "a" + repeated(")", 400000)); });
    EXPECT_EQ(Symmetry::parse("ab", repeated("product(", 60) + "sym(a,b)" + repeated(")", 60)), Symmetry::parse("ab", "sym(a,b)"));
    refused([] { Symmetry::parse(std::string(400000, 'a'), ""); });
    EXPECT_EQ(Symmetry::parse("a", repeated(" ", 400000)).order(), 1);
}

TEST(DeepTrees, MadeByCallsAreRefused) {
    const auto deeper = [](SymmetryNode node) {
        std::vector<SymmetryNode> children;
        children.push_back(std::move(node));
        return product(std::move(children));
    };
    refused([&] {
        auto node = leaf(0);
        for (int i = 0; i < 1000; ++i) node = deeper(std::move(node));
    });
    auto node = leaf(0);  // put together by hand
    for (int i = 0; i < 1000; ++i) {
        SymmetryNode outer{NodeKind::product, -1, {}};
        outer.children.push_back(std::move(node));
        node = std::move(outer);
    }
    EXPECT_EQ(node.dimensions(), std::vector<int>{0});
    refused([&] { Symmetry{node}; });
    refused([&] { Symmetry(1, node); });
    node = leaf(0);
    for (int i = 0; i < 63; ++i) node = deeper(std::move(node));
    EXPECT_TRUE(Symmetry(node).trivial());
}

TEST(Symmetries, OfThingsThatAreNoneAreRefused) {
    constexpr int most = std::numeric_limits<int>::max();
    for (int order : {-1, std::numeric_limits<int>::min(), most}) {
        refused([&] { Symmetry(order, product({})); });
        refused([&] { Symmetry::none(order); });
    }
    for (int dimension : {-1, most, most - 1, 100000}) refused([&] { Symmetry{leaf(dimension)}; });
    refused([] { Symmetry{symmetric({product({}), product({})})}; });
    refused([] { Symmetry{hermitian(product({}), product({}))}; });
    refused([] { Symmetry{SymmetryNode{static_cast<NodeKind>(99), -1, {leaf(0), leaf(1)}}}; });
    refused([] { Symmetry{symmetric({})}; });
    refused([] { Symmetry::from_relations({static_cast<Relation>(7), NS}); });
    refused([] { Symmetry::from_relations({static_cast<Relation>(-1)}); });
    EXPECT_EQ(Symmetry::from_relations({}).order(), 0);
    EXPECT_EQ(Symmetry(product({})).order(), 0);
}

}  // namespace
}  // namespace arges::test

#include "arges/chemistry/tensor_set.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arges::chemistry {
namespace {

TensorSet random_set(const World& world, std::uint64_t seed) {
    TensorSet set({{"T1", Tensor<double>(world, {3, 2})},
                   {"T2", Tensor<double>(world, {3, 3, 2, 2}, "abij", "antisym(a,b) antisym(i,j)")},
                   {"energy", Tensor<double>(world, {})}});
    for (Tensor<double>& member : set.members()) member.fill_random(seed++);
    return set;
}

TEST(TensorSet, is_one_vector_of_all_elements) {
    const World world;
    const TensorSet x = random_set(world, 1), y = random_set(world, 11);
    double dot = 0, square = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const std::vector<double> a = x.members()[k].gather(), b = y.members()[k].gather();
        for (std::size_t i = 0; i < a.size(); ++i) {
            dot += a[i] * b[i];
            square += a[i] * a[i];
        }
    }
    EXPECT_NEAR(x.dot(y), dot, 1e-14);
    EXPECT_NEAR(x.norm(), std::sqrt(square), 1e-14);

    TensorSet sum = x;
    sum.scale(2);
    sum.add(-3, y);
    for (const char* const name : {"T1", "T2", "energy"}) {
        const std::vector<double> a = x[name].gather(), b = y[name].gather(), c = sum[name].gather();
        for (std::size_t i = 0; i < c.size(); ++i) EXPECT_NEAR(c[i], 2 * a[i] - 3 * b[i], 1e-14) << name;
    }
}

TEST(TensorSet, finds_tensors_by_name) {
    const World world;
    const TensorSet set = random_set(world, 1);
    EXPECT_TRUE(set.contains("T2"));
    EXPECT_FALSE(set.contains("T3"));
    EXPECT_EQ(set["T2"].order(), 4);
    EXPECT_THROW(set["T3"], InvalidArgument);
    EXPECT_THROW(TensorSet({{"T1", Tensor<double>(world, {2})}, {"T1", Tensor<double>(world, {2})}}), InvalidArgument);
    EXPECT_EQ(TensorSet().norm(), 0);
    TensorSet copy = set, assigned = TensorSet({{"R1", Tensor<double>(world, {2})}});
    assigned = set;
    for (const TensorSet* other : {&copy, &assigned}) {
        EXPECT_EQ(other->members().size(), 3u);
        EXPECT_EQ((*other)["T2"].name(), "T2");
    }
}

}  // namespace
}  // namespace arges::chemistry

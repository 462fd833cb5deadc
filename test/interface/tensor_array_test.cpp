// Arrays of the caller as tensors, and tensors over arrays.
#include "arges/arges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace arges {
namespace {

template <class T>
class TensorArrays : public testing::Test {};
using ArrayTypes = testing::Types<float, double, std::complex<float>, std::complex<double>, std::int16_t, std::int32_t, std::int64_t, bool>;
TYPED_TEST_SUITE(TensorArrays, ArrayTypes);

/// A number that tells elements apart, for bool as well as can be.
template <class T>
T counted_element(std::int64_t key) {
    if constexpr (std::is_same_v<T, bool>)
        return key * 2654435761U % 7 < 3;
    else
        return static_cast<T>(static_cast<real_of<T>>(key));
}

TYPED_TEST(TensorArrays, SetArrayReadsAnyStrides) {
    using T = TypeParam;
    const World world;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const auto order = static_cast<std::size_t>(random() % 5);
        std::vector<std::int64_t> extents(order), strides(order);
        for (auto& n : extents) n = static_cast<std::int64_t>(random() % 8);
        // Dimensions in any order, each forwards or backwards, now and then with gaps.
        std::vector<std::size_t> dimensions(order);
        std::iota(dimensions.begin(), dimensions.end(), 0U);
        std::shuffle(dimensions.begin(), dimensions.end(), random);
        std::int64_t step = 1, first = 0;
        for (auto d : dimensions) {
            step *= 1 + static_cast<std::int64_t>(random() % 4 == 0);
            strides[d] = random() % 2 == 0 ? step : -step;
            if (strides[d] < 0) first += step * std::max<std::int64_t>(extents[d] - 1, 0);
            step *= std::max<std::int64_t>(extents[d], 1);
        }
        std::unique_ptr<T[]> array(new T[static_cast<std::size_t>(step + first + 1)]());
        Tensor<T> tensor(world, extents);
        std::vector<T> expected(static_cast<std::size_t>(tensor.size()));
        for (std::int64_t key = 0; key < tensor.size(); ++key) {
            const auto x = tensor.index(key);
            std::int64_t at = first;
            for (std::size_t d = 0; d < order; ++d) at += x[d] * strides[d];
            expected[static_cast<std::size_t>(key)] = array[static_cast<std::size_t>(at)] = counted_element<T>(key);
        }
        tensor.set_array(array.get() + first, strides);
        EXPECT_EQ(tensor.gather(), expected) << "seed " << seed;
    }
}

TYPED_TEST(TensorArrays, TensorsOverArraysShareTheirElements) {
    using T = TypeParam;
    const World world;
    for (std::int64_t offset = 0; offset < 3; ++offset) {
        const std::vector<std::int64_t> extents{5, 3, 4};
        const auto bytes = static_cast<std::int64_t>(sizeof(T)), aligned = std::max<std::int64_t>(bytes, 16) / bytes;
        const std::shared_ptr<T[]> memory(new T[200]());
        T* const data = memory.get() + offset * aligned;
        if (world.size() > 1) {
            EXPECT_THROW(Tensor<T>::over_array(world, extents, data, memory), InvalidArgument);
            EXPECT_EQ(Tensor<T>(world, extents).array(), nullptr);
            continue;
        }
        auto tensor = Tensor<T>::over_array(world, extents, data, memory);
        Tensor<T> other(world, extents);
        for (std::int64_t key = 0; key < 60; ++key) {
            data[key] = counted_element<T>(key);
            other.array()[key] = counted_element<T>(7 * key + 1);
        }
        const auto values = other.gather();
        EXPECT_EQ(tensor.array(), data);
        EXPECT_EQ(tensor.read({tensor.key({4, 2, 3})})[0], counted_element<T>(59));
        tensor["ijk"] = other["ijk"];
        EXPECT_TRUE(std::equal(values.begin(), values.end(), data));
        // A statement that reads what it writes, and one with sparse factors, write to the same place.
        tensor["ijk"] = tensor["ijk"];
        const auto sparse = SparseTensor<T>::from_dense(other);
        tensor["ijk"] = sparse["ijk"];
        EXPECT_EQ(tensor.array(), data);
        EXPECT_TRUE(std::equal(values.begin(), values.end(), data));
        EXPECT_EQ(memory.use_count(), 2);
        tensor = Tensor<T>();
        EXPECT_EQ(memory.use_count(), 1);
    }
}

TEST(TensorArraysOf, WhatCannotBeIsRefused) {
    const World world;
    double data[100] = {};
    const std::vector<std::int64_t> strides{1, 4};
    Tensor<double> packed(world, {4, 4}, "ij", "sym(i,j)");
    EXPECT_THROW(packed.set_array(data, strides), InvalidArgument);
    EXPECT_EQ(packed.array(), nullptr);
    Tensor<double> whole(world, {4, 4});
    EXPECT_THROW(whole.set_array(data, std::vector<std::int64_t>{1}), InvalidArgument);
    EXPECT_THROW(whole.set_array(nullptr, strides), InvalidArgument);
    EXPECT_THROW(Tensor<double>::over_array(world, {4, 4}, data, nullptr), InvalidArgument);
    const World dry = World::dry_run(1);
    EXPECT_THROW(Tensor<double>::over_array(dry, {4, 4}, data, std::make_shared<int>(1)), InvalidArgument);
    EXPECT_EQ(Tensor<double>(dry, {4, 4}).array(), nullptr);
    // One rank alone is wrong.
    if (world.size() > 1) {
        EXPECT_THROW(whole.set_array(world.rank() == 0 ? nullptr : data, strides), InvalidArgument);
    }
    EXPECT_THROW(world.agree([&] {
        if (world.rank() == world.size() - 1) throw InvalidArgument("wrong here");
    }),
                 InvalidArgument);
    world.agree([] {});
}

}  // namespace
}  // namespace arges

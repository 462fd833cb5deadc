// The kernels that are made from an algebra, against those of BLAS and vectors.
#include "arges/algebra.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <random>

namespace arges::test {
namespace {

template <class T>
std::vector<T> integers(std::int64_t count, std::mt19937_64& random) {
    std::vector<T> result;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto part = [&] { return static_cast<real_of<T>>(static_cast<int>(random() % 9) - 4); };
        if constexpr (kernels::is_complex<T>)
            result.emplace_back(part(), part());
        else
            result.push_back(part());
    }
    return result;
}

std::int64_t below(std::int64_t n, std::mt19937_64& random) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }

template <class T>
class ElementKernelsTest : public ::testing::Test {
protected:
    const ElementKernels& fast_ = tested_kernels<T>();
    const ElementKernels general_ = kernels::Generic<PlusTimes<T>>::table("general");
    std::mt19937_64 random_{7};
};
using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ElementKernelsTest, Types);

/// Axes of a product with dense strides in a random order.
local::FoldedContraction random_product(std::mt19937_64& random, std::array<std::int64_t, 3>& sizes) {
    local::FoldedContraction f;
    const std::vector<std::int64_t> lengths{1, 2, 3, 5, 7, 11, 0, 40};
    struct Named {
        local::FoldAxis axis;
        int group;
    };
    std::vector<Named> axes;
    std::int64_t all = 1;
    for (int group = 0; group < 4; ++group)
        for (auto n = below(3, random); n > 0; --n) {
            const auto length = lengths[static_cast<std::size_t>(below(8, random))];
            if (all * std::max<std::int64_t>(1, length) > 40000) continue;
            all *= std::max<std::int64_t>(1, length);
            axes.push_back({{length, 0, 0, 0}, group});
        }
    const auto give = [&](std::int64_t local::FoldAxis::*stride, std::initializer_list<int> groups, std::int64_t& size) {
        std::shuffle(axes.begin(), axes.end(), random);
        size = 1;
        for (auto& named : axes)
            if (std::find(groups.begin(), groups.end(), named.group) != groups.end()) {
                named.axis.*stride = size;
                size *= std::max<std::int64_t>(1, named.axis.size);
            }
    };
    give(&local::FoldAxis::stride_a, {0, 2, 3}, sizes[0]);
    give(&local::FoldAxis::stride_b, {1, 2, 3}, sizes[1]);
    give(&local::FoldAxis::stride_c, {0, 1, 3}, sizes[2]);
    for (const auto& named : axes)
        (named.group == 0 ? f.m : named.group == 1 ? f.n : named.group == 2 ? f.k : f.batch).push_back(named.axis);
    return f;
}

TYPED_TEST(ElementKernelsTest, ProductsAndSumsAreTheSame) {
    using T = TypeParam;
    auto& random = this->random_;
    for (int trial = 0; trial < 200; ++trial) {
        std::array<std::int64_t, 3> sizes{};
        auto f = random_product(random, sizes);
        const auto a = integers<T>(sizes[0], random), b = integers<T>(sizes[1], random), c = integers<T>(sizes[2], random);
        const T alpha = integers<T>(1, random)[0], beta = trial % 3 == 0 ? T(0) : trial % 3 == 1 ? T(1) : T(-2);
        auto expected = c, found = c;
        this->fast_.contract(f, &alpha, a.data(), b.data(), &beta, expected.data());
        this->general_.contract(f, &alpha, a.data(), b.data(), &beta, found.data());
        ASSERT_EQ(found, expected) << "trial " << trial;
        f.n.clear();
        for (auto* group : {&f.m, &f.batch})
            for (auto& axis : *group) axis.stride_c = axis.stride_a;
        expected = found = integers<T>(sizes[0], random);
        this->fast_.reduce(f, &alpha, a.data(), &beta, expected.data());
        this->general_.reduce(f, &alpha, a.data(), &beta, found.data());
        ASSERT_EQ(found, expected) << "sum of trial " << trial;
    }
}

TYPED_TEST(ElementKernelsTest, TransfersAreTheSame) {
    using T = TypeParam;
    auto& random = this->random_;
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<local::TransferAxis> axes;
        std::vector<std::vector<std::int64_t>> lists;
        std::vector<std::vector<std::uint8_t>> factors;
        std::int64_t from = 1, to = 1;
        for (auto n = below(4, random); n > 0; --n) {
            local::TransferAxis axis{.count = 1 + below(9, random)};
            axis.from_stride = from;
            axis.to_stride = to;
            from *= axis.count;
            to *= axis.count;
            if (random() % 2 == 0) {
                auto& source = lists.emplace_back();
                for (std::int64_t i = 0; i < axis.count; ++i) source.push_back(axis.from_stride * ((i * 2 + 1) % axis.count));
                auto& target = lists.emplace_back();
                for (std::int64_t i = 0; i < axis.count; ++i) target.push_back(axis.to_stride * (axis.count - 1 - i));
                auto& signs = factors.emplace_back();
                for (std::int64_t i = 0; i < axis.count; ++i) signs.push_back(static_cast<std::uint8_t>(random() % 4));
            }
            axes.push_back(axis);
        }
        std::size_t list = 0;
        for (auto& axis : axes)
            if (2 * list < lists.size() && static_cast<std::int64_t>(lists[2 * list].size()) == axis.count &&
                lists[2 * list + 1].back() == 0 && lists[2 * list + 1].front() == axis.to_stride * (axis.count - 1)) {
                axis.from = lists[2 * list].data();
                axis.to = lists[2 * list + 1].data();
                axis.factor = factors[list].data();
                ++list;
            }
        const auto source = integers<T>(from, random), target = integers<T>(to, random);
        const T alpha = trial % 2 == 0 ? T(1) : integers<T>(1, random)[0];
        const local::TransferMode mode{random() % 2 == 0, random() % 2 == 0};
        auto expected = target, found = target;
        this->fast_.transfer(axes, source.data(), expected.data(), &alpha, mode);
        this->general_.transfer(axes, source.data(), found.data(), &alpha, mode);
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i] + T(0), expected[i] + T(0)) << "trial " << trial;
    }
}

TYPED_TEST(ElementKernelsTest, WeightsAreTheSame) {
    using T = TypeParam;
    for (int axis = 0; axis < 3; ++axis) {
        const std::vector<std::int64_t> sizes{4, 5, 3}, strides{1, 4, 20};
        std::vector<double> weights;
        for (std::int64_t i = 0; i < sizes[static_cast<std::size_t>(axis)]; ++i) weights.push_back(static_cast<double>(1 + i % 3));
        auto expected = integers<T>(60, this->random_), found = expected;
        this->fast_.scale_along(sizes, strides, axis, weights, expected.data());
        this->general_.scale_along(sizes, strides, axis, weights, found.data());
        EXPECT_EQ(found, expected);
    }
}

TYPED_TEST(ElementKernelsTest, CountsAreTheSame) {
    auto elements = integers<TypeParam>(60, this->random_);
    elements[12] = elements[30] = TypeParam(0);
    const std::vector<double> weights{1, 2, 0, 3, 1, 2, 4, 1, 1, 5};
    for (const std::int64_t stride : {1, 6}) {
        double expected = 0;
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (elements[i * static_cast<std::size_t>(stride)] != TypeParam(0)) expected += weights[i];
        EXPECT_EQ(static_cast<double>(this->fast_.count_nonzero(elements.data(), stride, weights)), expected);
        EXPECT_EQ(static_cast<double>(this->general_.count_nonzero(elements.data(), stride, weights)), expected);
    }
}

/// A sum without a product.
struct Sums {
    using value_type = std::int64_t;
    static constexpr std::int64_t zero = 0;
    static std::int64_t add(std::int64_t a, std::int64_t b) { return a + b; }
};

/// Sums of n times an element take about log2(n) additions, whatever the sum is.
TEST(Algebras, MultiplesAreSums) {
    using General = kernels::Generic<Sums>;
    for (const double n : {1.0, 2.0, 3.0, 7.0, 24.0, 100.0}) EXPECT_EQ(General::multiple(n, 5), static_cast<std::int64_t>(5 * n));
    EXPECT_EQ(kernels::Generic<PlusTimes<int>>::multiple(-3, 5), -15);
    EXPECT_EQ(kernels::Generic<PlusTimes<double>>::multiple(0.5, 5), 2.5);
}

TEST(ElementValues, KeepElementsOfAnySize) {
    struct Large {
        std::array<double, 9> numbers;
    };
    Large large{};
    large.numbers[8] = 3;
    const auto value = ElementValue::of(large);
    auto copy = value;
    EXPECT_EQ(static_cast<const Large*>(copy.data())->numbers[8], 3);
    EXPECT_EQ(copy.size(), 72);
    EXPECT_EQ(std::as_const(copy).data(), copy.data());
    EXPECT_EQ(ElementValue::of(2.5).size(), 8);
    EXPECT_EQ(std::as_const(*std::make_unique<ElementValue>()).data(), nullptr);
}

}  // namespace
}  // namespace arges::test

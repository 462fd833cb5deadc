#include "local/contract.hpp"

#include "local/contract_plan.hpp"
#include "local/fold.hpp"
#include "local/random_contraction.hpp"
#include "support/reference_kernels.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <complex>
#include <limits>

namespace arges::local {
namespace {

using test::Case;
using test::Random;
using test::random_factor;

template <class T>
class Contract : public testing::Test {};
using ElementTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Contract, ElementTypes);

/// Numbers of axes in the groups and the largest size of each.
struct Shape {
    std::int64_t axes_m, axes_n, axes_k, axes_batch;
    std::int64_t largest_m, largest_n, largest_k, largest_batch;
};

Case random_case(const Shape& shape, Random& random) {
    Case c;
    const auto add_axes = [&](std::vector<FoldAxis>& group, std::int64_t count, std::int64_t largest) {
        for (std::int64_t i = 0; i < count; ++i) group.push_back({random.integer(0, 60) == 0 ? 0 : random.integer(1, largest), 0, 0, 0});
    };
    add_axes(c.f.m, shape.axes_m, shape.largest_m);
    add_axes(c.f.n, shape.axes_n, shape.largest_n);
    add_axes(c.f.k, shape.axes_k, shape.largest_k);
    add_axes(c.f.batch, shape.axes_batch, shape.largest_batch);
    set_strides(c, random);
    return c;
}

/// All numbers are small integers, so the results must agree exactly.
template <class T>
void expect_like_reference(const Case& c, Random& random) {
    const std::vector<T> a = random.elements<T>(c.extent_a), b = random.elements<T>(c.extent_b);
    std::vector<T> expected = random.elements<T>(c.extent_c), actual = expected;
    const T alpha = random_factor<T>(random), beta = random_factor<T>(random);
    reference_contract<T>(c.f, alpha, a.data(), b.data(), beta, expected.data());
    contract<T>(c.f, alpha, a.data(), b.data(), beta, actual.data());
    EXPECT_EQ(actual, expected) << "alpha " << alpha << " beta " << beta;
}

/// Contractions with random groups of axes, until one fails.
template <class T>
void expect_like_reference_for_random_groups(unsigned seeds) {
    for (unsigned seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const auto axes = [&] { return random.integer(0, 3); };
        const auto largest = [&] { return random.integer(1, 6); };
        const Shape shape = {axes(), axes(), axes(), axes() / 2, largest(), largest(), largest(), largest()};
        expect_like_reference<T>(random_case(shape, random), random);
    }
}

TYPED_TEST(Contract, AgreesWithTheReferenceForRandomGroups) { expect_like_reference_for_random_groups<TypeParam>(400); }

TYPED_TEST(Contract, AgreesWithTheReferenceForLongAxes) {
    const Shape shapes[] = {
        {1, 1, 1, 0, 90, 90, 90, 1},     // matrix product
        {2, 1, 2, 0, 12, 60, 12, 1},     // operands that must be copied
        {1, 1, 1, 1, 40, 40, 40, 9},     // batched matrix products
        {1, 1, 1, 1, 4, 4, 4, 3000},     // many tiny products
        {0, 0, 0, 2, 1, 1, 1, 200},      // elementwise product
        {0, 0, 1, 0, 1, 1, 100'000, 1},  // dot product
        {1, 0, 1, 0, 300, 1, 300, 1},    // matrix times vector
        {0, 1, 2, 1, 1, 300, 30, 3},     // vector times matrix
        {1, 1, 0, 0, 300, 300, 1, 1},    // outer product
        {1, 0, 1, 1, 3, 1, 20'000, 3},   // few long sums
    };
    for (unsigned seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        expect_like_reference<TypeParam>(random_case(shapes[seed % std::size(shapes)], random), random);
        if (this->HasFailure()) return;
    }
}

/// Sets the costs of contractions, and the default ones at the end.
struct Costs {
    explicit Costs(const ContractionCosts& costs) { set_contraction_costs(costs); }
    ~Costs() { set_contraction_costs({}); }
};

/// A processor with another ratio of matrix products, loops and copies gets other plans, and the same results.
TYPED_TEST(Contract, AgreesWithTheReferenceWhateverItCosts) {
    for (const ContractionCosts& costs : {ContractionCosts{4, 0.12, 1.2}, ContractionCosts{0.04, 12, 1.2},
                                          ContractionCosts{0.04, 0.12, 1e-3}, ContractionCosts{0.04, 0.12, 1e3}}) {
        const Costs set(costs);
        expect_like_reference_for_random_groups<TypeParam>(100);
    }
}

TEST(ContractionCosts, ArePaidByThePlans) {
    const FoldedContraction f{{{64, 1, 0, 1}}, {{64, 0, 64, 64}}, {{64, 64, 1, 0}}};
    const double matrices = plan_gemm(f).cost, loops = plan_vector(f).cost;
    EXPECT_LT(matrices, loops);
    const Costs set({4, 0.12, 1.2});
    EXPECT_GT(plan_gemm(f).cost, 50 * matrices);
    EXPECT_EQ(plan_vector(f).cost, loops);
    set_contraction_costs({0.04, 0.012, 1.2});
    EXPECT_EQ(plan_gemm(f).cost, matrices);
    EXPECT_LT(plan_vector(f).cost, loops);
}

TYPED_TEST(Contract, ReducesLikeTheReference) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Shape shape = {random.integer(0, 2), 0, random.integer(0, 2), random.integer(0, 1), 30, 1, 60, 5};
        Case c = random_case(shape, random);
        const auto a = random.elements<TypeParam>(c.extent_a);
        auto expected = random.elements<TypeParam>(c.extent_c), actual = expected;
        const TypeParam alpha = random_factor<TypeParam>(random), beta = random_factor<TypeParam>(random);
        reference_reduce<TypeParam>(c.f, alpha, a.data(), beta, expected.data());
        reduce<TypeParam>(c.f, alpha, a.data(), beta, actual.data());
        EXPECT_EQ(actual, expected);
        if (this->HasFailure()) return;
    }
}

TYPED_TEST(Contract, DoesNotReadTheResultWhenBetaIsZero) {
    using T = TypeParam;
    const T nan = std::numeric_limits<real_of<T>>::quiet_NaN();
    for (const std::int64_t n : {1, 3, 70})
        for (const std::int64_t k : {0, 1, 40})
            for (const std::int64_t gap : {1, 2}) {  // with gaps, C must be copied
                const FoldedContraction f = {{{70, 1, 0, gap}}, {{n, 0, k, 70 * gap}}, {{k, 70, 1, 0}}, {}};
                const std::vector<T> a(static_cast<std::size_t>(70 * k + 1), T(1)), b(static_cast<std::size_t>(n * k + 1), T(1));
                std::vector<T> c(static_cast<std::size_t>(70 * n * gap), nan);
                contract<T>(f, 2, a.data(), b.data(), 0, c.data());
                for (std::int64_t i = 0; i < 70 * n; ++i)
                    ASSERT_EQ(c[static_cast<std::size_t>(i * gap)], T(static_cast<real_of<T>>(2 * k))) << n << " " << k << " " << gap;
            }
}

TYPED_TEST(Contract, GivesTheSameBitsInEveryRun) {
    using T = TypeParam;
    Random random(7);
    std::uniform_real_distribution<real_of<T>> number(-1, 1);
    for (const Shape& shape : {Shape{1, 1, 2, 1, 50, 50, 30, 3}, Shape{0, 0, 2, 0, 1, 1, 400, 1}, Shape{1, 0, 2, 0, 90, 1, 90, 1}}) {
        const Case c = random_case(shape, random);
        std::vector<T> a(static_cast<std::size_t>(c.extent_a)), b(static_cast<std::size_t>(c.extent_b));
        for (auto* operand : {&a, &b})
            for (T& x : *operand) x = number(random.engine);
        std::vector<T> first(static_cast<std::size_t>(c.extent_c)), second = first;
        contract<T>(c.f, 1, a.data(), b.data(), 0, first.data());
        contract<T>(c.f, 1, a.data(), b.data(), 0, second.data());
        EXPECT_EQ(first, second);
    }
}

TEST(ContractKernel, MultipliesTheMatricesOfTheDocumentation) {
    const FoldedContraction f = {{{4, 1, 0, 1}}, {{3, 0, 2, 4}}, {{2, 4, 1, 0}}, {}};
    const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {1, 0, 0, 1, 1, 1};
    std::vector<double> c(12);
    contract<double>(f, 1, a.data(), b.data(), 0, c.data());
    EXPECT_EQ(c, (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 6, 8, 10, 12}));
}

TEST(ContractKernel, MultipliesNumbersWhenThereAreNoAxes) {
    const double a = 3, b = 4;
    double c = 1;
    contract<double>({}, 2, &a, &b, 5, &c);
    EXPECT_EQ(c, 29);
}

TEST(ContractKernel, ScalesTheResultWhenTheSumIsEmpty) {
    std::vector<double> c = {1, 2};
    contract<double>({{{2, 1, 0, 1}}, {}, {{0, 1, 1, 0}}, {}}, 1, nullptr, nullptr, 3, c.data());
    EXPECT_EQ(c, (std::vector<double>{3, 6}));
}

TEST(ContractKernel, SplitsWorkThatDoesNotFitIntoTheWorkspace) {
    // every operand must be copied: no unit strides; 3 x 9 million elements are 216 MB of copies
    constexpr std::int64_t n = 3000;
    const FoldedContraction f = {{{n, 2, 0, 2}}, {{n, 0, 2 * 8, 2 * n}}, {{8, 2 * n, 2, 0}}, {}};
    const std::vector<double> a(2 * 8 * n, 1.0), b(2 * 8 * n, 0.5);
    std::vector<double> c(2 * n * n, 1.0);
    contract<double>(f, 1, a.data(), b.data(), 2, c.data());
    for (std::int64_t i = 0; i < n * n; i += 997) ASSERT_EQ(c[static_cast<std::size_t>(2 * i)], 6.0);
    ASSERT_EQ(c[1], 1.0);
}

TEST(ContractKernel, GivesThreadsPiecesThatFitIntoTheCaches) {
    // an elementwise product with a transposed operand, and batched products with the batch axis
    // contiguous
    Random random(3);
    const auto a = random.elements<double>(800'000), b = random.elements<double>(800'000);
    const FoldedContraction cases[] = {{{}, {}, {}, {{900, 1, 800, 1}, {800, 900, 1, 900}}},
                                       {{{16, 3000, 0, 3000}}, {{16, 0, 3000, 48'000}}, {{16, 48'000, 48'000, 0}}, {{3000, 1, 1, 1}}}};
    for (const int threads : {1, 3}) {
        omp_set_num_threads(threads);
        for (const FoldedContraction& f : cases) {
            auto expected = random.elements<double>(800'000), actual = expected;
            reference_contract<double>(f, 2, a.data(), b.data(), 3, expected.data());
            contract<double>(f, 2, a.data(), b.data(), 3, actual.data());
            EXPECT_EQ(actual, expected);
        }
    }
    omp_set_num_threads(omp_get_num_procs());
}

TEST(ScaleAlong, MultipliesByTheWeightOfEachIndex) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::vector<std::int64_t> sizes;
        for (std::int64_t i = random.integer(1, 4); i > 0; --i) sizes.push_back(random.integer(seed % 20 == 0 ? 0 : 1, 12));
        std::int64_t extent = 1;
        const auto strides = test::random_strides(sizes, random, extent);
        const auto axis = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(sizes.size()) - 1));
        const auto weights = random.elements<double>(sizes[axis]);
        auto expected = random.elements<std::complex<double>>(extent), actual = expected;
        std::int64_t total = 1;
        for (const std::int64_t size : sizes) total *= size;
        for (std::int64_t i = 0; i < total; ++i) {
            std::int64_t rest = i, at = 0, index = 0;
            for (std::size_t j = 0; j < sizes.size(); ++j) {
                if (j == axis) index = rest % sizes[j];
                at += rest % sizes[j] * strides[j];
                rest /= sizes[j];
            }
            expected[static_cast<std::size_t>(at)] *= weights[static_cast<std::size_t>(index)];
        }
        scale_along<std::complex<double>>(sizes, strides, static_cast<int>(axis), weights, actual.data());
        EXPECT_EQ(actual, expected);
    }
}

}  // namespace
}  // namespace arges::local

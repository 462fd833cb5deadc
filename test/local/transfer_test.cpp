#include "local/transfer.hpp"

#include "local/random_values.hpp"
#include "support/reference_kernels.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <omp.h>

#include <complex>
#include <limits>
#include <numeric>

namespace arges::local {
namespace {

using test::Random;

template <class T>
class Transfer : public testing::Test {};
using ElementTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Transfer, ElementTypes);

/// A random transfer with the lists that its axes point to.
struct TransferCase {
    std::vector<TransferAxis> axes;
    std::vector<std::vector<std::int64_t>> lists;
    std::vector<std::vector<std::uint8_t>> factors;
    TransferMode mode;
    std::int64_t from_extent = 1, to_extent = 1;
};

/// Offsets of a list: increasing with random gaps, or repeating each offset a few times.
std::vector<std::int64_t> random_list(std::int64_t count, std::int64_t stride, bool repeat, Random& random) {
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0, at = 0; i < count; ++i) {
        list.push_back(at * stride);
        if (!repeat || random.integer(0, 2) == 0) at += random.integer(1, 2);
    }
    return list;
}

/// `largest` is one of the numbers of entries that an axis may have.
TransferCase random_case(std::size_t num_axes, std::int64_t largest, Random& random) {
    TransferCase result;
    result.mode = {random.coin(), random.coin()};
    std::vector<std::int64_t> sizes, spans;
    for (std::size_t i = 0; i < num_axes; ++i) {
        const std::int64_t counts[] = {1, 2, 3, 5, 7, 17, largest};
        sizes.push_back(counts[random.integer(0, 6)]);
        if (random.integer(0, 40) == 0) sizes.back() = 0;
        spans.push_back(2 * sizes.back() + 1);  // room for the gaps of lists
    }
    const auto from = test::random_strides(spans, random, result.from_extent);
    const auto to = test::random_strides(spans, random, result.to_extent);
    for (std::size_t i = 0; i < num_axes; ++i) {
        TransferAxis axis{.count = sizes[i], .from_stride = from[i], .to_stride = to[i]};
        if (random.integer(0, 3) == 0) {
            result.lists.push_back(random_list(sizes[i], from[i], random.coin(), random));
            axis.from = result.lists.back().data();
            result.lists.push_back(random_list(sizes[i], to[i], result.mode.accumulate && random.coin(), random));
            axis.to = result.lists.back().data();
        }
        if (random.integer(0, 4) == 0) {
            result.factors.emplace_back();
            for (std::int64_t j = 0; j < sizes[i]; ++j) result.factors.back().push_back(static_cast<std::uint8_t>(random.integer(0, 3)));
            axis.factor = result.factors.back().data();
        }
        result.axes.push_back(axis);
    }
    return result;
}

template <class T>
void expect_like_reference(const TransferCase& c, Random& random) {
    const std::vector<T> from = random.elements<T>(c.from_extent);
    std::vector<T> expected = random.elements<T>(c.to_extent), actual = expected;
    const T alpha = random.coin() ? T(1) : random.element<T>();
    reference_transfer<T>(c.axes, from.data(), expected.data(), alpha, c.mode);
    transfer<T>(c.axes, from.data(), actual.data(), alpha, c.mode);
    EXPECT_EQ(actual, expected) << "axes " << c.axes.size() << " conjugate " << c.mode.conjugate << " accumulate " << c.mode.accumulate;
}

TYPED_TEST(Transfer, AgreesWithTheReferenceForRandomStridesListsAndFactors) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const auto num_axes = static_cast<std::size_t>(random.integer(0, 4));
        expect_like_reference<TypeParam>(random_case(num_axes, num_axes > 2 ? 9 : 130, random), random);
        if (this->HasFailure()) return;
    }
}

TYPED_TEST(Transfer, AgreesWithTheReferenceWhenThreadsShareTheWork) {
    omp_set_num_threads(3);
    for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        TransferCase c = random_case(static_cast<std::size_t>(random.integer(2, 3)), random.coin() ? 150 : 40, random);
        if (c.from_extent > 4'000'000 || c.to_extent > 4'000'000) continue;
        expect_like_reference<TypeParam>(c, random);
        if (this->HasFailure()) break;
    }
    omp_set_num_threads(omp_get_num_procs());
}

/// Axes that permute a dense array: axis i of the source is axis position[i] of the target.
std::vector<TransferAxis> permuting_axes(const std::vector<std::int64_t>& sizes, const std::vector<std::size_t>& position) {
    std::vector<TransferAxis> axes(sizes.size());
    std::vector<std::size_t> source_of(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) source_of[position[i]] = i;
    std::int64_t from_stride = 1, to_stride = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        axes[i].count = sizes[i];
        axes[i].from_stride = from_stride;
        from_stride *= sizes[i];
    }
    for (const std::size_t i : source_of) {
        axes[i].to_stride = to_stride;
        to_stride *= sizes[i];
    }
    return axes;
}

TYPED_TEST(Transfer, PermutesDenseArrays) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const auto order = static_cast<std::size_t>(random.integer(1, 7));
        const std::int64_t largest = order <= 2 ? 300 : order <= 4 ? 19 : 5;
        std::vector<std::int64_t> sizes;
        for (std::size_t i = 0; i < order; ++i) sizes.push_back(random.integer(1, largest));
        TransferCase c;
        c.axes = permuting_axes(sizes, random.permutation(order));
        for (const std::int64_t size : sizes) c.from_extent *= size;
        c.to_extent = c.from_extent;
        c.mode.accumulate = random.coin();
        expect_like_reference<TypeParam>(c, random);
        if (this->HasFailure()) return;
    }
}

TYPED_TEST(Transfer, MovesArraysThatDoNotFitIntoTheCaches) {
    Random random(1);
    for (const auto& sizes : {std::vector<std::int64_t>{1201, 1103}, {128, 8, 8, 128}, {3, 700, 601}}) {
        std::vector<std::size_t> reversed(sizes.size());
        std::iota(reversed.rbegin(), reversed.rend(), 0);
        TransferCase c;
        c.axes = permuting_axes(sizes, reversed);
        for (const std::int64_t size : sizes) c.from_extent *= size;
        c.to_extent = c.from_extent;
        expect_like_reference<TypeParam>(c, random);
    }
}

TEST(TransferKernel, TransposesTheExampleOfTheDocumentation) {
    const std::vector<double> from = {1, 2, 3, 4, 5, 6};
    std::vector<double> to(6);
    const std::vector<TransferAxis> axes = {{2, 1, 3}, {3, 2, 1}};
    transfer<double>(axes, from.data(), to.data(), 1, {});
    EXPECT_EQ(to, (std::vector<double>{1, 3, 5, 2, 4, 6}));
}

TEST(TransferKernel, CopiesOneElementWhenThereAreNoAxes) {
    const double from = 3;
    double to = 0;
    transfer<double>({}, &from, &to, 2, {});
    EXPECT_EQ(to, 6);
}

TEST(TransferKernel, DoesNothingWhenAnAxisHasNoEntries) {
    double to = 5;
    const std::vector<TransferAxis> axes = {{3, 1, 1}, {0, 1, 1}};
    transfer<double>(axes, nullptr, &to, 1, {});
    EXPECT_EQ(to, 5);
}

TEST(TransferKernel, DoesNotReadTheTargetUnlessItAccumulates) {
    const std::vector<double> from(100, 1.0);
    std::vector<double> to(100, std::numeric_limits<double>::quiet_NaN());
    const std::vector<TransferAxis> axes = {{10, 1, 10}, {10, 10, 1}};
    transfer<double>(axes, from.data(), to.data(), 2, {});
    EXPECT_EQ(to, std::vector<double>(100, 2.0));
}

TEST(TransferKernel, SumsOverAnAxisOfTargetStrideZeroWhateverTheThreads) {
    const std::vector<double> from(200'000, 1.0);
    for (const int threads : {1, 4}) {
        omp_set_num_threads(threads);
        std::vector<double> to(2, 0.0);
        const std::vector<TransferAxis> axes = {{100'000, 1, 0}, {2, 100'000, 1}};
        transfer<double>(axes, from.data(), to.data(), 1, {.accumulate = true});
        EXPECT_EQ(to, (std::vector<double>{100'000, 100'000}));
    }
    omp_set_num_threads(omp_get_num_procs());
}

TEST(TransferKernel, AddsRepeatedTargetsWithoutRacesBetweenThreads) {
    constexpr std::int64_t count = 100'000;
    std::vector<std::int64_t> source(count), target(count);
    for (std::int64_t i = 0; i < count; ++i) {
        source[static_cast<std::size_t>(i)] = i;
        target[static_cast<std::size_t>(i)] = i / 30'000;
    }
    const std::vector<double> from(count, 1.0);
    omp_set_num_threads(4);
    std::vector<double> to(4, 0.0);
    const std::vector<TransferAxis> axes = {{.count = count, .from = source.data(), .to = target.data()}};
    transfer<double>(axes, from.data(), to.data(), 1, {.accumulate = true});
    omp_set_num_threads(omp_get_num_procs());
    EXPECT_EQ(to, (std::vector<double>{30'000, 30'000, 30'000, 10'000}));
}

TEST(TransferKernel, ScalesInPlace) {
    std::vector<double> data(60, 1.0);
    const std::vector<TransferAxis> axes = {{3, 1, 1}, {5, 4, 4}, {3, 20, 20}};
    transfer<double>(axes, data.data(), data.data(), 3, {});
    for (std::int64_t i = 0; i < 60; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], i % 4 < 3 ? 3.0 : 1.0) << i;
}

TEST(TransferKernel, RefusesAListOnOneSideOnly) {
    const std::int64_t list[] = {0, 1};
    const std::vector<TransferAxis> axes = {{.count = 2, .from = list}};
    double data[2] = {};
    EXPECT_THROW(transfer<double>(axes, data, data, 1, {}), InvalidArgument);
}

}  // namespace
}  // namespace arges::local

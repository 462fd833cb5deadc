// The values of sparse tensors, on any number of ranks.
#include "arges/value_statistics.hpp"

#include "arges/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace arges::test {
namespace {

/// A vector of some values, each rank with its part.
template <class T>
SparseTensor<T> tensor_with(const World& world, const std::vector<T>& values) {
    SparseEntries<T> mine{.indices = {{}}, .values = {}};
    for (std::size_t i = static_cast<std::size_t>(world.rank()); i < values.size(); i += static_cast<std::size_t>(world.size())) {
        mine.indices[0].push_back(static_cast<std::int64_t>(i));
        mine.values.push_back(values[i]);
    }
    return SparseTensor<T>::from_entries(world, {static_cast<std::int64_t>(values.size()) + 1}, mine);
}

std::int64_t counted(const ValueStatistics& found) {
    return std::accumulate(found.bins.begin(), found.bins.end(), std::int64_t{0},
                           [](auto sum, const auto& bin) { return sum + bin.count; });
}

TEST(ValueStatistics, HaveABinForEachOfFewValues) {
    const World world;
    const auto found = value_statistics(tensor_with<double>(world, {3, 1, 5, 5, 0, -2, 3, 3}));
    EXPECT_EQ(found.count, 8);
    EXPECT_EQ(found.zeros, 1);
    EXPECT_EQ(found.negative, 1);
    EXPECT_EQ(found.whole, 8);
    EXPECT_EQ(found.least, -2);
    EXPECT_EQ(found.largest, 5);
    EXPECT_NEAR(found.mean, 2.25, 1e-14);
    EXPECT_NEAR(found.deviation, std::sqrt(82.0 / 8 - 2.25 * 2.25), 1e-14);
    EXPECT_EQ(found.different, 5);
    EXPECT_EQ(found.scale, BinScale::values);
    ASSERT_EQ(found.bins.size(), 5U);
    EXPECT_EQ(found.bins[3].low, 3);
    EXPECT_EQ(found.bins[3].count, 3);
    EXPECT_EQ(counted(found), 8);
}

TEST(ValueStatistics, HaveEqualBinsWhereValuesAreSpreadEvenly) {
    const World world;
    std::vector<float> values(1600);
    std::iota(values.begin(), values.end(), -800.0F);
    const auto found = value_statistics(tensor_with(world, values));
    EXPECT_EQ(found.different, most_different_values + 1);
    EXPECT_EQ(found.scale, BinScale::equal);
    ASSERT_EQ(found.bins.size(), 16U);
    for (const auto& bin : found.bins) EXPECT_EQ(bin.count, 100);
    EXPECT_EQ(found.bins.back().high, 799);
    EXPECT_EQ(value_statistics(tensor_with(world, values), 4).bins.size(), 4U);
}

/// Counts of events, say, and the same with the other sign.
TEST(ValueStatistics, HaveBinsOfEqualRatiosWhereValuesAreSkewed) {
    const World world;
    for (const double sign : {1.0, -1.0}) {
        std::vector<double> values{0, 0, 0};
        for (int i = 0; i < 320; ++i) values.push_back(sign * std::pow(2.0, i / 20.0));
        const auto found = value_statistics(tensor_with(world, values));
        EXPECT_EQ(found.scale, BinScale::logarithmic);
        ASSERT_EQ(found.bins.size(), 17U);
        EXPECT_EQ(counted(found), 323);
        const auto& zeros = sign > 0 ? found.bins.front() : found.bins.back();
        EXPECT_EQ(zeros.high, 0);
        EXPECT_EQ(zeros.count, 3);
        for (std::size_t b = 0; b + 1 < found.bins.size(); ++b) {
            EXPECT_LE(found.bins[b].high, found.bins[b + 1].low);
            const auto& bin = found.bins[sign > 0 ? b + 1 : b];
            EXPECT_NEAR(static_cast<double>(bin.count), 20, 1) << b;
        }
    }
}

TEST(ValueStatistics, LeaveOutWhatIsNotFinite) {
    const World world;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const auto found = value_statistics(tensor_with<double>(world, {1, NAN, infinite, 3, -infinite}));
    EXPECT_EQ(found.not_finite, 3);
    EXPECT_EQ(found.count, 2);
    EXPECT_EQ(found.mean, 2);
    EXPECT_EQ(found.different, 2);
    EXPECT_EQ(value_statistics(tensor_with<double>(world, {NAN})).count, 0);
    EXPECT_TRUE(value_statistics(tensor_with<double>(world, {})).bins.empty());
    EXPECT_THROW(value_statistics(tensor_with<double>(world, {1, 2}), 1), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

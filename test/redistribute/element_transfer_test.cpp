// Elements that are converted in windows, against elements that were converted before.
#include "redistribute/element_transfer.hpp"

#include "support/seeds.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace arges::test {
namespace {

/// Axes over an array on each side, with strides or with lists, and factors.
struct RandomAxes {
    std::vector<local::TransferAxis> axes;
    std::vector<std::vector<std::int64_t>> lists;
    std::vector<std::vector<std::uint8_t>> factors;
    std::int64_t size = 1;

    explicit RandomAxes(std::mt19937_64& random) {
        const std::size_t order = random() % 5;
        lists.reserve(2 * order);
        factors.reserve(order);
        for (std::size_t d = 0; d < order; ++d) {
            auto& axis = axes.emplace_back();
            axis.count = random() % 8 == 0 ? 0 : 1 + static_cast<std::int64_t>(random() % 5);
            axis.from_stride = axis.to_stride = size;
            if (random() % 2 == 0) axis.from = shuffled(axis.count, random);
            if (axis.from != nullptr) axis.to = shuffled(axis.count, random);
            if (random() % 2 == 0) {
                auto& own = factors.emplace_back(axis.count);
                for (auto& factor : own) factor = static_cast<std::uint8_t>(random() % 4);
                axis.factor = own.data();
            }
            size *= std::max<std::int64_t>(1, axis.count);
        }
    }

private:
    const std::int64_t* shuffled(std::int64_t count, std::mt19937_64& random) {
        auto& list = lists.emplace_back(count);
        for (std::int64_t i = 0; i < count; ++i) list[static_cast<std::size_t>(i)] = i * size;
        std::shuffle(list.begin(), list.end(), random);
        return list.data();
    }
};

TEST(ElementTransfers, ConvertInWindows) {
    using Narrow = std::complex<float>;
    using Wide = std::complex<double>;
    for_each_seed(0, 400, [](std::mt19937_64& random) {
        const RandomAxes given(random);
        std::vector<Narrow> narrow;
        for (std::int64_t i = 0; i < given.size; ++i)
            narrow.emplace_back(static_cast<float>(random() % 9), static_cast<float>(random() % 9));
        const std::vector<Wide> wide(narrow.begin(), narrow.end());
        std::vector<Wide> result(narrow.size(), Wide(1, 2)), expected = result;
        const Wide alpha(2, 1);
        const local::TransferMode mode{random() % 2 == 0, random() % 2 == 0};
        std::vector<Narrow> before(1 + random() % 20);
        std::vector<Wide> after(before.size());
        const auto& kernels = tested_kernels<Wide>();
        const ElementTransfer converting(
            tested_kernels<Narrow>(), kernels,
            {reinterpret_cast<std::byte*>(before.data()), reinterpret_cast<std::byte*>(after.data()), std::ssize(before)});
        converting.along(given.axes, narrow.data(), result.data(), &alpha, mode);
        ElementTransfer(kernels).along(given.axes, wide.data(), expected.data(), &alpha, mode);
        EXPECT_EQ(result, expected);
        std::vector<std::int64_t> places(narrow.size());
        std::iota(places.begin(), places.end(), std::int64_t{0});
        std::shuffle(places.begin(), places.end(), random);
        const local::ListedTransfer list{.count = given.size, .from = places.data(), .factor = 3};
        converting.listed(list, narrow.data(), result.data(), &alpha, mode);
        ElementTransfer(kernels).listed(list, wide.data(), expected.data(), &alpha, mode);
        EXPECT_EQ(result, expected);
    });
}

}  // namespace
}  // namespace arges::test

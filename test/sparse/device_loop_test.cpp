// Products of nonzeros on a device against the host's loops: all ways to give lists, runs of any length, axes that are kept or summed.
#include "base/buffer.hpp"
#include "local/scalar.hpp"
#include "sparse/device_loop.hpp"
#include "support/seeds.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace arges::test {
namespace {

template <class T>
class DeviceLoops : public ::testing::Test {
protected:
    /// A random loop, and what it points to on the host.
    struct Loop {
        local::SparseLoop loop;
        std::vector<std::int64_t> start{0}, target;
        std::vector<std::vector<std::uint32_t>> narrow;
        std::vector<std::vector<std::int64_t>> wide;
        std::vector<std::vector<T>> factors;
        std::vector<T> values, result;
        T alpha;
    };

    static std::int64_t below(std::mt19937_64& random, std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    }
    /// Small integers, whose sums and products are exact.
    static std::vector<T> numbers(std::mt19937_64& random, std::int64_t count) {
        std::vector<T> result;
        const auto part = [&] { return static_cast<real_of<T>>(below(random, 5) - 2); };
        for (std::int64_t i = 0; i < count; ++i)
            if constexpr (local::is_complex<T>)
                result.emplace_back(part(), part());
            else
                result.push_back(part());
        return result;
    }
    static local::NonzeroNumbers list(std::mt19937_64& random, Loop& l, const std::vector<std::int64_t>& numbers) {
        if (below(random, 2) == 0) return {l.narrow.emplace_back(numbers.begin(), numbers.end()).data(), nullptr};
        return {nullptr, l.wide.emplace_back(numbers).data()};
    }

    /// @param empty  runs may have no nonzeros, which the host's loops do not take
    static Loop random_loop(std::mt19937_64& random, bool empty) {
        Loop l;
        l.narrow.reserve(8);
        l.wide.reserve(8);
        auto& loop = l.loop;
        loop.runs = below(random, 12);
        for (std::int64_t run = 0; run < loop.runs; ++run) {
            const std::int64_t lengths[] = {empty ? 0 : 1, 1, 3, 17, 64, 65, 130, 4097, 5003};
            l.start.push_back(l.start.back() + lengths[below(random, std::ssize(lengths))]);
        }
        loop.start = l.start.data();
        const auto count = l.start.back(), factors = below(random, 5), axes = below(random, 4);
        std::int64_t width = 1;
        std::vector<std::int64_t> lengths(static_cast<std::size_t>(factors), 1);
        for (std::int64_t a = 0; a < axes; ++a) {
            const std::int64_t sizes[] = {1, 2, 3, 5, below(random, 8) == 0 ? 0 : 7};
            auto& axis = loop.axes.emplace_back();
            axis.size = sizes[below(random, 5)];
            if (below(random, 3) > 0) {
                axis.result = width;
                width *= std::max<std::int64_t>(1, axis.size);
            }
            for (auto& length : lengths) {
                axis.factors.push_back(below(random, 3) > 0 ? length : 0);
                if (axis.factors.back() != 0) length *= std::max<std::int64_t>(1, axis.size);
            }
        }
        std::shuffle(loop.axes.begin(), loop.axes.end(), random);
        loop.result_step = width;
        if (below(random, 2) == 0) {
            l.target.resize(static_cast<std::size_t>(loop.runs));
            std::iota(l.target.begin(), l.target.end(), std::int64_t{0});
            std::shuffle(l.target.begin(), l.target.end(), random);
            for (auto& target : l.target) target *= width;
            loop.target = l.target.data();
        }
        l.result = numbers(random, loop.runs * width);
        loop.result = l.result.data();
        l.values = numbers(random, count);
        loop.values = l.values.data();
        if (below(random, 2) == 0) {
            std::vector<std::int64_t> places(static_cast<std::size_t>(count));
            std::iota(places.begin(), places.end(), std::int64_t{0});
            std::shuffle(places.begin(), places.end(), random);
            loop.places = list(random, l, places);
        }
        for (auto length : lengths) {
            constexpr std::int64_t rows = 6;
            l.factors.push_back(numbers(random, rows * length));
            std::vector<std::int64_t> offsets(static_cast<std::size_t>(count));
            for (auto& offset : offsets) offset = below(random, rows) * length;
            loop.offsets.push_back(below(random, 3) == 0 ? local::NonzeroNumbers() : list(random, l, offsets));
        }
        for (const auto& factor : l.factors) loop.factors.push_back(factor.data());
        l.alpha = numbers(random, 1)[0];
        if (below(random, 2) == 0) loop.alpha = &l.alpha;
        return l;
    }

    static Buffer<T> there(const std::vector<T>& elements) {
        Buffer<T> copy(std::ssize(elements), kernels().space);
        copy_array(copy.data(), elements.data(), copy.bytes(), kernels().space);
        return copy;
    }
    /// The result on the device.
    static std::vector<T> multiplied(const Loop& l, sparse::DeviceLoop& by) {
        const auto* const space = kernels().space;
        auto result = there(l.result);
        const auto values = there(l.values);
        std::vector<Buffer<T>> factors;
        auto loop = l.loop;
        loop.values = values.data();
        loop.result = result.data();
        for (std::size_t f = 0; f < l.factors.size(); ++f) {
            factors.push_back(there(l.factors[f]));
            loop.factors[f] = factors[f].data();
        }
        by.copy_lists(l.loop, space);
        Buffer<T> kept(by.kept_elements(), space);
        by.multiply(kernels(), loop, kept.data());
        std::vector<T> back(l.result.size());
        copy_array(back.data(), result.data(), result.bytes(), space);
        return back;
    }
    static const ElementKernels& kernels() { return device_kernels<T>(); }

    const TestDevice device_;
};

using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DeviceLoops, Types);

TYPED_TEST(DeviceLoops, EqualTheHostsLoops) {
    for_each_seed(1, from_environment("ARGES_FUZZ_COUNT", 150), [&](std::mt19937_64& random) {
        auto l = this->random_loop(random, false);
        ASSERT_TRUE(sparse::DeviceLoop::is_possible(l.loop));
        sparse::DeviceLoop loop(l.loop), in_batches(l.loop, 1 << this->below(random, 12));
        const auto once = this->multiplied(l, loop), again = this->multiplied(l, loop);
        EXPECT_EQ(once, again);
        EXPECT_EQ(once, this->multiplied(l, in_batches));
        EXPECT_LE(in_batches.kept_elements(), loop.kept_elements());
        element_kernels<TypeParam>().sparse->multiply(l.loop);
        ASSERT_EQ(once, l.result);
        loop.drop_lists();
        EXPECT_FALSE(loop.has_lists());
    });
}

/// A run without nonzeros adds nothing: as if it were not there.
TYPED_TEST(DeviceLoops, TakeEmptyRuns) {
    for_each_seed(1000, from_environment("ARGES_FUZZ_COUNT", 60), [&](std::mt19937_64& random) {
        auto l = this->random_loop(random, true);
        sparse::DeviceLoop loop(l.loop);
        const auto found = this->multiplied(l, loop);
        std::vector<std::int64_t> start{0}, target;
        for (std::int64_t run = 0; run < l.loop.runs; ++run) {
            if (l.start[static_cast<std::size_t>(run)] == l.start[static_cast<std::size_t>(run) + 1]) continue;
            start.push_back(l.start[static_cast<std::size_t>(run) + 1]);
            target.push_back(l.loop.target != nullptr ? l.loop.target[run] : run * l.loop.result_step);
        }
        l.loop.runs = std::ssize(target);
        l.loop.start = start.data();
        l.loop.target = target.data();
        element_kernels<TypeParam>().sparse->multiply(l.loop);
        ASSERT_EQ(found, l.result);
    });
}

/// The bytes that it says are those of its lists.
TYPED_TEST(DeviceLoops, SayWhatTheirListsTake) {
    for_each_seed(2000, 40, [&](std::mt19937_64& random) {
        const auto l = this->random_loop(random, true);
        sparse::DeviceLoop loop(l.loop);
        TestDevice::reset_peak();
        const auto before = TestDevice::peak();
        loop.copy_lists(l.loop, this->kernels().space);
        constexpr std::int64_t rounding = 16 * 4096;  // of arrays to pages
        EXPECT_LE(TestDevice::peak() - before, loop.list_bytes() + rounding);
        EXPECT_GE(TestDevice::peak() - before, loop.list_bytes());
    });
}

TYPED_TEST(DeviceLoops, LeaveOthersToTheHost) {
    local::SparseLoop loop;
    loop.axes.resize(sparse::most_loop_axes);
    loop.offsets.resize(sparse::most_loop_factors);
    EXPECT_TRUE(sparse::DeviceLoop::is_possible(loop));
    loop.acting = local::Acting::first;
    EXPECT_FALSE(sparse::DeviceLoop::is_possible(loop));
    loop.acting = local::Acting::none;
    loop.axes.emplace_back();
    EXPECT_FALSE(sparse::DeviceLoop::is_possible(loop));
    loop.axes.pop_back();
    loop.offsets.emplace_back();
    EXPECT_FALSE(sparse::DeviceLoop::is_possible(loop));
}

}  // namespace
}  // namespace arges::test

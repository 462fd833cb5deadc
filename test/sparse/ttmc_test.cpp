// TTMc on tensors of all orders, and on ones with heavy slices, which threads share.
#include "sparse/ttmc.hpp"

#include "arges/error.hpp"
#include "sparse/device_nonzeros.hpp"
#include "sparse/random_nonzeros.hpp"
#include "support/test_device.hpp"
#include "support/threads.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arges::sparse::test {
namespace {

/// Sums every nonzero into its row, one after the other.
template <class T>
std::vector<double> naive_ttmc(const LocalNonzeros<T>& x, int mode, std::span<const RowMatrix<const T>> factors, std::int64_t width) {
    const auto m = static_cast<std::size_t>(mode);
    std::vector<double> out(static_cast<std::size_t>(x.rows[m] * width), 0);
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        std::vector<double> product{static_cast<double>(x.values[i])};
        for (std::size_t k = 0; k < x.rows.size(); ++k) {
            if (k == m) continue;
            std::vector<double> longer;
            for (auto p : product)
                for (int c = 0; c < factors[k].columns; ++c) longer.push_back(p * static_cast<double>(factors[k].row(x.indices[k][i])[c]));
            product = std::move(longer);
        }
        for (std::size_t r = 0; r < product.size(); ++r) out[x.indices[m][i] * static_cast<std::size_t>(width) + r] += product[r];
    }
    return out;
}

/// Slices of 1, one and a half, and many pieces; one of all nonzeros; a heavy slice that is cut inside a fiber.
std::vector<Shape> skewed_shapes() {
    return {{{40, 60, 50}, 9000, 0}, {{3, 400, 90}, 8000, 0}, {{1, 300, 90}, 5000},     {{2, 2, 6000}, 7000, 1},
            {{2000}, 900},           {{3, 700}, 1500, 0},     {{9, 8, 7, 30}, 6000, 0}, {{700, 40, 30}, 1500}};
}

template <class T>
class TtmcOfThreads : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TtmcOfThreads, Types);

TYPED_TEST(TtmcOfThreads, EqualsSumsOfAllNonzerosAndIsTheSameWithAnyNumberOfThem) {
    using T = TypeParam;
    std::uint64_t seed = 900;
    auto all = skewed_shapes();
    for (const auto& shape : shapes()) all.push_back(shape);
    for (const auto& shape : all) {
        const auto x = random_nonzeros<T>(shape, ++seed);
        std::vector<RowMatrix<const T>> factors;
        std::vector<Matrices<T>> kept;
        for (int m = 0; m < x.order(); ++m) kept.emplace_back(x.rows, x.order() > 4 ? 1 + m % 2 : 2 + m, ++seed);
        for (std::size_t m = 0; m < x.rows.size(); ++m) factors.push_back(kept[m].views[m]);
        for (int mode = 0; mode < x.order(); ++mode) {
            SCOPED_TRACE(name(shape) + ", mode " + std::to_string(mode));
            std::int64_t width = 1;
            for (int m = 0; m < x.order(); ++m) width *= m == mode ? 1 : factors[static_cast<std::size_t>(m)].columns;
            const auto expected = naive_ttmc<T>(x, mode, factors, width);
            const Ttmc<T> ttmc(x, mode);
            const auto rows = x.rows[static_cast<std::size_t>(mode)];
            std::vector<T> first;
            for (int threads = 1; threads <= 4; ++threads) {
                const arges::test::Threads own(threads);
                std::vector<T> out(static_cast<std::size_t>(rows * width), T(-7));
                ttmc.multiply(factors, {out.data(), rows, static_cast<int>(width), width});
                if (threads == 1) {
                    first = out;
                    const double rounding = sizeof(T) == 4 ? 2e-5 : 1e-13;
                    for (std::size_t i = 0; i < out.size(); ++i)
                        ASSERT_NEAR(static_cast<double>(out[i]), expected[i], rounding * std::sqrt(static_cast<double>(x.count()))) << i;
                }
                EXPECT_EQ(out, first) << threads << " threads";
            }
            DeviceNonzeros<T> there(arges::test::device_kernels<T>(), x.rows);
            there.add(x, mode);
            std::vector<FactorColumns> product;
            std::int64_t after = width;
            for (int m = 0; m < x.order(); ++m) {
                if (m == mode) continue;
                const auto columns = factors[static_cast<std::size_t>(m)].columns;
                after /= columns;
                product.push_back({m, {}});
                for (std::int64_t c = 0; c < width; ++c) product.back().take.push_back(static_cast<std::int32_t>(c / after % columns));
            }
            for (std::int64_t most_kept : {std::int64_t{1} << 20, std::int64_t{300}, std::int64_t{1}}) {  // some columns at a time
                there.set_most_kept(most_kept);
                std::vector<T> out(static_cast<std::size_t>(rows * (width + 1)), T(-7));
                there.multiply(mode, factors, product, {out.data(), rows, static_cast<int>(width), width + 1});
                for (std::int64_t i = 0; i < rows; ++i) {
                    for (std::int64_t c = 0; c < width; ++c)
                        ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(i * (width + 1) + c)]),
                                    expected[static_cast<std::size_t>(i * width + c)],
                                    (sizeof(T) == 4 ? 2e-5 : 1e-13) * std::sqrt(static_cast<double>(x.count())))
                            << i << ", " << c << ", " << most_kept;
                    EXPECT_EQ(out[static_cast<std::size_t>(i * (width + 1) + width)], T(-7));
                }
            }
            const RowMatrix<T> too_wide{first.data(), rows, static_cast<int>(width) + 1, width + 1};
            EXPECT_THROW(ttmc.multiply(factors, too_wide), InvalidArgument);
        }
        EXPECT_THROW(Ttmc<T>(x, x.order()), InvalidArgument);
    }
}

}  // namespace
}  // namespace arges::sparse::test

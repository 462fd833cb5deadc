// Losses at nonzeros of a device, and their gradients.
#include "sparse/device_nonzeros.hpp"

#include "device/losses.hpp"
#include "sparse/random_nonzeros.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arges::sparse::test {
namespace {

template <class T>
class NonzerosOfADevice : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(NonzerosOfADevice, Types);

/// Few nonzeros, those of one block of threads, and those of several; slices of several pieces.
TYPED_TEST(NonzerosOfADevice, HaveLossesAndGradients) {
    using T = TypeParam;
    const double rounding = sizeof(T) == 4 ? 1e-5 : 1e-13;
    const Loss loss{LossKind::huber, 0.25};
    std::uint64_t seed = 70;
    for (const Shape& shape : {Shape{{7, 5, 6, 4}, 30}, Shape{{3, 400, 90}, 3000, 0}, Shape{{40, 60, 50}, 20000}}) {
        auto x = random_nonzeros<T>(shape, ++seed);
        if (seed % 2 == 0)
            for (std::int64_t i = 0; i < x.count(); ++i) x.weights.push_back(static_cast<T>(0.5 + static_cast<double>(i % 3)));
        const Matrices<T> factors(x.rows, 3, seed);
        DeviceNonzeros<T> there(arges::test::device_kernels<T>(), x.rows);
        for (int mode = 0; mode < x.order(); ++mode) {
            there.add(x, mode, true);
            for (const bool to_zero : {false, true}) {
                const auto rows = x.rows[static_cast<std::size_t>(mode)];
                std::vector<double> gradient(static_cast<std::size_t>(rows * 3), 0);
                double sum = 0;
                for (std::size_t i = 0; i < x.values.size(); ++i) {
                    double model = 0, h[3] = {1, 1, 1};
                    for (std::size_t c = 0; c < 3; ++c) {
                        double all = 1;
                        for (std::size_t m = 0; m < x.rows.size(); ++m) {
                            const auto element = static_cast<double>(factors.views[m].row(x.indices[m][i])[c]);
                            all *= element;
                            if (static_cast<int>(m) != mode) h[c] *= element;
                        }
                        model += all;
                    }
                    const double weight = x.weights.empty() ? 1 : static_cast<double>(x.weights[i]);
                    const auto at = device::losses::loss_at(loss, to_zero, static_cast<double>(x.values[i]), model);
                    sum += weight * at.value;
                    for (std::size_t c = 0; c < 3; ++c)
                        gradient[x.indices[static_cast<std::size_t>(mode)][i] * 3 + c] += weight * at.derivative * h[c];
                }
                std::vector<T> out(gradient.size(), T(-7));
                EXPECT_NEAR(there.derive(mode, factors.views, loss, to_zero, {out.data(), rows, 3, 3}), sum, 1e-12 * std::abs(sum));
                for (std::size_t i = 0; i < out.size(); ++i)
                    ASSERT_NEAR(static_cast<double>(out[i]), gradient[i], rounding * std::sqrt(static_cast<double>(x.count()))) << i;
                EXPECT_NEAR(there.derive(mode, factors.views, {}, false, {out.data(), rows, 3, 3}), there.fit(mode, factors.views).residual,
                            1e-12 * sum);
            }
        }
    }
}

}  // namespace
}  // namespace arges::sparse::test

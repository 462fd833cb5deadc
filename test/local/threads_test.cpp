// Kernels of all kinds with 1, 2 and 4 threads: exact where numbers are small integers, else close to one thread and bit by bit
// the same again.
#include "support/threads.hpp"

#include "arges/error.hpp"
#include "local/contract.hpp"
#include "local/fold.hpp"
#include "local/random_contraction.hpp"
#include "local/row_products.hpp"
#include "local/transfer.hpp"
#include "support/reference_kernels.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>

namespace arges::local {
namespace {

using arges::test::thread_numbers;
using arges::test::Threads;
using test::Random;

template <class T>
class KernelThreads : public testing::Test {};
using ElementTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(KernelThreads, ElementTypes);

struct Product {
    const char* name;
    FoldedContraction f;   ///< of dense arrays
    std::int64_t a, b, c;  ///< elements
};

/// Each is large enough for threads: see threaded_product, threading_products and cached_bytes in src/local.
std::vector<Product> products() {
    return {
        {"matrix product", {{{150, 1, 0, 1}}, {{160, 0, 170, 150}}, {{170, 150, 1, 0}}, {}}, 150 * 170, 170 * 160, 150 * 160},
        {"batch of matrix products", {{{16, 1, 0, 1}}, {{16, 0, 16, 16}}, {{16, 16, 1, 0}}, {{200, 256, 256, 256}}}, 51200, 51200, 51200},
        {"operands that are copied", {{{24, 30, 0, 1}, {20, 720, 0, 24}}, {{90, 0, 30, 480}}, {{30, 1, 1, 0}}, {}}, 14400, 2700, 43200},
        {"tall product with few columns", {{{40000, 1, 0, 1}}, {{3, 0, 8, 40000}}, {{8, 40000, 1, 0}}, {}}, 320000, 24, 120000},
        {"long sum", {{}, {}, {{200000, 1, 1, 0}}, {}}, 200000, 200000, 1},
        {"a few long sums", {{{3, 1, 0, 1}}, {}, {{40000, 3, 1, 0}}, {}}, 120000, 40000, 3},
        {"matrix times vector", {{{400, 1, 0, 1}}, {}, {{300, 400, 1, 0}}, {}}, 120000, 300, 400},
        {"outer product", {{{300, 1, 0, 1}}, {{300, 0, 1, 300}}, {}, {}}, 300, 300, 90000},
        {"elementwise with a transposed operand", {{}, {}, {}, {{400, 1, 300, 1}, {300, 400, 1, 400}}}, 120000, 120000, 120000},
    };
}

TYPED_TEST(KernelThreads, MultiplyExactly) {
    using T = TypeParam;
    Random random(1);
    for (const auto& x : products()) {
        const auto a = random.elements<T>(x.a), b = random.elements<T>(x.b), start = random.elements<T>(x.c);
        auto expected = start;
        reference_contract<T>(x.f, T(2), a.data(), b.data(), T(3), expected.data());
        for (int threads : thread_numbers) {
            const Threads scope(threads);
            auto c = start;
            contract<T>(x.f, T(2), a.data(), b.data(), T(3), c.data());
            EXPECT_EQ(c, expected) << x.name << ", " << threads << " threads";
        }
    }
}

TYPED_TEST(KernelThreads, GiveTheSameBitsAgain) {
    using T = TypeParam;
    Random random(2);
    const auto fraction = [&](std::int64_t count) {
        auto result = random.elements<T>(count);
        for (auto& x : result) x = x / real_of<T>(7) + T(real_of<T>(0.1));
        return result;
    };
    const double tolerance = sizeof(real_of<T>) == 4 ? 1e-4 : 1e-12;
    for (const auto& x : products()) {
        const auto a = fraction(x.a), b = fraction(x.b), start = fraction(x.c);
        auto one = start;
        {
            const Threads scope(1);
            contract<T>(x.f, T(2), a.data(), b.data(), T(3), one.data());
        }
        for (int threads : thread_numbers) {
            const Threads scope(threads);
            auto first = start, again = start;
            contract<T>(x.f, T(2), a.data(), b.data(), T(3), first.data());
            contract<T>(x.f, T(2), a.data(), b.data(), T(3), again.data());
            EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(T)), 0) << x.name << ", " << threads;
            double scale = 1, error = 0;
            for (std::size_t i = 0; i < first.size(); ++i) {
                scale = std::max(scale, static_cast<double>(std::abs(one[i])));
                error = std::max(error, static_cast<double>(std::abs(first[i] - one[i])));
            }
            EXPECT_LE(error, tolerance * scale) << x.name << ", " << threads;
        }
    }
}

TYPED_TEST(KernelThreads, ScaleAlongAnAxis) {
    using T = TypeParam;
    Random random(3);
    const std::vector<std::int64_t> sizes{60, 50, 40};  // 120,000 elements: more than one thread scales
    for (const auto& strides : {std::vector<std::int64_t>{1, 60, 3000}, std::vector<std::int64_t>{2000, 40, 1}})
        for (int axis = 0; axis < 3; ++axis) {
            const auto weights = random.elements<real_of<T>>(sizes[static_cast<std::size_t>(axis)]);
            const auto start = random.elements<T>(120000);
            auto expected = start;
            for (std::int64_t i = 0; i < 60; ++i)
                for (std::int64_t j = 0; j < 50; ++j)
                    for (std::int64_t k = 0; k < 40; ++k) {
                        const std::int64_t index[] = {i, j, k};
                        expected[static_cast<std::size_t>(i * strides[0] + j * strides[1] + k * strides[2])] *=
                            weights[static_cast<std::size_t>(index[axis])];
                    }
            for (int threads : thread_numbers) {
                const Threads scope(threads);
                auto data = start;
                scale_along<T>(sizes, strides, axis, weights, data.data());
                EXPECT_EQ(data, expected) << "axis " << axis << ", " << threads << " threads";
            }
        }
}

TYPED_TEST(KernelThreads, TransferElements) {
    using T = TypeParam;
    Random random(4);
    const std::int64_t n = 70;
    std::vector<std::int64_t> shuffled(n);
    const auto order = random.permutation(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < order.size(); ++i) shuffled[i] = static_cast<std::int64_t>(order[i]) * n * n;
    TransferAxis x, y, z;  // source (x, y, z) goes to (z, y, x); x lands in a random order
    x.count = y.count = z.count = n;
    x.from_stride = 1;
    x.to = shuffled.data();
    std::vector<std::int64_t> dense(n);
    for (std::int64_t i = 0; i < n; ++i) dense[static_cast<std::size_t>(i)] = i;
    x.from = dense.data();
    y.from_stride = y.to_stride = n;
    z.from_stride = n * n;
    z.to_stride = 1;
    const std::vector<TransferAxis> axes{x, y, z};
    const auto from = random.elements<T>(n * n * n), start = random.elements<T>(n * n * n);
    for (bool accumulate : {false, true}) {
        auto expected = start;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t k = 0; k < n; ++k) {
                    auto& to = expected[static_cast<std::size_t>(shuffled[static_cast<std::size_t>(i)] + j * n + k)];
                    const T value = T(3) * from[static_cast<std::size_t>(i + j * n + k * n * n)];
                    to = accumulate ? to + value : value;
                }
        for (int threads : thread_numbers) {
            const Threads scope(threads);
            auto to = start;
            transfer<T>(axes, from.data(), to.data(), T(3), {false, accumulate});
            EXPECT_EQ(to, expected) << threads << " threads";
        }
    }
}

/// A stride that BLAS does not take is refused also where threads meet it.
TEST(RowProductThreads, ThrowWhatAThreadThrows) {
    RowProduct product;
    product.rows = 8;
    product.columns = 2;
    product.child[0] = {RowFactor{4, 2, false}, RowFactor{2, std::int64_t{1} << 31, true}};
    product.child[1] = product.child[0];
    std::vector<double> a(64, 1.0), b(16, 1.0), c(16, 0.0), copies(3 * 16);
    EXPECT_THROW(multiply_rows<double>(product, 1.0, a.data(), b.data(), c.data(), 16, copies.data(), 4), InvalidArgument);
}

}  // namespace
}  // namespace arges::local

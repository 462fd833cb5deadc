#include "sparse/mttkrp.hpp"

#include "arges/error.hpp"
#include "sparse/random_nonzeros.hpp"
#include "support/test_device.hpp"
#include "support/threads.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

namespace arges::sparse::test {
namespace {

constexpr Format formats[] = {Format::coordinates, Format::csf_one, Format::csf_two, Format::csf_all,
                              Format::hicoo,       Format::linear,  Format::device,  Format::automatic};

using arges::test::Threads;

template <class T>
std::unique_ptr<Mttkrp<T>> made_in(Format format, const LocalNonzeros<T>& nonzeros, const std::vector<int>& modes) {
    return make_mttkrp(nonzeros, format, modes, &arges::test::device_kernels<T>());
}

/// Element by element from the definition, in double.
template <class T>
std::vector<double> reference(const LocalNonzeros<T>& x, int mode, const Matrices<T>& factors, int columns) {
    std::vector<double> result(static_cast<std::size_t>(x.rows[static_cast<std::size_t>(mode)] * columns), 0);
    for (std::size_t i = 0; i < x.values.size(); ++i)
        for (int r = 0; r < columns; ++r) {
            double product = static_cast<double>(x.values[i]);
            for (int m = 0; m < x.order(); ++m) {
                const auto k = static_cast<std::size_t>(m);
                if (m != mode) product *= static_cast<double>(factors.views[k].row(x.indices[k][i])[r]);
            }
            result[x.indices[static_cast<std::size_t>(mode)][i] * static_cast<std::size_t>(columns) + static_cast<std::size_t>(r)] +=
                product;
        }
    return result;
}

/// The result with a stride of its own; between the rows lies a mark that must stay.
template <class T>
std::vector<T> multiplied(Mttkrp<T>& made, int mode, const Matrices<T>& factors, std::int64_t rows, int columns) {
    constexpr int gap = 2;
    std::vector<T> padded(static_cast<std::size_t>(rows * (columns + gap)), T(77)), result;
    made.multiply(mode, factors.views, {padded.data(), rows, columns, columns + gap});
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
        const auto* row = padded.data() + i * static_cast<std::size_t>(columns + gap);
        result.insert(result.end(), row, row + columns);
        EXPECT_EQ(row[columns], T(77));
        EXPECT_EQ(row[columns + gap - 1], T(77));
    }
    return result;
}

std::vector<int> all_modes(int order) {
    std::vector<int> modes(static_cast<std::size_t>(order));
    std::iota(modes.begin(), modes.end(), 0);
    return modes;
}

template <class T>
class MttkrpTest : public testing::Test {};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(MttkrpTest, ElementTypes);

TYPED_TEST(MttkrpTest, EqualsTheDefinition) {
    using T = TypeParam;
    const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;
    std::uint64_t seed = 1;
    for (const auto& shape : shapes()) {
        const auto x = random_nonzeros<T>(shape, ++seed);
        for (int columns : {1, 3, 4, 7, 8, 16, 17, 32, 48, 65, 80}) {
            const Matrices<T> factors(x.rows, columns, ++seed);
            std::vector<std::vector<double>> expected;
            for (int mode = 0; mode < x.order(); ++mode) expected.push_back(reference(x, mode, factors, columns));
            for (auto format : formats) {
                const auto made = made_in(format, x, all_modes(x.order()));
                for (int threads : {1, 2, 3}) {
                    if (threads > 1 && columns != 4 && columns != 17) continue;
                    const Threads scope(threads);
                    for (int mode = 0; mode < x.order(); ++mode) {
                        const auto m = static_cast<std::size_t>(mode);
                        const auto result = multiplied(*made, mode, factors, x.rows[m], columns);
                        for (std::size_t i = 0; i < result.size(); ++i)
                            ASSERT_NEAR(static_cast<double>(result[i]), expected[m][i], tolerance * (10 + std::abs(expected[m][i])))
                                << name(shape) << ", " << to_string(format) << ", mode " << mode << ", " << columns << " columns, "
                                << threads << " threads, element " << i;
                    }
                }
            }
        }
    }
}

TYPED_TEST(MttkrpTest, RepeatsToTheBit) {
    using T = TypeParam;
    const auto x = random_nonzeros<T>({{50, 40, 30}, 3000, 0}, 5);
    const Matrices<T> factors(x.rows, 16, 6);
    for (auto format : formats)
        for (int threads : {1, 2, 3}) {
            const Threads scope(threads);
            for (int mode = 0; mode < 3; ++mode) {
                const auto rows = x.rows[static_cast<std::size_t>(mode)];
                const auto first = multiplied(*made_in(format, x, all_modes(3)), mode, factors, rows, 16);
                const auto made = made_in(format, x, all_modes(3));
                for (int repeat = 0; repeat < 3; ++repeat) {
                    const auto again = multiplied(*made, mode, factors, rows, 16);
                    ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(T)), 0) << to_string(format);
                }
            }
        }
}

/// Indices up to 2^32 - 1 in three modes: 98 bits. The results of these modes would be too long, and that of the short one reads
/// rows that do not exist, so that it can only be asked for with no column.
TYPED_TEST(MttkrpTest, LongModes) {
    using T = TypeParam;
    LocalNonzeros<T> x;
    x.rows = {3, 4294967296, 4294967296, 4294967296};
    x.indices = {{0, 2, 2}, {4294967295, 5, 4294967295}, {1, 0, 4294967295}, {4294967294, 3, 0}};
    x.values = {T(2), T(3), T(5)};
    std::vector<RowMatrix<const T>> factors;
    for (auto rows : x.rows) factors.push_back({nullptr, rows, 0, 0});
    for (auto format : formats) {
        const auto made = made_in(format, x, {0});
        EXPECT_GT(made->bytes(), 0);
        made->multiply(0, factors, {nullptr, 3, 0, 0});
    }
}

TEST(Mttkrp, RefusesWrongInput) {
    auto x = random_nonzeros<double>({{5, 6, 7}, 20}, 1);
    const Matrices<double> factors(x.rows, 4, 2);
    std::vector<double> out(100);
    for (auto format : formats) {
        const auto made = made_in(format, x, {1});
        made->multiply(1, factors.views, {out.data(), 6, 4, 4});
        EXPECT_THROW(made->multiply(0, factors.views, {out.data(), 5, 4, 4}), InvalidArgument);
        EXPECT_THROW(made->multiply(1, factors.views, {out.data(), 6, 5, 5}), InvalidArgument);
        EXPECT_THROW(made->multiply(1, factors.views, {out.data(), 5, 4, 4}), InvalidArgument);
        EXPECT_THROW(made->multiply(1, std::span(factors.views).first(2), {out.data(), 6, 4, 4}), InvalidArgument);
    }
    EXPECT_THROW(make_mttkrp(x, Format::linear, std::vector<int>{3}), InvalidArgument);
    x.indices[0][3] = 5;
    EXPECT_THROW(make_mttkrp(x, Format::linear, std::vector<int>{0}), InvalidArgument);
    x.indices[0].pop_back();
    EXPECT_THROW(make_mttkrp(x, Format::linear, std::vector<int>{0}), InvalidArgument);
}

/// A tree for each mode where that takes at most three times the memory of coordinates, else interleaved bits.
TEST(Mttkrp, AutomaticKeepsToItsMemory) {
    for (const auto& shape : shapes()) {
        const auto x = random_nonzeros<double>(shape, 7);
        if (x.count() < 100) continue;
        const auto made = make_mttkrp(x, Format::automatic, all_modes(x.order()));
        const auto prefetch_padding = std::int64_t{64} * 12 * x.order() * x.order();
        EXPECT_LE(made->bytes(), 3 * x.count() * (8 + 4 * x.order()) + prefetch_padding) << name(shape);
        EXPECT_TRUE(made->format() == Format::csf_all || made->format() == Format::linear);
    }
    const auto hypersparse = [](std::size_t order) { return random_nonzeros<double>({std::vector<std::int64_t>(order, 100), 400}, 8); };
    const auto chosen = [](const LocalNonzeros<double>& x, const std::vector<int>& modes) {
        return choose_format(sizeof(double), x.rows, x.count(), modes);
    };
    EXPECT_EQ(chosen(hypersparse(3), all_modes(3)), Format::csf_all);
    EXPECT_EQ(chosen(hypersparse(5), all_modes(5)), Format::linear);
    EXPECT_EQ(chosen(hypersparse(5), {2}), Format::csf_all);
}

TEST(Mttkrp, NamesOfFormats) {
    for (auto format : formats) EXPECT_EQ(parse_format(to_string(format)), format);
    EXPECT_EQ(to_string(Format::csf_all), "csf-all");
    EXPECT_THROW(parse_format("csf"), InvalidArgument);
    EXPECT_THROW(parse_format(""), InvalidArgument);
}

}  // namespace
}  // namespace arges::sparse::test

#include "arges/error.hpp"
#include "sparse/elementwise.hpp"
#include "sparse/mode_products.hpp"
#include "sparse/random_nonzeros.hpp"
#include "sparse/ttmc.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace arges::sparse::test {
namespace {

using Coordinate = std::vector<std::int64_t>;
using Map = std::map<Coordinate, double>;

template <class T>
Nonzeros<T> with_wide_indices(const LocalNonzeros<T>& x) {
    Nonzeros<T> result{x.rows, {}, x.values};
    for (const auto& index : x.indices) result.indices.emplace_back(index.begin(), index.end());
    return result;
}

template <class T>
Nonzeros<T> random_tensor(const Shape& shape, std::uint64_t seed) {
    return with_wide_indices(random_nonzeros<T>(shape, seed));
}

template <class T>
Coordinate coordinate(const Nonzeros<T>& x, std::size_t i) {
    Coordinate result;
    for (const auto& index : x.indices) result.push_back(index[i]);
    return result;
}

/// Adds duplicates up.
template <class T>
Map elements(const Nonzeros<T>& x) {
    Map result;
    for (std::size_t i = 0; i < x.values.size(); ++i) result[coordinate(x, i)] += static_cast<double>(x.values[i]);
    return result;
}

/// Sorted, distinct, and the same elements.
template <class T>
void expect_equal(const Nonzeros<T>& x, const Map& expected, const std::string& where) {
    ASSERT_EQ(x.values.size(), expected.size()) << where;
    std::size_t i = 0;
    for (const auto& [key, value] : expected) {
        EXPECT_EQ(coordinate(x, i), key) << where;
        EXPECT_NEAR(static_cast<double>(x.values[i]), value, 1e-5) << where;
        ++i;
    }
}

template <class T>
class SparseOperations : public testing::Test {};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(SparseOperations, ElementTypes);

TYPED_TEST(SparseOperations, TimesVector) {
    using T = TypeParam;
    std::uint64_t seed = 100;
    for (const auto& shape : shapes()) {
        const auto x = random_tensor<T>(shape, ++seed);
        if (x.order() < 2) continue;
        for (int mode = 0; mode < x.order(); ++mode) {
            const auto m = static_cast<std::size_t>(mode);
            const Matrices<T> v({x.lengths[m]}, 1, ++seed, 0);
            const auto result = times_vector(x, mode, std::span<const T>(v.data[0]));
            Map expected;
            for (std::size_t i = 0; i < x.values.size(); ++i) {
                auto key = coordinate(x, i);
                const double factor = static_cast<double>(v.data[0][static_cast<std::size_t>(key[m])]);
                key.erase(key.begin() + mode);
                expected[key] += factor * static_cast<double>(x.values[i]);
            }
            auto lengths = x.lengths;
            lengths.erase(lengths.begin() + mode);
            EXPECT_EQ(result.lengths, lengths);
            expect_equal(result, expected, name(shape));
        }
    }
    const auto x = random_tensor<T>({{4, 3}, 5}, 1);
    const std::vector<T> three(3);
    EXPECT_THROW(times_vector(x, 0, std::span<const T>(three)), InvalidArgument);
    EXPECT_THROW(times_vector(x, 2, std::span<const T>(three)), InvalidArgument);
    EXPECT_THROW(times_vector(random_tensor<T>({{3}, 2}, 1), 0, std::span<const T>(three)), InvalidArgument);
}

TYPED_TEST(SparseOperations, TimesMatrix) {
    using T = TypeParam;
    std::uint64_t seed = 200;
    for (const auto& shape : shapes()) {
        const auto x = random_tensor<T>(shape, ++seed);
        for (int mode = 0; mode < x.order(); ++mode)
            for (int columns : {1, 5, 16}) {
                const auto m = static_cast<std::size_t>(mode);
                const Matrices<T> a({x.lengths[m]}, columns, ++seed);
                const auto result = times_matrix(x, mode, a.views[0]);
                Map expected, actual;
                for (std::size_t i = 0; i < x.values.size(); ++i)
                    for (int r = 0; r < columns; ++r) {
                        auto key = coordinate(x, i);
                        const double factor = static_cast<double>(a.views[0].row(key[m])[r]);
                        key[m] = r;
                        expected[key] += factor * static_cast<double>(x.values[i]);
                    }
                EXPECT_EQ(result.lengths[m], columns);
                for (std::int64_t f = 0; f < result.fibers(); ++f)
                    for (int r = 0; r < columns; ++r) {
                        Coordinate key;
                        for (int k = 0; k < x.order(); ++k)
                            key.push_back(k == mode ? r : result.indices[static_cast<std::size_t>(k)][static_cast<std::size_t>(f)]);
                        EXPECT_TRUE(actual.emplace(key, result.values[static_cast<std::size_t>(f * columns + r)]).second);
                    }
                ASSERT_EQ(actual.size(), expected.size()) << name(shape);
                for (const auto& [key, value] : expected) EXPECT_NEAR(actual.at(key), value, 1e-5) << name(shape);
            }
    }
    const auto x = random_tensor<T>({{4, 3}, 5}, 1);
    const Matrices<T> a({3}, 2, 1);
    EXPECT_THROW(times_matrix(x, 0, a.views[0]), InvalidArgument);
    EXPECT_THROW(times_matrix(x, -1, a.views[0]), InvalidArgument);
}

TYPED_TEST(SparseOperations, TimesMatricesInAllModesButOne) {
    using T = TypeParam;
    std::uint64_t seed = 300;
    for (const auto& shape : shapes()) {
        const auto x = random_nonzeros<T>(shape, ++seed);
        std::vector<RowMatrix<const T>> factors;
        std::vector<Matrices<T>> kept;
        for (std::size_t m = 0; m < x.rows.size(); ++m) {
            const int columns = x.order() > 4 ? 1 + static_cast<int>(m % 2) : 2 + static_cast<int>(m);
            kept.emplace_back(std::vector<std::int64_t>{x.rows[m]}, columns, ++seed);
            factors.push_back(kept.back().views[0]);
        }
        for (int mode = 0; mode < x.order(); ++mode) {
            const auto m = static_cast<std::size_t>(mode);
            std::int64_t width = 1;
            for (std::size_t k = 0; k < factors.size(); ++k)
                if (k != m) width *= factors[k].columns;
            std::vector<double> expected(static_cast<std::size_t>(x.rows[m] * width), 0);
            for (std::size_t i = 0; i < x.values.size(); ++i)
                for (std::int64_t r = 0; r < width; ++r) {
                    double term = static_cast<double>(x.values[i]);
                    auto rest = r;
                    for (auto k = factors.size(); k-- > 0;) {
                        if (k == m) continue;
                        term *= static_cast<double>(factors[k].row(x.indices[k][i])[rest % factors[k].columns]);
                        rest /= factors[k].columns;
                    }
                    expected[static_cast<std::size_t>(x.indices[m][i] * width + r)] += term;
                }
            std::vector<T> out(expected.size(), T(5));
            const RowMatrix<T> view{out.data(), x.rows[m], static_cast<int>(width), width};
            const Ttmc<T> made(x, mode);
            made.multiply(factors, view);
            for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(static_cast<double>(out[i]), expected[i], 2e-5) << name(shape);
            EXPECT_THROW(made.multiply(factors, {out.data(), x.rows[m], static_cast<int>(width) + 1, width + 1}), InvalidArgument);
        }
        EXPECT_THROW(Ttmc<T>(x, x.order()), InvalidArgument);
    }
}

TYPED_TEST(SparseOperations, InnerProducts) {
    using T = TypeParam;
    std::uint64_t seed = 400;
    auto all = shapes();
    all.push_back({{40, 60, 50}, 9000});  // more than one block of the sums
    for (const auto& shape : all) {
        const auto local = random_nonzeros<T>(shape, ++seed);
        const auto a = with_wide_indices(local), b = random_tensor<T>(shape, ++seed);
        double squares = 0, product_sum = 0, kruskal = 0;
        for (auto value : a.values) squares += static_cast<double>(value) * static_cast<double>(value);
        EXPECT_NEAR(norm(std::span<const T>(a.values)), std::sqrt(squares), 1e-6);

        const auto in_b = elements(b);
        for (const auto& [key, value] : elements(a))
            if (const auto found = in_b.find(key); found != in_b.end()) product_sum += value * found->second;
        EXPECT_NEAR(inner_product(a, b), product_sum, 1e-6);
        EXPECT_NEAR(inner_product(a, a), squares, 1e-6);

        const Matrices<T> factors(local.rows, 5, ++seed), weights({1}, 5, ++seed, 0);
        for (std::size_t i = 0; i < local.values.size(); ++i)
            for (int r = 0; r < 5; ++r) {
                double term = static_cast<double>(local.values[i]) * static_cast<double>(weights.data[0][static_cast<std::size_t>(r)]);
                for (std::size_t m = 0; m < local.rows.size(); ++m)
                    term *= static_cast<double>(factors.views[m].row(local.indices[m][i])[r]);
                kruskal += term;
            }
        const std::span<const T> lambda(weights.data[0]);
        EXPECT_NEAR(inner_product(local, lambda, std::span(factors.views)), kruskal, 1e-5);
        EXPECT_THROW(inner_product(local, lambda.first(4), std::span(factors.views)), InvalidArgument);
    }
    const auto a = random_tensor<T>({{4, 3}, 5}, 1), b = random_tensor<T>({{3, 4}, 5}, 1);
    EXPECT_THROW(inner_product(a, b), InvalidArgument);
}

TYPED_TEST(SparseOperations, ElementByElement) {
    using T = TypeParam;
    std::uint64_t seed = 500;
    for (const auto& shape : shapes()) {
        const auto a = random_tensor<T>(shape, ++seed);
        for (bool same_pattern : {false, true}) {
            auto b = same_pattern ? a : random_tensor<T>(shape, ++seed);
            apply<T>(b, [](T value, std::span<const std::int64_t> x) { return value * T(2) + static_cast<T>(x[0] % 3); });
            Map expected_sum, expected_product;
            const auto in_a = elements(a), in_b = elements(b);
            for (const auto& [key, value] : in_a) expected_sum[key] += 3 * value;
            for (const auto& [key, value] : in_b) expected_sum[key] -= 0.5 * value;
            for (const auto& [key, value] : in_a)
                if (in_b.contains(key)) expected_product[key] = value * in_b.at(key);
            for (const auto& [key, value] : in_a)
                if (same_pattern) {
                    EXPECT_NEAR(in_b.at(key), 2 * value + static_cast<double>(key[0] % 3), 1e-5);
                }
            expect_equal(sum(T(3), a, T(-0.5), b), expected_sum, name(shape));
            expect_equal(product(a, b), expected_product, name(shape));
            expect_equal(product(b, a), expected_product, name(shape));
        }
    }
    const auto a = random_tensor<T>({{4, 3}, 5}, 1), b = random_tensor<T>({{4, 4}, 5}, 1);
    EXPECT_THROW(sum(T(1), a, T(1), b), InvalidArgument);
    EXPECT_THROW(product(a, b), InvalidArgument);
}

TYPED_TEST(SparseOperations, Duplicates) {
    using T = TypeParam;
    std::uint64_t seed = 600;
    for (const auto& shape : shapes()) {
        auto a = random_tensor<T>(shape, ++seed);
        auto distinct = a;
        EXPECT_EQ(merge_duplicates(distinct, Duplicates::refuse), 0);
        expect_equal(distinct, elements(a), name(shape));

        const auto n = a.values.size();
        for (std::size_t i = 0; i < n; i += 3) {
            for (auto& index : a.indices) index.push_back(index[i]);
            a.values.push_back(T(10));
        }
        auto summed = a, first = a;
        const auto added = a.count() - static_cast<std::int64_t>(n);
        EXPECT_EQ(merge_duplicates(summed, Duplicates::sum), added);
        expect_equal(summed, elements(a), name(shape));
        EXPECT_EQ(merge_duplicates(first, Duplicates::keep_first), added);
        expect_equal(first, elements(distinct), name(shape));
        if (added > 0) {
            EXPECT_THROW(merge_duplicates(a, Duplicates::refuse), InvalidArgument);
        }
    }
}

TYPED_TEST(SparseOperations, Sorting) {
    using T = TypeParam;
    auto a = random_tensor<T>({{9, 8, 7}, 200}, 1);
    const auto before = elements(a);
    sort_nonzeros(a, std::vector<int>{2, 0});
    EXPECT_EQ(elements(a), before);
    for (std::size_t i = 1; i < a.values.size(); ++i)
        EXPECT_LE(std::pair(a.indices[2][i - 1], a.indices[0][i - 1]), std::pair(a.indices[2][i], a.indices[0][i]));
    EXPECT_THROW(sort_nonzeros(a, std::vector<int>{3}), InvalidArgument);
}

}  // namespace
}  // namespace arges::sparse::test

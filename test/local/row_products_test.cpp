// Products with a pair node that is read by rows, against loops over all pairs.
#include "local/row_products.hpp"

#include "local/random_values.hpp"

#include <gtest/gtest.h>

#include <complex>

namespace arges::local::test {
namespace {

/// Offset of a child's index in the result or in the other operand.
std::int64_t offset(const std::array<RowFactor, 2>& child, std::int64_t p, bool summed) {
    const std::int64_t digit[] = {p % child[0].count, p / child[0].count};
    std::int64_t sum = 0;
    for (std::size_t f = 0; f < 2; ++f)
        if (child[f].summed == summed) sum += digit[f] * child[f].stride;
    return sum;
}

template <class T>
void check(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RowProduct x;
    x.row_step = random.integer(1, 3);
    x.first_row = random.integer(0, x.row_step - 1);
    x.strict = random.coin();
    x.once = random.coin();
    x.swapped = random.coin() ? 1 : -1;
    x.columns = random.integer(1, 3) == 1 ? 1 : random.integer(0, 5);
    const std::int64_t fast = random.integer(1, 5), slow = random.coin() ? 1 : random.integer(2, 4);
    const bool first_summed = random.coin();
    std::int64_t b_size = x.columns, c_size = x.columns;
    for (std::size_t c = 0; c < 2; ++c) {
        bool summed = random.coin();
        if (slow == 1 && c == 1) summed = !first_summed;
        if (slow == 1 && c == 0) summed = first_summed;
        const std::int64_t counts[] = {fast, slow};
        for (std::size_t f = 0; f < (slow > 1 ? 2U : 1U); ++f) {
            auto& size = summed ? b_size : c_size;
            x.child[c][f] = {counts[f], size, summed};
            size *= counts[f];
            summed = !summed;
        }
    }
    const auto n = fast * slow;
    x.rows = n > x.first_row ? (n - x.first_row + x.row_step - 1) / x.row_step : 0;
    const auto a = random.elements<T>(x.elements()), b = random.elements<T>(b_size);
    auto c = random.elements<T>(c_size);
    auto expected = c;
    const T alpha = random.element<T>() * real_of<T>(2);
    for (std::int64_t t = 0; t < x.rows; ++t) {
        const auto q = x.first_row + t * x.row_step;
        for (std::int64_t p = 0; p < q + (x.strict ? 0 : 1); ++p) {
            const T value = alpha * a[static_cast<std::size_t>(x.row_start(t) + p)];
            auto add = [&](std::int64_t i0, std::int64_t i1, T weight) {
                for (std::int64_t i = 0; i < x.columns; ++i)
                    expected[static_cast<std::size_t>(offset(x.child[0], i0, false) + offset(x.child[1], i1, false) + i)] +=
                        weight * value * b[static_cast<std::size_t>(offset(x.child[0], i0, true) + offset(x.child[1], i1, true) + i)];
            };
            add(p, q, p == q && x.once ? T(0.5) : T(1));
            if (p != q && !x.once) add(q, p, T(static_cast<real_of<T>>(x.swapped)));
        }
    }
    const auto threads = random.integer(1, 3);
    std::vector<T> copies(static_cast<std::size_t>((threads - 1) * c_size), T(99));
    multiply_rows<T>(x, alpha, a.data(), b.data(), c.data(), c_size, copies.data(), threads);
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], expected[i]) << "element " << i;
}

TEST(RowProducts, EqualTheSumOverAllPairs) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        check<double>(seed);
        check<std::complex<double>>(seed);
        if (seed % 8 == 0) {
            check<float>(seed);
            check<std::complex<float>>(seed);
        }
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(RowProducts, UseThreadsOnlyWhereCopiesOfTheResultArePaidFor) {
    RowProduct x;
    x.rows = 1000;
    EXPECT_EQ(row_product_threads(x, 1000, 8), 8);
    EXPECT_EQ(row_product_threads(x, 500 * 1000, 8), 1);
    x.rows = 10;
    EXPECT_EQ(row_product_threads(x, 10, 8), 1);
}

}  // namespace
}  // namespace arges::local::test

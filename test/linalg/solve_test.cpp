// Cholesky, triangular systems and least squares against their definitions.
#include "linalg/matrices.hpp"
#include "support/seeds.hpp"

namespace arges::test {
namespace {

/// A Hermitian matrix with eigenvalues between 1 and about 2.
template <class T>
Dense2<T> positive_matrix(std::int64_t n, std::mt19937_64& random) {
    const auto B = Dense2<T>::random(n, n, random);
    auto A = B * B.adjoint();
    const double scale = A.norm();
    for (auto& x : A.data) x /= static_cast<real_of<T>>(scale > 0 ? scale : 1);
    for (std::int64_t i = 0; i < n; ++i) A(i, i) += T(1);
    return A;
}

template <class T>
void check_cholesky(const World& world, std::mt19937_64& random) {
    const auto n = random_integer(random, 0, 7), m = random_integer(random, 1, 3), count = random_integer(random, 0, 9);
    const MatrixCase c{{m, n, m, n}, "abcd->ba|dc", random_grid(world.size(), random)};
    SCOPED_TRACE(c.text() + ", " + std::to_string(count) + " right-hand sides");
    const auto A = positive_matrix<T>(n * m, random);
    auto tensor = tensor_of(world, A, c);
    const auto L = cholesky(tensor[c.labels], c.grid);
    EXPECT_EQ(L.extents(), (std::vector<std::int64_t>{n, m, n, m}));
    const Dense2<T> factor(n * m, n * m, L.gather());
    for (std::int64_t j = 0; j < factor.n; ++j)
        for (std::int64_t i = 0; i < j; ++i) EXPECT_EQ(factor(i, j), T(0));
    expect_close(A, factor * factor.adjoint());
    // Labels of the right-hand side in another order.
    const MatrixCase right{{m, count, n}, "axb->ba|x", {}};
    const auto B = Dense2<T>::random(n * m, count, random);
    const auto X = solve_positive(tensor[c.labels], tensor_of(world, B, right)["axb->ab|x"], c.grid);
    EXPECT_EQ(X.extents(), (std::vector<std::int64_t>{n, m, count}));
    expect_close(B, A * Dense2<T>(n * m, count, X.gather()), 4);
    // What is above the diagonal is not read.
    if (n * m > 1) {
        auto spoilt = A;
        spoilt(0, n * m - 1) = T(std::numeric_limits<real_of<T>>::quiet_NaN());
        EXPECT_EQ(cholesky(tensor_of(world, spoilt, c)[c.labels], c.grid).gather(), L.gather());
    }
}

TEST(Cholesky, OfRandomMatrices) {
    const World world;
    for_each_type([&](auto zero) {
        for_each_seed(1000, cases(world, 6), [&](std::mt19937_64& random) { check_cholesky<decltype(zero)>(world, random); });
    });
}

template <class T>
Dense2<T> applied(const Dense2<T>& A, const TriangularOptions& options) {
    Dense2<T> result(A.n, A.n);
    for (std::int64_t j = 0; j < A.n; ++j)
        for (std::int64_t i = 0; i < A.n; ++i) {
            const bool inside = options.triangle == Triangle::lower ? i >= j : i <= j;
            T value = !inside ? T(0) : i == j && options.unit_diagonal ? T(1) : A(i, j);
            if (options.operation == Operation::adjoint) value = conjugate_of(value);
            (options.operation == Operation::none ? result(i, j) : result(j, i)) = value;
        }
    return result;
}

template <class T>
void check_triangular(const World& world, std::mt19937_64& random) {
    TriangularOptions options;
    options.side = random_integer(random, 0, 1) == 0 ? Side::left : Side::right;
    options.triangle = random_integer(random, 0, 1) == 0 ? Triangle::lower : Triangle::upper;
    options.operation = static_cast<Operation>(random_integer(random, 0, 2));
    options.unit_diagonal = random_integer(random, 0, 2) == 0;
    options.grid = random_grid(world.size(), random);
    const auto n = random_integer(random, 0, 6), m = random_integer(random, 1, 2), count = random_integer(random, 0, 7);
    const MatrixCase c{{n, m, n, m}, "abcd->ba|dc", options.grid};
    SCOPED_TRACE(c.text());
    auto A = Dense2<T>::random(n * m, n * m, random);
    for (std::size_t i = 0; i < A.data.size(); ++i) A.data[i] *= static_cast<real_of<T>>(0.2);
    for (std::int64_t i = 0; i < A.n; ++i) A(i, i) += T(2);
    const auto op = applied(A, options);
    const auto tensor = tensor_of(world, A, c);
    const bool left = options.side == Side::left;
    const auto B = left ? Dense2<T>::random(n * m, count, random) : Dense2<T>::random(count, n * m, random);
    const bool plain = options.operation == Operation::none;
    // From the left the rows of B are those of op(A), from the right its columns are those of op(A).
    const bool rows = left == plain;
    const MatrixCase right = left ? MatrixCase{{count, m, n}, rows ? "xba->ab|x" : "xdc->cd|x", {}}
                                  : MatrixCase{{m, n, count}, rows ? "bax->x|ab" : "dcx->x|cd", {}};
    auto same = right;
    const auto swapped = [](std::string text, const std::string& from, const std::string& to) {
        return text.replace(text.rfind(from), from.size(), to);
    };
    // The reference has the labels in the order of A; the call has them in another one.
    same.labels = rows ? swapped(right.labels, "ab", "ba") : swapped(right.labels, "cd", "dc");
    const auto X = solve_triangular(tensor[c.labels], tensor_of(world, B, same)[right.labels], options);
    const auto known = left ? Dense2<T>(n * m, count, X.gather()) : Dense2<T>(count, n * m, X.gather());
    expect_close(B, left ? op * known : known * op, 4);
}

TEST(Triangular, OfRandomMatrices) {
    const World world;
    for_each_type([&](auto zero) {
        for_each_seed(1100, cases(world, 12), [&](std::mt19937_64& random) { check_triangular<decltype(zero)>(world, random); });
    });
}

template <class T>
void check_least_squares(const World& world, std::int64_t rank_limit, std::mt19937_64& random) {
    const std::vector<std::int64_t> choices{1, 2, 3, 5, 8};
    const auto pick = [&] { return choices[static_cast<std::size_t>(random_integer(random, 0, 4))]; };
    const MatrixCase c{
        {pick(), pick(), pick()}, random_integer(random, 0, 1) == 0 ? "aib->ab|i" : "ija->a|ij", random_grid(world.size(), random)};
    const auto labels = c.parsed();
    const auto m = labels.rows.size, n = labels.columns.size, count = random_integer(random, 1, 3);
    const auto rank = std::min({m, n, rank_limit});
    SCOPED_TRACE(c.text() + ", rank " + std::to_string(rank));
    const auto A =
        rank < std::min(m, n) ? Dense2<T>::random(m, rank, random) * Dense2<T>::random(rank, n, random) : Dense2<T>::random(m, n, random);
    const auto B = Dense2<T>::random(m, count, random);
    const bool two_rows = labels.rows.dimensions.size() == 2;
    // The columns of B have a label that A has, too.
    const MatrixCase right =
        two_rows ? MatrixCase{{c.extents[0], count, c.extents[2]}, "aib->ab|i", {}} : MatrixCase{{m, count}, "a|i", {}};
    const auto s = reference_singular_values(A);
    if (s[static_cast<std::size_t>(rank - 1)] < 0.05 * s[0]) return;  // too close to a smaller rank for a sharp comparison
    const auto found = least_squares(tensor_of(world, A, c)[c.labels], tensor_of(world, B, right)[right.labels], {-1, c.grid});
    EXPECT_EQ(found.rank, rank);
    EXPECT_EQ(found.X.extents(), linalg::joined(labels.columns.extents, {count}));
    const Dense2<T> X(n, count, found.X.gather());
    const auto rest = A * X - B;
    const double allowed = 200 * rounding<T>(m, n) * (A.norm() * X.norm() + B.norm());
    EXPECT_LE((A.adjoint() * rest).norm(), allowed * A.norm());  // the residual is orthogonal to the range
    EXPECT_NEAR(found.residual, rest.norm(), allowed);
    if (n > m || rank < n) {  // least norm: X is orthogonal to the kernel, so another solution of A X = A X0 is longer
        const auto again = least_squares(tensor_of(world, A, c)[c.labels], tensor_of(world, A * X, right)[right.labels], {-1, c.grid});
        expect_close(X, Dense2<T>(n, count, again.X.gather()), 500);
    }
}

TEST(LeastSquares, OfRandomMatrices) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        for_each_seed(1200, cases(world, 8), [&](std::mt19937_64& random) { check_least_squares<T>(world, 1000, random); });
        for_each_seed(1300, cases(world, 5), [&](std::mt19937_64& random) { check_least_squares<T>(world, 2, random); });
    });
}

TEST(LeastSquares, LeastNormAndEmptyMatrices) {
    const World world;
    // x + y = 2 has the shortest solution (1, 1); two equal columns share their part.
    Tensor<double> A(world, {1, 2}), B(world, {1, 1});
    A.fill(1);
    B.fill(2);
    const auto wide = least_squares(A["r|c"], B["r|x"]);
    EXPECT_EQ(wide.rank, 1);
    for (auto x : wide.X.gather()) EXPECT_NEAR(x, 1, 1e-14);
    Tensor<double> columns(world, {5, 2}), ones(world, {5, 1});
    columns.fill(1);
    ones.fill(1);
    const auto equal = least_squares(columns["r|c"], ones["r|x"]);
    EXPECT_EQ(equal.rank, 1);
    for (auto x : equal.X.gather()) EXPECT_NEAR(x, 0.5, 1e-14);
    Tensor<double> none(world, {0, 3}), right(world, {0, 2});
    const auto nothing = least_squares(none["r|c"], right["r|x"]);
    EXPECT_EQ(nothing.rank, 0);
    EXPECT_EQ(nothing.X.gather(), std::vector<double>(6, 0.0));
    Tensor<double> zeros(world, {3, 3}), some(world, {3, 1});
    some.fill(1);
    const auto zero = least_squares(zeros["r|c"], some["r|x"]);
    EXPECT_EQ(zero.rank, 0);
    EXPECT_NEAR(zero.residual, std::sqrt(3.0), 1e-14);
    EXPECT_EQ(zero.X.norm(), 0);
}

}  // namespace
}  // namespace arges::test

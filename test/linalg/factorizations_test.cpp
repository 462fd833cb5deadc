// QR, SVD and eigenvalues of random matricizations against their definitions and slow references.
#include "linalg/matrices.hpp"
#include "support/seeds.hpp"

namespace arges::test {
namespace {

const std::vector<std::int64_t> small_extents{1, 2, 3, 4, 5, 7}, extents_with_zero{0, 1, 3, 5}, longer_extents{1, 2, 6, 11, 13};

template <class T>
void check_qr(const World& world, const MatrixCase& c, std::mt19937_64& random) {
    SCOPED_TRACE(c.text());
    const auto labels = c.parsed();
    const auto A = Dense2<T>::random(labels.rows.size, labels.columns.size, random);
    const auto tensor = tensor_of(world, A, c);
    const auto k = std::min(A.m, A.n);
    const auto result = qr(tensor[c.labels], {true, c.grid});
    EXPECT_EQ(result.Q.extents(), linalg::joined(labels.rows.extents, {k}));
    EXPECT_EQ(result.R.extents(), linalg::joined({k}, labels.columns.extents));
    const Dense2<T> Q(A.m, k, result.Q.gather()), R(k, A.n, result.R.gather());
    expect_close(A, Q * R);
    expect_orthonormal(Q);
    for (std::int64_t j = 0; j < R.n; ++j) {
        for (std::int64_t i = j + 1; i < k; ++i) EXPECT_EQ(R(i, j), T(0));
        if (j < k) {
            EXPECT_GE(std::real(R(j, j)), 0);
            EXPECT_EQ(std::imag(R(j, j)), 0);
        }
    }
    EXPECT_LE(result.checks.residual, rounding<T>(A.m, A.n));
    EXPECT_LE(result.checks.orthogonality, rounding<T>(A.m, A.n) * std::sqrt(static_cast<double>(k + 1)));
    EXPECT_EQ(tensor.gather(), tensor_of(world, A, c).gather());
}

TEST(Qr, OfRandomMatricizations) {
    const World world;
    for_each_type([&](auto zero) {
        for_each_seed(100, cases(world, 12), [&](std::mt19937_64& random) {
            check_qr<decltype(zero)>(world, random_case(world.size(), random, small_extents), random);
        });
        for_each_seed(200, cases(world, 6), [&](std::mt19937_64& random) {
            check_qr<decltype(zero)>(world, random_case(world.size(), random, extents_with_zero), random);
        });
    });
}

TEST(Qr, OfTallMatrices) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        std::mt19937_64 random(3);
        // One long dimension, rows (with an arrow) in another order, more ranks than squares, several leaves on a rank.
        check_qr<T>(world, {{97, 5}, "a|i", {}}, random);
        check_qr<T>(world, {{64, 3, 4}, "ab|i", {}}, random);
        check_qr<T>(world, {{5, 64, 4}, "abi->ba|i", {}}, random);
        check_qr<T>(world, {{4, 48, 3}, "iab->ab|i", {}}, random);
        check_qr<T>(world, {{23, 5}, "a|i", {}}, random);
        check_qr<T>(world, {{31, 1}, "a|i", {}}, random);
    });
    std::mt19937_64 random(4);
    check_qr<float>(world, {{70001, 4}, "a|i", {}}, random);
    check_qr<double>(world, {{40009, 3}, "a|i", {}}, random);
}

template <class T>
void check_svd(const World& world, const MatrixCase& c, const Dense2<T>& A, const SvdOptions& wanted = {}) {
    SCOPED_TRACE(c.text());
    const auto labels = c.parsed();
    const auto tensor = tensor_of(world, A, c);
    auto options = wanted;
    options.checks = true;
    options.grid = c.grid;
    const auto result = svd(tensor[c.labels], options);
    const auto r = static_cast<std::int64_t>(result.s.size());
    const auto s = reference_singular_values(A);
    const double largest = s.empty() ? 0 : s[0];
    for (std::int64_t i = 0; i < r; ++i)
        EXPECT_NEAR(static_cast<double>(result.s[static_cast<std::size_t>(i)]), s[static_cast<std::size_t>(i)],
                    rounding<T>(A.m, A.n) * largest);
    double missing = 0;
    for (auto i = static_cast<std::size_t>(r); i < s.size(); ++i) missing += s[i] * s[i];
    EXPECT_NEAR(result.discarded, std::sqrt(missing), rounding<T>(A.m, A.n) * largest * std::sqrt(static_cast<double>(s.size() + 1)));
    ASSERT_EQ(result.U.state() != nullptr, options.left);
    ASSERT_EQ(result.Vh.state() != nullptr, options.right);
    const double allowed = rounding<T>(A.m, A.n) * std::sqrt(static_cast<double>(r + 1));
    if (options.left) {
        EXPECT_EQ(result.U.extents(), linalg::joined(labels.rows.extents, {r}));
        expect_orthonormal(Dense2<T>(A.m, r, result.U.gather()));
    }
    if (options.right) {
        EXPECT_EQ(result.Vh.extents(), linalg::joined({r}, labels.columns.extents));
        expect_orthonormal(Dense2<T>(r, A.n, result.Vh.gather()).adjoint());
    }
    EXPECT_LE(result.checks.orthogonality, allowed);
    if (options.left && options.right) {
        Dense2<T> scaled(A.m, r, result.U.gather());
        for (std::int64_t j = 0; j < r; ++j)
            for (std::int64_t i = 0; i < A.m; ++i) scaled(i, j) *= result.s[static_cast<std::size_t>(j)];
        const auto rest = (A - scaled * Dense2<T>(r, A.n, result.Vh.gather())).norm();
        EXPECT_NEAR(rest, std::sqrt(missing), rounding<T>(A.m, A.n) * A.norm());
        EXPECT_NEAR(result.checks.residual * A.norm(), std::sqrt(missing), 2 * rounding<T>(A.m, A.n) * A.norm());
    }
}

template <class T>
Dense2<T> random_matrix(const MatrixCase& c, std::mt19937_64& random) {
    const auto labels = c.parsed();
    return Dense2<T>::random(labels.rows.size, labels.columns.size, random);
}

TEST(Svd, OfRandomMatricizations) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        for_each_seed(300, cases(world, 10), [&](std::mt19937_64& random) {
            const auto c = random_case(world.size(), random, small_extents);
            check_svd(world, c, random_matrix<T>(c, random));
        });
        for_each_seed(400, cases(world, 5), [&](std::mt19937_64& random) {
            const auto c = random_case(world.size(), random, extents_with_zero);
            check_svd(world, c, random_matrix<T>(c, random));
        });
    });
}

TEST(Svd, ByRankAndSides) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        for_each_seed(500, cases(world, 8), [&](std::mt19937_64& random) {
            const auto c = random_case(world.size(), random, longer_extents);
            SvdOptions options;
            options.rank = random_integer(random, 1, 9);
            options.left = random_integer(random, 0, 2) > 0;
            options.right = random_integer(random, 0, 2) > 0;
            check_svd(world, c, random_matrix<T>(c, random), options);
        });
    });
}

TEST(Svd, OfMatricesOfLowRank) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        for_each_seed(600, cases(world, 5), [&](std::mt19937_64& random) {
            const auto c = random_case(world.size(), random, small_extents);
            const auto labels = c.parsed();
            const auto rank = std::min<std::int64_t>({2, labels.rows.size, labels.columns.size});
            const auto A = Dense2<T>::random(labels.rows.size, rank, random) * Dense2<T>::random(rank, labels.columns.size, random);
            check_svd(world, c, A);
            SvdOptions options;
            options.tolerance = 1e-4;
            const auto cut = svd(tensor_of(world, A, c)[c.labels], options);
            EXPECT_LE(static_cast<std::int64_t>(cut.s.size()), rank);
            EXPECT_LE(cut.discarded, 1e-4 * A.norm());
        });
    });
    std::mt19937_64 random(7);
    const MatrixCase zeros{{4, 6}, "a|i", {}};
    check_svd(world, zeros, Dense2<double>(4, 6));
    check_svd(world, {{4, 6}, "a|i", {1, world.size(), 2}}, Dense2<double>(4, 6));
}

TEST(Svd, ToleranceIsKept) {
    const World world;
    std::mt19937_64 random(8);
    const MatrixCase c{{8, 3, 20}, "ab|i", {}};
    const auto A = random_matrix<double>(c, random);
    const auto s = reference_singular_values(A);
    const auto tensor = tensor_of(world, A, c);
    for (const double tolerance : {0.1, 0.3, 0.6, 2.0}) {
        SvdOptions options;
        options.tolerance = tolerance;
        auto result = svd(tensor[c.labels], options);
        EXPECT_LE(result.discarded, tolerance * A.norm());
        if (result.s.size() > 1) {  // one singular value less would be too many
            double more = result.discarded * result.discarded + result.s.back() * result.s.back();
            EXPECT_GT(std::sqrt(more), tolerance * A.norm());
        }
        SvdOptions absolute;
        absolute.absolute_tolerance = tolerance * A.norm();
        EXPECT_EQ(svd(tensor[c.labels], absolute).s, result.s);
    }
}

TEST(Svd, RandomizedFindsWhatIsThere) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        std::mt19937_64 random(9);
        for (const auto& c :
             {MatrixCase{{9, 7, 30}, "ab|i", {}}, MatrixCase{{30, 4, 8}, "iab->i|ba", {}}, MatrixCase{{40, 40}, "i|j", {}}}) {
            SCOPED_TRACE(c.text());
            const auto labels = c.parsed();
            auto A = Dense2<T>::random(labels.rows.size, 5, random) * Dense2<T>::random(5, labels.columns.size, random);
            const auto tensor = tensor_of(world, A, c);
            SvdOptions options;
            options.method = SvdMethod::randomized;
            options.rank = 5;
            options.checks = true;
            const auto result = svd(tensor[c.labels], options);
            const auto s = reference_singular_values(A);
            ASSERT_EQ(result.s.size(), 5U);
            for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(static_cast<double>(result.s[i]), s[i], 5 * rounding<T>(A.m, A.n) * s[0]);
            EXPECT_LE(result.checks.residual, 5 * rounding<T>(A.m, A.n));
            EXPECT_LE(result.checks.orthogonality, 5 * rounding<T>(A.m, A.n));
            options.rank = 2;
            const auto two = svd(tensor[c.labels], options);
            EXPECT_NEAR(two.discarded, std::sqrt(s[2] * s[2] + s[3] * s[3] + s[4] * s[4]), 20 * rounding<T>(A.m, A.n) * s[0]);
            EXPECT_NEAR(two.checks.residual * A.norm(), two.discarded, 20 * rounding<T>(A.m, A.n) * s[0]);
            // Of a sparse tensor the same.
            const auto sparse = SparseTensor<T>::from_dense(tensor);
            const auto same = svd(sparse[c.labels], options);
            for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(static_cast<double>(same.s[i]), s[i], 20 * rounding<T>(A.m, A.n) * s[0]);
            EXPECT_NEAR(same.checks.residual * A.norm(), two.discarded, std::sqrt(20 * rounding<T>(A.m, A.n)) * s[0]);
            EXPECT_LE(same.checks.orthogonality, 5 * rounding<T>(A.m, A.n));
            options.method = SvdMethod::exact;
            EXPECT_THROW(svd(sparse[c.labels], options), InvalidArgument);
            EXPECT_THROW(qr(sparse[c.labels]), InvalidArgument);
        }
    });
}

template <class T>
void check_eigh(const World& world, const MatrixCase& c, std::mt19937_64& random) {
    SCOPED_TRACE(c.text());
    const auto labels = c.parsed();
    const auto n = labels.rows.size;
    auto A = Dense2<T>::random(n, n, random);
    const auto adjoint = A.adjoint();
    for (std::size_t i = 0; i < A.data.size(); ++i) A.data[i] += adjoint.data[i];
    const auto tensor = tensor_of(world, A, c);
    EighOptions options;
    options.checks = true;
    options.grid = c.grid;
    const auto result = eigh(tensor[c.labels], options);
    const auto values = reference_eigenvalues(A);
    ASSERT_EQ(result.values.size(), values.size());
    const double allowed = rounding<T>(n, n) * A.norm();
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(static_cast<double>(result.values[i]), values[i], allowed);
    EXPECT_EQ(result.vectors.extents(), linalg::joined(labels.rows.extents, {n}));
    const Dense2<T> V(n, n, result.vectors.gather());
    expect_orthonormal(V);
    auto scaled = V;
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) scaled(i, j) *= result.values[static_cast<std::size_t>(j)];
    EXPECT_LE((A * V - scaled).norm(), allowed);
    EXPECT_LE(result.checks.residual, 2 * rounding<T>(n, n));
    EXPECT_LE(result.checks.orthogonality, rounding<T>(n, n) * std::sqrt(static_cast<double>(n + 1)));
    options.vectors = false;
    options.first = n / 3;
    options.count = n - 2 * (n / 3);
    options.symmetric = true;
    const auto range = eigh(tensor[c.labels], options);
    EXPECT_EQ(range.vectors.state(), nullptr);
    ASSERT_EQ(static_cast<std::int64_t>(range.values.size()), *options.count);
    for (std::size_t i = 0; i < range.values.size(); ++i)
        EXPECT_NEAR(static_cast<double>(range.values[i]), values[i + static_cast<std::size_t>(options.first)], allowed);
    options.vectors = true;
    const auto part = eigh(tensor[c.labels], options).vectors.gather();
    ASSERT_EQ(static_cast<std::int64_t>(part.size()), n * *options.count);
    const auto offset = static_cast<std::size_t>(n * options.first);
    for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], V.data[i + offset]);
}

TEST(Eigh, OfRandomMatricizations) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        for_each_seed(700, cases(world, 6), [&](std::mt19937_64& random) {
            const auto n = random_integer(random, 0, 13), m = random_integer(random, 1, 3);
            check_eigh<T>(world, {{n, n}, "a|b", random_grid(world.size(), random)}, random);
            check_eigh<T>(world, {{m, n, m, n}, "abcd->ba|dc", random_grid(world.size(), random)}, random);
        });
    });
}

TEST(Eigh, OfTensorsWithSymmetry) {
    const World world;
    using C = std::complex<double>;
    Tensor<double> E(world, {4, 4, 4, 4}, "pqrs", "sym(sym(p,q),sym(r,s))", "E");
    E.fill_random(5);
    const auto full = E.with_symmetry(Symmetry::none(4));
    EXPECT_EQ(eigh(E["pq|rs"]).values, eigh(full["pq|rs"]).values);
    EXPECT_LE(eigh(E["pr|qs"], {.checks = true}).checks.residual, 1e-13);
    Tensor<C> H(world, {6, 6}, "ij", "hermitian(i,j)", "H");
    H.fill_random(6);
    const auto h = eigh(H["i|j"], {.checks = true});
    EXPECT_LE(h.checks.residual, 1e-13);
    Tensor<double> A(world, {7, 7}, "ij", "antisym(i,j)", "A");
    A.fill_random(6);
    const auto a = svd(A["i|j"], {.checks = true});
    EXPECT_LE(a.checks.residual, 1e-13);
    EXPECT_NEAR(a.s.back(), 0, 1e-14);
    const auto q = qr(E["pqr|s"], {true, {}});
    EXPECT_LE(q.checks.residual, 1e-13);
    const auto t = svd(E["p|qrs"], {.checks = true});
    EXPECT_LE(t.checks.residual, 1e-13);
}

TEST(AnyTensor, FactorsAreThoseOfItsType) {
    const World world;
    for_each_type([&](auto zero) {
        using T = decltype(zero);
        Tensor<T> A(world, {6, 5, 2}, "A"), B(world, {6, 2, 3}, "B");
        A.fill_random(1);
        B.fill_random(2);
        const AnyTensor a = A, b = B;
        const auto same = [](const AnyTensor& any, const Tensor<T>& typed) { EXPECT_EQ(Tensor<T>(any).gather(), typed.gather()); };
        const auto Q = qr(A["abc->ac|b"], {.checks = true});
        const auto q = qr(a["abc->ac|b"], {.checks = true});
        same(q.Q, Q.Q);
        same(q.R, Q.R);
        EXPECT_EQ(q.checks.residual, Q.checks.residual);
        EXPECT_EQ(q.checks.orthogonality, Q.checks.orthogonality);
        const auto S = svd(A["a|bc"], {.rank = 3});
        const auto s = svd(a["a|bc"], {.rank = 3});
        same(s.U, S.U);
        same(s.Vh, S.Vh);
        EXPECT_EQ(std::vector<real_of<T>>(s.s.begin(), s.s.end()), S.s);
        EXPECT_FALSE(svd(a["a|bc"], {.left = false}).U.any_state());
        same(least_squares(a["abc->ac|b"], b["ack->ac|k"]).X, least_squares(A["abc->ac|b"], B["ack->ac|k"]).X);
        Tensor<T> G(world, {5, 5}, "G");
        G["ij"] = conj(A["aic"]) * A["ajc"];
        const AnyTensor g = G;
        same(cholesky(g["i|j"]), cholesky(G["i|j"]));
        same(eigh(g["i|j"]).vectors, eigh(G["i|j"]).vectors);
        same(solve_positive(g["i|j"], a["aic->i|ac"]), solve_positive(G["i|j"], A["aic->i|ac"]));
        same(solve_triangular(g["i|j"], a["aic->i|ac"]), solve_triangular(G["i|j"], A["aic->i|ac"]));
    });
}

}  // namespace
}  // namespace arges::test

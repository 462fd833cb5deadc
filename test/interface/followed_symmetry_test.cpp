// Symmetry of an output that follows from equal factors, other terms and trees; and what is said where it does not.
#include "arges/arges.hpp"
#include "support/tensor_checks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arges::test {
namespace {

using Complex = std::complex<double>;

/// Both tensors have the same elements, to rounding.
template <class T>
void expect_equal(const Tensor<T>& a, const Tensor<T>& b) {
    const auto x = a.gather(), y = b.gather();
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LE(std::abs(x[i] - y[i]), 1e-11 * (1 + std::abs(y[i]))) << "key " << i;
}

/// `right` into an output with a symmetry is what it is without.
template <class T>
void expect_accepted(const World& world, const std::vector<std::int64_t>& extents, const std::string& labels, const std::string& tree,
                     const Expression<T>& right) {
    Tensor<T> packed(world, extents, labels, tree, "P"), plain(world, extents);
    ASSERT_NO_THROW(packed[labels] = right) << tree;
    plain[labels] = right;
    EXPECT_GT(static_cast<double>(plain.norm()), 0);
    expect_equal(packed, plain);
}

template <class T>
Tensor<T> random(const World& world, const std::vector<std::int64_t>& extents, const std::string& labels = "",
                 const std::string& tree = "") {
    static std::uint64_t seed = 0;
    auto result = tree.empty() ? Tensor<T>(world, extents) : Tensor<T>(world, extents, labels, tree);
    result.fill_random(++seed);
    return result;
}

TEST(FollowedSymmetry, FromTreesEqualFactorsAndOtherTerms) {
    const World world;
    const std::int64_t n = 5, m = 4;
    const auto E = random<double>(world, {n, n, n, n}, "pqrs", "sym(sym(p,q),sym(r,s))");
    const auto C = random<double>(world, {n, m}), S = random<double>(world, {n, n}, "ij", "sym(i,j)");
    const auto N = random<double>(world, {n, n}), x = random<double>(world, {n});
    expect_accepted<double>(world, {n, n}, "pq", "sym(p,q)", E["piqi"]);
    expect_accepted<double>(world, {n, n}, "pq", "sym(p,q)", 2.0 * E["pqii"] - E["piqi"]);
    expect_accepted<double>(world, {m, m}, "pq", "sym(p,q)", C["ap"] * S["ab"] * C["bq"]);
    expect_accepted<double>(world, {m, m, m, m}, "pqrs", "sym(sym(p,q),sym(r,s))", C["ap"] * C["bq"] * E["abcd"] * C["cr"] * C["ds"]);
    expect_accepted<double>(world, {n, n}, "ij", "antisym(i,j)", N["ij"] - N["ji"]);
    expect_accepted<double>(world, {n, n}, "ij", "sym(i,j)", N["ij"] + S["ij"] + N["ji"]);
    expect_accepted<double>(world, {n, n}, "ij", "sym(i,j)", x["i"] * x["j"]);
    expect_accepted<double>(world, {n, n, n}, "ijk", "sym(i,j,k)", x["i"] * x["j"] * x["k"]);
    expect_accepted<double>(world, {m, m, m, m}, "abij", "antisym(a,b) antisym(i,j)",
                            C["ca"] * C["ci"] * C["db"] * C["dj"] - C["cb"] * C["ci"] * C["da"] * C["dj"]);
}

TEST(FollowedSymmetry, OfComplexTensors) {
    const World world;
    const std::int64_t n = 5;
    const auto U = random<Complex>(world, {n, n}), H = random<Complex>(world, {n, n}, "ij", "hermitian(i,j)");
    expect_accepted<Complex>(world, {n, n}, "ij", "hermitian(i,j)", conj(U["ki"]) * U["kj"]);
    expect_accepted<Complex>(world, {n, n}, "ij", "hermitian(i,j)", conj(U["ki"]) * H["kl"] * U["lj"]);
    expect_accepted<Complex>(world, {n, n}, "ij", "hermitian(i,j)", Complex(0, 1) * U["ij"] - Complex(0, 1) * conj(U["ji"]));
    expect_accepted<Complex>(world, {n, n}, "ij", "sym(i,j)", U["ki"] * U["kj"]);
    Tensor<Complex> P(world, {n, n}, "ij", "hermitian(i,j)", "P");
    EXPECT_THROW((P["ij"] = U["ki"] * U["kj"]), InvalidArgument);
    EXPECT_THROW((P["ij"] = Complex(0, 1) * conj(U["ki"]) * U["kj"]), InvalidArgument);
}

/// More summed labels of one factor than could be tried in all orders.
TEST(FollowedSymmetry, OverManySummedLabels) {
    const World world;
    const auto A = random<double>(world, {3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}), x = random<double>(world, {3});
    const auto first = A["iabcdefghkl"] * A["jabcdefghkl"];
    expect_accepted<double>(world, {3, 3}, "ij", "sym(i,j)", first);
    Tensor<double> S(world, {3, 3}, "ij", "sym(i,j)", "S"), T(world, {3, 3}, "ij", "sym(i,j)", "T");
    S["ij"] = symmetrized(first);  // as for two different tensors
    T["ij"] = first;
    T["ij"] *= 2.0;
    expect_equal(S, T);
    EXPECT_THROW((S["ij"] = A["iabcdefghkl"] * A["jbacdefghkl"] * x["k"] * x["l"]), InvalidArgument);
}

std::string refusal(const std::function<void()>& statement) {
    try {
        statement();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

TEST(FollowedSymmetry, ThatIsMissingIsSaidWithTheCureThatFits) {
    const World world;
    Tensor<double> S(world, {4, 4}, "ij", "sym(i,j)", "S"), A(world, {4, 4}, "ij", "antisym(i,j)", "A"), N(world, {4, 4}, "N"),
        M(world, {4, 4}, "M");
    const auto copied = refusal([&] { S["ij"] = N["ij"]; });
    EXPECT_NE(copied.find("their exchange leads to N[\"ji\"]"), std::string::npos) << copied;
    EXPECT_LT(copied.find("canonical"), copied.find("symmetrized"));
    const auto product = refusal([&] { A["ij"] = N["ik"] * S["kj"]; });
    EXPECT_NE(product.find("N[\"jk\"]*S[\"ki\"]"), std::string::npos) << product;
    EXPECT_LT(product.find("antisymmetrized"), product.find("canonical"));
    const auto same_form = refusal([&] { S["ij"] = N["ki"] * M["kj"]; });
    EXPECT_LT(same_form.find("canonical"), same_form.find("symmetrized")) << same_form;
    EXPECT_NE(refusal([&] { A["ij"] = N["ij"] - 2.0 * N["ji"]; }), "");
    EXPECT_NE(refusal([&] { A["ij"] = N["ij"] + N["ji"]; }), "");
    EXPECT_NE(refusal([&] { S["ij"] = N["ij"] + antisymmetrized(N["ji"]); }), "");
}

/// The same statement later, from what was kept, and another with the same products but other numbers or tensors.
TEST(FollowedSymmetry, IsFoundAgainForOtherNumbersAndTensors) {
    const World world;
    Tensor<double> A(world, {4, 4}, "ij", "antisym(i,j)", "A"), S(world, {4, 4}, "ij", "sym(i,j)", "S"), N(world, {4, 4}, "N"),
        M(world, {4, 4}, "M");
    N.fill_random(1);
    M.fill_random(2);
    for (int round = 0; round < 3; ++round) {
        EXPECT_NO_THROW((A["ij"] = N["ij"] - N["ji"]));
        EXPECT_THROW((A["ij"] = N["ij"] + N["ji"]), InvalidArgument);
        EXPECT_THROW((A["ij"] = N["ij"] - M["ji"]), InvalidArgument);
        EXPECT_NO_THROW((S["ij"] = N["ki"] * N["kj"]));
        EXPECT_THROW((S["ij"] = N["ki"] * M["kj"]), InvalidArgument);
    }
}

TEST(UnusualLabels, AreRefusedTogetherUnlessVouchedFor) {
    const World world;
    Tensor<double> R(world, {3, 3, 2, 2}, "R"), V(world, {3, 3, 3, 3}, "V"), T(world, {3, 3, 2, 2}, "T");
    V.fill_random(1);
    T.fill_random(2);
    const auto mistyped = refusal([&] { R["abij"] = V["abef"] * T["efik"]; });
    EXPECT_NE(mistyped.find("no factor has the label 'j'"), std::string::npos) << mistyped;
    EXPECT_NE(mistyped.find("'k' occurs only once"), std::string::npos) << mistyped;
    EXPECT_NE(mistyped.find("broadcast(\"j\", ...)"), std::string::npos) << mistyped;
    Tensor<double> ones(world, {2}), sums(world, {3, 3, 2}), wanted(world, {3, 3, 2, 2});
    ones.fill(1);
    sums["abi"] = V["abef"] * T["efik"] * ones["k"];
    wanted["abij"] = sums["abi"] * ones["j"];
    R["abij"] = broadcast("j", V["abef"] * T["efik"]);
    expect_equal(R, wanted);
    R["abij"] = sum("k", V["abef"] * T["efik"]);
    expect_equal(R, wanted);
    EXPECT_NO_THROW((R["abij"] = sums["abi"]));  // a broadcast alone
    EXPECT_NO_THROW((sums["abi"] = T["abik"]));  // a sum alone
    EXPECT_THROW((R["abij"] = broadcast("i", T["abij"])), InvalidArgument);
    EXPECT_THROW((sums["abi"] = sum("e", V["abee"] * T["abij"])), InvalidArgument);
    const auto plan = R["abij"].explain(broadcast("j", V["abef"] * T["efik"]));
    EXPECT_NE(plan.find("no factor has the label 'j'"), std::string::npos);
    EXPECT_NE(plan.find("the label 'k' occurs only once"), std::string::npos);
}

TEST(Expressions, BecomeNumbersWhereOneIsWanted) {
    const World world;
    Tensor<double> A(world, {4, 5}), B(world, {4, 5});
    A.fill_random(1);
    B.fill_random(2);
    const double energy = A["ij"] * B["ij"];
    EXPECT_NEAR(energy, A.dot(B), 1e-13);
    const double scaled = 2 * A["ij"] * B["ij"] / 4 + 1;
    EXPECT_NEAR(scaled, 0.5 * energy + 1, 1e-13);
    const double whole = A["ij"];
    EXPECT_NEAR(whole, A.sum(), 1e-13);
    const double number = Expression<double>(3);
    EXPECT_EQ(number, 3);
    auto C = A;
    C["ij"] /= 4.0;
    EXPECT_NEAR(C.sum(), A.sum() / 4, 1e-14);
    Tensor<Complex> Z(A);
    Z["ij"] *= Complex(0, 1);
    const Complex z = Z["ij"] * Z["ij"];
    EXPECT_NEAR(z.real(), -A.dot(A), 1e-13);
    EXPECT_NEAR(z.imag(), 0, 1e-13);
}

/// Against a loop over all elements, for trees whose zeros are stored and not.
template <class T>
void expect_quotients(const std::string& tree, double shift) {
    const World world;
    Tensor<T> A(world, {5, 5, 3, 3}, "abij", tree, "A"), e(world, {5}, "e"), f(world, {3}, "f");
    A.fill_random(1);
    e.fill([&](Index x) { return T(static_cast<real_of<T>>(shift + static_cast<double>(x[0]))); });
    f.fill([](Index x) { return T(static_cast<real_of<T>>(-1 - static_cast<double>(x[0]))); });
    const auto before = A.gather();
    A["abij"] /= e["a"] + e["b"] - f["i"] - f["j"];
    const auto after = A.gather();
    for (std::size_t k = 0; k < after.size(); ++k) {
        const auto x = A.index(static_cast<std::int64_t>(k));
        const auto divisor = 2 * shift + static_cast<double>(x[0] + x[1] + x[2] + x[3]) + 2;
        EXPECT_LE(std::abs(after[k] * T(static_cast<real_of<T>>(divisor)) - before[k]), 1e-5) << tree << " key " << k;
    }
}

TEST(ElementwiseDivision, EqualsALoop) {
    for (const char* tree : {"", "antisym(a,b) antisym(i,j)", "sym(a,b) hollow(i,j)", "sym(product(a,i),product(b,j))", "antisym(a,b)"}) {
        expect_quotients<double>(tree, 0.5);
        expect_quotients<std::complex<float>>(tree, 0.5);
    }
}

TEST(ElementwiseDivision, RefusesWhatDoesNotFitAndChangesNothing) {
    const World world;
    Tensor<double> A(world, {4, 4}, "ij", "antisym(i,j)", "A"), N(world, {4, 4}, "N"), e(world, {4}, "e");
    A.fill_random(1);
    N.fill_random(2);
    e.fill(2);
    const auto before = A.gather();
    EXPECT_THROW((A["ij"] /= N["ij"]), InvalidArgument);
    EXPECT_THROW((A["ij"] /= e["i"]), InvalidArgument);
    EXPECT_THROW((A["ii"] /= e["i"] + e["i"]), InvalidArgument);
    EXPECT_THROW((A["ij"] /= e["i"] + e["k"]), InvalidArgument);
    EXPECT_EQ(A.gather(), before);
    A["ij"] /= N["ij"] + N["ji"];
    EXPECT_NEAR(A.read({A.key({0, 1})})[0] * (N.read({1})[0] + N.read({4})[0]), before[4], 1e-14);
    N["ij"] /= N["ij"];
    EXPECT_NEAR(N.sum(), 16, 1e-13);
}

}  // namespace
}  // namespace arges::test

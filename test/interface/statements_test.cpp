// What index-string statements mean: aliasing, scaling, splitting, letters, many labels, unusual shapes.
#include "support/tensor_checks.hpp"

#include <functional>

namespace arges::test {
namespace {

using Complex = std::complex<double>;

/// Operands of the statements below, with their dense values.
struct Operands {
    World world;
    Dense a, b, c, s;
    Tensor<double> A, B, C, S;

    explicit Operands(const World& w, std::uint64_t seed) : world(w) {
        std::mt19937_64 random(seed);
        const auto none = Symmetry::none(2), symmetric = Symmetry::parse("ij", "sym(i,j)");
        a = random_dense({5, 5}, none, false, random);
        b = random_dense({5, 5}, none, false, random);
        c = random_dense({5, 5}, none, false, random);
        s = random_dense({5, 5}, symmetric, false, random);
        A = distributed<double>(w, a, none, "A");
        B = distributed<double>(w, b, none, "B");
        C = distributed<double>(w, c, none, "C");
        S = distributed<double>(w, s, symmetric, "S");
    }
};

/// Dense 5 x 5 from a formula for element (i, j).
Dense matrix(const std::function<Value(std::int64_t, std::int64_t)>& f) {
    Dense m({5, 5});
    for (std::int64_t j = 0; j < 5; ++j)
        for (std::int64_t i = 0; i < 5; ++i) m.at({i, j}) = f(i, j);
    return m;
}
Value times(const Dense& x, const Dense& y, std::int64_t i, std::int64_t j) {
    Value sum = 0;
    for (std::int64_t k = 0; k < 5; ++k) sum += x.at({i, k}) * y.at({k, j});
    return sum;
}

/// Runs a statement on both mappings, checks its explanation, its bytes and its result in C.
void check(const std::function<Expression<double>(Operands&)>& right, double beta,
           const std::function<Value(const Operands&, std::int64_t, std::int64_t)>& expected, const char* labels = "ij") {
    const World world;
    with_all_mappings(world, [&] {
        Operands o(world, 31);
        const auto wanted = matrix([&](auto i, auto j) { return expected(o, i, j); });
        const auto expression = right(o);
        const auto target = o.C[labels];
        EXPECT_FALSE(target.explain(expression, beta).empty() && !expression.terms().empty());
        o.C[labels].assign(expression, beta);
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
        expect_equal(o.C, wanted);
        expect_equal(o.A, o.a);  // operands stay as they were
        expect_equal(o.S, o.s);
    });
}

TEST(Statements, ReadTheLeftHandSideBeforeTheyChangeIt) {
    check([](auto& o) { return o.C["ji"]; }, 0, [](auto& o, auto i, auto j) { return o.c.at({j, i}); });
    check([](auto& o) { return o.C["ji"]; }, 1, [](auto& o, auto i, auto j) { return o.c.at({i, j}) + o.c.at({j, i}); });
    check([](auto& o) { return o.C["ik"] * o.C["kj"]; }, 0, [](auto& o, auto i, auto j) { return times(o.c, o.c, i, j); });
    check([](auto& o) { return o.C["ik"] * o.A["kj"] - o.B["ik"] * o.C["kj"]; }, 0,
          [](auto& o, auto i, auto j) { return times(o.c, o.a, i, j) - times(o.b, o.c, i, j); });
    check([](auto& o) { return o.C["ij"] * o.C["ij"] + 2.0 * o.C["ji"]; }, 3,
          [](auto& o, auto i, auto j) {
              return 3.0 * o.c.at({i, j}) + o.c.at({i, j}) * o.c.at({i, j}) + 2.0 * o.c.at({j, i});
          });
}

TEST(Statements, AddTermsAndNumbers) {
    check([](auto& o) { return (o.A["ij"] + o.B["ji"]) * 2.0 - o.S["ij"] / 2.0; }, 1,
          [](auto& o, auto i, auto j) {
              return o.c.at({i, j}) + 2.0 * (o.a.at({i, j}) + o.b.at({j, i})) - o.s.at({i, j}) / 2.0;
          });
    check([](auto& o) { return (o.A["ik"] + o.B["ik"]) * (o.S["kj"] - o.A["kj"]); }, 0,
          [](auto& o, auto i, auto j) {
              return times(o.a, o.s, i, j) + times(o.b, o.s, i, j) - times(o.a, o.a, i, j) - times(o.b, o.a, i, j);
          });
    check([](auto&) { return Expression<double>(2.5); }, 1, [](auto& o, auto i, auto j) { return o.c.at({i, j}) + 2.5; });
    check([](auto&) { return Expression<double>(); }, -2, [](auto& o, auto i, auto j) { return -2.0 * o.c.at({i, j}); });
    check([](auto&) { return Expression<double>(); }, 3,
          [](auto& o, auto i, auto j) {
              return (i == j ? 3.0 : 1.0) * o.c.at({i, j});
          },
          "ii");
    check([](auto&) { return Expression<double>(); }, 0, [](auto&, auto, auto) { return Value(0); });
    check([](auto& o) { return o.A["ii"]; }, 1,
          [](auto& o, auto i, auto j) {
              return o.c.at({i, j}) + (i == j ? o.a.at({i, i}) : 0.0);
          },
          "ii");
    check([](auto& o) { return o.A["kk"] * o.B["ll"]; }, 0,
          [](auto& o, auto, auto) {
              Value x = 0, y = 0;
              for (std::int64_t k = 0; k < 5; ++k) {
                  x += o.a.at({k, k});
                  y += o.b.at({k, k});
              }
              return x * y;
          });
}

TEST(Statements, HaveOperatorsThatDoTheSameAsAssign) {
    const World world;
    Operands o(world, 32);
    o.C["ij"] *= 2.0;
    o.C["ij"] += o.A["ij"];
    o.C["ij"] -= 3.0 * o.B["ji"];
    expect_equal(o.C, matrix([&](auto i, auto j) { return 2.0 * o.c.at({i, j}) + o.a.at({i, j}) - 3.0 * o.b.at({j, i}); }));
    o.C["ij"] = o.A["ji"];
    expect_equal(o.C, matrix([&](auto i, auto j) { return o.a.at({j, i}); }));
    contract(2.0, o.A, "ik", o.S, "kj", -1.0, o.C, "ji");
    expect_equal(o.C, matrix([&](auto i, auto j) { return 2.0 * times(o.a, o.s, j, i) - o.a.at({j, i}); }));
}

/// The same product with other letters, in other orders, in one statement or in several; of integers, since tensors may lie elsewhere the
/// next time, so that sums are made in another order.
TEST(Statements, DoNotDependOnLettersOrOnHowTheyAreSplit) {
    const World world;
    with_all_mappings(world, [&] {
        Tensor<double> V(world, {5, 5, 5, 5}, "abef", "antisym(a,b) antisym(e,f)"),
            T(world, {5, 5, 3, 3}, "efij", "antisym(e,f) antisym(i,j)");
        Tensor<double> F(world, {5, 5}), Z(T), Y(T), X(T), W(T);
        const auto antisymmetric = [](Index x) {
            return static_cast<double>((x[1] - x[0]) * (x[3] - x[2]) * (1 + (x[0] + x[1] + 3 * (x[2] + x[3])) % 4));
        };
        V.fill(antisymmetric);
        T.fill(antisymmetric);
        F.fill([](Index x) { return static_cast<double>((3 * x[0] + 5 * x[1]) % 7 - 2); });
        Z["abij"] = 0.5 * V["abef"] * T["efij"] + antisymmetrized(F["be"] * T["aeij"]);
        Y["zyxw"] = 0.5 * V["zyab"] * T["abxw"] + antisymmetrized(F["yc"] * T["zcxw"]);
        EXPECT_EQ(Z.gather(), Y.gather());
        X[{"a", "b", "first", "second"}] = 0.5 * T[{"e2", "e1", "first", "second"}] * V[{"a", "b", "e2", "e1"}];
        X["baij"] += antisymmetrized(T["beij"] * F["ae"]);
        W["abij"] = antisymmetrized(F["be"] * T["aeij"]);
        W["abij"] += 0.25 * V["abef"] * T["efij"];
        W["abij"] -= -0.25 * T["feji"] * V["abef"];
        for (auto* other : {&X, &W}) {
            (*other)["abij"] -= Z["abij"];
            EXPECT_LT(other->norm_max(), 1e-13);
        }
    });
}

/// 2.3 and 2.4 of the notes on Cyclops: P(ab) of a product, P(i/jk), and an outer product over two groups.
TEST(Statements, AntisymmetrizeOverDistinctPermutationsOnly) {
    const World world;
    with_all_mappings(world, [&] {
        Tensor<double> C(world, {3, 3, 3}, {AS, AS, NS}), M(world, {3, 3}, {AS, NS}), u(world, {3});
        M.fill([](Index x) { return x[0] == 1 ? 5.0 : static_cast<double>(x[1] + 1); });  // M01 = 2, M02 = 3, M12 = 5
        u.fill([](Index x) { return std::pow(10.0, static_cast<double>(x[0])); });
        C["ijk"] = antisymmetrized(u["i"] * M["jk"]);
        EXPECT_DOUBLE_EQ(C.read(std::vector<std::int64_t>{0 + 3 * 1 + 9 * 2})[0], 175);  // 5 - 30 + 200
        C["ijk"] = antisymmetrized(u["j"] * M["ik"]);
        EXPECT_DOUBLE_EQ(C.read(std::vector<std::int64_t>{0 + 3 * 1 + 9 * 2})[0], -175);
        Tensor<double> Z(world, {2, 2, 2, 2}, "abij", "antisym(a,b) antisym(i,j)"), t(world, {2, 2});
        t.fill([](Index x) { return static_cast<double>(2 * x[0] + x[1] + 1); });  // [1 2][3 4]
        Z["abij"] = antisymmetrized(t["ai"] * t["bj"]);
        EXPECT_DOUBLE_EQ(Z.read(std::vector<std::int64_t>{Z.key(std::vector<std::int64_t>{0, 1, 0, 1})})[0], -4);
    });
}

/// Plans are kept between statements; explanations still show the names and letters of the statement at hand.
TEST(Statements, AreExplainedInTheirOwnWords) {
    const World world;
    const Tensor<double> A(world, {5, 5}, "A"), B(world, {5, 5}, "B");
    Tensor<double> C(world, {5, 5}, "C"), D(world, {5, 5}, "D");
    C["ij"] = A["ik"] * B["kj"];
    EXPECT_NE(explain(C["ij"], A["ik"] * B["kj"]).find("C[ij] <- A[ik] * B[kj]"), std::string::npos);
    EXPECT_NE(explain(D["xy"], A["xz"] * B["zy"]).find("D[xy] <- A[xz] * B[zy]"), std::string::npos);
    EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
}

/// Every tensor has a name, and what is not done at once, or not on packed elements, has a reason.
TEST(Statements, AreExplainedWithReasons) {
    const World world;
    const Tensor<double> T(world, {6, 6, 5, 5}, "abij", "antisym(a,b) antisym(i,j)", "T"), x(world, {6, 5}, "x"), A(world, {6, 6}, "A");
    Tensor<double> M(world, {6, 5}, "M"), R(world, {6, 6, 5, 5}, "abij", "antisym(a,b) antisym(i,j)", "R"), B(world, {6, 6}, "B");
    const auto contains = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    };
    contains(explain(M["ai"], T["aeim"] * x["em"]), "T is unpacked: the product takes (ae) (im) apart");
    contains(explain(R["abij"], antisymmetrized(R["aeij"] * A["be"])), "note: R is on both sides, so it is copied first");
    contains(explain(B["ij"], A["ij"] + A["ji"]), "note: 2 terms are computed one after the other and added up");
    contains(explain(B["ij"], A["ij"] + A["ji"]), "B[ij] <- A[ji]");
    contains(explain(R["abij"], antisymmetrized(T["aeij"] * A["be"])), "R[abij] <- T[aeij] * A[be], summed over 2 permutations");
    const Tensor<double> U(world, {24, 24, 16, 16}, "abij", "antisym(a,b) antisym(i,j)", "U");
    Tensor<double> P(world, {24, 24, 16, 16}, "abij", "antisym(a,b) antisym(i,j)", "P");
    const auto two_steps = explain(P["abij"], U["efij"] * U["efmn"] * U["abmn"]);
    contains(two_steps, "intermediate 1 for P[");
    EXPECT_EQ(two_steps.find("[] "), std::string::npos) << two_steps;
}

TEST(Statements, TakeTensorsOfOrderSixteen) {
    const World world;
    const std::vector<std::int64_t> extents{2, 1, 2, 2, 1, 1, 2, 1, 1, 1, 2, 1, 1, 2, 1, 1};
    const std::string names = "abcdefghijklmnop";
    const auto tree = Symmetry::parse(names, "sym(a,c,d) antisym(g,k)");
    std::mt19937_64 random(33);
    const auto dense = random_dense(extents, tree, false, random);
    const auto A = distributed<double>(world, dense, tree, "A");
    Tensor<double> x(world, {}), B(world, extents), n(world, {2, 2});
    x[""] = A[names] * A[names];
    double squares = 0;
    for (const auto& v : dense.data) squares += std::norm(v);
    EXPECT_EQ(x.scalar(), squares);
    B[names] = A[names];
    expect_equal(B, dense);
    n["ng"] = B[names] * A["abcdefkhijglmnop"];  // A with g and k exchanged, n a batch label
    const auto values = n.gather();
    for (std::size_t g = 0; g < 2; ++g)
        for (std::size_t m = 0; m < 2; ++m) {
            double sum = 0;
            for (std::size_t k = 0; k < dense.data.size(); ++k) {
                const auto i = dense.index(k);
                if (i[13] == static_cast<std::int64_t>(m) && i[6] == static_cast<std::int64_t>(g)) sum -= std::norm(dense.data[k]);
            }
            EXPECT_EQ(values[m + 2 * g], sum);
        }
}

TEST(Statements, TakeMoreThanFiftyTwoNames) {
    const World world;
    std::vector<std::string> first, second;
    for (int d = 0; d < 30; ++d) {
        first.push_back("left_" + std::to_string(d));
        second.push_back("right_" + std::to_string(d));
    }
    const std::vector<std::int64_t> extents(30, 1);
    auto long_first = extents, long_second = extents;
    long_first[29] = 3;
    long_second[0] = 4;
    Tensor<double> A(world, long_first), B(world, long_second), C(world, {4, 3});
    A.fill([](Index x) { return static_cast<double>(1 + x[29]); });
    B.fill([](Index x) { return static_cast<double>(10 * (1 + x[0])); });
    C[{"right_0", "left_29"}] = A[Labels(first)] * B[Labels(second)];
    for (std::int64_t k = 0; k < 12; ++k)
        EXPECT_EQ(C.gather()[static_cast<std::size_t>(k)], static_cast<double>(10 * (1 + k % 4) * (1 + k / 4)));
    EXPECT_EQ(A[Labels(first)].factor().labels.to_string().substr(0, 14), "left_0,left_1,");
}

TEST(Statements, TakeEmptyTensors) {
    const World world;
    Tensor<double> A(world, {0, 4}), B(world, {4, 0}), C(world, {4, 4}), x(world, {}), S(world, {0, 0}, {SY, NS});
    C.fill(2);
    C["ij"] += B["ik"] * A["kj"];
    for (double v : C.gather()) EXPECT_EQ(v, 2);
    C["ij"] = B["ik"] * A["kj"];
    for (double v : C.gather()) EXPECT_EQ(v, 0);
    S["ij"] = symmetrized(A["ik"] * B["kj"]);
    EXPECT_TRUE(S.gather().empty());
    x[""] = S["ij"] * S["ij"];
    EXPECT_EQ(x.scalar(), 0);
    EXPECT_EQ(S.norm(), 0);
    EXPECT_TRUE(S.largest_magnitude().index.empty());
}

TEST(Statements, ArePlannedAgainOnlyWhereThatMayChangeThePlan) {
    const World world;
    const auto kept = [&] { return world.state()->prepared().size(); };
    Tensor<double> V(world, {5, 5, 5, 5}, "abef", "antisym(a,b) antisym(e,f)"), T(world, {5, 5, 4, 4}, "efij", "antisym(e,f) antisym(i,j)"),
        R(world, {5, 5, 4, 4}, "abij", "antisym(a,b) antisym(i,j)");
    const auto before = kept();
    for (int run = 0; run < 600; ++run) R["abij"] = 0.5 * V["abef"] * T["efij"];
    const auto packed = kept();
    EXPECT_LE(packed, before + 20) << "one for each power of two at most, and one more where it moved tensors";
    for (int run = 0; run < 400; ++run) R["abij"] = 0.5 * V["abef"] * T["efij"];
    EXPECT_EQ(kept(), packed);
    Tensor<double> A(world, {12, 12}), B(world, {12, 12}), C(world, {12, 12});
    for (int run = 0; run < 40; ++run) C["ik"] = A["ij"] * B["jk"];
    const auto settled = kept();
    for (int run = 0; run < 100; ++run) C["ik"] = A["ij"] * B["jk"];
    EXPECT_EQ(kept(), settled) << "the plan for many runs is known";
}

TEST(Statements, ConjugateWhereTheyAreAskedTo) {
    const World world;
    with_all_mappings(world, [&] {
        Tensor<Complex> A(world, {4, 4}), H(world, {4, 4}, "ij", "hermitian(i,j)"), x(world, {});
        A.fill_random(4);
        H["ij"] = symmetrized(A["ij"]);
        const auto a = A.gather(), h = H.gather();
        for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(h[k], a[k] + std::conj(a[k % 4 * 4 + k / 4]));
        EXPECT_THROW(H["ij"] = A["ki"] * A["kj"], InvalidArgument);
        H["ij"] = A["ki"] * conj(A["kj"]) - 0.5 * conj(H["ji"]);
        const auto product = H.gather();
        for (std::size_t k = 0; k < 16; ++k) {
            Complex wanted = -0.5 * h[k];
            for (std::size_t l = 0; l < 4; ++l) wanted += a[l + k % 4 * 4] * std::conj(a[l + k / 4 * 4]);
            EXPECT_LT(std::abs(product[k] - wanted), 1e-13);
        }
        x[""] = conj(Complex(0, 1) * A["ij"]) * A["ij"];
        EXPECT_LT(std::abs(x.scalar() - Complex(0, -1) * A.dot(A)), 1e-13);
    });
}

}  // namespace
}  // namespace arges::test

// Statements with elements of all types and with algebras of the user's, against loops over all labels.
#include "arges/arges.hpp"

#include "support/tensor_checks.hpp"
#include "support/turned_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace arges::test {
namespace {

struct MinPlus {
    using value_type = int;
    static constexpr int zero = 1 << 28, one = 0;
    static int add(int a, int b) { return std::min(a, b); }
    static int multiply(int a, int b) { return a == zero || b == zero ? zero : a + b; }
};

/// A way: its length, the number of ways that are as short, and a mark. 24 bytes.
struct Way {
    std::int64_t length = 1 << 28, number = 0, mark = 0;
    bool operator==(const Way&) const = default;
};
struct ShortestWays {
    using value_type = Way;
    static constexpr Way zero{1 << 28, 0, 0}, one{0, 1, -1};
    static Way add(const Way& a, const Way& b) {
        if (a.length != b.length) return a.length < b.length ? a : b;
        return {a.length, a.number + b.number, a.mark ^ b.mark};
    }
    static Way multiply(const Way& a, const Way& b) {
        if (a == zero || b == zero) return zero;
        return {a.length + b.length, a.number * b.number, a.mark & b.mark};
    }
};

/// Sums without a product: of the largest element, and with a zero that is not made of zero bytes, where it matters how often is added.
struct Largest {
    using value_type = int;
    static constexpr int zero = -100;
    static int add(int a, int b) { return std::max(a, b); }
};
struct Counted {
    using value_type = Way;
    static constexpr Way zero{100, 0, 7};
    static Way add(const Way& a, const Way& b) { return {a.length + b.length - 100, a.number + b.number, a.mark + b.mark - 7}; }
};
/// A ring whose zero is not made of zero bytes: numbers that are stored with 1,000 added.
struct Shifted {
    using value_type = std::int64_t;
    static constexpr std::int64_t zero = 1000, one = 1001;
    static std::int64_t add(std::int64_t a, std::int64_t b) { return a + b - 1000; }
    static std::int64_t multiply(std::int64_t a, std::int64_t b) { return (a - 1000) * (b - 1000) + 1000; }
    static std::int64_t negate(std::int64_t a) { return 2000 - a; }
};

template <class T>
T random_value(std::mt19937_64& random) {
    if constexpr (std::is_same_v<T, Way>)
        return {static_cast<std::int64_t>(random() % 4), 1 + static_cast<std::int64_t>(random() % 2),
                static_cast<std::int64_t>(random() % 16)};
    else if constexpr (std::is_same_v<T, bool>)
        return random() % 3 == 0;
    else
        return static_cast<T>(static_cast<int>(random() % 9) - 4);
}

/// The element of a tensor by a hash of its index, so that all ranks agree.
template <class T>
T element_at_index(std::uint64_t seed, Index index) {
    std::mt19937_64 random(seed);
    std::uint64_t hash = seed;
    for (auto i : index) hash = hash * 1000003 + static_cast<std::uint64_t>(i) + 17;
    random.seed(hash);
    return random_value<T>(random);
}

struct Operand {
    std::string labels, symmetry;
};

/// One product of up to three factors.
struct RandomProduct {
    std::map<char, std::int64_t> extents;
    std::vector<Operand> factors;
    std::string output;

    RandomProduct(std::mt19937_64& random, bool has_product) {
        const std::string all = "abcde";
        const std::vector<std::int64_t> sizes{1, 2, 3, 4, 5, 7, 2, 3, 0};
        for (char c : all) extents[c] = sizes[random() % sizes.size()];
        std::string used;
        const auto count = has_product ? 1 + random() % 3 : 1;
        for (std::size_t f = 0; f < count; ++f) {
            auto letters = all;
            std::shuffle(letters.begin(), letters.end(), random);
            Operand operand{letters.substr(0, random() % 4), ""};
            if (operand.labels.size() >= 2 && random() % 3 == 0) {
                const char a = operand.labels[0], b = operand.labels[1];
                extents[b] = extents[a];
                operand.symmetry = std::string(random() % 4 == 0 ? "hollow(" : "sym(") + a + "," + b + ")";
            }
            used += operand.labels;
            factors.push_back(operand);
        }
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
        for (char c : used)
            if (random() % 2 == 0) output += c;
        std::shuffle(output.begin(), output.end(), random);
        // Extents of a symmetric factor that a later one has changed.
        for (auto& f : factors)
            if (!f.symmetry.empty() && extents[f.labels[0]] != extents[f.labels[1]]) f.symmetry.clear();
    }
    std::vector<std::int64_t> shape(const std::string& labels) const {
        std::vector<std::int64_t> result;
        for (char c : labels) result.push_back(extents.at(c));
        return result;
    }
    std::string text() const {
        std::string result = output + " = ";
        for (const auto& f : factors) result += f.labels + "[" + f.symmetry + "] ";
        for (const auto& [c, n] : extents) result += std::string(1, c) + std::to_string(n) + " ";
        return result;
    }
};

/// Runs over all values of labels.
template <class F>
void for_all(const std::map<char, std::int64_t>& extents, const std::string& labels, std::map<char, std::int64_t>& value, F&& f,
             std::size_t d = 0) {
    if (d == labels.size()) return f();
    for (std::int64_t i = 0; i < extents.at(labels[d]); ++i) {
        value[labels[d]] = i;
        for_all(extents, labels, value, f, d + 1);
    }
}

std::int64_t key_of(const RandomProduct& p, const std::string& labels, const std::map<char, std::int64_t>& value) {
    std::int64_t key = 0;
    for (std::size_t d = labels.size(); d-- > 0;) key = key * p.extents.at(labels[d]) + value.at(labels[d]);
    return key;
}

/// The product by loops: target += product, in the algebra.
template <class A>
std::vector<typename A::value_type> by_loops(const RandomProduct& p, const std::vector<std::vector<typename A::value_type>>& factors,
                                             std::vector<typename A::value_type> target) {
    std::string labels = p.output;
    for (const auto& f : p.factors)
        for (char c : f.labels)
            if (labels.find(c) == std::string::npos) labels += c;
    std::map<char, std::int64_t> value;
    for_all(p.extents, labels, value, [&] {
        const auto element = [&](std::size_t f) ->
            typename A::value_type { return factors[f][static_cast<std::size_t>(key_of(p, p.factors[f].labels, value))]; };
        auto product = element(0);
        if constexpr (Semiring<A>)
            for (std::size_t f = 1; f < factors.size(); ++f) product = A::multiply(product, element(f));
        const auto key = static_cast<std::size_t>(key_of(p, p.output, value));
        target[key] = A::add(target[key], product);
    });
    return target;
}

/// Random products in an algebra; `named`: by over<A>().
template <class A, bool named>
void check_random_products(std::uint64_t first, std::uint64_t count) {
    using T = typename A::value_type;
    const World world;
    for (auto seed = first; seed < first + count; ++seed) {
        std::mt19937_64 random(seed);
        const RandomProduct p(random, Semiring<A>);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + p.text());
        const bool adds = random() % 2 == 0;
        std::vector<Tensor<T>> tensors;
        std::vector<SparseTensor<T>> sparse(p.factors.size());
        std::vector<std::vector<T>> values;
        for (std::size_t f = 0; f < p.factors.size(); ++f) {
            const auto& operand = p.factors[f];
            auto& tensor = tensors.emplace_back(world, p.shape(operand.labels), operand.labels, operand.symmetry, "factor");
            tensor.fill([&](Index x) {
                std::vector<std::int64_t> sorted(x.begin(), x.end());
                if (!operand.symmetry.empty()) std::sort(sorted.begin(), sorted.begin() + 2);
                return element_at_index<T>(seed * 10 + f, sorted);
            });
            values.push_back(tensor.gather());
            // What symmetry makes zero is the algebra's zero.
            if (named && operand.symmetry.rfind("hollow", 0) == 0)
                for (std::size_t k = 0; k < values.back().size(); ++k)
                    if (const auto x = tensor.index(static_cast<std::int64_t>(k)); x[0] == x[1]) values.back()[k] = A::zero;
            if (operand.symmetry.empty()) tensor = with_turned_slots(tensor, random());
            if (operand.labels.empty() || random() % 4 != 0) continue;
            sparse[f] = SparseTensor<T>::from_dense(tensor);
            // Elements that are not stored are the algebra's zero.
            auto& elements = values.back();
            for (std::size_t k = 0; k < elements.size(); ++k)
                if (static_cast<T>(elements[k]) == T()) elements[k] = A::zero;
        }
        Tensor<T> C(world, p.shape(p.output), "output");
        C.fill([&](Index x) { return element_at_index<T>(seed + 7, x); });
        std::vector<T> before = C.gather();
        if (!adds) std::fill(before.begin(), before.end(), static_cast<T>(A::zero));
        const auto factor = [&](std::size_t f) -> Expression<T> {
            if (sparse[f].state()) return sparse[f][p.factors[f].labels];
            return tensors[f][p.factors[f].labels];
        };
        const auto elements_of = [&](std::size_t f) { return sparse[f].state() ? sparse[f].to_dense().gather() : tensors[f].gather(); };
        std::vector<std::vector<T>> operands;
        for (std::size_t f = 0; f < tensors.size(); ++f) operands.push_back(elements_of(f));
        auto right = factor(0);
        for (std::size_t f = 1; f < tensors.size(); ++f) right = right * factor(f);
        for (int repeat = 0; repeat < (adds ? 1 : 2); ++repeat) {
            if constexpr (named)
                adds ? over<A>(C[p.output]) += right : over<A>(C[p.output]) = right;
            else
                adds ? C[p.output] += right : C[p.output] = right;
            EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
        }
        const auto expected = by_loops<A>(p, values, before);
        ASSERT_EQ(C.gather(), expected);
        for (std::size_t f = 0; f < tensors.size(); ++f) ASSERT_EQ(elements_of(f), operands[f]) << "operand " << f;
    }
}

TEST(ElementTypes, ShortIntegers) { check_random_products<PlusTimes<std::int16_t>, false>(500, 150); }
TEST(ElementTypes, Integers) { check_random_products<PlusTimes<std::int32_t>, false>(1, 150); }
TEST(ElementTypes, LongIntegers) { check_random_products<PlusTimes<std::int64_t>, false>(1000, 150); }
TEST(ElementTypes, Booleans) { check_random_products<PlusTimes<bool>, false>(2000, 150); }
TEST(ElementTypes, LongDoubles) { check_random_products<PlusTimes<long double>, false>(3000, 150); }
TEST(Algebras, MinPlusOnIntegers) { check_random_products<MinPlus, true>(4000, 200); }
TEST(Algebras, WaysOfTwentyFourBytes) { check_random_products<ShortestWays, true>(5000, 200); }
TEST(Algebras, SumsOfTheLargest) { check_random_products<Largest, true>(6000, 150); }
TEST(Algebras, SumsWithoutAProduct) { check_random_products<Counted, true>(7000, 150); }
TEST(Algebras, ARingWithAnotherZero) { check_random_products<Shifted, true>(8000, 150); }

/// Orbits count as often as they have elements, also where there is no product and no one.
TEST(Algebras, SumsOverGroupsWithoutAProduct) {
    const World world;
    Tensor<int> X(world, {3, 3}, "ab", "hollow(a,b)");
    Tensor<Way> Y(world, {4, 4, 4}, "abc", "hollow(a,b,c)"), y(world, {});
    X.fill([](Index x) { return static_cast<int>(x[0] + x[1] + 3); });
    Y.fill([](Index x) { return Way{x[0] + x[1] + x[2], 1, 0}; });
    Tensor<int> x(world, {});
    over<Largest>(x[""]) = X["ab"];
    EXPECT_EQ(x.scalar(), 6);
    over<Counted>(y[""]) = Y["abc"];  // 24 elements off the diagonals; 40 on them are the algebra's zero
    EXPECT_EQ(y.scalar(), (Way{100 + 6 * (3 + 4 + 5 + 6) - 24 * 100, 24, 7 - 24 * 7}));
}

/// Products that are large enough for tiles and for threads.
TEST(Algebras, MatrixProductsOfAllShapes) {
    const World world;
    for (const auto& [m, n, k] :
         {std::array{70, 90, 300}, std::array{1, 200, 33}, std::array{200, 1, 33}, std::array{3, 3, 1000}, std::array{130, 17, 5}}) {
        Tensor<int> A(world, {m, k}), B(world, {k, n}), C(world, {m, n});
        A.fill([](Index x) { return static_cast<int>((x[0] * 7 + x[1] * 13) % 101); });
        B.fill([](Index x) { return static_cast<int>((x[0] * 5 + x[1] * 3) % 97); });
        over<MinPlus>(C["ij"]) = A["ik"] * B["kj"];
        const auto a = A.gather(), b = B.gather(), c = C.gather();
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) {
                int least = MinPlus::zero;
                for (int l = 0; l < k; ++l)
                    least = std::min(least, a[static_cast<std::size_t>(i + m * l)] + b[static_cast<std::size_t>(l + k * j)]);
                ASSERT_EQ(c[static_cast<std::size_t>(i + m * j)], least) << m << " " << n << " " << k << " at " << i << "," << j;
            }
    }
}

/// A user's struct without an algebra is stored, moved, read and written.
TEST(ElementTypes, StructsAreStoredAndMoved) {
    const World world;
    Tensor<Way> W(world, {4, 4, 3}, "ijk", "sym(i,j)", "W");
    W.fill([](Index x) { return Way{x[0] + x[1], x[2], x[0] * x[1]}; });
    const auto full = W.gather();
    for (std::size_t k = 0; k < full.size(); ++k) {
        const auto x = W.index(static_cast<std::int64_t>(k));
        ASSERT_EQ(full[k], (Way{x[0] + x[1], x[2], x[0] * x[1]}));
    }
    Tensor<Way> P(world, {3, 4, 4});
    P["kij"] = W["jik"];
    EXPECT_EQ(P.read({P.key({2, 1, 3})})[0], (Way{4, 2, 3}));
    const auto part = W.slice({1, 0, 1}, {3, 2, 3});
    EXPECT_EQ(part.extents(), (std::vector<std::int64_t>{2, 2, 2}));
    EXPECT_EQ(part.read({part.key({1, 1, 0})})[0], (Way{3, 1, 2}));
    if (world.rank() == 0)
        W.write({W.key({3, 0, 2})}, {Way{9, 9, 9}});
    else
        W.write({}, {});
    EXPECT_EQ(W.read({W.key({0, 3, 2})})[0], (Way{9, 9, 9}));
    EXPECT_THROW(W.write({W.key({1, 0, 0}), W.key({0, 1, 0})}, {Way{1, 1, 1}, Way{2, 2, 2}}), InvalidArgument);
    EXPECT_THROW(P["kij"] += W["ijk"], InvalidArgument);
    EXPECT_THROW(P["kij"] = W["ijk"] * W["ijk"], InvalidArgument);
    EXPECT_THROW(Tensor<Way>(world, {3, 3}, "ij", "antisym(i,j)"), InvalidArgument);
    Tensor<Way> s(world, {3});
    EXPECT_THROW((s["k"] = sum("ij", W["ijk"])), InvalidArgument);
    over<ShortestWays>(s["k"]) = sum("ij", W["ijk"]);
    EXPECT_EQ(s.read({2})[0], (Way{0, 2, 0}));
}

TEST(ElementTypes, WhatAnAlgebraLacksIsRefused) {
    const World world;
    Tensor<int> A(world, {3, 3}), B(world, {3, 3}, "ij", "antisym(i,j)"), C(world, {3, 3});
    EXPECT_THROW(over<MinPlus>(C["ij"]) = 2 * A["ij"], InvalidArgument);
    EXPECT_THROW(over<MinPlus>(C["ij"]) = Expression<int>(5), InvalidArgument);
    EXPECT_THROW(over<MinPlus>(C["ij"]) = B["ij"], InvalidArgument);
    EXPECT_THROW(Tensor<bool>(world, {2, 2}, "ij", "antisym(i,j)"), InvalidArgument);
    over<MinPlus>(C["ij"]) = A["ij"] + A["ji"];
    EXPECT_EQ(C.gather(), std::vector<int>(9, 0));
}

/// Mixed types: the result is that of operands that were converted before, to rounding.
TEST(MixedTypes, EqualConvertedOperands) {
    const World world;
    Tensor<std::complex<double>> Z(world, {5, 4}, "Z"), X(world, {5, 6}), Y(world, {5, 6});
    Tensor<double> D(world, {4, 6}, "D");
    Tensor<float> F(world, {4, 6}, "F");
    Tensor<int> N(world, {6}, "N");
    Z.fill_random(1);
    D.fill_random(2);
    F.fill_random(3);
    N.fill([](Index x) { return static_cast<int>(x[0]) - 2; });
    // Converted operands are copied, so that BLAS may add in another order.
    const auto distance = [&] {
        Tensor<std::complex<double>> difference(world, {5, 6});
        difference["ik"] = X["ik"] - Y["ik"];
        return difference.norm() / Y.norm();
    };
    X["ik"] = Z["ij"] * D["jk"];
    Y["ik"] = Z["ij"] * Tensor<std::complex<double>>(D)["jk"];
    EXPECT_LE(distance(), 1e-14);
    X["ik"] += 2.0 * Z["ij"] * F["jk"] * N["k"];
    Y["ik"] += 2.0 * Z["ij"] * Tensor<std::complex<double>>(F)["jk"] * Tensor<std::complex<double>>(N)["k"];
    EXPECT_LE(distance(), 1e-14);
    D["jk"] = F["jk"] + D["jk"];
    D["jk"] -= F["jk"];
    X["ik"] = Z["ij"] * F["jk"] - Z["ij"] * D["jk"];
    Tensor<double> E(world, {4, 6});
    E["jk"] = N["k"];
    EXPECT_EQ(E.sum(), 4 * N.sum());
    const double total = D["jk"] * F["jk"];
    EXPECT_NEAR(total, D.dot(Tensor<double>(F)), 1e-12);
    static_assert(!is_lossless<double, std::complex<float>> && !is_lossless<std::int64_t, double> && is_lossless<std::int32_t, double>);
}

/// Sums, norms and extrema of integers are exact.
TEST(ElementTypes, ReductionsOfIntegers) {
    const World world;
    Tensor<std::int64_t> A(world, {5, 5}, "ij", "antisym(i,j)");
    A.fill([](Index x) { return (std::int64_t{1} << 60) + x[0] - 3 * x[1]; });
    EXPECT_EQ(A.sum(), 0);
    EXPECT_EQ(A.maximum().value, -A.minimum().value);
    Tensor<std::int64_t> B(world, {7});
    B.fill([](Index x) { return (std::int64_t{1} << 55) + x[0]; });
    EXPECT_EQ(B.sum(), 7 * (std::int64_t{1} << 55) + 21);
    EXPECT_EQ(B.dot(B), [] {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < 7; ++i) sum += ((std::uint64_t{1} << 55) + i) * ((std::uint64_t{1} << 55) + i);
        return static_cast<std::int64_t>(sum);
    }());
    Tensor<std::int32_t> C(world, {3});
    C.fill([](Index x) { return x[0] == 1 ? std::numeric_limits<std::int32_t>::min() : 5; });
    EXPECT_EQ(C.largest_magnitude().value, std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(C.norm_max(), 2147483648.0);
    Tensor<std::int16_t> D(world, {2, 3}), E(world, {3});
    D.fill([](Index x) { return static_cast<std::int16_t>(x[0] == 0 ? -1 : 300); });
    E["j"] = D["ij"] * D["ij"];
    EXPECT_EQ(E.gather(), std::vector<std::int16_t>(3, static_cast<std::int16_t>(90001))) << "they wrap around";
    Tensor<double> F(world, {3});
    F["j"] = D["ij"];
    EXPECT_EQ(F.sum(), 3 * 299);
    const Tensor<bool> flags = [&] {
        Tensor<bool> f(world, {4});
        f.fill([](Index x) { return x[0] % 2 == 1; });
        return f;
    }();
    EXPECT_EQ(flags.gather(), (std::vector<bool>{false, true, false, true}));
    EXPECT_EQ(flags.read({1, 2}), (std::vector<bool>{true, false}));
}

/// Functions of elements, against loops over the full tensors.
TEST(ElementFunctions, OnDenseOperandsOfSeveralTypes) {
    const World world;
    Tensor<double> A(world, {4, 5}), E(world, {5, 4});
    Tensor<int> N(world, {5});
    Tensor<bool> large(world, {4, 5});
    A.fill_random(1);
    N.fill([](Index x) { return static_cast<int>(x[0]) + 1; });
    E["ji"] = map([](double a, int n) { return a / n; }, A["ij"], N["j"]);
    const auto a = A.gather(), e = E.gather();
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(e[j + 5 * i], a[i + 4 * j] / static_cast<double>(j + 1));
    E["ji"] += map([](double x) { return 2 * x; }, A["ij"]);
    EXPECT_EQ(E.gather()[1], a[4] / 2.0 + 2 * a[4]);
    large["ij"] = map([](double x) { return x > 0; }, A["ij"]);
    EXPECT_EQ(large.gather()[3], a[3] > 0);
    update(A["ij"], N["j"], [](double& x, int n) { x *= n; });
    EXPECT_EQ(A.gather()[5], a[5] * 2);
    update(A["ij"], [](double& x) { x = 1; });
    EXPECT_EQ(A.sum(), 20);
    // The tensor on the left may be an operand, in any order of its labels.
    Tensor<double> S(world, {4, 4});
    S.fill_random(3);
    const auto s = S.gather();
    S["ij"] = map([](double x, double y) { return x - 2 * y; }, S["ij"], S["ji"]);
    EXPECT_EQ(S.gather()[1], s[1] - 2 * s[4]);
    Tensor<double> diagonal(world, {4});
    diagonal["i"] = map([](double x) { return x; }, S["ii"]);
    EXPECT_EQ(diagonal.gather()[2], S.gather()[10]);
}

TEST(ElementFunctions, OnPackedStorageKeepTheSymmetry) {
    const World world;
    for (const auto mapping : {GroupMapping::packed, GroupMapping::blocks}) {
        world.state()->set_group_mapping(mapping);
        Tensor<double> T(world, {6, 6, 3}, "abi", "antisym(a,b)", "T"), D(world, {6, 6, 3}, "abi", "sym(a,b)", "D"), e(world, {6});
        T.fill_random(1);
        D.fill_random(2, 1.0, 2.0);
        const auto t = T.gather(), d = D.gather();
        update(T["abi"], D["abi"], [](double& x, double y) { x /= y; });
        const auto quotient = T.gather();
        for (std::size_t k = 0; k < t.size(); ++k) EXPECT_EQ(quotient[k] + 0.0, t[k] / d[k] + 0.0);
        // Even where an odd function is needed, and operands without the symmetry: refused, and nothing has changed.
        EXPECT_THROW(update(T["abi"], [](double& x) { x *= x; }), InvalidArgument);
        EXPECT_THROW(update(T["abi"], e["a"], [](double& x, double y) { x *= y; }), InvalidArgument);
        EXPECT_EQ(T.gather(), quotient);
        D["abi"] = map([](double x) { return x * x; }, T["bai"]);
        const auto squares = D.gather();
        for (std::size_t k = 0; k < t.size(); ++k) EXPECT_EQ(squares[k], quotient[k] * quotient[k]);
        EXPECT_THROW((D["abi"] = map([](double x) { return x; }, T["abi"])), InvalidArgument);
        Tensor<std::complex<double>> H(world, {5, 5}, "ij", "hermitian(i,j)", "H");
        H.fill_random(4);
        const auto h = H.gather();
        H["ij"] = map([](std::complex<double> z) { return z * z; }, H["ij"]);
        for (std::size_t k = 0; k < h.size(); ++k) EXPECT_NEAR(std::abs(H.gather()[k] - h[k] * h[k]), 0, 1e-15);
        EXPECT_THROW(update(H["ij"], [](std::complex<double>& z) { z *= std::complex<double>(0, 1); }), InvalidArgument);
    }
    world.state()->set_group_mapping(GroupMapping::packed);
}

/// Outputs of every tree, from operands with the same tree and from ones that store the diagonals, too.
TEST(ElementFunctions, OutputsAreZeroWhereTheirTreesSay) {
    const World world;
    const std::vector<std::array<std::string, 2>> trees{{"sym(a,b)", "sym(a,b)"},
                                                        {"hollow(a,b)", "sym(a,b)"},
                                                        {"hollow(c,a)", "sym(a,c)"},
                                                        {"hollow(a,b,c)", "sym(a,b,c)"},
                                                        {"sym(a,b) hollow(c,d)", "sym(a,b) sym(c,d)"},
                                                        {"hollow(product(a,b),product(c,d))", "sym(product(a,b),product(c,d))"},
                                                        {"sym(hollow(a,b),hollow(c,d))", "sym(sym(a,b),sym(c,d))"},
                                                        {"hollow(sym(a,b),sym(c,d))", "sym(sym(a,b),sym(c,d))"}};
    for (const auto& [tree, whole] : trees) {
        SCOPED_TRACE(tree);
        const std::vector<std::int64_t> extents(4, 3);
        Tensor<double> O(world, extents, "abcd", tree), S(world, extents, "abcd", whole), C(O);
        O.fill_random(1, 1.0, 2.0);
        S.fill_random(2, 1.0, 2.0);
        C.fill_random(3, 1.0, 2.0);
        const auto o = O.gather(), s = S.gather();
        const bool has_zeros = tree.find("hollow") != std::string::npos;
        const auto twice = [](double x) { return 2 * x; };
        const auto more = [](double x) { return x + 1; };
        const auto before = C.gather();
        if (has_zeros) {
            EXPECT_THROW((C["abcd"] = map(more, O["abcd"])), InvalidArgument);
            EXPECT_THROW((C["abcd"] = map(twice, S["abcd"])), InvalidArgument);
            EXPECT_THROW((C["abcd"] += map(twice, S["abcd"])), InvalidArgument);
            EXPECT_EQ(C.gather(), before);
        } else {
            C["abcd"] = map(twice, S["abcd"]);
            for (std::size_t k = 0; k < s.size(); ++k) EXPECT_EQ(C.gather()[k], 2 * s[k]);
        }
        C["abcd"] = map([](double x, double y) { return x * y; }, O["abcd"], S["abcd"]);
        const auto products = C.gather();
        for (std::size_t k = 0; k < s.size(); ++k) EXPECT_EQ(products[k], o[k] * s[k]);
        update(C["abcd"], [](double& x) { x += 1; });  // of what is there
        const auto changed = C.gather();
        for (std::size_t k = 0; k < s.size(); ++k) EXPECT_EQ(changed[k], o[k] == 0 ? 0 : products[k] + 1);
        EXPECT_EQ(O.gather(), o);
        EXPECT_EQ(S.gather(), s);
    }
}

TEST(ElementFunctions, WrongUses) {
    const World world;
    Tensor<double> A(world, {3, 4}), B(world, {4, 4}), x(world, {3});
    EXPECT_THROW((B["ii"] = map([](double v) { return v; }, x["i"])), InvalidArgument);
    EXPECT_THROW((x["i"] = map([](double v) { return v; }, A["ij"])), InvalidArgument);
    EXPECT_THROW((A["ij"] = map([](double v) { return v; }, B["ij"])), InvalidArgument);
    EXPECT_THROW((A["ijk"] = map([](double v) { return v; }, x["i"])), InvalidArgument);
    EXPECT_THROW((A["ij"] = map([](double v) { return v; }, x["ij"])), InvalidArgument);
    const auto before = A.gather();
    EXPECT_THROW(update(A["ij"],
                        [&](double& v) {
                            if (world.rank() == world.size() - 1) throw InvalidArgument("here");
                            v = 7;
                        }),
                 Error);
    EXPECT_EQ(A.gather(), before);
}

}  // namespace
}  // namespace arges::test

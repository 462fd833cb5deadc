// Functions of elements, masks, and sums where tensors are sparse, against serial loops.
#include "arges/arges.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>

namespace arges::test {
namespace {

using Indices = std::vector<std::int64_t>;

/// Elements by index.
template <class T>
using Known = std::map<Indices, T>;

template <class T>
Known<T> random_elements(const Indices& lengths, double fill, std::mt19937_64& random) {
    Known<T> result;
    Indices x(lengths.size(), 0);
    const auto size = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{1}, std::multiplies<>());
    for (std::int64_t k = 0; k < size; ++k) {
        auto rest = k;
        for (std::size_t m = 0; m < x.size(); ++m) {
            x[m] = rest % lengths[m];
            rest /= lengths[m];
        }
        if (std::uniform_real_distribution<double>(0, 1)(random) < fill) result[x] = static_cast<T>(static_cast<int>(random() % 9) - 4);
    }
    return result;
}

template <class T>
SparseTensor<T> sparse(const World& world, const Indices& lengths, const Known<T>& known) {
    SparseEntries<T> mine;
    mine.indices.resize(lengths.size());
    std::int64_t number = 0;
    for (const auto& [x, value] : known) {
        if (number++ * 5 % 3 % world.size() != world.rank()) continue;
        for (std::size_t m = 0; m < x.size(); ++m) mine.indices[m].push_back(x[m]);
        mine.values.push_back(value);
    }
    return SparseTensor<T>::from_entries(world, lengths, mine, Duplicates::refuse);
}

template <class T>
Known<T> gathered(const SparseTensor<T>& tensor) {
    const auto entries = tensor.gather();
    Known<T> result;
    for (std::size_t k = 0; k < entries.values.size(); ++k) {
        Indices x;
        for (const auto& column : entries.indices) x.push_back(column[k]);
        result[x] = entries.values[k];
    }
    EXPECT_EQ(result.size(), entries.values.size()) << "an element is stored twice";
    return result;
}

template <class T>
std::optional<T> find(const Known<T>& known, const Indices& x) {
    const auto found = known.find(x);
    return found == known.end() ? std::nullopt : std::optional<T>(found->second);
}

struct Largest {
    using value_type = double;
    static constexpr double zero = -1e300;
    static double add(double a, double b) { return std::max(a, b); }
};

class SparseFunctions : public ::testing::Test {
protected:
    World world_;
};

TEST_F(SparseFunctions, AreCalledWhereAllOperandsOrAnyOfThemAreStored) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Indices lengths{static_cast<std::int64_t>(random() % 8), static_cast<std::int64_t>(1 + random() % 7)};
        const Indices turned{lengths[1], lengths[0]};
        const auto a = random_elements<double>(lengths, 0.5, random);
        const auto b = random_elements<int>(turned, 0.5, random);
        const auto A = sparse(world_, lengths, a);
        const auto B = sparse(world_, turned, b);
        Tensor<float> d(world_, {lengths[1]});
        d.for_each_local([](Index x, float& value) { value = static_cast<float>(x[0] + 1); });
        const auto d_before = d.gather();
        const auto f = [](double p, int q, float r) { return 100 * p + 10.0 * q + r; };
        SparseTensor<double> C(world_, lengths), U(world_, lengths);
        Tensor<double> D(world_, lengths);
        D.fill(7);
        for (int repeat = 0; repeat < 2; ++repeat) {
            C["ij"] = map(f, A["ij"], B["ji"], d["j"]);
            U["ij"] = map_union(f, A["ij"], B["ji"], d["j"]);
            D["ij"] = map(f, A["ij"], B["ji"], d["j"]);
            Known<double> all, any;
            for (std::int64_t i = 0; i < lengths[0]; ++i)
                for (std::int64_t j = 0; j < lengths[1]; ++j) {
                    const auto p = find(a, {i, j});
                    const auto q = find(b, {j, i});
                    if (p && q) all[{i, j}] = f(*p, *q, static_cast<float>(j + 1));
                    if (p || q) any[{i, j}] = f(p.value_or(0), q.value_or(0), static_cast<float>(j + 1));
                }
            EXPECT_EQ(gathered(C), all);
            EXPECT_EQ(gathered(U), any);
            EXPECT_EQ(gathered(A), a);
            EXPECT_EQ(gathered(B), b);
            EXPECT_EQ(d.gather(), d_before);
            const auto dense = D.gather();
            for (std::int64_t i = 0; i < lengths[0]; ++i)
                for (std::int64_t j = 0; j < lengths[1]; ++j)
                    EXPECT_EQ(dense[static_cast<std::size_t>(i + lengths[0] * j)], find(all, {i, j}).value_or(0));
        }
        C["ij"] += map([](double x) { return 2 * x; }, A["ij"]);
        auto sum = Known<double>();
        for (std::int64_t i = 0; i < lengths[0]; ++i)
            for (std::int64_t j = 0; j < lengths[1]; ++j) {
                const auto p = find(a, {i, j});
                const auto q = find(b, {j, i});
                if (p) sum[{i, j}] = 2 * *p + (q ? f(*p, *q, static_cast<float>(j + 1)) : 0.0);
            }
        EXPECT_EQ(gathered(C), sum);
    }
}

TEST_F(SparseFunctions, ChangeStoredElementsInPlace) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Indices lengths{5, 4, 3};
        const auto a = random_elements<double>(lengths, 0.4, random), b = random_elements<double>(lengths, 0.4, random);
        auto A = sparse(world_, lengths, a);
        const auto B = sparse(world_, lengths, b);
        update(A["ijk"], [](double& x) { x += 1; });
        update(A["ijk"], B["ijk"], [](double& x, double y) { x *= y; });
        auto expected = a;
        for (auto& [x, value] : expected) value = (value + 1) * find(b, x).value_or(1);
        EXPECT_EQ(gathered(A), expected);
    }
}

/// An element whose default is not made of zero bytes.
struct Mark {
    int value = 7;
    bool operator==(const Mark&) const = default;
};

/// A function of elements with sparse and dense operands and targets, against a loop over all indices.
template <class T>
class RandomFunction {
public:
    RandomFunction(const World& world, std::uint64_t seed) : world_(world), random_(seed) {
        for (auto order = 1 + random_() % 3; order > 0; --order) lengths_.push_back(static_cast<std::int64_t>(1 + random_() % 5));
        turn_.resize(lengths_.size());
        std::iota(turn_.begin(), turn_.end(), std::size_t{0});
        std::shuffle(turn_.begin(), turn_.end(), random_);
        const double fill = std::vector<double>{0, 0.3, 0.6, 1}[random_() % 4];
        first_ = elements(fill);
        second_ = elements(0.6);
        before_ = elements(0.5);
    }

    void run() {
        const auto A = sparse(world_, lengths_, first_), B = sparse(world_, turned(lengths_), turned(second_));
        auto S = sparse(world_, lengths_, before_);
        const Indices front{lengths_.front()};
        Tensor<T> v(world_, front), D(world_, lengths_);
        v.for_each_local([](Index x, T& value) { value = of(static_cast<int>(x[0])); });
        D.for_each_local([&](Index x, T& value) { value = find(before_, {x.begin(), x.end()}).value_or(of(2)); });
        const auto all = names(), other = turned(all);
        const auto f = [](const T& a, const T& b, const T& c) { return of(3 * number(a) + 5 * number(b) + number(c) + 1); };
        const auto change = [f](T& t, const T& a, const T& b, const T& c) { t = of(number(t) + 2 * number(f(a, b, c))); };
        const Labels A_labels(all), B_labels(other), v_labels(all.substr(0, 1));
        const auto way = random_() % (std::is_same_v<T, double> ? 4 : 3);
        const auto apply = [&](auto target) {
            if (way == 0) target = map(f, A[A_labels], B[B_labels], v[v_labels]);
            if (way == 1) target = map_union(f, A[A_labels], B[B_labels], v[v_labels]);
            if (way == 2) update(target, A[A_labels], B[B_labels], v[v_labels], change);
            if constexpr (std::is_same_v<T, double>)
                if (way == 3) target += map(f, A[A_labels], B[B_labels], v[v_labels]);
        };
        apply(S[A_labels]);
        apply(D[A_labels]);
        Known<T> expected;
        std::vector<T> dense;
        for_each_index([&](const Indices& x) {
            const auto a = find(first_, x), b = find(second_, x), t = find(before_, x);
            const bool meets = way == 1 ? a || b : a && b;
            const auto c = of(static_cast<int>(x[0]));
            const auto value = f(a.value_or(T{}), b.value_or(T{}), c);
            const auto changed = [&](T old) {
                if (way < 2) return meets ? value : T{};
                if (!meets) return old;
                if (way == 3) return of(number(old) + number(value));
                change(old, *a, *b, c);
                return old;
            };
            const bool stays = way == 3 ? meets || t : way == 2 ? t.has_value() : meets;
            if (stays) expected[x] = changed(t.value_or(T{}));
            dense.push_back(changed(t.value_or(of(2))));
        });
        EXPECT_EQ(gathered(S), expected) << "way " << way;
        EXPECT_EQ(D.gather(), dense) << "way " << way;
        EXPECT_EQ(gathered(A), first_);
        EXPECT_EQ(gathered(B), turned(second_));
    }

private:
    static T of(int number) {
        if constexpr (std::is_same_v<T, Mark>)
            return {number};
        else
            return static_cast<T>(number);
    }
    static int number(const T& value) {
        if constexpr (std::is_same_v<T, Mark>)
            return value.value;
        else
            return static_cast<int>(value);
    }
    Known<T> elements(double fill) {
        Known<T> result;
        for (const auto& [x, value] : random_elements<int>(lengths_, fill, random_)) result[x] = of(value);
        return result;
    }
    std::string names() const { return std::string("abc").substr(0, lengths_.size()); }
    template <class List>
    List turned(const List& list) const {
        auto result = list;
        for (std::size_t m = 0; m < turn_.size(); ++m) result[m] = list[turn_[m]];
        return result;
    }
    Known<T> turned(const Known<T>& known) const {
        Known<T> result;
        for (const auto& [x, value] : known) result[turned(x)] = value;
        return result;
    }
    /// In the order of keys.
    template <class F>
    void for_each_index(F&& f) const {
        const auto size = std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{1}, std::multiplies<>());
        for (std::int64_t k = 0; k < size; ++k) {
            Indices x;
            auto rest = k;
            for (auto n : lengths_) {
                x.push_back(rest % n);
                rest /= n;
            }
            f(x);
        }
    }

    const World& world_;
    std::mt19937_64 random_;
    Indices lengths_;
    std::vector<std::size_t> turn_;
    Known<T> first_, second_, before_;
};

TEST_F(SparseFunctions, EqualALoopOverAllIndices) {
    for (std::uint64_t seed = 0; seed < (world_.size() > 4 ? 10U : 30U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomFunction<double>(world_, seed).run();
        RandomFunction<std::int32_t>(world_, seed).run();
        RandomFunction<Mark>(world_, seed).run();
        if (::testing::Test::HasFailure()) return;
    }
}

TEST_F(SparseFunctions, WhatNoOperandStoresStaysInADenseTarget) {
    for (const auto& lengths : {Indices{1}, Indices{4}, Indices{7, 5}, Indices{100}})
        for (const bool any : {false, true}) {
            Tensor<double> D(world_, lengths);
            D.fill(5);
            Known<double> one;
            if (any) one[Indices(lengths.size(), 0)] = 2;
            const Labels labels(lengths.size() == 1 ? "a" : "ab");
            update(D[labels], sparse(world_, lengths, one)[labels], [](double& d, double s) { d *= s; });
            auto expected = std::vector<double>(static_cast<std::size_t>(D.size()), 5);
            if (any) expected[0] = 10;
            EXPECT_EQ(D.gather(), expected);
        }
}

TEST_F(SparseFunctions, MasksSayWhichElementsOfAProductAreMeant) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const auto n = static_cast<std::int64_t>(1 + random() % 9);
        const auto mask = random_elements<int>({n, n}, 0.3, random);
        const auto a = random_elements<double>({n, n}, 0.5, random), b = random_elements<double>({n, n}, 0.5, random);
        const auto P = sparse(world_, {n, n}, mask);
        const auto A = sparse(world_, {n, n}, a), B = sparse(world_, {n, n}, b);
        const auto E = A.to_dense(), F = B.to_dense();
        Known<double> expected, half, sparse_only;
        for (const auto& [x, value] : mask) {
            double sum = 0;
            bool any_a = false, any = false;
            for (std::int64_t k = 0; k < n; ++k) {
                const auto p = find(a, {x[0], k});
                const auto q = find(b, {k, x[1]});
                sum += p.value_or(0) * q.value_or(0);
                any_a = any_a || p;
                any = any || (p && q);
            }
            expected[x] = sum;
            if (any_a) half[x] = sum;
            if (any) sparse_only[x] = sum;
        }
        SparseTensor<double> C(world_, {n, n});
        for (int repeat = 0; repeat < 2; ++repeat) {
            C["ij"] = where(P["ij"], E["ik"] * F["kj"]);
            EXPECT_EQ(gathered(C), expected);
            // Of sparse factors, elements that no product reaches are left out.
            C["ij"] = where(P["ij"], A["ik"] * B["kj"]);
            EXPECT_EQ(gathered(C), sparse_only);
            C["ij"] = where(P["ij"], A["ik"] * F["kj"]);
            EXPECT_EQ(gathered(C), half);
        }
        EXPECT_EQ(gathered(P), mask);
        EXPECT_EQ(gathered(A), a);
        EXPECT_EQ(gathered(B), b);
    }
}

TEST_F(SparseFunctions, ComplementsOfMasksSayWhichElementsAreLeftOut) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const auto n = static_cast<std::int64_t>(1 + random() % 9);
        const auto mask = random_elements<int>({n, n}, 0.4, random), row = random_elements<int>({n}, 0.5, random);
        const auto a = random_elements<double>({n, n}, 0.5, random);
        const auto P = sparse(world_, {n, n}, mask), R = sparse(world_, {n}, row);
        const auto A = sparse(world_, {n, n}, a);
        const auto E = A.to_dense();
        Known<double> product, without, rows;
        for (const auto& [x, value] : a)
            for (const auto& [y, other] : a)
                if (x[1] == y[0]) product[{x[0], y[1]}] += value * other;
        for (const auto& [x, value] : product) {
            if (mask.count(x) == 0) without[x] = value;
            if (row.count({x[1]}) == 0 && mask.count({x[1], x[0]}) == 0) rows[x] = value;
        }
        SparseTensor<double> C(world_, {n, n});
        Tensor<double> D(world_, {n, n});
        for (int repeat = 0; repeat < 2; ++repeat) {
            C["ij"] = where_not(P["ij"], A["ik"] * A["kj"]);
            EXPECT_EQ(gathered(C), without);
            D.fill(1);
            D["ij"] += where_not(P["ij"], A["ik"] * A["kj"]);
            const auto all = D.gather();
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j)
                    EXPECT_EQ(all[static_cast<std::size_t>(i + n * j)], 1 + find(without, {i, j}).value_or(0));
            C["ij"] = where_not(R["j"], where_not(P["ji"], A["ik"] * A["kj"]));
            EXPECT_EQ(gathered(C), rows);
            EXPECT_EQ(world_.last_report().bytes_sent, world_.last_report().bytes_planned);
        }
    }
}

TEST_F(SparseFunctions, SumsOverAllLabelsAreTheAlgebras) {
    std::mt19937_64 random(4);
    const auto a = random_elements<double>({7, 5}, 0.4, random);
    const auto A = sparse(world_, {7, 5}, a);
    double largest = Largest::zero;
    for (const auto& [x, value] : a) largest = std::max(largest, value);
    EXPECT_EQ(static_cast<double>(over<Largest>(A["ij"])), largest);
    const double found = over<Largest>(Expression<double>(A["ij"]));
    EXPECT_EQ(found, largest);
}

TEST_F(SparseFunctions, AMaskedProductOfSparseTensorsStoresNoMoreThanTheMask) {
    std::mt19937_64 random(5);
    const std::int64_t n = 40;
    const auto l = random_elements<double>({n, n}, 0.2, random);
    auto L = sparse(world_, {n, n}, l);
    L.fill(1);
    SparseTensor<double> T(world_, {n, n});
    T["ij"] = L["ij"] * L["ik"] * L["jk"];
    double triangles = 0;
    std::int64_t edges = 0;
    for (const auto& [x, value] : l) {
        const auto before = triangles;
        for (std::int64_t k = 0; k < n; ++k) triangles += l.count({x[0], k}) > 0 && l.count({x[1], k}) > 0 ? 1 : 0;
        edges += triangles > before ? 1 : 0;
    }
    EXPECT_EQ(T.nonzeros(), edges);
    EXPECT_EQ(T.sum(), triangles);
    const double total = L["ij"] * L["ik"] * L["jk"];
    EXPECT_EQ(total, triangles);
}

TEST_F(SparseFunctions, ARepeatedStatementMovesValuesOnly) {
    std::mt19937_64 random(3);
    const std::int64_t n = 60;
    const auto A = sparse(world_, {n, n}, random_elements<double>({n, n}, 0.3, random));
    SparseTensor<double> C(world_, {n, n});
    C["ik"] = A["ij"] * A["jk"];
    const auto first = world_.last_report();
    C["ik"] = A["ij"] * A["jk"];
    const auto second = world_.last_report();
    EXPECT_EQ(second.bytes_sent, second.bytes_planned);
    EXPECT_LE(second.bytes_sent * 2, first.bytes_sent);
    Tensor<double> x(world_, {n}), y(world_, {n});
    x.fill_random(1);
    y["i"] = A["ij"] * x["j"];
    y["i"] = A["ij"] * x["j"];
    const auto sent = world_.last_report().bytes_sent;
    EXPECT_LE(sent, 2 * n * static_cast<std::int64_t>(sizeof(double)));
}

/// Also where a tensor stands several times with other labels, under a mask, and where there are intermediate results.
TEST_F(SparseFunctions, RepeatedStatementsSendTheSameEachTimeAndNoIndices) {
    std::mt19937_64 random(4);
    const std::int64_t n = 50;
    const auto elements = random_elements<double>({n, n}, 0.1, random);
    auto A = sparse(world_, {n, n}, elements);
    const auto B = sparse(world_, {n, n}, random_elements<double>({n, n}, 0.1, random));
    SparseTensor<double> S(world_, {n, n}, "ij", "sym(i,j)"), C(world_, {n, n}), D(world_, {n, n}), E(world_, {n, n});
    S["ij"] = symmetrized(A["ij"]);
    const std::vector<std::function<void()>> statements{
        [&] { C["ij"] = where(A["ij"], B["ik"] * A["kj"]); }, [&] { D["ij"] = A["ik"] * B["kl"] * A["lj"]; },
        [&] { E["ij"] = S["ik"] * A["kj"]; }, [&] { (void)static_cast<double>(A["ij"] * A["ji"] * B["ij"]); }};
    for (const auto& statement : statements) statement();  // places
    const auto inspected = [&] {
        std::vector<std::int64_t> bytes;
        for (const auto& statement : statements) {
            statement();
            bytes.push_back(world_.last_report().bytes_sent);
            EXPECT_EQ(world_.last_report().bytes_planned, bytes.back());
        }
        return bytes;
    };
    inspected();
    const auto second = inspected(), third = inspected();
    EXPECT_EQ(second, third);
    // Of each operand values at most: three operands, with copies to all ranks, an intermediate result, and parts of the result.
    const auto values = static_cast<std::int64_t>(sizeof(double)) * n * n;
    for (auto bytes : third) EXPECT_LE(bytes, values * 3);
}

/// Where memory does not suffice for all of a product at once, it is made part by part, and gives the same.
TEST_F(SparseFunctions, ProductsAreMadeInPhasesWhereMemoryIsShort) {
    std::mt19937_64 random(12);
    const std::int64_t n = 150, few = 12;
    const auto a = random_elements<double>({few, n}, 0.5, random), b = random_elements<double>({n, few}, 0.5, random);
    const auto A = sparse(world_, {few, n}, a), B = sparse(world_, {n, few}, b);
    SparseTensor<double> all(world_, {few, few}), parts(world_, {few, few});
    all["ik"] = A["ij"] * B["jk"];
    const auto limit = world_.memory_limit();
    bool in_phases = false;
    for (double room = 400000; room > 1000; room *= 0.8) {
        world_.set_memory_limit(world_.memory_in_use() + static_cast<std::int64_t>(room));
        try {
            in_phases = parts["ik"].explain(A["ij"] * B["jk"]).find("phases over") != std::string::npos || in_phases;
            parts["ik"] = A["ij"] * B["jk"];
            EXPECT_EQ(world_.last_report().bytes_sent, world_.last_report().bytes_planned);
            EXPECT_EQ(gathered(parts), gathered(all));
        } catch (const OutOfMemory&) {
            EXPECT_LT(room, 200000);
            break;
        }
        world_.set_memory_limit(limit);
    }
    world_.set_memory_limit(limit);
    EXPECT_TRUE(in_phases);
}

TEST_F(SparseFunctions, TheNumberZeroStoresNothing) {
    std::mt19937_64 random(9);
    auto A = sparse(world_, {6, 6}, random_elements<double>({6, 6}, 0.5, random));
    const auto diagonal = A;
    A["ii"] = 0.0;
    Known<double> expected;
    for (const auto& [x, value] : gathered(diagonal))
        if (x[0] != x[1]) expected[x] = value;
    EXPECT_EQ(gathered(A), expected);
    A["ij"] = 0.0;
    EXPECT_EQ(A.nonzeros(), 0);
}

TEST_F(SparseFunctions, PlansAreExplained) {
    const SparseTensor<double> A(world_, {4, 5}, "A"), B(world_, {5, 6}, "B");
    SparseTensor<double> C(world_, {4, 6}, "C");
    const auto text = C["ik"].explain(A["ij"] * B["jk"]);
    EXPECT_NE(text.find("A[\"ij\"]"), std::string::npos) << text;
    EXPECT_NE(text.find("~"), std::string::npos) << text;
}

/// Wrong uses give one exception on every rank, with these words, and leave the left-hand side as it was.
TEST_F(SparseFunctions, WrongUsesAreRefused) {
    SparseTensor<double> S(world_, {4, 4}, "S"), V(world_, {4}, "V");
    S.write(world_.rank() == 0 ? std::vector<std::int64_t>{5} : std::vector<std::int64_t>{},
            world_.rank() == 0 ? std::vector<double>{3} : std::vector<double>{}, Duplicates::refuse);
    Tensor<double> D(world_, {4, 4}, "D"), W(world_, {5}, "W"), d(world_, {4}, "d");
    Tensor<double> antisymmetric(world_, {4, 4}, Symmetry::parse("ab", "antisym(a,b)"), "Z");
    SparseTensor<std::complex<double>> complex(world_, {4, 4}, "X");
    struct Pair {
        int a = 0, b = 0;
    };
    SparseTensor<Pair> pairs(world_, {4, 4}, "P");
    const World other;
    SparseTensor<double> elsewhere(other, {4, 4}, "E");
    const auto refused = [&](const char* words, const std::function<void()>& use) {
        try {
            use();
            ADD_FAILURE() << "not refused: " << words;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
        EXPECT_EQ(S.nonzeros(), 1);
        EXPECT_EQ(S.gather().values, std::vector<double>{3});
    };
    refused("all of its elements would be stored", [&] { S["ij"] = D["ij"]; });
    refused("all of its elements would be stored", [&] { S["ij"] += D["ik"] * D["kj"]; });
    refused("all of its elements would be stored", [&] { S["ij"] = 2.0; });
    refused("all of its elements would be stored", [&] { S["ij"] = S["ji"] + D["ij"]; });
    refused("all of its elements would be stored", [&] { S["ij"] = map([](double x) { return x + 1; }, D["ij"]); });
    refused("a label needs one extent", [&] { S["ij"] = S["ij"] * W["j"]; });
    refused("give one label per dimension", [&] { S["ij"] = S["ijk"] * d["k"]; });
    refused("is not a label", [&] { S["ij"] = S["i+"] * d["+"]; });
    refused("occurs only once", [&] { S["ij"] = S["ik"] * d["i"]; });
    refused("live on different worlds", [&] { S["ij"] = elsewhere["ij"]; });
    refused("live on different worlds", [&] { D["ij"] = elsewhere["ij"]; });
    refused("has no symmetry", [&] { S["ij"] = antisymmetrized(S["ji"]); });
    refused("has no symmetry", [&] { S["ij"] = symmetrized(S["ji"]); });
    refused("is not by structure", [&] { antisymmetric["ij"] = S["ij"] * d["j"]; });
    refused("has no sum", [&] { pairs["ij"] += pairs["ij"]; });
    refused("has no sum", [&] { pairs["ij"] = sum("k", broadcast("j", pairs["ik"])); });
    refused("has no product", [&] { over<Largest>(S["ij"]) = S["ij"] * S["ij"]; });
    refused("has no meaning under an algebra", [&] { over<Largest>(S["ij"]) = 2.0 * S["ij"]; });
    refused("the mask is dense", [&] { S["ij"] = where(D["ij"], S["ij"]); });
    refused("the mask is dense", [&] { S["ij"] = where_not(D["ij"], S["ij"]); });
    refused("has no sparse factor", [&] { D["ij"] = where_not(S["ij"], D["ij"]); });
    refused("the output has no label", [&] { S["ij"] = where_not(S["jk"], S["ij"]); });
    refused("a label is repeated", [&] { S["ii"] = map([](double x) { return x; }, S["ii"]); });
    refused("has other labels than the output", [&] { S["ij"] = map([](double x, double y) { return x + y; }, S["ij"], V["i"]); });
    refused("the output has no label", [&] { S["ij"] = map([](double x, double y) { return x + y; }, S["ij"], d["k"]); });
    refused("let the function conjugate", [&] {
        complex["ij"] = map([](std::complex<double> x) { return x; },
                            IndexedTensor<std::complex<double>>(Factor{nullptr, "ij", true, complex.state()}));
    });
    refused("is divided by update() or map()", [&] { S["ij"] /= D["ij"]; });
    refused("Duplicates(7) is no policy", [&] { S.write(std::vector<std::int64_t>{}, std::vector<double>{}, static_cast<Duplicates>(7)); });
    refused("not a number", [&] { S.drop(std::numeric_limits<double>::quiet_NaN()); });
    refused("not a number", [&] { S = SparseTensor<double>::from_dense(D, std::numeric_limits<double>::quiet_NaN()); });
    refused("labels without a tensor", [&] { S["ij"] = IndexedTensor<double>(Factor{nullptr, "ij"}); });
    refused("labels without a tensor", [&] { S["ij"] = SparseTensor<double>()["ij"]; });
    if (world_.size() > 1) refused("differs between ranks", [&] { S["ij"] = S[world_.rank() == 0 ? "ij" : "ji"]; });
}

}  // namespace
}  // namespace arges::test

// Sparse tensors with symmetry: random statements with random trees against the same statements of dense tensors, which have an oracle of
// their own; then keys, parts and conversions against all elements.
//   ARGES_FUZZ_COUNT=n   statements (default 200, on more than four ranks 60)
//   ARGES_FUZZ_FIRST=s   begin with another seed
#include "arges/arges.hpp"
#include "support/random_statement.hpp"
#include "support/seeds.hpp"
#include "support/turned_slots.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace arges::test {
namespace {

template <class T>
T element(std::uint64_t hash) {
    const auto digit = [&] {
        hash = hash * 6364136223846793005U + 1442695040888963407U;
        return static_cast<real_of<T>>(static_cast<int>(hash >> 33 & 7) - 3);
    };
    if constexpr (kernels::is_complex<T>)
        return T(digit(), digit());
    else
        return digit();
}

/// The same statement with dense tensors, and with some of them sparse.
template <class T>
class Both {
public:
    Both(const World& world, std::uint64_t seed) : world_(world), statement_(seed, kernels::is_complex<T>), seed_(seed) {
        auto& random = statement_.random();
        const auto chance = [&](double p) { return std::uniform_real_distribution<double>(0, 1)(random) < p; };
        for (std::size_t t = 0; t < statement_.tensors.size(); ++t) {
            const auto& tensor = statement_.tensors[t];
            is_sparse_.push_back(!tensor.labels.empty() && chance(t == 0 ? 0.5 : 0.7));
            const double fill = std::vector<double>{0, 0.1, 0.4, 1}[random() % 4];
            auto& dense = dense_.emplace_back(world_, statement_.extents_of(tensor.labels), tensor.symmetry);
            dense.fill([&](Index x) {
                std::uint64_t hash = seed * 1000 + t;
                for (auto i : x) hash = (hash ^ static_cast<std::uint64_t>(i + 1)) * 0x9E3779B97F4A7C15U;
                hash ^= hash >> 29;
                if (static_cast<double>(hash % 1000) >= 1000 * fill) return T(0);
                return element<T>(hash);
            });
        }
    }

    std::string text() const {
        std::string sparse;
        for (std::size_t t = 0; t < is_sparse_.size(); ++t)
            if (is_sparse_[t]) sparse += " T" + std::to_string(t);
        return "seed " + std::to_string(seed_) + ", sparse:" + sparse + ": " + statement_.text();
    }

    /// Each term of a sparse output needs a sparse factor. Where elements of an orbit differ, canonical() takes that which is stored: of
    /// dense tensors on one rank the same as of sparse ones, on several ranks one that depends on how the tensor is spread.
    bool has_meaning() const {
        bool any = is_sparse_[0];
        for (const auto& term : statement_.terms) {
            if (term.projection == Projection::canonical && world_.size() > 1) return false;
            bool has = false;
            for (const auto& f : term.factors) has = has || is_sparse_[f.tensor];
            if (is_sparse_[0] && !has) return false;
            any = any || has;
        }
        return any;
    }

    void run() {
        std::vector<SparseTensor<T>> sparse(dense_.size());
        auto mixed = dense_;
        for (std::size_t t = 0; t < dense_.size(); ++t)
            if (is_sparse_[t]) {
                sparse[t] = SparseTensor<T>::from_dense(dense_[t]);
                EXPECT_EQ(sparse[t].gather().values.size(),
                          SparseTensor<T>::from_dense(dense_[t].with_symmetry({})).gather().values.size());
                EXPECT_EQ(sparse[t].to_dense().gather(), dense_[t].gather());
                mixed[t] = Tensor<T>();
            } else if (dense_[t].symmetry().trivial()) {
                mixed[t] = with_turned_slots(mixed[t], seed_ * 5 + t);
            }
        for (int repeat = 0; repeat < 2; ++repeat) {
            const auto expected = refusal([&] { assign([&](std::size_t t, const Labels& labels) { return dense_[t][labels]; }); });
            const auto found = refusal(
                [&] { assign([&](std::size_t t, const Labels& labels) { return is_sparse_[t] ? sparse[t][labels] : mixed[t][labels]; }); });
            ASSERT_EQ(expected.has_value(), found.has_value()) << text() << "\n" << expected.value_or("") << "\n" << found.value_or("");
            if (expected) return;
            const auto& report = world_.last_report();
            EXPECT_EQ(report.bytes_sent, report.bytes_planned) << text();
            const auto all = is_sparse_[0] ? sparse[0].to_dense().gather() : mixed[0].gather();
            const auto wanted = dense_[0].gather();
            for (std::size_t k = 0; k < wanted.size(); ++k) ASSERT_EQ(all[k], wanted[k]) << text() << " at key " << k << ", run " << repeat;
            if (is_sparse_[0]) check_representatives(sparse[0]);
            for (std::size_t t = 1; t < dense_.size(); ++t)
                ASSERT_EQ(is_sparse_[t] ? sparse[t].to_dense().gather() : mixed[t].gather(), dense_[t].gather())
                    << text() << ": operand " << t << ", run " << repeat;
        }
    }

private:
    template <class Tensors>
    void assign(Tensors&& tensor) {
        Expression<T> right;
        for (const auto& term : statement_.terms) {
            Expression<T> e;
            if (term.factors.empty()) e = Expression<T>(number(term.alpha));
            for (std::size_t f = 0; f < term.factors.size(); ++f) {
                const auto& factor = term.factors[f];
                Expression<T> one = tensor(factor.tensor, statement_.names_of(factor.labels));
                if (factor.conjugated) one = conj(one);
                e = f == 0 ? number(term.alpha) * one : e * one;
            }
            e = vouched(term, e);
            if (term.projection == Projection::antisymmetrized) e = antisymmetrized(e);
            if (term.projection == Projection::symmetrized) e = symmetrized(e);
            if (term.projection == Projection::canonical) e = canonical(e);
            right = right + e;
        }
        tensor(0, statement_.names_of(statement_.output)).assign(right, static_cast<real_of<T>>(statement_.beta));
    }

    Expression<T> vouched(const RandomTerm& term, Expression<T> e) const {
        if (term.factors.empty()) return e;
        std::vector<std::string> repeated, summed;
        for (std::size_t l = 0; l < statement_.label_extents.size(); ++l) {
            const auto label = static_cast<int>(l);
            std::ptrdiff_t in_factors = 0;
            for (const auto& f : term.factors) in_factors += std::count(f.labels.begin(), f.labels.end(), label);
            const bool in_output = std::count(statement_.output.begin(), statement_.output.end(), label) > 0;
            if (in_factors == 0 && in_output) repeated.push_back("x" + std::to_string(l));
            if (in_factors == 1 && !in_output) summed.push_back("x" + std::to_string(l));
        }
        if (!repeated.empty()) e = broadcast(Labels(repeated), e);
        if (!summed.empty()) e = sum(Labels(summed), e);
        return e;
    }

    static T number(Value value) {
        if constexpr (kernels::is_complex<T>)
            return static_cast<T>(value);
        else
            return static_cast<T>(value.real());
    }

    static std::optional<std::string> refusal(const std::function<void()>& use) {
        try {
            use();
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

    /// What is stored is one of each orbit, and none of those that are zero by symmetry.
    void check_representatives(const SparseTensor<T>& tensor) const {
        const auto group = group_elements(tensor.symmetry());
        std::set<std::vector<std::int64_t>> orbits;
        std::vector<std::int64_t> x(static_cast<std::size_t>(tensor.order())), y = x;
        for (std::int64_t k = 0; k < tensor.local_nonzeros(); ++k) {
            for (int m = 0; m < tensor.order(); ++m) x[static_cast<std::size_t>(m)] = tensor.local_indices(m)[static_cast<std::size_t>(k)];
            auto least = x;
            for (const auto& g : group) {
                for (std::size_t d = 0; d < y.size(); ++d) y[d] = x[static_cast<std::size_t>(g.image[d])];
                least = std::min(least, y);
                EXPECT_FALSE(y == x && g.negative) << text();
            }
            EXPECT_TRUE(orbits.insert(least).second) << text();
        }
    }

    const World& world_;
    RandomStatement statement_;
    std::uint64_t seed_;
    std::vector<bool> is_sparse_;
    std::vector<Tensor<T>> dense_;
};

template <class T>
void check_random_statements() {
    const World world;
    const auto first = from_environment("ARGES_FUZZ_FIRST", 0), count = from_environment("ARGES_FUZZ_COUNT", world.size() > 4 ? 60 : 200);
    for (auto seed = first; seed < first + count; ++seed) {
        Both<T> statement(world, static_cast<std::uint64_t>(seed));
        if (!statement.has_meaning()) continue;
        SCOPED_TRACE(statement.text());
        ASSERT_NO_THROW(statement.run());
        if (::testing::Test::HasFailure()) return;
    }
}

/// All elements of a sparse tensor by key, zeros where none is stored.
template <class T>
std::vector<T> all_of(const SparseTensor<T>& tensor) {
    return tensor.with_symmetry({}).to_dense().gather();
}

class SparseSymmetry : public ::testing::Test {
protected:
    /// Random elements of one rank; with a part of all elements, some of which are related.
    SparseTensor<double> random_tensor(const char* names, const char* symmetry, std::vector<std::int64_t> lengths, unsigned seed) {
        const auto tree = Symmetry::parse(names, symmetry);
        SparseTensor<double> result(world_, lengths, tree, "S");
        std::mt19937_64 random(seed);
        std::vector<std::int64_t> tuples;
        std::vector<double> values;
        const auto group = group_elements(tree);
        for (int k = 0; k < 20 && world_.rank() == 0; ++k) {
            std::vector<std::int64_t> x, y(lengths.size());
            for (auto n : lengths) x.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)));
            bool is_zero = false;
            for (const auto& g : group) is_zero = is_zero || (g.negative && permuted(x, g) == x);
            for (auto i : x) tuples.push_back(i);
            values.push_back(is_zero ? 0 : static_cast<double>(random() % 9) - 4);
        }
        result.write_at(tuples, values, Duplicates::keep_first);
        return result;
    }
    World world_{MPI_COMM_WORLD};
};

TEST_F(SparseSymmetry, StatementsEqualThoseOfDenseTensors) { check_random_statements<double>(); }
TEST_F(SparseSymmetry, StatementsEqualThoseOfDenseTensorsComplex) { check_random_statements<std::complex<double>>(); }

TEST_F(SparseSymmetry, AnyElementOfAnOrbitIsWrittenAndRead) {
    const auto S = random_tensor("abcd", "antisym(a,b) sym(c,d)", {5, 5, 4, 4}, 1);
    const auto all = all_of(S);
    const auto at = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
        return all[static_cast<std::size_t>(a + 5 * (b + 5 * (c + 4 * d)))];
    };
    std::vector<std::int64_t> keys;
    for (std::int64_t k = 0; k < 400; ++k) keys.push_back(k);
    EXPECT_EQ(S.read(keys), all);
    double sum = 0, squares = 0;
    for (std::int64_t d = 0; d < 4; ++d)
        for (std::int64_t c = 0; c < 4; ++c)
            for (std::int64_t b = 0; b < 5; ++b)
                for (std::int64_t a = 0; a < 5; ++a) {
                    EXPECT_EQ(at(a, b, c, d), -at(b, a, c, d));
                    EXPECT_EQ(at(a, b, c, d), at(a, b, d, c));
                    sum += at(a, b, c, d);
                    squares += at(a, b, c, d) * at(a, b, c, d);
                }
    EXPECT_EQ(S.sum(), sum);
    EXPECT_DOUBLE_EQ(S.norm(), std::sqrt(squares));
    EXPECT_LT(S.nonzeros(), 21);
    // All elements of the orbit change with one.
    auto T = S;
    const bool gives = world_.rank() == world_.size() - 1;
    T.accumulate_at(gives ? std::vector<std::int64_t>{3, 1, 2, 0} : std::vector<std::int64_t>{},
                    gives ? std::vector<double>{5} : std::vector<double>{}, 2, 3);
    EXPECT_EQ(T.read_at(std::vector<std::int64_t>{1, 3, 0, 2}), std::vector<double>{3 * at(1, 3, 0, 2) - 10});
    EXPECT_EQ(T.symmetry(), S.symmetry());
    EXPECT_EQ(all_of(SparseTensor<double>::from_dense(S.to_dense())), all);
    EXPECT_EQ(S.to_dense().symmetry(), S.symmetry());
    EXPECT_EQ(all_of(S.with_symmetry({}).with_symmetry(S.symmetry())), all);
    EXPECT_EQ(S.with_symmetry({}).with_symmetry(S.symmetry()).gather(), S.gather());
}

TEST_F(SparseSymmetry, CanonicalTakesTheElementsAsTheyAre) {
    const auto S = random_tensor("abc", "sym(a,b)", {4, 4, 3}, 2);
    SparseTensor<double> C(world_, {4, 4}, "ab", "sym(a,b)"), D(world_, {4, 4}, "ab", "sym(a,b)");
    C["ab"] = S["acd"] * S["bcd"];
    D["ab"] = canonical(S["acd"] * S["bcd"]);
    EXPECT_EQ(C.gather(), D.gather());
    Tensor<double> E(world_, {4, 4}, Symmetry::parse("ab", "sym(a,b)"));
    E["ab"] = S["acd"] * S["bcd"];
    EXPECT_EQ(E.gather(), all_of(C));
    C["ab"] += -1.0 * D["ab"];
    EXPECT_EQ(C.norm(), 0);
}

/// Left-hand sides that name a diagonal, with all elements of a tensor with symmetry.
TEST_F(SparseSymmetry, DiagonalsOfALeftHandSideTakeElementsOfATensorWithSymmetry) {
    const std::vector<std::pair<const char*, const char*>> trees{{"ab", "sym(a,b)"}, {"ab", "antisym(a,b)"}, {"abc", "sym(a,b)"}};
    for (const char* left : {"aba", "abb", "abab"})
        for (std::uint64_t seed = 0; seed < trees.size(); ++seed) {
            const std::string own = trees[seed].first;
            const auto T = random_tensor(own.c_str(), trees[seed].second, std::vector<std::int64_t>(own.size(), 5), seed);
            SparseTensor<double> C(world_, std::vector<std::int64_t>(std::string(left).size(), 5));
            Tensor<double> E(world_, C.lengths());
            const auto right = [&]() -> Expression<double> {
                return own.size() > 2 ? sum("c", T[own.c_str()]) : Expression<double>(T[own.c_str()]);
            };
            C[left] = right();
            E[left] = right();
            EXPECT_EQ(all_of(C), E.gather()) << left;
            C[left] += 2.0 * right();
            E[left] += 2.0 * right();
            EXPECT_EQ(all_of(C), E.gather()) << left;
            if (own.size() == 2) {
                EXPECT_EQ(C.nonzeros(), static_cast<std::int64_t>(T.gather().values.size())) << left;
            }
        }
}

TEST_F(SparseSymmetry, FunctionsOfElementsKeepIt) {
    auto S = random_tensor("ab", "antisym(a,b)", {6, 6}, 3);
    auto expected = all_of(S);
    update(S["ab"], [](double& x) { x = 3 * x; });
    for (auto& x : expected) x *= 3;
    EXPECT_EQ(all_of(S), expected);
    SparseTensor<double> squares(world_, {6, 6}, "ab", "sym(a,b)");
    squares["ab"] = map([](double x) { return x * x; }, S["ab"]);
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(all_of(squares)[k], expected[k] * expected[k]);
    const auto before = S.gather();
    if (S.nonzeros() > 0) {
        EXPECT_THROW((S["ab"] = map([](double x) { return x * x + 1; }, S["ab"])), InvalidArgument);
    }
    EXPECT_EQ(S.gather(), before);
}

TEST_F(SparseSymmetry, IsRefusedWhereElementsDoNotHaveIt) {
    EXPECT_THROW(SparseTensor<double>(world_, {3, 4}, "ab", "sym(a,b)"), InvalidArgument);
    EXPECT_THROW(SparseTensor<bool>(world_, {3, 3}, "ab", "antisym(a,b)"), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>(world_, {3, 3}, "antisym(a,b)"), InvalidArgument);
    SparseTensor<double> A(world_, {3, 3}, "ab", "antisym(a,b)"), P(world_, {3, 3});
    const bool gives = world_.rank() == 0;
    const auto write = [&](SparseTensor<double>& tensor, std::int64_t key, double value) {
        tensor.write(gives ? std::vector<std::int64_t>{key} : std::vector<std::int64_t>{},
                     gives ? std::vector<double>{value} : std::vector<double>{}, Duplicates::refuse);
    };
    EXPECT_THROW(write(A, 4, 1), InvalidArgument);  // the diagonal
    EXPECT_THROW(A.fill(1), InvalidArgument);
    write(A, 4, 0);
    EXPECT_EQ(A.nonzeros(), 0);
    write(A, 1, 2);
    EXPECT_THROW(write(A, 3, 2), InvalidArgument);  // stored already
    write(P, 1, 2);
    EXPECT_THROW(P.with_symmetry(A.symmetry()), InvalidArgument);
    write(P, 3, -2);
    EXPECT_EQ(P.with_symmetry(A.symmetry()).gather(), A.gather());
    EXPECT_THROW((A["ab"] = P["ab"]), InvalidArgument);  // not by structure
    A["ab"] = canonical(P["ab"]);
    EXPECT_EQ(A.gather(), P.gather());
    SparseTensor<std::complex<double>> H(world_, {2, 2}, "ab", "hermitian(a,b)");
    EXPECT_THROW(H.accumulate(std::vector<std::int64_t>{0}, std::vector<std::complex<double>>{{0, 1}}), InvalidArgument);
    EXPECT_EQ(H.nonzeros(), 0);
    SparseTensor<std::complex<double>> Q(world_, {2, 2});
    const std::vector<std::int64_t> keys{0, 2};
    const std::vector<std::complex<double>> values{{3, 4}, {1, 2}};
    const auto here = world_.rank() == 0 ? keys.size() : 0;
    Q.write(std::span(keys).first(here), std::span(values).first(here), Duplicates::refuse);
    H["ab"] = canonical(Q["ab"]);  // drops the imaginary part on the diagonal
    EXPECT_EQ(H.gather().values, (std::vector<std::complex<double>>{{3, 0}, {1, -2}, {1, 2}}));
}

TEST_F(SparseSymmetry, PartsOfTensorsAreReadAndReplaced) {
    const auto S = random_tensor("abc", "sym(a,b)", {6, 6, 5}, 4);
    const auto all = all_of(S);
    const auto part = S.slice({1, 2, 0}, {5, 6, 3});
    const auto found = part.to_dense().gather();
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t b = 0; b < 4; ++b)
            for (std::size_t a = 0; a < 4; ++a) EXPECT_EQ(found[a + 4 * (b + 4 * c)], all[a + 1 + 6 * (b + 2 + 6 * c)]);
    auto W = S.with_symmetry({});
    W.set_slice({0, 1, 2}, part);
    const auto changed = W.to_dense().gather();
    for (std::size_t c = 0; c < 5; ++c)
        for (std::size_t b = 0; b < 6; ++b)
            for (std::size_t a = 0; a < 6; ++a) {
                const bool is_within = a < 4 && b >= 1 && b < 5 && c >= 2;
                EXPECT_EQ(changed[a + 6 * (b + 6 * c)], is_within ? found[a + 4 * (b - 1 + 4 * (c - 2))] : all[a + 6 * (b + 6 * c)]);
            }
    EXPECT_EQ(S.slice({2, 2, 2}, {2, 6, 5}).nonzeros(), 0);
    EXPECT_THROW(S.slice({0, 0, 0}, {7, 1, 1}), InvalidArgument);
    EXPECT_THROW(S.slice({0, 0}, {1, 1}), InvalidArgument);
    EXPECT_THROW(W.set_slice({4, 4, 4}, part), InvalidArgument);
    auto T = S;
    EXPECT_THROW(T.set_slice({0, 0, 0}, part), InvalidArgument);
    auto lower = W;
    lower.drop_if([](Index x, double) { return x[0] < x[1]; });
    lower.drop_if([](Index x, double value) { return x[2] == 0 && value > 0; });
    const auto kept = lower.to_dense().gather();
    for (std::size_t c = 0; c < 5; ++c)
        for (std::size_t b = 0; b < 6; ++b)
            for (std::size_t a = 0; a < 6; ++a) {
                const auto x = changed[a + 6 * (b + 6 * c)];
                EXPECT_EQ(kept[a + 6 * (b + 6 * c)], a < b || (c == 0 && x > 0) ? 0 : x);
            }
}

}  // namespace
}  // namespace arges::test

// Random statements with sparse and dense tensors on either side, in every pattern of labels and under several algebras, against a serial
// loop over all index tuples.
//   ARGES_FUZZ_COUNT=n   statements for each algebra (default 120, on more than four ranks 40)
//   ARGES_FUZZ_FIRST=s   begin with another seed
#include "arges/arges.hpp"
#include "support/test_device.hpp"
#include "support/turned_slots.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

namespace arges::test {
namespace {

struct MinPlus {
    using value_type = int;
    static constexpr int zero = 1 << 29, one = 0;
    static int add(int a, int b) { return std::min(a, b); }
    static int multiply(int a, int b) { return a == zero || b == zero ? zero : a + b; }
};

struct MaxPlus {
    using value_type = double;
    static constexpr double zero = -std::numeric_limits<double>::infinity(), one = 0;
    static double add(double a, double b) { return std::max(a, b); }
    static double multiply(double a, double b) { return a + b; }
};

/// Shortest ways and how many of them there are.
struct Way {
    int length = 1 << 29;
    int count = 0;
    bool operator==(const Way&) const = default;
};
struct Ways {
    using value_type = Way;
    static constexpr Way zero{}, one{0, 1};
    static Way add(Way a, Way b) { return a.length < b.length ? a : b.length < a.length ? b : Way{a.length, a.count + b.count}; }
    static Way multiply(Way a, Way b) {
        if (a == zero || b == zero) return zero;
        return {a.length + b.length, a.count * b.count};
    }
};

std::ostream& operator<<(std::ostream& stream, const Way& way) { return stream << way.length << "(" << way.count << ")"; }

/// A sum without a product.
struct Longest {
    using value_type = Way;
    static constexpr Way zero{-1, -1};
    static Way add(Way a, Way b) { return {std::max(a.length, b.length), std::max(a.count, b.count)}; }
};

/// Sums whose zero is not made of zero bytes, and in which it matters how often an element is added.
struct Counted {
    using value_type = int;
    static constexpr int zero = 1000;
    static int add(int a, int b) { return a + b - zero; }
};

template <class T>
T random_value(std::mt19937_64& random) {
    const auto digit = [&] { return static_cast<int>(random() % 7) - 3; };
    if constexpr (std::is_same_v<T, Way>)
        return {static_cast<int>(random() % 5), static_cast<int>(random() % 3) + 1};
    else if constexpr (std::is_same_v<T, bool>)
        return random() % 2 == 0;
    else if constexpr (kernels::is_complex<T>)
        return T(static_cast<real_of<T>>(digit()), static_cast<real_of<T>>(digit()));
    else
        return static_cast<T>(digit());
}

/// A tensor with all its elements in key order, and which of them are stored.
template <class T>
struct Whole {
    std::vector<std::int64_t> lengths;
    std::vector<T> elements;
    std::vector<char> stored;  // empty: dense

    std::int64_t key(const std::vector<std::int64_t>& x) const {
        std::int64_t key = 0;
        for (std::size_t d = lengths.size(); d-- > 0;) key = key * lengths[d] + x[d];
        return key;
    }
};

template <>
struct Whole<bool> {
    std::vector<std::int64_t> lengths;
    std::vector<char> elements, stored;
    std::int64_t key(const std::vector<std::int64_t>& x) const {
        std::int64_t key = 0;
        for (std::size_t d = lengths.size(); d-- > 0;) key = key * lengths[d] + x[d];
        return key;
    }
};

/// A statement over the algebra A.
template <class A>
class RandomSparseStatement {
public:
    using T = typename A::value_type;
    static constexpr bool is_named = !std::is_same_v<A, PlusTimes<T>>;
    static constexpr auto has_sparse = [](const auto& term) {
        return std::any_of(term.begin(), term.end(), [](const auto& factor) { return factor.is_sparse; });
    };

    RandomSparseStatement(World& world, std::uint64_t seed) : world_(world), random_(seed) {
        const auto labels = pick({1, 2, 2, 3, 3, 4, 5});
        std::int64_t size = 1;
        for (int l = 0; l < labels; ++l) {
            auto extent = static_cast<std::int64_t>(pick({0, 1, 2, 3, 3, 4, 5, 7, 7, 11, 13}));
            if (extent == 0 && chance(0.7)) extent = 6;
            if (size * std::max<std::int64_t>(1, extent) > 3000) extent = 2;
            size *= std::max<std::int64_t>(1, extent);
            extents_.push_back(extent);
        }
        left_is_sparse_ = chance(0.5);
        left_ = some_labels(left_is_sparse_ ? 1 : 0, 4, chance(0.06));
        terms_ = pick({1, 1, 1, 2});
        for (int t = 0; t < terms_; ++t) {
            auto& term = factors_.emplace_back();
            const auto count = Semiring<A> ? pick({1, 1, 2, 2, 2, 3, 4}) : 1;
            bool any_sparse = false;
            for (int f = 0; f < count; ++f) {
                const bool sparse = chance(0.6) || (f + 1 == count && !any_sparse && left_is_sparse_);
                any_sparse = any_sparse || sparse;
                term.push_back({some_labels(sparse ? 1 : 0, 4, chance(0.08)), sparse, chance(0.1)});
            }
        }
        accumulates_ = chance(0.4);
        // Dense products search long for plans that fit.
        has_little_memory_ = chance(0.25) && std::all_of(factors_.begin(), factors_.end(), has_sparse);
    }

    /// An algebra of the host does not reach dense tensors on a device; with sparse ones it does.
    bool has_meaning() const {
        return !is_named || tested_kernels<T>().space == nullptr || left_is_sparse_ ||
               std::any_of(factors_.begin(), factors_.end(), has_sparse);
    }

    void run() {
        Whole<T> left = whole(left_, left_is_sparse_);
        Tensor<T> dense_left;
        SparseTensor<T> sparse_left;
        if (left_is_sparse_)
            sparse_left = sparse(left);
        else
            dense_left = dense(left);
        std::vector<std::vector<Whole<T>>> wholes;
        std::vector<std::vector<Tensor<T>>> dense_factors;
        std::vector<std::vector<SparseTensor<T>>> sparse_factors;
        for (const auto& term : factors_) {
            wholes.emplace_back();
            dense_factors.emplace_back();
            sparse_factors.emplace_back();
            for (const auto& factor : term) {
                wholes.back().push_back(whole(factor.labels, factor.is_sparse));
                dense_factors.back().emplace_back();
                sparse_factors.back().emplace_back();
                if (factor.is_sparse)
                    sparse_factors.back().back() = sparse(wholes.back().back());
                else
                    dense_factors.back().back() = dense(wholes.back().back());
            }
        }
        for (int repeat = 0; repeat < 3; ++repeat) {
            Expression<T> right;
            for (std::size_t t = 0; t < factors_.size(); ++t) {
                Expression<T> product = indexed(t, 0, dense_factors, sparse_factors);
                if constexpr (Semiring<A>)
                    for (std::size_t f = 1; f < factors_[t].size(); ++f) product = product * indexed(t, f, dense_factors, sparse_factors);
                right = right + vouched(t, product);
            }
            const auto target = left_is_sparse_ ? sparse_left[names(left_)] : dense_left[names(left_)];
            const auto assign = [&] { apply(target, right); };
            const auto is_unchanged = [&] { left_is_sparse_ ? compare(left, sparse_left) : compare(left, dense_left); };
            if (has_little_memory_)
                in_least_memory(assign, is_unchanged);
            else
                assign();
            const auto& report = world_.last_report();
            EXPECT_EQ(report.bytes_sent, report.bytes_planned) << text();
            left = expected(left, wholes);
            if (left_is_sparse_)
                compare(left, sparse_left);
            else
                compare(left, dense_left);
            check_operands(wholes, dense_factors, sparse_factors);
            if (::testing::Test::HasFailure()) return;
            // Other values at the same places.
            for (auto& term : sparse_factors)
                for (auto& tensor : term)
                    if (tensor.state())
                        change(tensor, wholes[static_cast<std::size_t>(&term - sparse_factors.data())]
                                             [static_cast<std::size_t>(&tensor - term.data())]);
        }
    }

    /// Operands are what they were, element by element on the ranks that have them.
    void check_operands(const std::vector<std::vector<Whole<T>>>& wholes, const std::vector<std::vector<Tensor<T>>>& dense_factors,
                        const std::vector<std::vector<SparseTensor<T>>>& sparse_factors) const {
        for (std::size_t t = 0; t < wholes.size(); ++t)
            for (std::size_t f = 0; f < wholes[t].size(); ++f) {
                const auto& whole = wholes[t][f];
                std::int64_t wrong = 0;
                const auto compare = [&](const std::vector<std::int64_t>& x, const T& value) {
                    if (!(value == static_cast<T>(whole.elements[static_cast<std::size_t>(whole.key(x))]))) ++wrong;
                };
                if (factors_[t][f].is_sparse) {
                    const auto& tensor = sparse_factors[t][f];
                    std::vector<std::int64_t> x(whole.lengths.size());
                    for (std::int64_t k = 0; k < tensor.local_nonzeros(); ++k) {
                        for (std::size_t m = 0; m < x.size(); ++m)
                            x[m] = tensor.local_indices(static_cast<int>(m))[static_cast<std::size_t>(k)];
                        compare(x, tensor.local_values()[static_cast<std::size_t>(k)]);
                    }
                    EXPECT_EQ(tensor.nonzeros(), std::count(whole.stored.begin(), whole.stored.end(), 1)) << text();
                } else {
                    dense_factors[t][f].for_each_local([&](Index x, const T& value) { compare({x.begin(), x.end()}, value); });
                }
                EXPECT_EQ(wrong, 0) << "operand " << f << " of term " << t << " has changed: " << text();
            }
    }

    /// Under the smallest limit, of those that double, that the statement does not refuse.
    template <class Assign, class Check>
    void in_least_memory(Assign&& assign, Check&& is_unchanged) {
        const auto limit = world_.memory_limit();
        for (std::int64_t room = 64;; room *= 2) {
            world_.set_memory_limit(world_.memory_in_use() + room);
            bool is_done = true;
            try {
                assign();
            } catch (const OutOfMemory&) {
                is_done = false;
            }
            world_.set_memory_limit(limit);
            if (is_done) return;
            is_unchanged();
            ASSERT_LT(room, std::int64_t{1} << 30) << text();
        }
    }

    std::string text() const {
        const auto show = [&](const std::vector<int>& labels, bool is_sparse) {
            std::string s = is_sparse ? "S[" : "D[";
            for (int l : labels)
                s += std::string(1, static_cast<char>('a' + l)) + std::to_string(extents_[static_cast<std::size_t>(l)]) + " ";
            return s + "]";
        };
        auto s = show(left_, left_is_sparse_) + (accumulates_ ? " += " : " = ");
        for (const auto& term : factors_) {
            for (const auto& f : term) s += (f.conjugated ? "conj " : "") + show(f.labels, f.is_sparse) + " ";
            s += "+ ";
        }
        return s;
    }

private:
    struct RandomFactor {
        std::vector<int> labels;
        bool is_sparse, conjugated;
    };

    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    int pick(const std::vector<int>& choices) { return choices[random_() % choices.size()]; }
    std::vector<int> some_labels(std::size_t least, std::size_t most, bool repeats) {
        std::vector<int> all(extents_.size()), result;
        for (std::size_t l = 0; l < all.size(); ++l) all[l] = static_cast<int>(l);
        std::shuffle(all.begin(), all.end(), random_);
        for (int l : all)
            if (result.size() < least || (result.size() < most && chance(0.6))) result.push_back(l);
        if (repeats && !result.empty() && result.size() < most) result.push_back(result[random_() % result.size()]);
        return result;
    }
    Labels names(const std::vector<int>& labels) const {
        std::string text;
        for (int l : labels) text += static_cast<char>('a' + l);
        return Labels(text);
    }

    Whole<T> whole(const std::vector<int>& labels, bool is_sparse) {
        Whole<T> result;
        std::int64_t size = 1;
        for (int l : labels) {
            result.lengths.push_back(extents_[static_cast<std::size_t>(l)]);
            size *= result.lengths.back();
        }
        const double fill = std::vector<double>{0, 0.05, 0.2, 0.5, 1}[random_() % 5];
        for (std::int64_t k = 0; k < size; ++k) {
            const bool is_stored = !is_sparse || chance(fill);
            result.elements.push_back(is_stored ? random_value<T>(random_) : static_cast<T>(A::zero));
            if (is_sparse) result.stored.push_back(is_stored ? 1 : 0);
        }
        return result;
    }
    std::vector<std::int64_t> index(const Whole<T>& whole, std::int64_t key) const {
        std::vector<std::int64_t> x;
        for (auto n : whole.lengths) {
            x.push_back(key % n);
            key /= n;
        }
        return x;
    }
    SparseTensor<T> sparse(const Whole<T>& whole) {
        SparseEntries<T> mine;
        mine.indices.resize(whole.lengths.size());
        for (std::size_t k = 0; k < whole.stored.size(); ++k)
            if (whole.stored[k] != 0 && static_cast<std::int64_t>(k * 7 / 3) % world_.size() == world_.rank()) {
                const auto x = index(whole, static_cast<std::int64_t>(k));
                for (std::size_t m = 0; m < x.size(); ++m) mine.indices[m].push_back(x[m]);
                mine.values.push_back(static_cast<T>(whole.elements[k]));
            }
        return SparseTensor<T>::from_entries(world_, whole.lengths, mine, Duplicates::refuse);
    }
    Tensor<T> dense(const Whole<T>& whole) {
        Tensor<T> result(world_, whole.lengths);
        result.for_each_local([&](Index x, T& value) {
            value = static_cast<T>(whole.elements[static_cast<std::size_t>(whole.key({x.begin(), x.end()}))]);
        });
        return random_() % 3 == 0 ? with_turned_slots(result, random_()) : result;
    }
    /// Changes values in place, on each rank those that it has.
    void change(SparseTensor<T>& tensor, Whole<T>& whole) {
        if constexpr (kernels::has_negative<T>) {
            for (auto& value : tensor.local_values()) value = PlusTimes<T>::negate(value);
            for (auto& value : whole.elements)
                if (!(value == static_cast<T>(A::zero))) value = PlusTimes<T>::negate(value);
        }
    }

    Expression<T> indexed(std::size_t t, std::size_t f, std::vector<std::vector<Tensor<T>>>& dense_factors,
                          std::vector<std::vector<SparseTensor<T>>>& sparse_factors) {
        const auto& factor = factors_[t][f];
        Expression<T> e = factor.is_sparse ? sparse_factors[t][f][names(factor.labels)] : dense_factors[t][f][names(factor.labels)];
        return factor.conjugated ? conj(e) : e;
    }
    /// With all unusual labels named.
    Expression<T> vouched(std::size_t t, Expression<T> e) const {
        std::string repeated, summed;
        for (std::size_t l = 0; l < extents_.size(); ++l) {
            const auto count = [&](const std::vector<int>& labels) {
                return std::count(labels.begin(), labels.end(), static_cast<int>(l));
            };
            std::ptrdiff_t in_factors = 0;
            for (const auto& f : factors_[t]) in_factors += count(f.labels);
            const auto name = static_cast<char>('a' + l);
            if (in_factors == 0 && count(left_) > 0) repeated += name;
            if (in_factors == 1 && count(left_) == 0) summed += name;
        }
        if (!repeated.empty()) e = broadcast(repeated, e);
        if (!summed.empty()) e = sum(summed, e);
        return e;
    }
    void apply(IndexedTensor<T> target, const Expression<T>& right) const {
        if constexpr (is_named) {
            if (accumulates_)
                over<A>(target) += right;
            else
                over<A>(target) = right;
        } else {
            if (accumulates_)
                target += right;
            else
                target = right;
        }
    }

    /// left (+)= sum over all labels; of a sparse one, what multiplications of stored elements reach is stored.
    Whole<T> expected(const Whole<T>& left, const std::vector<std::vector<Whole<T>>>& wholes) const {
        auto result = left;
        std::vector<std::int64_t> v(extents_.size(), 0), x;
        const auto at = [&](const Whole<T>& whole, const std::vector<int>& labels) {
            x.clear();
            for (int l : labels) x.push_back(v[static_cast<std::size_t>(l)]);
            return static_cast<std::size_t>(whole.key(x));
        };
        const auto loop = [&](auto&& self, const std::vector<char>& used, std::size_t l, const auto& f) -> void {
            if (l == extents_.size()) return f();
            for (v[l] = 0; v[l] < (used[l] != 0 ? extents_[l] : 1); ++v[l]) self(self, used, l + 1, f);
            v[l] = 0;
        };
        std::vector<char> in_left(extents_.size(), 0);
        for (int l : left_) in_left[static_cast<std::size_t>(l)] = 1;
        if (!accumulates_)
            loop(loop, in_left, 0, [&] {
                const auto k = at(result, left_);
                result.elements[k] = static_cast<T>(A::zero);
                if (left_is_sparse_) result.stored[k] = 0;
            });
        for (std::size_t t = 0; t < factors_.size(); ++t) {
            auto used = in_left;
            for (const auto& f : factors_[t])
                for (int l : f.labels) used[static_cast<std::size_t>(l)] = 1;
            loop(loop, used, 0, [&] {
                T product{};
                for (std::size_t f = 0; f < factors_[t].size(); ++f) {
                    T value = static_cast<T>(wholes[t][f].elements[at(wholes[t][f], factors_[t][f].labels)]);
                    if constexpr (kernels::is_complex<T>)
                        if (factors_[t][f].conjugated) value = std::conj(value);
                    if constexpr (Semiring<A>)
                        product = f == 0 ? value : static_cast<T>(A::multiply(product, value));
                    else
                        product = value;
                }
                const auto k = at(result, left_);
                result.elements[k] = A::add(static_cast<T>(result.elements[k]), product);
                bool is_reached = left_is_sparse_;
                for (std::size_t f = 0; f < factors_[t].size() && is_reached; ++f)
                    is_reached = !factors_[t][f].is_sparse || wholes[t][f].stored[at(wholes[t][f], factors_[t][f].labels)] != 0;
                if (is_reached) result.stored[k] = 1;
            });
        }
        return result;
    }
    void compare(const Whole<T>& expected, const SparseTensor<T>& found) {
        const auto entries = found.gather();
        std::vector<char> is_known(expected.elements.size(), 0);
        std::vector<std::int64_t> x(expected.lengths.size());
        for (std::size_t k = 0; k < entries.indices[0].size(); ++k) {
            for (std::size_t m = 0; m < x.size(); ++m) x[m] = entries.indices[m][k];
            const auto key = static_cast<std::size_t>(expected.key(x));
            ASSERT_LT(key, is_known.size()) << text();
            ASSERT_EQ(is_known[key], 0) << "twice: " << text();
            is_known[key] = 1;
            ASSERT_EQ(static_cast<T>(entries.values[k]), static_cast<T>(expected.elements[key])) << text() << " at " << key;
        }
        for (std::size_t k = 0; k < is_known.size(); ++k)
            ASSERT_EQ(is_known[k] != 0, expected.stored[k] != 0) << text() << " stores " << k << " or not";
        EXPECT_EQ(found.nonzeros(), static_cast<std::int64_t>(entries.indices[0].size()));
    }
    void compare(const Whole<T>& expected, const Tensor<T>& found) {
        const auto elements = found.gather();
        for (std::size_t k = 0; k < elements.size(); ++k)
            ASSERT_EQ(static_cast<T>(elements[k]), static_cast<T>(expected.elements[k])) << text() << " at " << k;
    }

    World& world_;
    std::mt19937_64 random_;
    std::vector<std::int64_t> extents_;
    std::vector<int> left_;
    bool left_is_sparse_ = false, accumulates_ = false, has_little_memory_ = false;
    int terms_ = 1;
    std::vector<std::vector<RandomFactor>> factors_;
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// @param share  of the statements that others run: one in so many  @return how often there were lists of sparse steps on a device after a
/// statement
template <class A>
int check_random_statements(std::uint64_t family, World world = World(), std::uint64_t share = 1) {
    int on_device = 0;
    const auto first = from_environment("ARGES_FUZZ_FIRST", 0),
               count = from_environment("ARGES_FUZZ_COUNT", world.size() > 4 ? 40 : 120) / share;
    for (auto seed = first; seed < first + count; ++seed) {
        RandomSparseStatement<A> statement(world, seed * 100 + family);
        if (!statement.has_meaning()) continue;
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + statement.text());
        EXPECT_NO_THROW(statement.run());
        if (::testing::Test::HasFailure()) break;
        on_device += world.device_memory_in_use() > 0 ? 1 : 0;
    }
    return on_device;
}

TEST(SparseStatements, EqualALoopOverAllIndicesFloat) { check_random_statements<PlusTimes<float>>(1); }
TEST(SparseStatements, EqualALoopOverAllIndicesDouble) { check_random_statements<PlusTimes<double>>(2); }
TEST(SparseStatements, EqualALoopOverAllIndicesComplexFloat) { check_random_statements<PlusTimes<std::complex<float>>>(3); }
TEST(SparseStatements, EqualALoopOverAllIndicesComplexDouble) { check_random_statements<PlusTimes<std::complex<double>>>(4); }
TEST(SparseStatements, EqualALoopOverAllIndicesInt32) { check_random_statements<PlusTimes<std::int32_t>>(5); }
TEST(SparseStatements, EqualALoopOverAllIndicesInt64) { check_random_statements<PlusTimes<std::int64_t>>(6); }
TEST(SparseStatements, EqualALoopOverAllIndicesOrAnd) { check_random_statements<PlusTimes<bool>>(7); }
TEST(SparseStatements, EqualALoopOverAllIndicesMinPlus) { check_random_statements<MinPlus>(8); }
TEST(SparseStatements, EqualALoopOverAllIndicesMaxPlus) { check_random_statements<MaxPlus>(9); }
TEST(SparseStatements, EqualALoopOverAllIndicesWays) { check_random_statements<Ways>(10); }
TEST(SparseStatements, EqualALoopOverAllIndicesOfAMonoid) { check_random_statements<Longest>(11); }
TEST(SparseStatements, EqualALoopOverAllIndicesOfACountingMonoid) { check_random_statements<Counted>(12); }

/// Where a device is faster however small a statement is; with little room some of them end up on the host.
template <class A>
void check_random_statements_on_device(std::uint64_t family) {
    const TestDevice device;
    MachineModel machine;
    machine.sparse_product_seconds = 1;
    const auto on_device = [&](std::int64_t limit) {
        return check_random_statements<A>(family, World(machine, Device(DeviceKind::cuda, limit)), 3);
    };
    EXPECT_GT(on_device(std::int64_t{1} << 30), 0);
    on_device(30000);
}

TEST(SparseStatements, EqualALoopOverAllIndicesOnADeviceFloat) { check_random_statements_on_device<PlusTimes<float>>(21); }
TEST(SparseStatements, EqualALoopOverAllIndicesOnADeviceDouble) { check_random_statements_on_device<PlusTimes<double>>(22); }
TEST(SparseStatements, EqualALoopOverAllIndicesOnADeviceComplexFloat) {
    check_random_statements_on_device<PlusTimes<std::complex<float>>>(23);
}
TEST(SparseStatements, EqualALoopOverAllIndicesOnADeviceComplexDouble) {
    check_random_statements_on_device<PlusTimes<std::complex<double>>>(24);
}

/// Sparse factors, of which all orders must give the same elements and the same pattern.
class FactorsInAnyOrder {
public:
    FactorsInAnyOrder(World& world, std::uint64_t seed) : world_(world), random_(seed) {
        const auto count = 1 + random_() % 4;
        left_ = labels(2);
        for (std::uint64_t f = 0; f < count; ++f) {
            auto& factor = factors_.emplace_back();
            factor.labels = labels(3);
            const double fill = std::vector<double>{0.1, 0.4, 0.7}[random_() % 3];
            for (std::int64_t k = 0; k < size(factor.labels); ++k)
                if (std::uniform_real_distribution<double>(0, 1)(random_) < fill) factor.keys.push_back(k);
            factor.tensor = SparseTensor<std::int64_t>(world_, std::vector<std::int64_t>(factor.labels.size(), length));
            std::vector<std::int64_t> mine;
            for (auto k : factor.keys)
                if (k % world_.size() == world_.rank()) mine.push_back(k);
            factor.tensor.write(mine, std::vector<std::int64_t>(mine.size(), 1), Duplicates::refuse);
        }
        // Each label of the result is in a factor.
        std::erase_if(left_, [&](char l) {
            return std::none_of(factors_.begin(), factors_.end(), [&](const auto& f) { return f.labels.find(l) != std::string::npos; });
        });
        if (left_.empty()) left_ = factors_[0].labels.substr(0, 1);
    }

    void run() {
        const auto expected = products();
        std::vector<std::size_t> order(factors_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (int tried = 0; tried < 4; ++tried) {
            std::shuffle(order.begin(), order.end(), random_);
            SparseTensor<std::int64_t> C(world_, std::vector<std::int64_t>(left_.size(), length));
            Expression<std::int64_t> right = indexed(order[0]);
            for (std::size_t f = 1; f < order.size(); ++f) right = right * indexed(order[f]);
            if (const auto summed = alone(); !summed.empty()) right = sum(summed, right);
            C[Labels(left_)] = right;
            std::map<std::int64_t, std::int64_t> found;
            const auto entries = C.gather();
            for (std::size_t i = 0; i < entries.values.size(); ++i) {
                std::int64_t key = 0;
                for (std::size_t m = left_.size(); m-- > 0;) key = key * length + entries.indices[m][i];
                found[key] = entries.values[i];
            }
            ASSERT_EQ(found, expected) << text(order);
            ASSERT_EQ(C.nonzeros(), static_cast<std::int64_t>(expected.size())) << text(order);
        }
    }

private:
    static constexpr std::int64_t length = 5;
    struct OneFactor {
        std::string labels;
        std::vector<std::int64_t> keys;
        SparseTensor<std::int64_t> tensor;
    };

    Expression<std::int64_t> indexed(std::size_t f) const { return factors_[f].tensor[Labels(factors_[f].labels)]; }
    std::string labels(std::size_t most) {
        std::string all = "abcd";
        std::shuffle(all.begin(), all.end(), random_);
        return all.substr(0, 1 + random_() % most);
    }
    static std::int64_t size(const std::string& labels) {
        std::int64_t result = 1;
        for (std::size_t m = 0; m < labels.size(); ++m) result *= length;
        return result;
    }
    /// Labels of one factor that are summed.
    std::string alone() const {
        std::string result;
        for (char l = 'a'; l <= 'd'; ++l) {
            const auto has = [&](const OneFactor& f) { return f.labels.find(l) != std::string::npos; };
            if (left_.find(l) == std::string::npos && std::count_if(factors_.begin(), factors_.end(), has) == 1) result += l;
        }
        return result;
    }
    /// By key of the result: how many products reach it.
    std::map<std::int64_t, std::int64_t> products() const {
        std::map<std::int64_t, std::int64_t> result;
        std::vector<std::set<std::int64_t>> stored;
        for (const auto& f : factors_) stored.emplace_back(f.keys.begin(), f.keys.end());
        std::set<char> used;
        for (const auto& f : factors_) used.insert(f.labels.begin(), f.labels.end());
        for (std::int64_t k = 0; k < size("abcd"); ++k) {
            const std::vector<std::int64_t> x{k % length, k / length % length, k / length / length % length, k / length / length / length};
            const auto key = [&](const std::string& labels) {
                std::int64_t number = 0;
                for (std::size_t m = labels.size(); m-- > 0;) number = number * length + x[static_cast<std::size_t>(labels[m] - 'a')];
                return number;
            };
            bool counts = true;
            for (std::size_t l = 0; l < x.size(); ++l) counts = counts && (x[l] == 0 || used.count(static_cast<char>('a' + l)) > 0);
            for (std::size_t f = 0; f < factors_.size() && counts; ++f) counts = stored[f].count(key(factors_[f].labels)) > 0;
            if (counts) ++result[key(left_)];
        }
        return result;
    }
    std::string text(const std::vector<std::size_t>& order) const {
        std::string result = left_ + " =";
        for (auto f : order) result += " " + factors_[f].labels + "(" + std::to_string(factors_[f].keys.size()) + ")";
        return result;
    }

    World& world_;
    std::mt19937_64 random_;
    std::string left_;
    std::vector<OneFactor> factors_;
};

TEST(SparseStatements, StoreWhatMultiplicationsReachInEveryOrderOfTheFactors) {
    World world;
    for (std::uint64_t seed = 0; seed < (world.size() > 4 ? 8U : 30U); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        ASSERT_NO_THROW(FactorsInAnyOrder(world, seed).run());
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(SparseStatements, AThirdFactorOfTheSameLabelsAddsNoElements) {
    const World world;
    const auto every = [&](std::int64_t step) {
        SparseTensor<double> result(world, {60});
        std::vector<std::int64_t> mine;
        for (std::int64_t i = 0; i < 60; i += step)
            if (i % world.size() == world.rank()) mine.push_back(i);
        result.write(mine, std::vector<double>(mine.size(), 1), Duplicates::refuse);
        return result;
    };
    const auto A = every(2), B = every(3), M = every(5);
    SparseTensor<double> C(world, {60});
    C["i"] = A["i"] * B["i"] * M["i"];
    EXPECT_EQ(C.nonzeros(), 2);
    C["i"] = M["i"] * B["i"] * A["i"];
    EXPECT_EQ(C.nonzeros(), 2);
    EXPECT_EQ(C.read(std::vector<std::int64_t>{0, 30, 15}), (std::vector<double>{1, 1, 0}));
}

}  // namespace
}  // namespace arges::test

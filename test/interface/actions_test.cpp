// Statements in which elements of one type act on those of another, against loops over all indices.
#include "arges/arges.hpp"
#include "support/turned_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>

namespace arges::test {
namespace {

using Indices = std::vector<std::int64_t>;

/// How much the cheapest ways cost, and how many there are.
struct Ways {
    int cost = 1 << 20, number = 0;
    bool operator==(const Ways&) const = default;
};
struct Relax {
    using value_type = Ways;
    using actor_type = short;
    static constexpr Ways zero{};
    static Ways add(const Ways& a, const Ways& b) { return a.cost < b.cost ? a : b.cost < a.cost ? b : Ways{a.cost, a.number + b.number}; }
    static Ways act(short length, const Ways& a) { return a == zero ? zero : Ways{a.cost + length, a.number}; }
};

/// What acts is larger than the elements.
struct Steps {
    int up = 0, down = 0, ignored[3] = {};
    bool operator==(const Steps&) const = default;
};
struct Climb {
    using value_type = short;
    using actor_type = Steps;
    static constexpr short zero = -30000;
    static short add(short a, short b) { return std::max(a, b); }
    static short act(const Steps& steps, short a) { return a == zero ? zero : static_cast<short>(a + steps.up - steps.down); }
};

/// What acts has the type of the elements, but is no element: the product has no order that may change.
struct Affine {
    using value_type = int;
    using actor_type = int;
    static constexpr int zero = 0;
    static int add(int a, int b) { return a ^ b; }
    static int act(int bits, int a) { return a & ~bits; }
};

template <class T>
T random_element(std::mt19937_64& random) {
    const auto digit = [&] { return static_cast<int>(random() % 7); };
    if constexpr (std::is_same_v<T, Ways>)
        return {digit(), 1 + digit()};
    else if constexpr (std::is_same_v<T, Steps>)
        return {digit(), digit(), {}};
    else
        return static_cast<T>(digit());
}

/// A tensor on every rank: where something is stored.
template <class T>
struct Known {
    std::vector<int> labels;
    Indices lengths;
    bool is_sparse = true;
    std::map<Indices, T> elements;

    std::optional<T> at(const Indices& tuple) const {
        Indices x;
        for (int l : labels) x.push_back(tuple[static_cast<std::size_t>(l)]);
        const auto found = elements.find(x);
        return found == elements.end() ? std::nullopt : std::optional<T>(found->second);
    }
};

std::string text(const std::vector<int>& labels) {
    std::string result;
    for (int l : labels) result += static_cast<char>('a' + l);
    return result;
}

template <class A>
class RandomAction {
public:
    using T = typename A::value_type;
    using W = typename A::actor_type;

    RandomAction(const World& world, std::uint64_t seed) : world_(world), random_(seed) {
        for (int l = 0; l < 4; ++l)
            extents_.push_back(std::vector<std::int64_t>{0, 1, 2, 3, 5, 6, 7}[random_() % 100 < 4 ? 0 : 1 + random_() % 6]);
        actor_ = known<W>(some_labels(1), chance(0.6));
        value_ = known<T>(some_labels(1), chance(0.6) || !actor_.is_sparse);
        auto used = actor_.labels;
        used.insert(used.end(), value_.labels.begin(), value_.labels.end());
        const auto masks = random_() % 3;
        for (std::uint64_t m = 0; m < masks && chance(0.6); ++m) masks_.push_back(known<double>(some_of(used, 1), true));
        left_is_sparse_ = chance(0.6);
        left_ = some_of(used, left_is_sparse_ ? 1 : 0);
        if (left_is_sparse_ && chance(0.3)) excluded_ = known<double>(some_of(left_, 1), true);
        accumulates_ = chance(0.4);
    }

    std::string text() const {
        const auto name = [](const auto& tensor, const char* dense, const char* sparse) {
            return std::string(tensor.is_sparse ? sparse : dense) + "[" + test::text(tensor.labels) + "]";
        };
        auto result = std::string(left_is_sparse_ ? "s[" : "d[") + test::text(left_) + (accumulates_ ? "] += " : "] = ");
        result += "act(" + name(actor_, "D", "S") + ", " + name(value_, "d", "s") + ")";
        for (const auto& mask : masks_) result += " where " + test::text(mask.labels);
        if (excluded_) result += " where not " + test::text(excluded_->labels);
        return result;
    }

    void run() {
        const auto dense_actor = dense(actor_);
        const auto sparse_actor = sparse(actor_);
        const auto dense_value = dense(value_);
        const auto sparse_value = sparse(value_);
        std::vector<SparseTensor<double>> masks;
        for (const auto& mask : masks_) masks.push_back(sparse(mask));
        SparseTensor<double> excluded;
        if (excluded_) excluded = sparse(*excluded_);
        auto expected = known<T>(left_, left_is_sparse_);
        const auto before = expected;
        SparseTensor<T> sparse_left = sparse(expected);
        Tensor<T> dense_left = dense(expected);
        for (int repeat = 0; repeat < 2; ++repeat) {
            Expression<T> right = value_.is_sparse ? Expression<T>(sparse_value[Labels(test::text(value_.labels))])
                                                   : Expression<T>(dense_value[Labels(test::text(value_.labels))]);
            right = actor_.is_sparse ? act(sparse_actor[Labels(test::text(actor_.labels))], right)
                                     : act(dense_actor[Labels(test::text(actor_.labels))], right);
            for (std::size_t m = 0; m < masks.size(); ++m) right = where(masks[m][Labels(test::text(masks_[m].labels))], right);
            if (excluded_) right = where_not(excluded[Labels(test::text(excluded_->labels))], right);
            const auto assign = [&](const auto& target) {
                if (accumulates_)
                    over<A>(target) += right;
                else
                    over<A>(target) = right;
            };
            if (left_is_sparse_)
                assign(sparse_left[Labels(test::text(left_))]);
            else
                assign(dense_left[Labels(test::text(left_))]);
            EXPECT_EQ(world_.last_report().bytes_sent, world_.last_report().bytes_planned) << text();
            apply(expected);
            if (left_is_sparse_)
                compare(expected, sparse_left);
            else
                compare(expected, dense_left);
            is_as_before(actor_, dense_actor, sparse_actor);
            is_as_before(value_, dense_value, sparse_value);
            for (std::size_t m = 0; m < masks.size(); ++m) is_as_before(masks_[m], {}, masks[m]);
            if (::testing::Test::HasFailure()) return;
        }
    }

private:
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    std::vector<int> some_labels(int least) { return some_of({0, 1, 2, 3}, least); }
    std::vector<int> some_of(const std::vector<int>& from, int least) {
        std::vector<int> result;
        const auto count = std::max<std::uint64_t>(static_cast<std::uint64_t>(least), random_() % 4);
        while (result.size() < count) {
            const int label = from[random_() % from.size()];
            if (std::find(result.begin(), result.end(), label) == result.end()) result.push_back(label);
            if (result.size() >= std::min<std::size_t>(count, 4) || chance(0.2)) break;
        }
        if (result.empty() && least > 0) result.push_back(from[0]);
        return result;
    }
    template <class S>
    Known<S> known(std::vector<int> labels, bool is_sparse) {
        Known<S> result;
        result.labels = std::move(labels);
        result.is_sparse = is_sparse;
        for (int l : result.labels) result.lengths.push_back(extents_[static_cast<std::size_t>(l)]);
        std::int64_t size = 1;
        for (auto n : result.lengths) size *= n;
        for (std::int64_t k = 0; k < size; ++k) {
            Indices x;
            auto rest = k;
            for (auto n : result.lengths) {
                x.push_back(rest % n);
                rest /= n;
            }
            const auto element = random_element<S>(random_);
            if (!is_sparse || chance(0.4)) result.elements[x] = element;
        }
        return result;
    }
    template <class S>
    SparseTensor<S> sparse(const Known<S>& tensor) {
        if (!tensor.is_sparse) return {};
        SparseEntries<S> mine;
        mine.indices.resize(tensor.lengths.size());
        std::int64_t number = 0;
        for (const auto& [x, value] : tensor.elements) {
            if (number++ * 7 % 5 % world_.size() != world_.rank()) continue;
            for (std::size_t m = 0; m < x.size(); ++m) mine.indices[m].push_back(x[m]);
            mine.values.push_back(value);
        }
        return SparseTensor<S>::from_entries(world_, tensor.lengths, mine, Duplicates::refuse);
    }
    template <class S>
    Tensor<S> dense(const Known<S>& tensor) {
        if (tensor.is_sparse) return {};
        Tensor<S> result(world_, tensor.lengths);
        result.for_each_local([&](Index x, S& element) {
            Indices indices;
            for (std::size_t d = 0; d < tensor.lengths.size(); ++d) indices.push_back(x[static_cast<int>(d)]);
            element = tensor.elements.at(indices);
        });
        return with_turned_slots(result, random_());
    }
    /// What the statement says.
    void apply(Known<T>& left) const {
        std::map<Indices, T> sums;
        std::vector<int> used = actor_.labels;
        const auto add = [&](const std::vector<int>& labels) { used.insert(used.end(), labels.begin(), labels.end()); };
        add(value_.labels);
        for (const auto& mask : masks_) add(mask.labels);
        Indices tuple(4, 0);
        const auto loop = [&](auto&& self, std::size_t level) -> void {
            if (level < 4) {
                const bool is_used = std::find(used.begin(), used.end(), static_cast<int>(level)) != used.end();
                const auto extent = is_used ? extents_[level] : 1;
                for (tuple[level] = 0; tuple[level] < extent; ++tuple[level]) self(self, level + 1);
                tuple[level] = 0;
                return;
            }
            const auto w = actor_.at(tuple);
            const auto v = value_.at(tuple);
            if (!w || !v) return;
            for (const auto& mask : masks_)
                if (!mask.at(tuple)) return;
            if (excluded_ && excluded_->at(tuple)) return;
            Indices x;
            for (int l : left_) x.push_back(tuple[static_cast<std::size_t>(l)]);
            const T term = A::act(*w, *v);
            const auto [place, is_new] = sums.emplace(x, term);
            if (!is_new) place->second = A::add(place->second, term);
        };
        loop(loop, 0);
        if (accumulates_) {
            for (const auto& [x, term] : sums) {
                const auto [place, is_new] = left.elements.emplace(x, term);
                if (!is_new) place->second = A::add(place->second, term);
            }
            return;
        }
        if (!left_is_sparse_)
            for (const auto& [x, old] : left.elements) sums.emplace(x, A::zero);
        left.elements = std::move(sums);
    }
    void compare(const Known<T>& expected, const SparseTensor<T>& found) const {
        const auto entries = found.gather();
        std::map<Indices, T> elements;
        for (std::size_t k = 0; k < entries.values.size(); ++k) {
            Indices x;
            for (const auto& column : entries.indices) x.push_back(column[k]);
            EXPECT_TRUE(elements.emplace(x, entries.values[k]).second) << "twice: " << text();
        }
        // Under a mask its places may be stored where nothing has been added up.
        for (const auto& [x, value] : elements) {
            const auto wanted = expected.elements.find(x);
            EXPECT_TRUE(value == (wanted == expected.elements.end() ? T(A::zero) : wanted->second)) << text();
        }
        for (const auto& [x, value] : expected.elements) EXPECT_TRUE(elements.count(x) == 1 || value == T(A::zero)) << text();
        const bool has_empty_sum = std::count(extents_.begin(), extents_.end(), 0) > 0;  // stored, with zero
        EXPECT_TRUE(has_empty_sum || !masks_.empty() || excluded_ || accumulates_ || elements.size() == expected.elements.size()) << text();
    }
    void compare(const Known<T>& expected, const Tensor<T>& found) const {
        const auto elements = found.gather();
        std::size_t k = 0;
        std::map<Indices, T> by_key;  // the first index fastest
        for (const auto& [x, value] : expected.elements) by_key[{x.rbegin(), x.rend()}] = value;
        ASSERT_EQ(elements.size(), by_key.size()) << text();
        for (const auto& [x, value] : by_key) ASSERT_TRUE(elements[k++] == value) << text();
    }

    /// Operands are what they were, element by element on the ranks that have them.
    template <class S>
    void is_as_before(const Known<S>& known, const Tensor<S>& dense, const SparseTensor<S>& sparse) const {
        if (known.is_sparse) {
            Indices x(known.lengths.size());
            for (std::int64_t k = 0; k < sparse.local_nonzeros(); ++k) {
                for (std::size_t m = 0; m < x.size(); ++m) x[m] = sparse.local_indices(static_cast<int>(m))[static_cast<std::size_t>(k)];
                const auto found = known.elements.find(x);
                EXPECT_TRUE(found != known.elements.end() && found->second == sparse.local_values()[static_cast<std::size_t>(k)]) << text();
            }
            EXPECT_EQ(sparse.nonzeros(), static_cast<std::int64_t>(known.elements.size())) << text();
        } else {
            dense.for_each_local([&](Index x, const S& value) { EXPECT_TRUE(known.elements.at({x.begin(), x.end()}) == value) << text(); });
        }
    }

    const World& world_;
    std::mt19937_64 random_;
    Indices extents_;
    Known<W> actor_;
    Known<T> value_;
    std::vector<Known<double>> masks_;
    std::optional<Known<double>> excluded_;
    std::vector<int> left_;
    bool left_is_sparse_ = false, accumulates_ = false;
};

template <class A>
void check_random_actions() {
    const World world;
    for (std::uint64_t seed = 0; seed < (world.size() > 4 ? 60 : 500); ++seed) {
        RandomAction<A> statement(world, seed);
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + statement.text());
        ASSERT_NO_THROW(statement.run());
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(Actions, EqualALoopOverAllIndicesWays) { check_random_actions<Relax>(); }
TEST(Actions, EqualALoopOverAllIndicesOfLargeActors) { check_random_actions<Climb>(); }
TEST(Actions, EqualALoopOverAllIndicesOfTheSameType) { check_random_actions<Affine>(); }

/// A tensor that acts moves as what it is.
TEST(Actions, MoveElementsOfTheirOwnType) {
    const World world;
    const std::int64_t n = 40;
    SparseEntries<short> edges{{{}, {}}, {}};
    for (std::int64_t i = world.rank(); i < n; i += world.size())
        for (std::int64_t j = 0; j < n; j += 3) {
            edges.indices[0].push_back(i);
            edges.indices[1].push_back(j);
            edges.values.push_back(static_cast<short>(1 + (i + j) % 5));
        }
    const auto A = SparseTensor<short>::from_entries(world, {n, n}, edges, Duplicates::refuse);
    Tensor<Ways> d(world, {n});
    d.fill([](Index x) { return x[0] == 0 ? Ways{0, 1} : Relax::zero; });
    for (int repeat = 0; repeat < 3; ++repeat) over<Relax>(d["j"]) += act(A["ij"], d["i"]);
    const auto second = world.last_report();
    over<Relax>(d["j"]) += act(A["ij"], d["i"]);
    EXPECT_EQ(world.last_report().bytes_sent, second.bytes_sent);
    EXPECT_EQ(world.last_report().bytes_planned, second.bytes_sent);
    EXPECT_LE(second.bytes_sent, 2 * n * static_cast<std::int64_t>(sizeof(Ways)));  // vectors only
}

TEST(Actions, WrongUsesAreRefused) {
    const World world;
    const SparseTensor<short> A(world, {4, 4}, "A");
    const SparseTensor<double> R(world, {4, 4}, "R");
    const SparseTensor<Ways> W(world, {4, 4}, "W");
    const Tensor<short> D(world, {4, 4}, "D");
    Tensor<Ways> d(world, {4}, "d"), dd(world, {4, 4}, "dd"), symmetric(world, {4, 4}, "ij", "sym(i,j)");
    const auto refused = [](auto&& statement, const char* why) {
        try {
            statement();
            ADD_FAILURE() << "not refused: " << why;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
        }
    };
    refused([&] { over<Relax>(d["j"]) = act(R["ij"], d["i"]); }, "convert it first");
    refused([&] { d["j"] = act(A["ij"], d["i"]); }, "name an algebra");
    refused([&] { over<Relax>(d["k"]) = act(A["jk"], act(A["ij"], d["i"])); }, "several statements");
    refused([&] { over<Relax>(dd["ij"]) = act(A["ij"], d["i"] * d["j"]); }, "several statements");
    refused([&] { over<Relax>(d["j"]) = act(D["ij"], d["i"]); }, "from_dense");
    refused([&] { over<Relax>(symmetric["ij"]) = act(A["ij"], W["ij"]); }, "symmetry");
    refused([&] { over<Relax>(dd["ik"]) = W["ij"] * W["jk"]; }, "no product");
    refused([&] { over<Relax>(d["j"]) = where(D["ij"], d["i"]); }, "mask is dense");
    for (const auto& element : d.gather()) EXPECT_TRUE(element == Ways{});
}

}  // namespace
}  // namespace arges::test

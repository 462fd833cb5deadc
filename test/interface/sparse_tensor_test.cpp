// Sparse tensors against a map from indices to values that every rank keeps.
#include "arges/arges.hpp"
#include "base/splitmix.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "partition/value_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>

namespace arges::test {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The same numbers on every rank.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed << 32) {}
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(splitmix(state_++) % static_cast<std::uint64_t>(n)); }

private:
    std::uint64_t state_;
};

/// Entries that one call of write gives: all of them, with the rank that gives each.
struct Batch {
    std::vector<Numbers> index;
    std::vector<double> value;
    std::vector<std::int64_t> rank;
};

Batch random_batch(Random& random, const Numbers& lengths, std::int64_t count, std::int64_t ranks) {
    Batch batch;
    if (std::find(lengths.begin(), lengths.end(), 0) != lengths.end()) return batch;
    for (std::int64_t i = 0; i < count; ++i) {
        Numbers index;
        for (auto n : lengths) index.push_back(random.below(3) == 0 ? random.below(1 + n / 5) : random.below(n));
        batch.index.push_back(index);
        batch.value.push_back(static_cast<double>(random.below(2000) - 1000) / 8);
        batch.rank.push_back(random.below(ranks));
    }
    return batch;
}

void write_batch(SparseTensor<double>& X, const Batch& batch, bool by_key, Duplicates duplicates) {
    Numbers tuples, keys;
    std::vector<double> values;
    for (std::size_t i = 0; i < batch.index.size(); ++i) {
        if (batch.rank[i] != X.world().rank()) continue;
        tuples.insert(tuples.end(), batch.index[i].begin(), batch.index[i].end());
        std::int64_t key = 0;
        for (std::size_t m = batch.index[i].size(); by_key && m-- > 0;) key = key * X.lengths()[m] + batch.index[i][m];
        keys.push_back(key);
        values.push_back(batch.value[i]);
    }
    by_key ? X.write(keys, values, duplicates) : X.write_at(tuples, values, duplicates);
}

/// By ascending index, the last mode first, as gather() does.
struct LastModeFirst {
    bool operator()(const Numbers& a, const Numbers& b) const {
        return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
    }
};
using Map = std::map<Numbers, double, LastModeFirst>;

SparseEntries<double> entries_of(const Map& map, std::size_t order) {
    SparseEntries<double> entries;
    entries.indices.resize(order);
    for (const auto& [index, value] : map) {
        for (std::size_t m = 0; m < order; ++m) entries.indices[m].push_back(index[m]);
        entries.values.push_back(value);
    }
    return entries;
}

/// What sum or keep_first make of a batch; entries of lower ranks come first.
void apply(Map& map, const Batch& batch, Duplicates duplicates, std::int64_t ranks) {
    for (std::int64_t r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < batch.index.size(); ++i) {
            if (batch.rank[i] != r) continue;
            const auto [place, is_new] = map.emplace(batch.index[i], batch.value[i]);
            if (!is_new && duplicates == Duplicates::sum) place->second += batch.value[i];
        }
}

const std::vector<Numbers> lengths_of_tensors{
    {7}, {1}, {13, 11}, {5, 0, 3}, {31, 2, 17}, {4, 5, 3, 6}, {2, 3, 2, 5, 3}, {3, 2, 2, 3, 2, 4}, {1, 1, 1}, {1000003, 999983, 7}};

TEST(SparseTensor, HoldsWhatIsWrittenFromAnyRank) {
    const World world;
    for (std::size_t s = 0; s < lengths_of_tensors.size(); ++s)
        for (auto duplicates : {Duplicates::sum, Duplicates::keep_first}) {
            SCOPED_TRACE(s);
            Random random(10 * s + (duplicates == Duplicates::sum ? 1 : 2));
            SparseTensor<double> X(world, lengths_of_tensors[s], "X");
            Map map;
            for (int round = 0; round < 4; ++round) {
                const auto batch = random_batch(random, lengths_of_tensors[s], round == 2 ? 0 : 1 + random.below(60), world.size());
                write_batch(X, batch, round % 2 == 0, duplicates);
                apply(map, batch, duplicates, world.size());
                EXPECT_EQ(X.gather(), entries_of(map, lengths_of_tensors[s].size()));
                EXPECT_EQ(X.nonzeros(), static_cast<std::int64_t>(map.size()));
                double sum = 0, squares = 0, size = 1;
                for (const auto& [index, value] : map) sum += value, squares += value * value;
                for (auto n : lengths_of_tensors[s]) size *= static_cast<double>(n);
                EXPECT_EQ(X.sum(), sum);  // exact: eighths
                EXPECT_NEAR(X.norm(), std::sqrt(squares), 1e-12 * (1 + std::sqrt(squares)));
                EXPECT_DOUBLE_EQ(X.density(), size > 0 ? static_cast<double>(map.size()) / size : 0);
            }
        }
}

/// One array of indices for each mode, on any ranks: the same tensor as from write_at() with tuples.
TEST(SparseTensor, IsMadeFromTheArraysOfTheRanks) {
    const World world;
    const auto last = world.size() - 1;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Random random(seed);
        const Numbers lengths{1 + random.below(8), 1 + random.below(6), 1 + random.below(9)};
        const auto batch = random_batch(random, lengths, random.below(60), world.size());
        SparseEntries<double> mine{std::vector<Numbers>(3), {}};
        for (std::size_t i = 0; i < batch.index.size(); ++i) {
            if (batch.rank[i] != world.rank()) continue;
            for (std::size_t m = 0; m < 3; ++m) mine.indices[m].push_back(batch.index[i][m]);
            mine.values.push_back(batch.value[i]);
        }
        SparseTensor<double> wanted(world, lengths);
        write_batch(wanted, batch, false, Duplicates::sum);
        EXPECT_EQ(SparseTensor<double>::from_entries(world, lengths, mine).gather(), wanted.gather()) << seed;
    }
    const auto message_of = [&](SparseEntries<double> entries) {
        if (world.rank() != last) entries = {{{}, {}}, {}};
        try {
            SparseTensor<double>::from_entries(world, {6, 5}, entries, Duplicates::refuse, "X");
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("no exception");
    };
    EXPECT_EQ(message_of({{{0, 1}, {2}}, {1, 2}}), "X: 1 indices in mode 2 for 2 values; give an index in each mode for every value");
    EXPECT_EQ(message_of({{{0}}, {1}}), "X: indices for 1 modes, but the tensor has 2; give one array of indices for each mode");
    EXPECT_EQ(message_of({{{0}, {5}}, {1}}), "X: index 5 in mode 2 of length 5; indices run from 0");
    EXPECT_EQ(message_of({{{3, 3}, {4, 4}}, {1, 1}}),
              "X: element (3, 4) is given more than once; give each element once, or ask for Duplicates::sum, Duplicates::keep_first or "
              "Duplicates::keep_last");
}

TEST(SparseTensor, RefusesASecondValueAndStaysAsItWas) {
    const World world;
    SparseTensor<double> X(world, {6, 5}, "X");
    X.write_at(world.rank() == 0 ? Numbers{1, 2, 3, 4} : Numbers{}, world.rank() == 0 ? std::vector<double>{1, 2} : std::vector<double>{},
               Duplicates::refuse);
    const auto before = X.gather();
    const auto last = world.size() - 1;
    const auto message_of = [&](const Numbers& tuples, const std::vector<double>& values) {
        const bool mine = world.rank() == last;
        try {
            X.write_at(mine ? tuples : Numbers{}, mine ? values : std::vector<double>{}, Duplicates::refuse);
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("no exception");
    };
    EXPECT_EQ(message_of({0, 0, 3, 4}, {1, 1}),
              "X: element (3, 4) is stored already; give each element once, or ask for Duplicates::sum, Duplicates::keep_first or "
              "Duplicates::keep_last");
    EXPECT_EQ(message_of({5, 0, 5, 0}, {1, 1}),
              "X: element (5, 0) is given more than once; give each element once, or ask for Duplicates::sum, Duplicates::keep_first or "
              "Duplicates::keep_last");
    EXPECT_EQ(message_of({0, 5}, {1}), "X: index 5 in mode 2 of length 5; indices run from 0");
    EXPECT_EQ(message_of({-1, 4}, {1}), "X: index -1 in mode 1 of length 6; indices run from 0");
    EXPECT_EQ(message_of({1, 1, 1}, {1}), "X: 3 indices for 1 values; give 2 for each");
    EXPECT_EQ(X.gather(), before);
}

TEST(SparseTensor, RefusesWrongShapesKeysAndWorlds) {
    const World world;
    EXPECT_THROW(SparseTensor<double>(world, {}), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>(world, Numbers(17, 2)), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>(world, {3, -1}), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>(world, {(std::int64_t{1} << 62) + 1}), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>(World::dry_run(4), {3}), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>(World::outside(), {3}), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>().nonzeros(), InvalidArgument);
    SparseTensor<double> X(world, {6, 5});
    EXPECT_THROW(X.write(Numbers{30}, std::vector<double>{1}, Duplicates::refuse), InvalidArgument);
    EXPECT_THROW(X.write(Numbers{-1}, std::vector<double>{1}, Duplicates::refuse), InvalidArgument);
    EXPECT_THROW(X.write(Numbers{1, 2}, std::vector<double>{1}, Duplicates::refuse), InvalidArgument);
    EXPECT_THROW(X.local_indices(2), InvalidArgument);
}

TEST(SparseTensor, HasLengthsUpTo2To62AndThenNoKeys) {
    const World world;
    const auto huge = std::int64_t{1} << 62;
    SparseTensor<double> X(world, Numbers(16, huge), "X");
    EXPECT_FALSE(X.has_keys());
    Numbers tuple(16, huge - 1);
    tuple[3] = 5;
    X.write_at(world.rank() == 0 ? tuple : Numbers{}, world.rank() == 0 ? std::vector<double>{3} : std::vector<double>{},
               Duplicates::refuse);
    const auto all = X.gather();
    ASSERT_EQ(all.values, (std::vector<double>{3}));
    EXPECT_EQ(all.indices[3][0], 5);
    EXPECT_EQ(all.indices[15][0], huge - 1);
    EXPECT_THROW(X.write(Numbers{0}, std::vector<double>{1}, Duplicates::refuse), InvalidArgument);
    EXPECT_THROW(X.to_dense(), InvalidArgument);
    EXPECT_TRUE(SparseTensor<double>(world, {huge, 1}).has_keys());
}

TEST(SparseTensor, FillsDropsErasesAndCopies) {
    const World world;
    SparseTensor<float> X(world, {40});
    const Numbers keys{3, 9, 20};
    const std::vector<float> values{0.5F, -2, 0};
    const bool first = world.rank() == 0;
    X.write(first ? keys : Numbers{}, first ? values : std::vector<float>{}, Duplicates::refuse);
    SparseTensor<float> copy = X;
    copy.drop();
    EXPECT_EQ(copy.gather().indices[0], (Numbers{3, 9}));
    copy.drop(0.5F);
    EXPECT_EQ(copy.gather().indices[0], (Numbers{9}));
    copy.fill(7);
    EXPECT_EQ(copy.gather().values, (std::vector<float>{7}));
    copy.erase();
    EXPECT_EQ(copy.nonzeros(), 0);
    EXPECT_EQ(X.gather().values, values);
    for (auto& value : X.local_values()) value *= 2;
    EXPECT_EQ(X.gather().values, (std::vector<float>{1, -4, 0}));
    EXPECT_EQ(X.local_indices(0).size(), X.local_values().size());
    const SparseTensor<float> moved = std::move(X);
    EXPECT_EQ(moved.nonzeros(), 3);
    EXPECT_THROW(X.order(), InvalidArgument);
}

TEST(SparseTensor, ComesFromDenseTensorsAndGoesBack) {
    const World world;
    for (const auto& lengths : {Numbers{6}, Numbers{4, 5}, Numbers{3, 2, 4}, Numbers{2, 0, 3}}) {
        Tensor<double> A(world, lengths, "A");
        A.fill_random(5);
        const auto X = SparseTensor<double>::from_dense(A, 0.2);
        const auto all = A.gather();
        Tensor<double> expected = A;
        expected.for_each_local([](Index, double& value) { value = std::abs(value) > 0.2 ? value : 0; });
        EXPECT_EQ(X.to_dense().gather(), expected.gather());
        EXPECT_EQ(X.nonzeros(), std::count_if(all.begin(), all.end(), [](double v) { return std::abs(v) > 0.2; }));
    }
    Tensor<double> S(world, {5, 5, 3}, "abi", "antisym(a,b)");
    S.fill_random(6);
    EXPECT_EQ(SparseTensor<double>::from_dense(S).nonzeros(), 30);  // one of each orbit
    EXPECT_EQ(SparseTensor<double>::from_dense(S.with_symmetry({})).nonzeros(), 60);
    EXPECT_EQ(SparseTensor<double>::from_dense(S).to_dense().gather(), S.gather());
    auto X = SparseTensor<double>::from_dense(S);  // not at home: writing must still find what is stored
    X.write(world.rank() == 0 ? Numbers{1} : Numbers{}, world.rank() == 0 ? std::vector<double>{100} : std::vector<double>{},
            Duplicates::keep_first);
    EXPECT_EQ(X.to_dense().gather(), S.gather());
}

TEST(SparseTensor, IsAccountedForAndLimited) {
    World world;
    const auto before = world.memory_in_use();
    const auto limit = world.memory_limit();
    {
        SparseTensor<double> X(world, {1000, 1000});
        Numbers keys(100);
        std::iota(keys.begin(), keys.end(), 100 * world.rank());
        X.write(keys, std::vector<double>(100, 1), Duplicates::refuse);
        EXPECT_GE(world.memory_in_use() - before, 100 * 24);
        EXPECT_EQ(X.state()->comm().minimum(world.memory_in_use()), X.state()->comm().maximum(world.memory_in_use()));
        world.set_memory_limit(world.memory_in_use() + 10);
        for (auto& key : keys) key += 1000 * world.size();
        EXPECT_THROW(X.write(keys, std::vector<double>(100, 1), Duplicates::refuse), OutOfMemory);
        EXPECT_EQ(X.nonzeros(), 100 * world.size());
        EXPECT_THROW(SparseTensor<double>(static_cast<const SparseTensor<double>&>(X)), OutOfMemory);
        world.set_memory_limit(limit);
    }
    EXPECT_EQ(world.memory_in_use(), before);
}

/// A user's type without a sum.
struct Pair {
    int first = 0, second = 0;
    bool operator==(const Pair&) const = default;
};

/// A few different values, exact in sums of products.
template <class T>
T random_value(Random& random) {
    if constexpr (std::is_same_v<T, Pair>)
        return {static_cast<int>(random.below(3)), static_cast<int>(random.below(2))};
    else if constexpr (std::is_same_v<T, bool>)
        return random.below(2) == 0;
    else if constexpr (kernels::is_complex<T>)
        return T(static_cast<real_of<T>>(random.below(5) - 2), static_cast<real_of<T>>(random.below(3) - 1));
    else
        return static_cast<T>(random.below(9) - 4);
}

/// Arrays of bool are none in a vector.
template <class T>
struct Array {
    std::unique_ptr<T[]> values;
    std::size_t size = 0;

    explicit Array(const std::vector<T>& from) : values(new T[from.size()]), size(from.size()) {
        std::copy(from.begin(), from.end(), values.get());
    }
    operator std::span<const T>() const { return {values.get(), size}; }
};

/// A tensor and what it should be, which every rank knows as a whole.
template <class T>
class AgainstMap {
public:
    AgainstMap(const World& world, const Numbers& lengths, std::uint64_t seed)
        : world_(world), lengths_(lengths), random_(seed), X_(world, lengths, "X") {}

    void step() {
        switch (random_.below(8)) {
        case 0:
        case 1: write(); break;
        case 2: accumulate(); break;
        case 3: drop(); break;
        case 4: change_a_copy(); break;
        case 5: go_through_dense(); break;
        case 6: make_anew(); break;
        default: write_one_by_one();
        }
        check();
    }

private:
    using Map = std::map<Numbers, T, LastModeFirst>;
    static constexpr bool has_sum = kernels::is_number<T>;

    struct Given {
        std::vector<Numbers> index;
        std::vector<T> value;
        std::vector<std::int64_t> rank;
        Numbers my_keys, my_tuples;
        std::vector<T> my_values;
    };

    std::int64_t size() const { return std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{1}, std::multiplies<>()); }
    std::int64_t key(const Numbers& index) const {
        std::int64_t key = 0;
        for (std::size_t m = index.size(); m-- > 0;) key = key * lengths_[m] + index[m];
        return key;
    }
    T value_at(const Numbers& index) const {
        const auto place = map_.find(index);
        return place == map_.end() ? T() : place->second;
    }

    Given given(std::int64_t count) {
        Given all;
        for (std::int64_t i = 0; i < count && size() > 0; ++i) {
            Numbers index;
            for (auto n : lengths_) index.push_back(random_.below(n));
            all.index.push_back(index);
            all.value.push_back(random_value<T>(random_));
            all.rank.push_back(random_.below(world_.size()));
            if (all.rank.back() != world_.rank()) continue;
            all.my_keys.push_back(key(index));
            all.my_tuples.insert(all.my_tuples.end(), index.begin(), index.end());
            all.my_values.push_back(all.value.back());
        }
        return all;
    }
    /// Calls f(index, value) in the order in which values count.
    template <class F>
    void for_each(const Given& all, F&& f) const {
        for (std::int64_t r = 0; r < world_.size(); ++r)
            for (std::size_t i = 0; i < all.index.size(); ++i)
                if (all.rank[i] == r) f(all.index[i], static_cast<T>(all.value[i]));
    }
    static void put(Map& map, const Numbers& index, const T& value, Duplicates duplicates) {
        const auto [place, is_new] = map.emplace(index, value);
        if constexpr (has_sum)
            if (!is_new && duplicates == Duplicates::sum) place->second = PlusTimes<T>::add(place->second, value);
    }
    Duplicates policy() { return has_sum && random_.below(2) == 0 ? Duplicates::sum : Duplicates::keep_first; }

    void write() {
        const auto all = given(random_.below(60));
        const auto duplicates = policy();
        if (random_.below(2) == 0)
            X_.write(all.my_keys, Array<T>(all.my_values), duplicates);
        else
            X_.write_at(all.my_tuples, Array<T>(all.my_values), duplicates);
        for_each(all, [&](const Numbers& index, const T& value) { put(map_, index, value, duplicates); });
    }
    void write_one_by_one() {
        const auto all = given(3);
        for (std::size_t i = 0; i < all.index.size(); ++i) {
            const bool mine = all.rank[i] == world_.rank();
            X_.write_at(mine ? all.index[i] : Numbers{}, Array<T>(mine ? std::vector<T>{all.value[i]} : std::vector<T>{}),
                        Duplicates::keep_first);
            map_.emplace(all.index[i], all.value[i]);
        }
    }
    void accumulate() {
        if constexpr (has_sum) {
            const auto all = given(random_.below(60));
            const T alpha = static_cast<T>(static_cast<int>(random_.below(3)) - 1),
                    beta = static_cast<T>(static_cast<int>(random_.below(3)) - 1);
            X_.accumulate(all.my_keys, Array<T>(all.my_values), alpha, beta);
            Map sums;
            for_each(all, [&](const Numbers& index, const T& value) {
                put(sums, index, PlusTimes<T>::multiply(alpha, value), Duplicates::sum);
            });
            for (const auto& [index, sum] : sums)
                map_.insert_or_assign(index, PlusTimes<T>::add(PlusTimes<T>::multiply(beta, value_at(index)), sum));
        }
    }
    template <class F>
    void erase_from_map(F&& goes) {
        std::erase_if(map_, [&](const auto& entry) { return goes(entry.second); });
    }
    void drop() {
        if (random_.below(2) == 0) {
            X_.drop();
            erase_from_map([](const T& value) { return value == T(); });
        }
        if constexpr (kernels::has_negative<T>)
            if (random_.below(2) == 0) {
                X_.drop(1);
                erase_from_map([](const T& value) { return std::abs(value) <= 1; });
            }
        const auto removed = random_value<T>(random_);
        X_.drop_if([&](const T& value) { return value == removed; });
        erase_from_map([&](const T& value) { return value == removed; });
    }
    void change_a_copy() {
        auto copy = X_;
        EXPECT_EQ(copy.state()->pattern(), X_.state()->pattern());
        const auto value = random_value<T>(random_);
        for (auto& element : copy.local_values()) element = value;
        check();
        for (std::int64_t i = 0; i < copy.local_nonzeros(); ++i) EXPECT_EQ(copy.local_values()[static_cast<std::size_t>(i)], value);
        if (random_.below(2) == 0) {
            std::swap(copy, X_);
            for (auto& [index, element] : map_) element = value;
        }
    }
    void go_through_dense() {
        const auto dense = X_.to_dense();
        std::vector<T> wanted(static_cast<std::size_t>(size()));
        for (const auto& [index, value] : map_) wanted[static_cast<std::size_t>(key(index))] = value;
        EXPECT_EQ(dense.gather(), wanted);
        X_ = SparseTensor<T>::from_dense(dense);
        X_.set_name("X");
        erase_from_map([](const T& value) { return value == T(); });
    }
    void make_anew() {
        const auto all = given(random_.below(40));
        const auto duplicates = policy();
        SparseEntries<T> mine{std::vector<Numbers>(lengths_.size()), all.my_values};
        for (std::size_t i = 0; i < all.my_tuples.size(); ++i) mine.indices[i % lengths_.size()].push_back(all.my_tuples[i]);
        X_ = SparseTensor<T>::from_entries(world_, lengths_, mine, duplicates, "X");
        map_.clear();
        for_each(all, [&](const Numbers& index, const T& value) { put(map_, index, value, duplicates); });
    }

    void check() {
        const auto all = X_.gather();
        SparseEntries<T> wanted{std::vector<Numbers>(lengths_.size()), {}};
        for (const auto& [index, value] : map_) {
            for (std::size_t m = 0; m < index.size(); ++m) wanted.indices[m].push_back(index[m]);
            wanted.values.push_back(value);
        }
        EXPECT_EQ(all, wanted);
        EXPECT_EQ(X_.nonzeros(), static_cast<std::int64_t>(map_.size()));
        const auto asked = given(random_.below(40));
        std::vector<T> values;
        for (std::size_t i = 0; i < asked.index.size(); ++i)
            if (asked.rank[i] == world_.rank()) values.push_back(value_at(asked.index[i]));
        EXPECT_EQ(X_.read(asked.my_keys), values);
        EXPECT_EQ(X_.read_at(asked.my_tuples), values);
    }

    World world_;
    Numbers lengths_;
    Random random_;
    SparseTensor<T> X_;
    Map map_;
};

template <class T>
class SparseTensorOf : public testing::Test {};
using ElementTypes = testing::Types<float, double, std::complex<double>, std::int32_t, std::int64_t, bool, Pair>;
TYPED_TEST_SUITE(SparseTensorOf, ElementTypes, );

TYPED_TEST(SparseTensorOf, HoldsWhatTheMapHolds) {
    const World world;
    const auto before = world.memory_in_use();
    for (const auto& lengths : {Numbers{7}, Numbers{1}, Numbers{13, 11}, Numbers{5, 0, 3}, Numbers{4, 5, 3}, Numbers{2, 3, 2, 5}})
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << ", order " << lengths.size());
            AgainstMap<TypeParam> pair(world, lengths, seed);
            for (int n = 0; n < 12 && !this->HasFailure(); ++n) pair.step();
        }
    EXPECT_EQ(world.memory_in_use(), before);
}

TEST(SparseTensor, CopiesShareIndices) {
    const World world;
    Numbers keys(100);
    std::iota(keys.begin(), keys.end(), 100 * world.rank());
    SparseTensor<double> X(world, {1000, 1000}, "X");
    X.write(keys, std::vector<double>(100, 1), Duplicates::refuse);
    const auto before = world.memory_in_use();
    const auto most = X.state()->comm().maximum(X.local_nonzeros());
    auto copy = X;
    EXPECT_EQ(world.memory_in_use() - before, most * 8);
    copy.fill(2);
    EXPECT_EQ(X.sum(), 100.0 * static_cast<double>(world.size()));
    EXPECT_EQ(copy.local_indices(0).data(), X.local_indices(0).data());
    const auto identity = X.state()->pattern()->identity;
    const auto taken = copy.state()->take<double>();  // the indices stay with X
    EXPECT_EQ(static_cast<std::int64_t>(taken.indices[1].size()), X.local_nonzeros());
    EXPECT_EQ(copy.nonzeros(), 0);
    EXPECT_EQ(world.memory_in_use(), before);
    X.drop();  // removes nothing
    EXPECT_EQ(X.state()->pattern()->identity, identity);
    X.drop_if([](double) { return true; });
    EXPECT_NE(X.state()->pattern()->identity, identity);
    const auto number = static_cast<std::int64_t>(X.state()->pattern()->identity);
    EXPECT_EQ(X.state()->comm().minimum(number), X.state()->comm().maximum(number));
}

TEST(SparseTensor, AddsUpElementsOfOtherTypes) {
    const World world;
    const auto mine = [&](auto value) {
        using T = decltype(value);
        return world.rank() == 0 ? SparseEntries<T>{{{0, 2}}, {value, value}} : SparseEntries<T>{{{}}, {}};
    };
    using Complex = std::complex<double>;
    const auto Z = SparseTensor<Complex>::from_entries(world, {3}, mine(Complex(3e200, -4e200)));
    EXPECT_EQ(Z.sum(), Complex(6e200, -8e200));
    EXPECT_NEAR(Z.norm() / 5e200, std::sqrt(2), 1e-14);
    const auto N = SparseTensor<std::int32_t>::from_entries(world, {3}, mine(std::int32_t{2000000000}));
    EXPECT_EQ(N.sum(), 4e9);
    EXPECT_NEAR(N.norm(), 2e9 * std::sqrt(2), 1);
}

TEST(SparseTensor, RefusesWrongReadingAndAdding) {
    const World world;
    const bool mine = world.rank() + 1 == world.size();
    SparseTensor<double> X(world, {6, 5}, "X");
    const auto message_of = [&](const std::function<void()>& call) {
        try {
            call();
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("no exception");
    };
    const auto on_last = [&](Numbers numbers) { return mine ? numbers : Numbers{}; };
    EXPECT_EQ(message_of([&] { X.read(on_last({30})); }), "X: key 30 is out of range; the tensor has 30 elements, keys run from 0");
    EXPECT_EQ(message_of([&] { X.read_at(on_last({0, 5})); }), "X: index 5 in mode 2 of length 5; indices run from 0");
    EXPECT_EQ(message_of([&] { X.read_at(on_last({0, 4, 1})); }), "X: 3 indices to read elements; give 2 for each");
    EXPECT_EQ(message_of([&] { X.accumulate(on_last({3}), {}); }), "X: 1 keys but 0 values; give one value per key");
    SparseTensor<Pair> P(world, {4}, "P");
    const std::vector<Pair> values(mine ? 1 : 0);
    const auto text = message_of([&] { P.write(on_last({1}), values, Duplicates::sum); });
    EXPECT_NE(text.find("have no sum; ask for Duplicates::refuse, Duplicates::keep_first or Duplicates::keep_last"), std::string::npos)
        << text;
    EXPECT_EQ(P.nonzeros(), 0);
    P.write(on_last({1}), values, Duplicates::refuse);
    EXPECT_EQ(P.nonzeros(), 1);
    SparseTensor<double> huge(world, Numbers(16, std::int64_t{1} << 62));
    EXPECT_THROW(huge.read(Numbers{}), InvalidArgument);
    EXPECT_EQ(huge.read_at(on_last(Numbers(16, 5))), std::vector<double>(mine ? 1 : 0, 0));
}

TEST(MergeInPlace, KeepsTheFirstPlaceOfEachElement) {
    const World world;
    const auto& comm = world.state()->communicator();
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (auto duplicates : {Duplicates::sum, Duplicates::keep_first, Duplicates::refuse}) {
            SCOPED_TRACE(seed);
            Random random(seed);
            const Numbers lengths{1 + random.below(8), 1 + random.below(6), 1 + random.below(seed % 3 == 0 ? 2 : 50)};
            auto batch = random_batch(random, lengths, seed % 7 == 0 ? 0 : random.below(80), world.size());
            std::sort(batch.rank.begin(), batch.rank.end());  // numbers ascend over the ranks
            sparse::Nonzeros<double> mine{no_indices(lengths), {}};
            Numbers numbers;
            std::vector<Numbers> kept;  // of this rank, expected
            std::map<Numbers, std::pair<std::size_t, double>> first;
            std::int64_t second = -1;
            for (std::size_t i = 0; i < batch.index.size(); ++i) {
                const auto [place, is_new] = first.emplace(batch.index[i], std::pair{i, batch.value[i]});
                if (!is_new && duplicates == Duplicates::sum) place->second.second += batch.value[i];
                if (!is_new && second < 0) second = static_cast<std::int64_t>(3 * i + 1);
                if (batch.rank[i] != world.rank()) continue;
                if (is_new) kept.push_back(batch.index[i]);
                for (std::size_t m = 0; m < 3; ++m) mine.indices[m].push_back(batch.index[i][m]);
                mine.values.push_back(batch.value[i]);
                numbers.push_back(static_cast<std::int64_t>(3 * i + 1));
            }
            const auto count = mine.count();
            AnyNonzeros merged(std::move(mine));
            const auto report = merge_in_place(comm, merged, join_for(element_kernels<double>(), duplicates), numbers);
            mine = std::move(merged).take<double>();
            if (duplicates == Duplicates::refuse) {
                EXPECT_EQ(report.second, second);
                if (second < 0) continue;
                EXPECT_EQ(mine.count(), count);
                EXPECT_EQ(report.where, batch.index[static_cast<std::size_t>(second / 3)]);
                EXPECT_EQ(report.first, static_cast<std::int64_t>(3 * first.at(report.where).first + 1));
                continue;
            }
            EXPECT_EQ(report.duplicates, static_cast<std::int64_t>(batch.index.size() - first.size()));
            ASSERT_EQ(mine.values.size(), kept.size());
            for (std::size_t i = 0; i < kept.size(); ++i) {
                EXPECT_EQ((Numbers{mine.indices[0][i], mine.indices[1][i], mine.indices[2][i]}), kept[i]);
                EXPECT_EQ(mine.values[i], first.at(kept[i]).second);
            }
        }
}

TEST(NonemptySlices, AreListedAndNumberedOverAllRanks) {
    const World world;
    const auto& comm = world.state()->communicator();
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const auto length = seed % 4 == 0 ? std::int64_t{1} << 62 : 1 + random.below(seed % 4 == 1 ? 5 : 5000);
        Numbers mine;
        std::map<std::int64_t, std::int64_t> all;
        for (auto i = seed % 5 == 0 ? 0 : random.below(3000); i > 0; --i) {
            const auto index = random.below(2) == 0 ? random.below(length) : random.below(1 + length / 100);
            ++all[index];
            if (random.below(world.size()) == world.rank()) mine.push_back(index);
        }
        // Every index is somewhere: the owner draws the same numbers on all ranks.
        const auto list = nonempty_slices(comm, mine);
        EXPECT_EQ(list.total(), static_cast<std::int64_t>(all.size()));
        Numbers expected, counts;
        for (const auto& [index, count] : all) {
            expected.push_back(index);
            counts.push_back(count);
        }
        EXPECT_EQ(gathered(comm, list.mine), expected);
        EXPECT_EQ(gathered(comm, list.counts), counts);
        const auto numbers = renumbered(comm, list, mine);
        for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(numbers[i], std::distance(all.begin(), all.find(mine[i])));
        for (auto index : list.mine) EXPECT_EQ(list.owner(index), static_cast<std::size_t>(comm.rank()));
    }
    EXPECT_EQ(partition::distinct(Numbers{8, 3, 8, 7, 3}), (Numbers{3, 7, 8}));
}

}  // namespace
}  // namespace arges::test

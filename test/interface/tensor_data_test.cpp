// Creating, filling, writing, reading and gathering tensors.
#include "comm/values.hpp"
#include "support/seeds.hpp"
#include "support/tensor_checks.hpp"

#include <map>
#include <numeric>

namespace arges::test {
namespace {

using Complex = std::complex<double>;
using Keys = std::vector<std::int64_t>;

template <class T>
class TensorData : public testing::Test {
protected:
    World world_;
};
using ElementTypes = testing::Types<double, std::complex<float>>;
TYPED_TEST_SUITE(TensorData, ElementTypes);

TYPED_TEST(TensorData, StartsWithZerosOfTheRightShape) {
    using T = TypeParam;
    with_all_mappings(this->world_, [&] {
        for (const auto& shape : shapes_for(is_complex<T>)) {
            SCOPED_TRACE(shape.text());
            const Tensor<T> A(this->world_, shape.extents, shape.symmetry(), "amplitudes");
            expect_equal(A, Dense(shape.extents));
            EXPECT_EQ(A.order(), static_cast<int>(shape.extents.size()));
            EXPECT_EQ(A.size(), static_cast<std::int64_t>(Dense(shape.extents).data.size()));
            EXPECT_EQ(A.name(), "amplitudes");
            EXPECT_TRUE(A.world() == this->world_);
            EXPECT_EQ(A.symmetry(), shape.symmetry());
        }
    });
}

TYPED_TEST(TensorData, IsGatheredAsItWasWritten) {
    for_each_shape<TypeParam>(this->world_, 1, [&](const Shape&, const Dense& dense, const auto& A) {
        expect_equal(A, dense);
        EXPECT_EQ(A.read(all_keys(A)), elements<TypeParam>(dense));
        for (std::int64_t root = 0; root < this->world_.size(); ++root) {
            const auto all = A.gather_to(root);
            EXPECT_EQ(all, root == this->world_.rank() ? elements<TypeParam>(dense) : std::vector<TypeParam>());
        }
    });
}

TYPED_TEST(TensorData, LocalPairsCoverEachOrbitOnce) {
    using T = TypeParam;
    for_each_shape<T>(this->world_, 2, [&](const Shape& shape, const Dense& dense, const Tensor<T>& A) {
        const auto [keys, values] = A.local_pairs();
        EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
        const auto& comm = this->world_.state()->communicator();
        EXPECT_EQ(comm.sum(static_cast<std::int64_t>(keys.size())), A.packed_size());
        for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(values[i], element<T>(dense.data[static_cast<std::size_t>(keys[i])]));
        // The orbits of all ranks' keys do not meet, and leave out nothing but zeros.
        std::map<std::vector<std::int64_t>, int> seen;
        const auto group = group_elements(shape.symmetry());
        for (auto k : gathered(comm, keys)) {
            std::set<std::vector<std::int64_t>> orbit;
            for (const auto& g : group) orbit.insert(permuted(dense.index(static_cast<std::size_t>(k)), g));
            for (const auto& x : orbit) ++seen[x];
        }
        for (std::size_t k = 0; k < dense.data.size(); ++k) {
            const auto x = dense.index(k);
            EXPECT_EQ(seen[x], zero_by_symmetry(shape.symmetry(), group, x) ? 0 : 1);
        }
    });
}

TYPED_TEST(TensorData, ForEachLocalVisitsAndChangesEveryStoredElement) {
    using T = TypeParam;
    for_each_shape<T>(this->world_, 3, [&](const Shape&, const Dense& dense, Tensor<T> A) {
        A.for_each_local([](Index, T& value) { value *= T(2); });
        auto doubled = dense;
        for (auto& v : doubled.data) v *= 2;
        expect_equal(A, doubled);
        const auto& constant = A;
        constant.for_each_local([&](Index x, const T& value) { EXPECT_EQ(value, element<T>(doubled.at({x.begin(), x.end()}))); });
    });
}

TYPED_TEST(TensorData, CopiesAreIndependentAndMovesLeaveNothing) {
    using T = TypeParam;
    for_each_shape<T>(this->world_, 4, [&](const Shape& shape, const Dense& dense, Tensor<T> A) {
        Tensor<T> copy(A), assigned;
        assigned = A;
        const auto in_use = this->world_.memory_in_use();
        A.fill(T(0));
        Tensor<T> moved(std::move(copy));
        EXPECT_EQ(this->world_.memory_in_use(), in_use);
        expect_equal(moved, dense);
        moved.fill(T(0));
        moved = std::move(assigned);
        EXPECT_LE(this->world_.memory_in_use(), in_use);
        const auto& self = moved;
        moved = self;
        expect_equal(moved, dense);
        expect_equal(A, Dense(shape.extents));
        EXPECT_THROW(copy.order(), InvalidArgument);
    });
}

TYPED_TEST(TensorData, FillRandomGivesTheSameOnAnyNumberOfRanksAndAnyMapping) {
    using T = TypeParam;
    const World self(MPI_COMM_SELF);
    with_all_mappings(this->world_, [&] {
        for (const auto& shape : shapes_for(is_complex<T>)) {
            SCOPED_TRACE(shape.text());
            Tensor<T> alone(self, shape.extents, shape.symmetry()), spread(this->world_, shape.extents, shape.symmetry());
            alone.fill_random(17, -1, 3);
            spread.fill_random(17, -1, 3);
            const auto values = alone.gather();
            EXPECT_EQ(spread.gather(), values);
            spread.fill_random(18, -1, 3);
            if (spread.norm_max() > 0 && alone.norm_max() > 0) {
                EXPECT_NE(spread.gather(), values);
            }
            for (auto v : values) {
                EXPECT_LE(std::abs(std::real(v)), 3);
                EXPECT_LE(std::abs(std::imag(v)), 3);
            }
            // Every element has the symmetry.
            for (const auto& g : group_elements(shape.symmetry()))
                for (std::size_t k = 0; k < values.size(); ++k) {
                    const Dense keys(shape.extents);
                    const auto there = Value(values[keys.key(permuted(keys.index(k), g))]);
                    EXPECT_EQ(Value(values[k]), (g.negative ? -1.0 : 1.0) * (g.conjugate ? std::conj(there) : there));
                    if (values.size() > 200) break;
                }
        }
    });
}

TYPED_TEST(TensorData, FillSetsAConstantOrAFunctionOfTheIndex) {
    using T = TypeParam;
    with_all_mappings(this->world_, [&] {
        Tensor<T> S(this->world_, {4, 3, 4}, "iaj", "sym(i,j)"), A(this->world_, {5, 5}, "ij", "antisym(i,j)");
        S.fill(T(3));
        for (auto v : S.gather()) EXPECT_EQ(v, T(3));
        S.fill([](Index x) { return static_cast<T>(100 * (x[0] + x[2]) + x[1]); });
        A.fill([](Index x) { return static_cast<T>(x[0] - x[1]); });
        for (std::size_t k = 0; k < 48; ++k) {
            const auto x = S.index(static_cast<std::int64_t>(k));
            EXPECT_EQ(S.gather()[k], static_cast<T>(100 * (x[0] + x[2]) + x[1]));
        }
        for (std::size_t k = 0; k < 25; ++k) EXPECT_EQ(A.gather()[k], static_cast<T>(static_cast<int>(k) % 5 - static_cast<int>(k) / 5));
        A.fill(T(0));
        EXPECT_EQ(A.norm(), 0);
    });
}

/// Random pairs on every rank, some ranks without any.
TYPED_TEST(TensorData, AccumulateAddsWhatAllRanksGive) {
    using T = TypeParam;
    for_each_seed(100, 1, [&](std::mt19937_64& random) {
        for_each_shape<T>(this->world_, random(), [&](const Shape& shape, const Dense& dense, Tensor<T> A) {
            const double alpha = static_cast<double>(random_integer(random, -2, 2));
            const double beta = static_cast<double>(random_integer(random, -1, 2));
            const auto group = group_elements(shape.symmetry());
            std::map<std::size_t, Value> given;  // sums over the orbit, at its smallest key
            Keys mine;
            std::vector<T> values;
            auto smallest = [&](std::size_t k) {
                std::pair<std::size_t, GroupElement> best{k, group[0]};
                for (const auto& g : group)
                    best = std::min(best, {dense.key(permuted(dense.index(k), g)), g},
                                    [](const auto& a, const auto& b) { return a.first < b.first; });
                return best;
            };
            for (std::int64_t r = 0; r < this->world_.size() && !dense.data.empty(); ++r) {
                const auto count = random_integer(random, 0, 3) == 0 ? 0 : random_integer(random, 0, 9);
                for (std::int64_t i = 0; i < count; ++i) {
                    const auto k = static_cast<std::size_t>(random_integer(random, 0, A.size() - 1));
                    if (zero_by_symmetry(shape.symmetry(), group, dense.index(k))) continue;
                    const Value v = static_cast<double>(random_integer(random, -3, 3));
                    const auto [key, g] = smallest(k);
                    given[key] += g.negative ? -v : v;
                    if (r != this->world_.rank()) continue;
                    mine.push_back(static_cast<std::int64_t>(k));
                    values.push_back(element<T>(v));
                }
            }
            A.accumulate(mine, values, element<T>(alpha), element<T>(beta));
            auto expected = dense;
            for (std::size_t k = 0; k < dense.data.size(); ++k) {
                const auto [key, g] = smallest(k);
                if (given.count(key) > 0) expected.data[k] = beta * dense.data[k] + alpha * (g.negative ? -given[key] : given[key]);
            }
            expect_equal(A, expected);
            const auto again = A.read(mine);
            for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(again[i], element<T>(expected.data[static_cast<std::size_t>(mine[i])]));
        });
    });
}

/// More pairs than a batch takes, with random keys, some of them several times; one rank has none.
TYPED_TEST(TensorData, ManyPairsAreWrittenAndReadInBatches) {
    using T = TypeParam;
    const auto& world = this->world_;
    struct Case {
        Keys extents;
        const char* symmetry;
    };
    for (const auto& [extents, symmetry] :
         {Case{{40, 40, 8, 8}, ""}, Case{{40, 40, 8, 8}, "antisym(a,b) sym(c,d)"}, Case{{20, 20, 20, 20}, "sym(sym(a,b),sym(c,d))"},
          Case{{30, 9, 30, 9}, "sym(product(a,b),product(c,d))"}}) {
        SCOPED_TRACE(symmetry);
        Tensor<T> A(world, extents, "abcd", symmetry), B(world, extents, "abcd", symmetry);
        B.fill_random(5, 1, 2);
        const auto full = B.gather();
        std::mt19937_64 random(static_cast<std::uint64_t>(world.rank()) + 1);
        const bool none = world.size() > 2 && world.rank() + 1 == world.size();
        Keys keys(none ? 0 : static_cast<std::size_t>((std::int64_t(1) << 19) / world.size() + 1000));
        for (auto& key : keys) key = random_integer(random, 0, A.size() - 1);
        auto values = B.read(keys);
        for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(values[i], full[static_cast<std::size_t>(keys[i])]);
        A.write(keys, values);
        EXPECT_EQ(A.read(keys), values);

        // All pairs anew, and at the end of one rank's, behind other batches, one that contradicts: nothing changes anywhere.
        const auto before = A.gather();
        for (auto& v : values) v *= T(2);
        if (world.rank() == 0) {
            const auto k = std::find_if(values.begin(), values.end(), [](T v) { return v != T(0); }) - values.begin();
            keys.push_back(keys[static_cast<std::size_t>(k)]);
            values.push_back(T(3) * values[static_cast<std::size_t>(k)]);
        }
        EXPECT_THROW(A.write(keys, values), InvalidArgument);
        EXPECT_EQ(A.gather(), before);
        // accumulate() takes it: twice the sum over all pairs of an element.
        Tensor<T> once = A, twice = A;
        once.accumulate(keys, values, T(1), T(0));
        twice.accumulate(keys, values, T(2), T(0));
        const auto sums = once.gather(), doubled = twice.gather();
        for (std::size_t k = 0; k < sums.size(); ++k) EXPECT_LE(std::abs(T(2) * sums[k] - doubled[k]), 1e-5 * std::abs(doubled[k]));
        if (world.rank() == 0) keys.back() = A.size();
        EXPECT_THROW(A.accumulate(keys, values), InvalidArgument);
        EXPECT_EQ(A.gather(), before);
    }
}

TEST(TensorKeys, RunFirstIndexFastest) {
    const World world;
    const Tensor<double> A(world, {2, 3});
    EXPECT_EQ(A.key(Keys{1, 2}), 5);
    EXPECT_EQ(A.index(4), (Keys{0, 2}));
    const Tensor<double> x(world, {});
    EXPECT_EQ(x.key(Keys{}), 0);
    EXPECT_EQ(x.index(0), Keys{});
}

/// 2.1 of the notes on Cyclops: writing (1,0) = 5 gives A10 = 5, A01 = -5; A012 = 5 gives A201 = A120 = 5, A021 = -5.
TEST(TensorKeys, OfOtherRepresentativesCarryTheSign) {
    const World world;
    Tensor<double> A(world, {3, 3}, {AS, NS}), B(world, {3, 3, 3}, {AS, AS, NS});
    A.write(Keys{1}, std::vector<double>{5});
    EXPECT_EQ(A.read(Keys{1, 3, 0}), (std::vector<double>{5, -5, 0}));
    B.write(Keys{B.key(Keys{0, 1, 2})}, std::vector<double>{5});
    EXPECT_EQ(B.read(Keys{B.key(Keys{2, 0, 1}), B.key(Keys{1, 2, 0}), B.key(Keys{0, 2, 1})}), (std::vector<double>{5, 5, -5}));
    Tensor<Complex> H(world, {2, 2}, "ij", "hermitian(i,j)");
    H.accumulate(Keys(world.rank() == 0 ? 1 : 0, 1), std::vector<Complex>(world.rank() == 0 ? 1 : 0, {0, 1}), Complex(0, 2));
    EXPECT_EQ(H.read(Keys{1, 2}), (std::vector<Complex>{-2, -2}));
    H.write(Keys{1}, std::vector<Complex>{{1, 3}});
    EXPECT_EQ(H.read(Keys{1, 2}), (std::vector<Complex>{{1, 3}, {1, -3}}));
}

/// Integrals that a program has computed by two formulas.
TEST(TensorData, ValuesThatDifferByRoundingAreOne) {
    const World world;
    Tensor<double> S(world, {4, 4}, "ij", "sym(i,j)", "S");
    const auto upper = S.key({1, 2}), lower = S.key({2, 1});
    const bool first = world.rank() == 0, last = world.rank() == world.size() - 1;
    const auto give = [&](double a, double b, double tolerance) {
        std::vector<std::int64_t> keys;
        std::vector<double> values;
        if (first) {
            keys.push_back(upper);
            values.push_back(a);
        }
        if (last) {
            keys.push_back(lower);
            values.push_back(b);
        }
        S.write(keys, values, tolerance);
    };
    const double next = 0.1 + 4e-17;
    ASSERT_NE(next, 0.1);
    give(0.1, next, 0);
    EXPECT_EQ(S.read({upper})[0], next);
    give(next, 0.1, 0);
    EXPECT_EQ(S.read({lower})[0], next);
    EXPECT_THROW(give(1e-16, -3e-16, 0), InvalidArgument);
    EXPECT_EQ(S.read({lower})[0], next) << "changed by a call that failed";
    give(1e-16, -3e-16, 1e-15);
    EXPECT_EQ(S.read({lower})[0], -3e-16);
    EXPECT_THROW(give(1, 1, -1), InvalidArgument);
    EXPECT_THROW(give(1, 1, std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
    const auto infinity = std::numeric_limits<double>::infinity();
    EXPECT_THROW(give(infinity, -infinity, 1), InvalidArgument);
    EXPECT_THROW(give(infinity, 1, 1), InvalidArgument);
    EXPECT_NO_THROW(give(infinity, infinity, 0));
}

TEST(TensorData, ContradictionsAreNamed) {
    const World world;
    Tensor<double> A(world, {3, 3}, "ij", "antisym(i,j)", "A");
    const auto last = world.size() - 1;
    std::vector<std::int64_t> keys;
    std::vector<double> values;
    if (world.rank() == 0) {
        keys = {A.key({0, 2}), A.key({0, 1})};
        values = {7, 5};
    }
    if (world.rank() == last) {
        keys.push_back(A.key({1, 0}));
        values.push_back(6);
    }
    try {
        A.write(keys, values);
        ADD_FAILURE() << "accepted";
    } catch (const InvalidArgument& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("5 from rank 0 by key 3 (index 0,1)"), std::string::npos) << text;
        EXPECT_NE(text.find("6 from rank " + std::to_string(last) + " by key 1 (index 1,0)"), std::string::npos) << text;
        EXPECT_EQ(text.find("accumulate"), std::string::npos) << text;
    }
    EXPECT_EQ(A.norm(), 0);
}

/// What is stored, and how other elements follow from it, for trees of all kinds.
TEST(TensorData, CanonicalKeysNameStoredElements) {
    const World world;
    const std::vector<std::pair<std::string, std::string>> trees{{"pqrs", "sym(sym(p,q),sym(r,s))"},
                                                                 {"abij", "antisym(a,b) antisym(i,j)"},
                                                                 {"abij", "sym(product(a,i),product(b,j))"},
                                                                 {"abij", "hermitian(product(a,b),product(i,j))"},
                                                                 {"abci", "hollow(a,b,c)"},
                                                                 {"abij", "antisym(sym(a,b),sym(i,j))"},
                                                                 {"abij", ""}};
    for (const auto& [names, tree] : trees) {
        Tensor<std::complex<double>> T(world, {3, 3, 3, 3}, names, tree);
        T.fill_random(3);
        const auto full = T.gather();
        const auto own = T.local_pairs().first;
        std::int64_t stored = 0;
        for (std::int64_t k = 0; k < T.size(); ++k) {
            const auto element = T.canonical_key(T.index(k));
            auto value = element.zero ? 0.0 : full[static_cast<std::size_t>(element.key)];
            if (element.conjugate) value = std::conj(value);
            EXPECT_EQ(full[static_cast<std::size_t>(k)], element.negative ? -value : value) << tree << " key " << k;
            if (element.real) {
                EXPECT_EQ(value.imag(), 0);
            }
            if (!element.zero && element.key == k) ++stored;
        }
        EXPECT_EQ(stored, T.packed_size()) << tree;
        for (auto k : own) EXPECT_EQ(T.canonical_key(T.index(k)).key, k) << tree;
    }
}

TEST(TensorData, ComplexTensorsFromRealOnesAndNames) {
    const World world;
    Tensor<double> A(world, {4, 4}, "ij", "antisym(i,j)", "A");
    A.fill_random(1);
    const Tensor<std::complex<double>> Z(A);
    EXPECT_EQ(Z.symmetry(), A.symmetry());
    EXPECT_EQ(real(Z).gather(), A.gather());
    EXPECT_EQ(imag(Z).norm(), 0);
    auto copy = A;
    EXPECT_EQ(copy.name(), "") << "errors about a copy would be about A";
    Tensor<double> B(world, {4, 4}, "B");
    B = A;
    EXPECT_EQ(B.name(), "B");
    EXPECT_THROW(Tensor<double>(world, {4, 4}, "antisym(i,j)"), InvalidArgument);
    B.write({B.key({1, 2})}, {2.5});
    EXPECT_EQ(B.read({B.key({2, 1})}), std::vector<double>{-2.5});
}

TEST(TensorData, GatheringKeepsToTheMemoryLimit) {
    World world;
    Tensor<double> A(world, {64, 64}, "A");
    A.fill_random(1);
    const auto limit = world.memory_limit();
    world.set_memory_limit(world.memory_in_use() + 64 * 64 * 8 - 1);
    EXPECT_THROW(static_cast<void>(A.gather()), OutOfMemory);
    EXPECT_THROW(static_cast<void>(A.gather_to(world.size() - 1)), OutOfMemory);
    world.set_memory_limit(limit);
    EXPECT_EQ(A.gather().size(), 4096U);
}

}  // namespace
}  // namespace arges::test

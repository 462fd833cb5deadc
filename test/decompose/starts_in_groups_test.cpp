// Starts of a CP decomposition by groups of ranks, side by side.
#include "decompose/cp/starts_in_groups.hpp"

#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "decompose/tensor_of.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "support/drawn_numbers.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace arges::test {
namespace {

CpOptions of_starts(int starts, CpAlgorithm algorithm = CpAlgorithm::als) {
    CpOptions options;
    options.rank = 2;
    options.algorithm = algorithm;
    options.starts = starts;
    options.max_iterations = 4;
    options.tolerance = 0;
    return options;
}

Tensor<double> dense_of(const World& world, bool has_gaps = false) {
    Tensor<double> dense(world, {6, 7, 5}, "D");
    dense.fill([&](Index i) {
        const auto key = static_cast<std::uint64_t>(dense.key(i));
        return has_gaps && key % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : std::abs(drawn_number(3, key));
    });
    return dense;
}

/// Nonnegative whole numbers.
SparseTensor<double> counts_of(const World& world) {
    auto whole = random_sparse(3);
    for (auto& value : whole.values) value = std::abs(value);
    return arges::test::tensor_of(world, whole);
}

/// Two, and as many as there can be for so many starts.
std::set<int> numbers_of_groups(const World& world, int starts) {
    const int most = static_cast<int>(std::min<std::int64_t>(world.size(), starts));
    return {std::min(2, most), most};
}

void expect_same(const CpResult<double>& found, const CpResult<double>& wanted, double accuracy) {
    ASSERT_EQ(found.starts.size(), wanted.starts.size());
    for (std::size_t s = 0; s < wanted.starts.size(); ++s) {
        EXPECT_EQ(found.starts[s].seed, wanted.starts[s].seed);
        EXPECT_NEAR(found.starts[s].fit, wanted.starts[s].fit, accuracy);
        EXPECT_EQ(found.starts[s].iterations, wanted.starts[s].iterations);
        EXPECT_EQ(found.starts[s].stop_reason, wanted.starts[s].stop_reason);
        EXPECT_NEAR(found.starts[s].score, wanted.starts[s].score, 1e-5);
    }
    EXPECT_EQ(found.best_start, wanted.best_start);
    EXPECT_NEAR(found.fit, wanted.fit, accuracy);
    EXPECT_NEAR(found.loss, wanted.loss, accuracy * std::max(1.0, std::abs(wanted.loss)));
    EXPECT_EQ(found.known, wanted.known);
    EXPECT_EQ(found.iterations, wanted.iterations);
    EXPECT_EQ(found.fits.size(), wanted.fits.size());
    ASSERT_EQ(found.stability.size(), wanted.stability.size());
    for (std::size_t c = 0; c < wanted.stability.size(); ++c) EXPECT_NEAR(found.stability[c], wanted.stability[c], 1e-5);
    EXPECT_TRUE(found.model.world() == wanted.model.world());
    const auto x = reconstruct(found.model).gather(), y = reconstruct(wanted.model).gather();
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], accuracy);
}

/// However many groups make them, starts come to the same.
template <class Input>
void check_groups_of(const Input& X, CpOptions options, double accuracy = 1e-8) {
    options.groups = 1;
    const auto wanted = cp_decompose(X, options);
    EXPECT_EQ(wanted.groups, 1);
    for (int groups : numbers_of_groups(X.world(), options.starts)) {
        options.groups = groups;
        const auto found = cp_decompose(X, options);
        EXPECT_EQ(found.groups, groups);
        EXPECT_GT(found.forecast_bytes, 0);
        expect_same(found, wanted, accuracy);
    }
}

TEST(StartsInGroups, AreThoseOfAllRanks) {
    const World world;
    const auto X = counts_of(world);
    const auto D = dense_of(world);
    for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
        check_groups_of(X, of_starts(5, algorithm));
        check_groups_of(D, of_starts(5, algorithm));
    }
    for (auto init : {CpInit::sketched, CpInit::hosvd}) {
        auto options = of_starts(3);
        options.init = init;
        check_groups_of(X, options, 1e-6);
        check_groups_of(D, options, 1e-6);
    }
}

TEST(StartsInGroups, AreThoseOfAllRanksWithLosses) {
    const World world;
    auto options = of_starts(4, CpAlgorithm::opt);
    options.loss = parse_loss("poisson");
    check_groups_of(counts_of(world), options, 1e-6);
    check_groups_of(dense_of(world), options, 1e-6);
    options = of_starts(4, CpAlgorithm::sgd);
    options.loss = parse_loss("poisson");
    check_groups_of(counts_of(world), options, 1e-6);
    options = of_starts(4);
    options.missing = true;
    check_groups_of(counts_of(world), options, 1e-6);
    check_groups_of(dense_of(world, true), options, 1e-6);
}

TEST(StartsInGroups, TakeTensorsWithSymmetryAndGiveThemUp) {
    const World world;
    SparseTensor<double> S(world, {6, 6, 6}, "ijk", "sym(i,j)", "S");
    Tensor<double> D(world, {6, 6, 4}, "ijk", "sym(i,j)", "D");
    std::vector<std::int64_t> tuples;
    std::vector<double> values;
    for (std::int64_t i = 0; i < 6 && world.rank() == 0; ++i)
        for (std::int64_t k = 0; k < 6; ++k) {
            tuples.insert(tuples.end(), {i, (3 * i + k) % 6, k});
            values.push_back(1 + drawn_number(7, static_cast<std::uint64_t>(6 * i + k)));
        }
    S.write_at(tuples, values, Duplicates::sum);
    D.fill([](Index i) { return static_cast<double>(1 + i[0] * i[1] + i[2] * (i[0] + i[1])); });
    check_groups_of(S, of_starts(3), 1e-7);
    check_groups_of(D, of_starts(3), 1e-7);
    auto X = counts_of(world);
    auto options = of_starts(4);
    const auto wanted = cp_decompose(X, options);
    options.groups = 0;
    const auto held = world.memory_in_use();
    const auto found = cp_decompose(std::move(X), options);
    EXPECT_EQ(found.groups, std::min<std::int64_t>(4, world.size()));
    expect_same(found, wanted, 1e-8);
    EXPECT_LE(world.memory_in_use(), held);
}

TEST(StartsInGroups, EndBetweenRounds) {
    const World world;
    const auto X = counts_of(world);
    auto options = of_starts(6);
    const int groups = static_cast<int>(std::min<std::int64_t>(2, world.size()));
    options.groups = groups;
    std::vector<int> starts;
    double best = -1;
    const CpProgress<double> progress = [&](const CpIteration& now, const std::function<CpModel<double>()>& model) {
        if (groups == 1 && now.number < 4) return;
        starts.push_back(now.start);
        EXPECT_EQ(now.number, 4);
        EXPECT_EQ(now.starts, 6);
        best = std::max(best, now.fit);
        const auto so_far = model();
        EXPECT_TRUE(so_far.world() == X.world());
        EXPECT_EQ(so_far.gather(0).size(), static_cast<std::size_t>(2 * X.lengths()[0]));
    };
    const auto all = cp_decompose(X, options, progress);
    EXPECT_EQ(starts, (std::vector<int>{1, 2, 3, 4, 5, 6}));
    EXPECT_NEAR(all.fit, best, 1e-12);
    if (groups == 1) return;
    int asked = 0;
    options.stop = [&] { return ++asked == 2; };
    EXPECT_EQ(cp_decompose(X, options).starts.size(), 4U);
    options.stop = {};
    options.seconds = 1e-9;
    const auto late = cp_decompose(X, options);
    EXPECT_EQ(late.starts.size(), 2U);
    EXPECT_EQ(late.stop_reason, StopReason::seconds);
}

/// Starts of which some end otherwise, by groups of one rank or two.
template <class F>
CpResult<double> made_by(const SparseTensor<double>& X, const CpOptions& options, const F& before) {
    const CollectiveCall call(&X.state()->comm(), "cp_decompose");
    const auto groups = decompose::rank_groups<double>(X, false, options);
    return decompose::starts_in_groups<double, SparseTensor<double>>(X, false, *groups, options, {},
                                                                     [&](const auto& copy, CpOptions one, const auto& each, int number) {
                                                                         before(one, number);
                                                                         one.seed += static_cast<std::uint64_t>(number);
                                                                         return cp_decompose(copy, one, each);
                                                                     });
}

TEST(StartsInGroups, LeaveOutThoseThatDiverge) {
    const World world;
    if (world.size() == 1) return;
    const auto X = counts_of(world);
    auto options = of_starts(4);
    const auto wanted = cp_decompose(X, options);
    options.groups = 2;
    const auto without = [&](const std::vector<int>& those) {
        return made_by(X, options, [=](CpOptions& one, int number) {
            if (std::find(those.begin(), those.end(), number) == those.end()) return;
            one.planned(1000, 10);
            throw Error("start " + std::to_string(number) + " diverges");
        });
    };
    const auto some = without({0, 3});
    ASSERT_EQ(some.starts.size(), 4U);
    EXPECT_EQ(some.starts[0].stop_reason, StopReason::diverged);
    EXPECT_EQ(some.starts[3].stop_reason, StopReason::diverged);
    EXPECT_EQ(some.best_start, wanted.starts[1].fit >= wanted.starts[2].fit ? 1U : 2U);
    EXPECT_NEAR(some.starts[2].fit, wanted.starts[2].fit, 1e-9);
    EXPECT_EQ(some.stability.size(), 2U);
    try {
        without({0, 1, 2, 3});
        ADD_FAILURE() << "a model of nothing";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "start 2 diverges");
    }
}

/// What one group throws, all ranks throw, in each round, before its forecast and behind.
TEST(StartsInGroups, ThrowTogether) {
    const World world;
    if (world.size() == 1) return;
    const auto X = counts_of(world);
    auto options = of_starts(4);
    options.groups = 2;
    for (int failing = 0; failing < 4; ++failing)
        for (bool is_planned : {false, true}) {
            const auto fail = [&](CpOptions& one, int number) {
                if (number != failing) return;
                if (is_planned) one.planned(1000, 10);
                throw InvalidArgument("no such start");
            };
            EXPECT_THROW(made_by(X, options, fail), InvalidArgument) << failing;
        }
    // An error that is not divergence, because it comes before the iterations.
    EXPECT_THROW(made_by(X, options,
                         [](CpOptions&, int number) {
                             if (number == 1) throw Error("too early");
                         }),
                 Error);
    options.planned = [&](std::int64_t bytes, std::int64_t model_bytes) {
        EXPECT_GT(bytes, model_bytes);
        if (world.rank() + 1 == world.size()) throw Unsupported("not so many");
    };
    EXPECT_THROW(cp_decompose(X, options), Unsupported);
    EXPECT_THROW(cp_decompose(dense_of(world), options), Unsupported);
    options.planned = {};
    const CpProgress<double> failing = [&](const CpIteration& now, const auto&) {
        if (now.start == 3) throw Unsupported("no third one");
    };
    EXPECT_THROW(cp_decompose(X, options, failing), Unsupported);
    EXPECT_EQ(cp_decompose(X, options).starts.size(), 4U) << "and go on";
}

TEST(StartsInGroups, AreAsManyAsMemoryAllows) {
    World world;
    if (world.size() == 1) return;
    const auto X = counts_of(world);
    const auto D = dense_of(world);
    auto options = of_starts(4);
    options.groups = 0;
    std::int64_t forecast = 0;
    options.planned = [&](std::int64_t bytes, std::int64_t) { forecast = bytes; };
    const auto all = cp_decompose(D, options).groups;
    EXPECT_EQ(all, std::min<std::int64_t>(4, world.size()));
    EXPECT_EQ(cp_decompose(X, options).groups, all);
    options.groups = all;
    world.set_memory_limit(world.memory_in_use() + 100);
    EXPECT_THROW(cp_decompose(X, options), OutOfMemory);
    EXPECT_THROW(cp_decompose(D, options), OutOfMemory);
}

TEST(StartsInGroups, RefuseWhatDoesNotFit) {
    const World world;
    const auto X = counts_of(world);
    const auto refused = [&](const CpOptions& options, const CpModel<double>* start = nullptr) {
        EXPECT_THROW(cp_decompose(X, options, {}, start), InvalidArgument);
        EXPECT_THROW(cp_decompose(dense_of(world), options), InvalidArgument);
    };
    auto options = of_starts(20);
    options.groups = -1;
    refused(options);
    options.groups = static_cast<int>(world.size()) + 1;
    refused(options);
    options.starts = 1;
    options.groups = 2;
    refused(options);
    options.starts = 2;
    options.save_partition = "parts";
    refused(options);
    options.save_partition.clear();
    const auto model = cp_decompose(X, of_starts(1)).model;
    EXPECT_THROW(cp_decompose(X, options, {}, &model), InvalidArgument);
    options.groups = 0;
    EXPECT_EQ(cp_decompose(X, options, {}, &model).starts.size(), 1U);
    options.starts = 1;
    EXPECT_EQ(cp_decompose(X, options).groups, 1);
}

}  // namespace
}  // namespace arges::test

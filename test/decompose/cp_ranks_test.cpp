// Decompositions of several ranks, and which rank they speak for.
#include "arges/cp_ranks.hpp"

#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "support/drawn_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace arges::test {
namespace {

/// A sum of three components of like weights, and noise.
Tensor<double> three_components(const World& world, double noise) {
    Tensor<double> X(world, {15, 14, 13}, "X");
    X.fill([&](Index i) {
        double sum = noise * drawn_number(99, static_cast<std::uint64_t>(X.key(i)));
        for (int r = 0; r < 3; ++r) {
            double product = 1;
            for (std::size_t m = 0; m < 3; ++m) product *= drawn_number(7 + m, static_cast<std::uint64_t>(100 * i[m] + r));
            sum += product;
        }
        return sum;
    });
    return X;
}

CpOptions with_three_starts() {
    CpOptions options;
    options.starts = 3;
    options.max_iterations = 150;
    options.tolerance = 1e-6;
    return options;
}

TEST(CpRanks, SpeakForThePlantedRank) {
    const World world;
    const auto X = three_components(world, 0.05);
    std::set<int> ranks;
    for (const double holdout : {0.0, 0.1}) {
        const auto found = compare_ranks(X, 1, 5, with_three_starts(), holdout, [&](int rank, const CpIteration&) { ranks.insert(rank); });
        ASSERT_EQ(found.trials.size(), 5U);
        EXPECT_EQ(found.recommended, 3);
        for (std::size_t r = 0; r < 5; ++r) {
            const auto& trial = found.trials[r];
            EXPECT_EQ(trial.rank, static_cast<int>(r) + 1);
            EXPECT_EQ(trial.starts, 3);
            EXPECT_EQ(std::isnan(trial.held_out_rmse), holdout == 0);
            auto alone = with_three_starts();
            alone.rank = trial.rank;
            EXPECT_NEAR(trial.fit, cp_decompose(X, alone).fit, 1e-9);
        }
        if (holdout == 0) continue;
        EXPECT_LT(found.trials[2].held_out_rmse, 0.1);
        EXPECT_GT(found.trials[1].held_out_rmse, 2 * found.trials[2].held_out_rmse);
        EXPECT_GT(found.trials[1].held_out_spread, 0);
    }
    EXPECT_EQ(ranks, (std::set<int>{1, 2, 3, 4, 5}));
}

/// Sparse tensors with missing elements, and the dense ones that have NaN in their place, say the same.
TEST(CpRanks, HoldOutKnownElements) {
    const World world, alone(MPI_COMM_SELF);
    auto with_gaps = three_components(world, 0.05), of_one = three_components(alone, 0.05);
    for (auto* X : {&with_gaps, &of_one})
        X->for_each_local([&](Index i, double& value) {
            if (drawn_number(5, static_cast<std::uint64_t>(X->key(i))) > 0.2) value = std::numeric_limits<double>::quiet_NaN();
        });
    auto options = with_three_starts();
    options.missing = true;
    const auto of_dense = compare_ranks(with_gaps, 2, 4, options, 0.1);
    const auto of_sparse = compare_ranks(known_elements(with_gaps, MissingElements::nan), 2, 4, options, 0.1);
    const auto single = compare_ranks(of_one, 2, 4, options, 0.1);
    EXPECT_EQ(of_dense.recommended, 3);
    EXPECT_EQ(of_sparse.recommended, 3);
    for (std::size_t r = 0; r < 3; ++r) {
        EXPECT_TRUE(std::isnan(of_dense.trials[r].consistency));
        EXPECT_NEAR(of_dense.trials[r].held_out_rmse, single.trials[r].held_out_rmse, 1e-2 * single.trials[r].held_out_rmse);
    }
    EXPECT_NEAR(of_sparse.trials[1].held_out_rmse, of_dense.trials[1].held_out_rmse, 0.05 * of_dense.trials[1].held_out_rmse);
}

TEST(CpRanks, RefuseWhatMakesNoSense) {
    const World world;
    const auto X = three_components(world, 0);
    const auto sparse = known_elements(X, MissingElements::none);
    auto options = with_three_starts();
    EXPECT_THROW(compare_ranks(X, 0, 2, options), InvalidArgument);
    EXPECT_THROW(compare_ranks(X, 3, 2, options), InvalidArgument);
    EXPECT_THROW(compare_ranks(X, 1, 2, options, 1), InvalidArgument);
    EXPECT_THROW(compare_ranks(X, 1, 2, options, -0.1), InvalidArgument);
    EXPECT_THROW(compare_ranks(sparse, 1, 2, options, 0.1), InvalidArgument) << "zeros count";
    EXPECT_THROW(compare_ranks(X, 1, 2, options, 1e-12), InvalidArgument) << "none is held out";
    options.save_partition = "file";
    EXPECT_THROW(compare_ranks(sparse, 1, 2, options), InvalidArgument);
    options = with_three_starts();
    int asked = 0;
    options.stop = [&] { return ++asked > 1; };
    EXPECT_LE(compare_ranks(X, 1, 4, options).trials.size(), 1U);
}

}  // namespace
}  // namespace arges::test

// CP and Tucker decompositions as users call them.
#include "arges/cpd.hpp"
#include "decompose/tensor_of.hpp"

#include "arges/error.hpp"
#include "arges/tucker.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "partition/statistics.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace arges::test {
namespace {

CpOptions small(int rank = 3) {
    CpOptions options;
    options.rank = rank;
    options.max_iterations = 5;
    options.tolerance = 0;
    return options;
}

/// The same factors, in the same order, up to rounding.
template <class T>
void expect_equal(const CpModel<T>& a, const CpModel<T>& b, double tolerance) {
    for (std::size_t c = 0; c < a.lambda().size(); ++c) EXPECT_NEAR(a.lambda()[c], b.lambda()[c], tolerance * a.lambda()[0]);
    for (int m = 0; m < a.order(); ++m) {
        const auto x = a.gather(m), y = b.gather(m);
        ASSERT_EQ(x.size(), y.size());
        for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << "mode " << m << " at " << i;
    }
}

TEST(CpDecompose, GivesTheSameInEveryDistributionAndFormat) {
    const World world;
    const auto whole = random_sparse(3);
    const auto X = tensor_of<double>(world, whole);
    auto options = small();
    const auto wanted = cp_decompose(X, options);
    for (const char* distribution : {"medium", "coarse", "coarse-allgather", "coarse-hypergraph", "fine", "fine-hypergraph"}) {
        options.distribution = distribution;
        const auto result = cp_decompose(X, options);
        EXPECT_NEAR(result.fit, wanted.fit, 1e-9) << distribution;
        EXPECT_EQ(result.distribution, distribution);
        expect_equal(result.model, wanted.model, 1e-6);
    }
    options.distribution = "medium";
    for (const char* policy : {"nnz", "set", "ordered-1", "ordered-2", "max-min"})
        for (const char* rows : {"even", "claim", "holders"})
            for (const char* grid : {"greedy", "predicted", "best"}) {
                options.policy = policy;
                options.rows = rows;
                options.grid = grid;
                const auto result = cp_decompose(X, options);
                EXPECT_NEAR(result.fit, wanted.fit, 1e-9) << policy << rows << grid;
                EXPECT_EQ(result.policy, policy);
                EXPECT_EQ(result.rows, rows);
            }
    options = small();
    for (const char* format : {"auto", "coo", "csf-one", "csf-two", "csf-all", "hicoo", "linear"}) {
        options.format = format;
        EXPECT_NEAR(cp_decompose(X, options).fit, wanted.fit, 1e-9) << format;
    }
}

/// The rows that a run moves, and the nonzeros of the busiest rank, are those that a dry run counts.
TEST(CpDecompose, MovesWhatTheDryRunCounts) {
    const World world;
    for (std::uint64_t seed : {3U, 5U, 6U, 8U}) {
        const auto whole = random_sparse(seed);
        const auto X = tensor_of<double>(world, whole);
        partition::IndexView view{whole.lengths, {}};
        for (const auto& indices : whole.indices) view.indices.emplace_back(indices);
        const partition::SliceTable table(view);
        auto options = small();
        options.max_iterations = 1;
        const auto compare = [&](const partition::DistributionCounts& counts) {
            const auto result = cp_decompose(X, options);
            EXPECT_EQ(result.volume_rows_max, partition::max_mean(partition::total_volume(counts)).max)
                << options.distribution << options.policy << options.rows;
            const auto loads = partition::total(counts, &partition::ModeCounts::nonzeros);
            if (options.distribution == "medium") {
                EXPECT_EQ(result.nonzeros_max * X.order(), *std::max_element(loads.begin(), loads.end()));
            }
        };
        options.distribution = "medium";
        options.grid = "greedy";
        const auto grid = partition::greedy_grid(world.size(), whole.lengths);
        for (const char* policy : {"nnz", "set", "ordered-2", "max-min"})
            for (const char* rows : {"even", "claim", "holders"}) {
                options.policy = policy;
                options.rows = rows;
                compare(partition::count_distribution(
                    table, partition::MediumGrain{grid, partition::parse_layer_rule(policy), partition::parse_row_rule(rows)}));
            }
        options.grid = options.policy = "";
        options.distribution = "coarse";
        compare(partition::count_distribution(table, partition::coarse_blocks(table, world.size())));
    }
}

/// CP-OPT has hypergraph weights of its own, and the same fit with all of them.
TEST(CpDecompose, BalancesSlicesAsTheAlgorithmNeedsIt) {
    const World world;
    for (std::uint64_t seed : {3U, 5U, 8U}) {
        const auto X = tensor_of<double>(world, random_sparse(seed));
        auto options = small();
        for (const auto algorithm : {CpAlgorithm::als, CpAlgorithm::opt}) {
            options.algorithm = algorithm;
            options.distribution = "fine";
            const auto wanted = cp_decompose(X, options).fit;
            options.distribution = "coarse-hypergraph";
            const auto result = cp_decompose(X, options);
            EXPECT_NEAR(result.fit, wanted, 1e-6);
            decompose::DistributionRequest request;
            request.distribution = options.distribution;
            if (algorithm == CpAlgorithm::opt) request.coarse_weights = partition::CoarseWeights::summed;
            const auto& comm = X.state()->comm();
            const auto plan = decompose::choose_distribution(comm, *X.state()->pattern(), request).plan;
            std::int64_t moved = 0;
            for (const auto& rows : decompose::distribute(comm, X.state()->nonzeros<double>(), plan).rows)
                moved += rows.rows_shared() + rows.rows_needed();
            EXPECT_EQ(result.volume_rows_max, comm.maximum(moved));
        }
    }
}

TEST(CpDecompose, WorksInSinglePrecision) {
    const World world;
    const auto whole = random_sparse(5);
    const auto in_double = cp_decompose(tensor_of<double>(world, whole), small());
    const auto in_float = cp_decompose(tensor_of<float>(world, whole), small());
    EXPECT_NEAR(in_float.fit, in_double.fit, 1e-3);  // the root of what rounding leaves of zero
}

TEST(CpDecompose, GoesOnFromAModel) {
    const World world;
    const auto X = tensor_of<double>(world, random_sparse(6));
    auto options = small();
    options.max_iterations = 6;
    const auto wanted = cp_decompose(X, options);
    options.max_iterations = 3;
    const auto half = cp_decompose(X, options);
    options.seed = 99;
    options.distribution = "fine";
    const auto result = cp_decompose(X, options, {}, &half.model);
    EXPECT_NEAR(result.fit, wanted.fit, 1e-9);
    expect_equal(result.model, wanted.model, 1e-6);
    EXPECT_THROW(cp_decompose(X, small(2), {}, &half.model), InvalidArgument);
    EXPECT_THROW(cp_decompose(tensor_of<double>(world, random_sparse(7)), options, {}, &half.model), InvalidArgument);
}

TEST(CpDecompose, ReportsItsIterations) {
    const World world;
    const auto X = tensor_of<double>(world, random_sparse(8));
    auto options = small();
    options.tolerance = 1e-3;
    options.max_iterations = 200;
    std::vector<double> fits;
    const auto result = cp_decompose(X, options, [&](const CpIteration& now, const auto& model) {
        EXPECT_EQ(now.number, static_cast<int>(fits.size()) + 1);
        fits.push_back(now.fit);
        EXPECT_GE(now.seconds, now.mttkrp_seconds + now.solve_seconds + now.norm_seconds + now.gram_seconds + now.communication_seconds);
        if (now.number == 2) {
            EXPECT_EQ(model().rank(), 3);
        }
    });
    ASSERT_EQ(static_cast<int>(fits.size()), result.iterations);
    EXPECT_TRUE(result.converged);
    EXPECT_EQ(result.stop_reason, StopReason::tolerance);
    EXPECT_EQ(fits, result.fits);
    EXPECT_EQ(fits.back(), result.fit);
    for (auto seconds : {result.total.mttkrp_seconds, result.total.solve_seconds, result.total.norm_seconds, result.total.gram_seconds})
        EXPECT_GT(seconds, 0);
    EXPECT_LE(std::abs(fits.back() - fits[fits.size() - 2]), 1e-3 * result.fit);
    EXPECT_EQ(result.nonzeros_max * world.size() >= X.nonzeros(), true);
    if (world.size() == 1) {
        EXPECT_EQ(result.volume_rows_max, 0);
    }
    for (std::size_t c = 1; c < result.model.lambda().size(); ++c) EXPECT_GE(result.model.lambda()[c - 1], result.model.lambda()[c]);
}

TEST(CpDecompose, RefusesWhatMakesNoSense) {
    const World world;
    const auto X = tensor_of<double>(world, random_sparse(3));
    auto refused = [&](auto change, const std::string& words) {
        auto options = small();
        change(options);
        try {
            cp_decompose(X, options);
            ADD_FAILURE() << "accepted: " << words;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    refused([](auto& o) { o.rank = 0; }, "rank");
    refused([](auto& o) { o.rank = 5000; }, "1024");
    refused([](auto& o) { o.max_iterations = 0; }, "iteration");
    refused([](auto& o) { o.tolerance = -1; }, "tolerance");
    refused([](auto& o) { o.tolerance = std::nan(""); }, "tolerance");
    refused([](auto& o) { o.regularization = -1; }, "regularization");
    refused([](auto& o) { o.distribution = "rough"; }, "medium");
    refused([](auto& o) { o.format = "csv"; }, "csf");
    refused([](auto& o) { o.rows = "mine"; }, "mine");
    refused([](auto& o) { o.policy = "ordered-x"; }, "ordered");
    refused([](auto& o) { o.grid = "7x7x7x7x7x7"; }, "7x7");
    refused([](auto& o) { o.grid = "many"; }, "many");
    refused([&](auto& o) { o.grid = std::to_string(2 * world.size()) + "x1x1"; }, "x1x1");
    refused(
        [](auto& o) {
            o.distribution = "coarse";
            o.grid = "greedy";
        },
        "medium");
    refused(
        [](auto& o) {
            o.distribution = "fine";
            o.partition_file = "/nowhere/at/all";
        },
        "/nowhere");
    refused([](auto& o) { o.partition_file = "/nowhere/at/all"; }, "/nowhere");
    const SparseTensor<double> none(world, {3, 4, 5}, "none");
    EXPECT_THROW(cp_decompose(none, small()), InvalidArgument);
    auto zeros = X;
    zeros.fill(0);
    EXPECT_THROW(cp_decompose(zeros, small()), InvalidArgument);
}

/// Signs without order on a thousandth of the places: hardly anything can be explained, and every gain is small.
sparse::Nonzeros<double> random_signs() {
    sparse::Nonzeros<double> whole{{{40, 50, 60}, std::vector<std::vector<std::int64_t>>(3)}, {}};
    for (std::int64_t x = 0; x < 120; ++x) {  // each place is another one
        whole.indices[0].push_back(x % 40);
        whole.indices[1].push_back(x * 7 % 50);
        whole.indices[2].push_back((x * x + x / 40) % 60);
        whole.values.push_back(x * x / 3 % 2 == 0 ? 1 : -1);
    }
    return whole;
}

/// The tolerance is relative to the fit: a small fit that still grows goes on.
TEST(Iterations, EndWhenLittleIsGainedOfWhatIsExplained) {
    const World world;
    const auto X = tensor_of<double>(world, random_signs());
    CpOptions cp;
    cp.rank = 2;
    cp.max_iterations = 400;
    cp.tolerance = 1e-3;
    TuckerOptions tucker;
    tucker.ranks = {2, 2, 2};
    tucker.max_iterations = 400;
    tucker.tolerance = 1e-3;
    const auto check = [](const auto& result) {
        EXPECT_EQ(result.stop_reason, StopReason::tolerance);
        EXPECT_TRUE(result.converged);
        ASSERT_EQ(static_cast<int>(result.fits.size()), result.iterations);
        for (std::size_t i = 1; i < result.fits.size(); ++i)
            EXPECT_EQ(std::abs(result.fits[i] - result.fits[i - 1]) <= 1e-3 * result.fits[i], i + 1 == result.fits.size()) << i;
    };
    const auto found = cp_decompose(X, cp);
    check(found);
    EXPECT_LT(std::abs(found.fits[found.fits.size() - 2] - found.fits[found.fits.size() - 3]), 1e-3);  // an absolute tolerance ended here
    check(tucker_decompose(X, tucker));
    tucker.method = TuckerMethod::hooi;
    check(tucker_decompose(X.to_dense(), tucker));
    cp.max_iterations = 3;
    cp.tolerance = 0;
    const auto few = cp_decompose(X, cp);
    EXPECT_EQ(few.stop_reason, StopReason::iterations);
    EXPECT_FALSE(few.converged);
}

TEST(Iterations, EndWhenTheCallerSaysSo) {
    const World world;
    const auto X = tensor_of<double>(world, random_sparse(8));
    int asked = 0;
    auto cp = small();
    cp.stop = [&] { return ++asked == 2; };
    const auto found = cp_decompose(X, cp, {}, nullptr);
    EXPECT_EQ(found.iterations, 2);
    EXPECT_EQ(found.stop_reason, StopReason::asked);
    EXPECT_FALSE(found.converged);
    TuckerOptions tucker;
    tucker.ranks = {2, 2, 2};
    tucker.tolerance = 0;
    tucker.stop = [&] { return ++asked == 5; };
    EXPECT_EQ(tucker_decompose(X, tucker, {}, nullptr).iterations, 3);
    tucker.method = TuckerMethod::hooi;
    asked = 3;
    EXPECT_EQ(tucker_decompose(
                  X.to_dense(), tucker, [](int, double) {}, nullptr)
                  .stop_reason,
              StopReason::asked);
    EXPECT_EQ(asked, 5);
    EXPECT_EQ(cp_decompose(
                  X.to_dense(), small(), [](const CpIteration&, const auto&) {}, nullptr)
                  .iterations,
              5);
}

/// Nothing without negative elements is nearer to negative numbers than zero is: that is no result, and not said to be one.
TEST(Iterations, ThatLeaveNothingHaveNotConverged) {
    const World world;
    auto whole = random_sparse(8);
    for (auto& value : whole.values) value = -std::abs(value) - 1;
    const auto X = tensor_of<double>(world, whole);
    for (double tolerance : {0.0, 1e-5}) {
        auto options = small();
        options.algorithm = CpAlgorithm::nonnegative;
        options.tolerance = tolerance;
        for (const auto& result : {cp_decompose(X, options), cp_decompose(X.to_dense(), options)}) {
            EXPECT_EQ(result.stop_reason, StopReason::zero_model);
            EXPECT_FALSE(result.converged);
            EXPECT_EQ(result.fit, 0);
        }
    }
}

/// X(i, j, k) of multilinear rank (2, 2, 2): the fit is exact; columns are orthonormal; the core reproduces elements.
TEST(TuckerDecompose, RecoversALowMultilinearRank) {
    const World world;
    sparse::Nonzeros<double> whole{{{8, 7, 6}, std::vector<std::vector<std::int64_t>>(3)}, {}};
    for (std::int64_t i = 0; i < 8; ++i)
        for (std::int64_t j = 0; j < 7; ++j)
            for (std::int64_t k = 0; k < 6; ++k) {
                const double value = (1.0 + static_cast<double>(i)) * (2.0 + static_cast<double>(j % 3)) * (1.0 + static_cast<double>(k)) +
                                     static_cast<double>(i * i) * (1.0 + static_cast<double>(j)) * static_cast<double>(k % 2 + 1);
                whole.indices[0].push_back(i);
                whole.indices[1].push_back(j);
                whole.indices[2].push_back(k);
                whole.values.push_back(value);
            }
    const auto X = tensor_of<double>(world, whole);
    TuckerOptions options;
    options.ranks = {2, 2, 2};
    for (const char* distribution : {"medium", "coarse", "fine"}) {
        options.distribution = distribution;
        const auto result = tucker_decompose(X, options);
        EXPECT_GT(result.fit, 1 - 1e-6) << distribution;
        std::vector<std::vector<double>> factors;
        for (int m = 0; m < 3; ++m) {
            const auto place = static_cast<std::size_t>(m);
            factors.push_back(result.model.gather(m));
            for (int a = 0; a < 2; ++a)
                for (int b = 0; b < 2; ++b) {
                    double sum = 0;
                    for (std::size_t i = 0; i < static_cast<std::size_t>(whole.lengths[place]); ++i)
                        sum += factors.back()[2 * i + static_cast<std::size_t>(a)] * factors.back()[2 * i + static_cast<std::size_t>(b)];
                    EXPECT_NEAR(sum, a == b ? 1 : 0, 1e-8);
                }
        }
        const auto core = result.model.core().gather();
        for (std::size_t x = 0; x < whole.values.size(); x += 17) {
            double sum = 0;
            for (std::size_t g = 0; g < 8; ++g)
                sum += core[g] * factors[0][2 * static_cast<std::size_t>(whole.indices[0][x]) + g % 2] *
                       factors[1][2 * static_cast<std::size_t>(whole.indices[1][x]) + g / 2 % 2] *
                       factors[2][2 * static_cast<std::size_t>(whole.indices[2][x]) + g / 4];
            EXPECT_NEAR(sum, whole.values[x], 1e-4);
        }
    }
    options.ranks = {2, 2};
    EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
    options.ranks = {2, 0, 2};
    EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
    options.ranks = {2, 8, 2};
    EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

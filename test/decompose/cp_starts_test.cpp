// Several starts of a CP decomposition, and how components are matched.
#include "arges/cpd.hpp"
#include "decompose/tensor_of.hpp"

#include "arges/error.hpp"
#include "decompose/cp/assignment.hpp"
#include "support/drawn_numbers.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges::test {
namespace {

CpOptions with_starts(int starts, CpAlgorithm algorithm = CpAlgorithm::als) {
    CpOptions options;
    options.rank = 3;
    options.algorithm = algorithm;
    options.starts = starts;
    options.max_iterations = 12;
    return options;
}

/// Against all permutations.
TEST(BestAssignment, IsTheBestOfAll) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const int columns = 1 + static_cast<int>(seed % 6), rows = std::max(1, columns - static_cast<int>(seed % 3));
        std::vector<double> values;
        for (int i = 0; i < rows * columns; ++i) values.push_back(std::round(4 * drawn_number(seed, static_cast<std::uint64_t>(i))));
        const auto sum = [&](const std::vector<int>& partners) {
            double total = 0;
            for (int r = 0; r < rows; ++r) total += values[static_cast<std::size_t>(r * columns + partners[static_cast<std::size_t>(r)])];
            return total;
        };
        std::vector<int> order(static_cast<std::size_t>(columns));
        std::iota(order.begin(), order.end(), 0);
        double best = -1e9;
        do best = std::max(best, sum(order));
        while (std::next_permutation(order.begin(), order.end()));
        auto found = decompose::best_assignment(values, rows, columns);
        EXPECT_EQ(sum(found), best);
        std::sort(found.begin(), found.end());
        EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
    }
}

/// A model with rows dealt out to the ranks in turn, from an offset; components in another order, two modes with the other sign.
CpModel<double> dealt(const World& world, const std::vector<int>& order, std::int64_t offset, double sign) {
    const std::vector<std::int64_t> lengths{7, 5, 4};
    const std::vector<double> weights{5, 3, 2, 1};
    std::vector<double> lambda;
    for (int c : order) lambda.push_back(weights[static_cast<std::size_t>(c)]);
    std::vector<std::vector<std::int64_t>> rows(3);
    std::vector<std::vector<double>> factors(3);
    for (std::size_t m = 0; m < 3; ++m)
        for (std::int64_t i = 0; i < lengths[m]; ++i) {
            if ((i + offset) % world.size() != world.rank()) continue;
            rows[m].push_back(i);
            for (int c : order) factors[m].push_back((m < 2 ? sign : 1) * drawn_number(m + 1, static_cast<std::uint64_t>(10 * i + c)));
        }
    return {world, lengths, lambda, rows, factors};
}

TEST(MatchComponents, FindsThemInAnotherOrder) {
    const World world;
    const auto a = dealt(world, {0, 1, 2}, 0, 1);
    for (std::int64_t offset : {0, 1}) {
        const auto match = match_components(a, dealt(world, {2, 3, 0, 1}, offset, -1));
        EXPECT_EQ(match.partners, (std::vector<int>{2, 3, 0}));
        EXPECT_NEAR(match.score, 1, 1e-12);
    }
    // By definition, of a pair that is not equal.
    const auto one = dealt(world, {0}, 0, 1), other = dealt(world, {2}, 0, 1);
    double score = 1, first = 5, second = 2;
    for (int m = 0; m < 3; ++m) {
        const auto x = one.gather(m), y = other.gather(m);
        const double xx = std::inner_product(x.begin(), x.end(), x.begin(), 0.0),
                     yy = std::inner_product(y.begin(), y.end(), y.begin(), 0.0);
        score *= std::inner_product(x.begin(), x.end(), y.begin(), 0.0) / std::sqrt(xx * yy);
        first *= std::sqrt(xx);
        second *= std::sqrt(yy);
    }
    EXPECT_NEAR(match_components(one, other).score, score * (1 - std::abs(first - second) / std::max(first, second)), 1e-12);
    EXPECT_THROW(match_components(dealt(world, {0, 1, 2}, 0, 1), one), InvalidArgument);
}

template <class Input>
void check_starts(const Input& X, CpAlgorithm algorithm) {
    const auto found = cp_decompose(X, with_starts(4, algorithm));
    ASSERT_EQ(found.starts.size(), 4U);
    double best = -1;
    for (std::uint64_t s = 0; s < 4; ++s) {
        auto alone = with_starts(1, algorithm);
        alone.seed = s + 1;
        const auto wanted = cp_decompose(X, alone);
        const auto& start = found.starts[s];
        EXPECT_EQ(start.seed, s + 1);
        EXPECT_NEAR(start.fit, wanted.fit, 1e-12);
        EXPECT_EQ(start.iterations, wanted.iterations);
        EXPECT_EQ(start.stop_reason, wanted.stop_reason);
        EXPECT_NEAR(start.score, match_components(found.model, wanted.model).score, 1e-6);
        best = std::max(best, wanted.fit);
        if (s != found.best_start) continue;
        EXPECT_EQ(found.fits.size(), wanted.fits.size());
        for (int m = 0; m < found.model.order(); ++m) {
            const auto x = found.model.gather(m), y = wanted.model.gather(m);
            for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-9);
        }
        EXPECT_NEAR(start.score, 1, 1e-9);
    }
    EXPECT_NEAR(found.fit, best, 1e-12);
    ASSERT_EQ(found.stability.size(), 3U);
    double sum = 0;
    for (std::size_t s = 0; s < 4; ++s) sum += s == found.best_start ? 0 : found.starts[s].score / 3;
    EXPECT_NEAR(std::accumulate(found.stability.begin(), found.stability.end(), 0.0) / 3, sum, 1e-9);
}

/// Each start is what it is alone, and the best is kept.
TEST(CpStarts, AreThoseOfTheirSeeds) {
    const World world;
    const auto whole = random_sparse(3);
    for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
        check_starts(tensor_of<double>(world, whole), algorithm);
        Tensor<double> dense(world, {6, 7, 5}, "D");
        dense.fill([&](Index i) { return std::abs(drawn_number(3, static_cast<std::uint64_t>(dense.key(i)))); });
        check_starts(dense, algorithm);
    }
}

TEST(CpStarts, EndWhenAskedAndAreAsManyAsAreShort) {
    const World world;
    const auto X = tensor_of<double>(world, random_sparse(3));
    auto options = with_starts(5);
    options.tolerance = 0;
    int asked = 0;
    options.stop = [&] { return ++asked == 30; };
    const auto stopped = cp_decompose(X, options);
    ASSERT_EQ(stopped.starts.size(), 3U);
    EXPECT_EQ(stopped.starts[2].stop_reason, StopReason::asked);
    EXPECT_EQ(stopped.starts[2].iterations, 6);
    options.stop = {};
    options.seconds = 1e-9;
    EXPECT_EQ(cp_decompose(X, options).starts.size(), 1U);
    options.seconds = 0;
    options.starts = 0;
    EXPECT_EQ(cp_decompose(X, options).starts.size(), 1U) << "a number of iterations is wanted";
    options.tolerance = 1e-3;
    EXPECT_EQ(cp_decompose(X, options).starts.size(), 10U);
    const auto model = cp_decompose(X, with_starts(1)).model;
    EXPECT_EQ(cp_decompose(X, options, {}, &model).starts.size(), 1U);
    options.starts = -1;
    EXPECT_THROW(cp_decompose(X, options), InvalidArgument);
    options.starts = 3;
    options.pairwise_perturbation = true;
    Tensor<double> dense(world, {3, 4, 5}, "D");
    dense.fill([](Index i) { return 1.0 + static_cast<double>(i[0]); });
    EXPECT_THROW(cp_decompose(dense, options), InvalidArgument);
}

/// The model that is saved on the way is never worse than that of a start before.
TEST(CpStarts, GiveTheBestModelSoFar) {
    const World world;
    const auto X = tensor_of<double>(world, random_sparse(3));
    const auto options = with_starts(4);
    double best = -1;
    cp_decompose(X, options, [&](const CpIteration& now, const std::function<CpModel<double>()>& model) {
        if (now.number != 1) return;
        auto once = with_starts(1);
        once.max_iterations = 1;
        const auto start = model();
        if (now.start > 1) best = std::max(best, cp_decompose(X, once, {}, &start).fit);
    });
    EXPECT_GE(best, cp_decompose(X, with_starts(1)).fit - 1e-9);
}

/// Starts that are short are as many however many iterations are allowed.
TEST(CpStarts, AreNotFewerWhereMoreIterationsAreAllowed) {
    const World world;
    Tensor<double> X(world, {30, 40, 20}, "X");
    X.fill([](Index i) { return 1 / (1.0 + static_cast<double>(i[0] + 2 * i[1] + 3 * i[2])); });
    CpOptions options;
    options.rank = 3;
    options.starts = 0;
    options.missing = true;
    options.tolerance = 0.1;
    std::vector<std::size_t> starts;
    for (const int iterations : {50, 5000}) {
        options.max_iterations = iterations;
        starts.push_back(cp_decompose(X, options).starts.size());
    }
    EXPECT_EQ(starts[0], 10U);
    EXPECT_EQ(starts[1], starts[0]);
}

}  // namespace
}  // namespace arges::test

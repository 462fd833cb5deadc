// Starts of CP decompositions other than random ones, and when iterations stop.
#include "arges/cpd.hpp"
#include "decompose/tensor_of.hpp"

#include "arges/error.hpp"
#include "base/splitmix.hpp"
#include "decompose/cp/cp_als.hpp"
#include "support/drawn_numbers.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace arges::test {
namespace {

CpOptions starting_with(CpInit init, CpAlgorithm algorithm, int rank) {
    CpOptions options;
    options.rank = rank;
    options.algorithm = algorithm;
    options.init = init;
    options.tolerance = 0;
    options.max_iterations = 8;
    return options;
}

const auto inits = {CpInit::sketched, CpInit::hosvd};

/// A sum of components whose columns have negative elements, too, unless they must not.
Tensor<double> sum_of_components(const World& world, const std::vector<std::int64_t>& extents, int rank, bool is_nonnegative) {
    Tensor<double> X(world, extents, "X");
    X.fill([&](Index i) {
        double sum = 0;
        for (int r = 0; r < rank; ++r) {
            double product = 1;
            for (std::size_t m = 0; m < extents.size(); ++m) {
                const double element = drawn_number(17 + m, static_cast<std::uint64_t>(100 * i[m] + r));
                product *= is_nonnegative ? std::abs(element) : element;
            }
            sum += product;
        }
        return sum;
    });
    return X;
}

template <class Input>
void check_inits(const Input& X, const SparseTensor<double>* alone, CpAlgorithm algorithm) {
    for (const auto init : inits)
        for (const int rank : {1, 3, 9}) {  // more than some modes are long
            const auto options = starting_with(init, algorithm, rank);
            const auto found = cp_decompose(X, options);
            for (double fit : found.fits) EXPECT_LE(fit, 1 + 1e-9);
            // Of squared residuals, which norms and products say: where the model is exact, their roots are not.
            const auto left = [](double fit) { return (1 - fit) * (1 - fit); };
            for (std::size_t i = 1; i < found.fits.size(); ++i) EXPECT_LE(left(found.fits[i]), left(found.fits[i - 1]) + 1e-8);
            for (int m = 0; m < found.model.order(); ++m)
                for (double element : found.model.factor(m)) EXPECT_TRUE(algorithm != CpAlgorithm::nonnegative || element >= 0);
            if (!alone || rank == 9 || init == CpInit::hosvd) continue;  // bases beyond a tensor's rank are as rounding has it
            const auto wanted = cp_decompose(*alone, options);
            EXPECT_NEAR(found.fit, wanted.fit, 1e-6);
        }
}

/// The fits grow from there on, and are the same on any number of ranks.
TEST(CpInits, AreStartsOfAllAlgorithms) {
    const World world, one(MPI_COMM_SELF);
    for (std::uint64_t seed : {3U, 5U, 6U}) {
        const auto whole = random_sparse(seed);
        if (whole.count() < 2 || whole.lengths.size() < 2) continue;
        const auto alone = tensor_of<double>(one, whole);
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt})
            check_inits(tensor_of<double>(world, whole), &alone, algorithm);
    }
    for (const auto& extents : {std::vector<std::int64_t>{6, 7, 5}, {4, 3, 5, 2}, {9, 4}})
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt})
            check_inits(sum_of_components(world, extents, 3, algorithm == CpAlgorithm::nonnegative), nullptr, algorithm);
}

/// They span what the tensor is in, so that one iteration takes the residual away that is orthogonal to it.
TEST(CpInits, SpanTheTensor) {
    const World world;
    const auto X = sum_of_components(world, {12, 11, 10}, 1, false);
    for (const auto init : inits) {
        auto options = starting_with(init, CpAlgorithm::als, 1);
        options.max_iterations = 1;
        EXPECT_NEAR(cp_decompose(X, options).fit, 1, 1e-7);
    }
    const auto Y = sum_of_components(world, {12, 11, 10}, 3, false);
    for (const auto init : inits) {
        auto options = starting_with(init, CpAlgorithm::als, 3);
        options.max_iterations = 400;
        options.tolerance = 1e-6;
        EXPECT_GT(cp_decompose(Y, options).fit, 0.99);
    }
}

/// That of HOSVD depends on no seed, and is the first one only.
TEST(CpInits, AreOfTheirStarts) {
    const World world;
    const auto X = sum_of_components(world, {8, 7, 6}, 4, false);
    auto options = starting_with(CpInit::hosvd, CpAlgorithm::als, 3);
    const double wanted = cp_decompose(X, options).fit;
    options.seed = 77;
    EXPECT_NEAR(cp_decompose(X, options).fit, wanted, 1e-12);
    options.starts = 3;
    const auto several = cp_decompose(X, options);
    ASSERT_EQ(several.starts.size(), 3U);
    EXPECT_NEAR(several.starts[0].fit, wanted, 1e-12);
    options.init = CpInit::random;
    options.starts = 1;
    options.seed = 78;
    EXPECT_NEAR(cp_decompose(X, options).fit, several.starts[1].fit, 1e-12);
}

/// Components that nearly cancel each other make approximate products wrong: an exact iteration follows, and no error.
TEST(CpInits, GoOnWhereApproximateProductsFail) {
    const World world;
    Tensor<double> X(world, {7, 9, 8, 10, 11, 3}, "X");
    X.fill([](Index i) {
        double sum = 1;
        std::uint64_t noise = 0;
        for (std::size_t m = 0; m < i.size(); ++m) {
            sum += 0.1 * static_cast<double>((m + 1) * static_cast<std::size_t>(i[m]) % 17);
            noise = splitmix(noise + static_cast<std::uint64_t>(i[m]));
        }
        return 1 / sum + 0.3 * unit_interval(noise);
    });
    auto options = starting_with(CpInit::sketched, CpAlgorithm::als, 5);
    options.max_iterations = 12;
    options.regularization = 1e-6;
    const double exact = cp_decompose(X, options).fit;
    options.pairwise_perturbation = true;
    EXPECT_NEAR(cp_decompose(X, options).fit, exact, 1e-2);
}

TEST(CpInits, AreRefusedForLossesAndMissingElements) {
    const World world;
    const auto X = tensor_of<double>(world, random_sparse(3));
    for (const auto init : inits) {
        auto options = starting_with(init, CpAlgorithm::als, 2);
        options.missing = true;
        EXPECT_THROW(cp_decompose(X, options), InvalidArgument);
    }
    auto options = starting_with(static_cast<CpInit>(9), CpAlgorithm::als, 2);
    EXPECT_THROW(cp_decompose(X, options), InvalidArgument);
}

/// Fits 1 - left - rest ratio^i, of which rest ratio^i is still to come.
TEST(FitTrend, SaysWhatIsStillToCome) {
    for (const double ratio : {0.3, 0.9, 0.99})
        for (const double left : {0.9, 0.5, 0.1, 0.001})
            for (const double tolerance : {1e-3, 1e-4, 1e-6}) {
                decompose::FitTrend trend;
                double rest = left / 2;
                for (int i = 0; i < 5000; ++i, rest *= ratio) {
                    trend.add(1 - left - rest);
                    const double allowed = tolerance * std::min(left + rest, 1 - left - rest);
                    const bool is_settled = trend.is_settled(tolerance, 1e-16);
                    if (i <= 2 || rest < 1e-9) continue;
                    const double last = std::max(rest, rest * (1 / ratio - 1));
                    ASSERT_FALSE(is_settled && last > 1.1 * allowed) << ratio << " " << left << " " << i;
                    ASSERT_TRUE(is_settled || last > 0.9 * allowed) << ratio << " " << left << " " << tolerance << " " << i;
                }
                EXPECT_TRUE(trend.is_settled(tolerance, 1e-16));
                EXPECT_FALSE(trend.is_settled(0, 1e-16));
            }
    decompose::FitTrend growing;
    for (double fit : {0.1, 0.10001, 0.10003, 0.10007}) growing.add(fit);
    EXPECT_FALSE(growing.is_settled(0.01, 1e-16)) << "changes become larger";
}

}  // namespace
}  // namespace arges::test

// Non-negative Tucker decompositions: against loops over all elements, sparse against dense, and the conditions of a minimum.
#include "arges/tucker.hpp"

#include "arges/error.hpp"
#include "decompose/cp/factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace arges::test {
namespace {

const std::vector<std::int64_t> tensor_lengths{11, 9, 7}, planted_ranks{2, 3, 2};

double drawn(int what, std::int64_t row, std::int64_t column) { return decompose::start_value(21, what, row, static_cast<int>(column)); }

/// A planted model without negative elements, some of whose factors' elements are zero, and noise.
Tensor<double> planted(const World& world, double noise) {
    const auto factor = [](int mode, std::int64_t i, std::int64_t c) { return std::max(0.0, drawn(mode, i, c) - 0.3); };
    Tensor<double> X(world, tensor_lengths, "X");
    X.fill([&](Index i) {
        double value = noise * drawn(9, i[0] + 11 * (i[1] + 9 * i[2]), 0);
        for (std::int64_t a = 0; a < 2; ++a)
            for (std::int64_t b = 0; b < 3; ++b)
                for (std::int64_t c = 0; c < 2; ++c)
                    value += drawn(5, a + 2 * (b + 3 * c), 0) * factor(0, i[0], a) * factor(1, i[1], b) * factor(2, i[2], c);
        return value;
    });
    return X;
}

TuckerOptions options_of(int iterations, const std::vector<int>& ranks = {2, 3, 2}) {
    TuckerOptions options;
    options.method = TuckerMethod::nonnegative;
    options.ranks = ranks;
    options.max_iterations = iterations;
    options.tolerance = 0;
    return options;
}

void expect_nonnegative(const TuckerModel<double>& model) {
    for (auto g : model.core().gather()) EXPECT_GE(g, 0);
    for (int m = 0; m < model.order(); ++m) {
        const auto rows = model.gather(m);
        const auto columns = static_cast<std::size_t>(model.ranks()[static_cast<std::size_t>(m)]);
        for (std::size_t c = 0; c < columns; ++c) {
            double square = 0;
            for (std::size_t i = c; i < rows.size(); i += columns) {
                EXPECT_GE(rows[i], 0);
                square += rows[i] * rows[i];
            }
            EXPECT_TRUE(square == 0 || std::abs(square - 1) < 1e-12) << square;
        }
    }
}

void expect_falling_errors(const std::vector<double>& fits) {
    for (std::size_t i = 1; i < fits.size(); ++i) EXPECT_GE(fits[i], fits[i - 1] - 1e-9) << i;
}

TEST(NonnegativeTucker, FindsAPlantedModelInDenseAndSparseTensors) {
    const World world;
    const auto X = planted(world, 0);
    const auto dense = tucker_decompose(X, options_of(800));
    EXPECT_EQ(dense.method, TuckerMethod::nonnegative);
    EXPECT_LT(relative_error(X, dense.model), 1e-2);
    EXPECT_NEAR(relative_error(X, dense.model), dense.estimated_error, 1e-6);
    expect_nonnegative(dense.model);
    expect_falling_errors(dense.fits);
    const auto S = SparseTensor<double>::from_dense(X);
    for (const char* distribution : {"medium", "coarse", "fine"}) {
        auto options = options_of(30);
        options.distribution = distribution;
        const auto sparse = tucker_decompose(S, options);
        expect_nonnegative(sparse.model);
        expect_falling_errors(sparse.fits);
        EXPECT_NEAR(sparse.estimated_error, relative_error(X, sparse.model), 1e-6);
        EXPECT_GT(sparse.forecast_bytes, 0);
    }
}

/// Both begin with the same numbers, where no slice is empty.
TEST(NonnegativeTucker, HasTheSameFitsForDenseAndSparseTensorsOnAnyNumberOfRanks) {
    const World world, alone(MPI_COMM_SELF);
    const auto fits = [](const World& on, bool is_sparse) {
        const auto X = planted(on, 0.1);
        return is_sparse ? tucker_decompose(SparseTensor<double>::from_dense(X), options_of(10, {3, 2, 2})).fits
                         : tucker_decompose(X, options_of(10, {3, 2, 2})).fits;
    };
    const auto wanted = fits(alone, false);
    ASSERT_EQ(wanted.size(), 10U);
    for (const auto& found : {fits(world, false), fits(world, true), fits(alone, true)}) {
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-9) << i;
    }
}

/// No element can be changed so that the error falls to first order, as loops over all elements say.
TEST(NonnegativeTucker, EndsWhereGradientsPointOutwards) {
    const World world;
    const auto X = planted(world, 0.3);
    const auto result = tucker_decompose(X, options_of(4000, {2, 2, 2}));
    const auto values = X.gather(), core = result.model.core().gather();
    std::vector<std::vector<double>> factors;
    for (int m = 0; m < 3; ++m) factors.push_back(result.model.gather(m));
    std::vector<std::vector<double>> gradients{std::vector<double>(factors[0].size()), std::vector<double>(factors[1].size()),
                                               std::vector<double>(factors[2].size()), std::vector<double>(core.size())};
    double norm = 0;
    for (std::size_t x = 0; x < values.size(); ++x) {
        const std::size_t i[] = {x % 11, x / 11 % 9, x / 99};
        double left = -values[x];
        norm += values[x] * values[x];
        for (std::size_t g = 0; g < 8; ++g)
            left += core[g] * factors[0][2 * i[0] + g % 2] * factors[1][2 * i[1] + g / 2 % 2] * factors[2][2 * i[2] + g / 4];
        for (std::size_t g = 0; g < 8; ++g) {
            const double a = factors[0][2 * i[0] + g % 2], b = factors[1][2 * i[1] + g / 2 % 2], c = factors[2][2 * i[2] + g / 4];
            gradients[0][2 * i[0] + g % 2] += left * core[g] * b * c;
            gradients[1][2 * i[1] + g / 2 % 2] += left * core[g] * a * c;
            gradients[2][2 * i[2] + g / 4] += left * core[g] * a * b;
            gradients[3][g] += left * a * b * c;
        }
    }
    factors.push_back(core);
    const double small = 1e-3 * std::sqrt(norm);
    for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t p = 0; p < factors[k].size(); ++p) {
            const double scale = k < 3 ? std::sqrt(norm) : 1;
            EXPECT_GT(gradients[k][p] / scale, -small) << k << " " << p;
            const bool is_inside = factors[k][p] > 1e-6;
            EXPECT_TRUE(!is_inside || std::abs(gradients[k][p]) / scale < small) << k << " " << p;
        }
}

TEST(NonnegativeTucker, TakesNegativeElementsEmptySlicesAndOneRank) {
    const World world;
    Tensor<double> X(world, {5, 4, 6}, "X");
    X.fill([](Index i) { return i[0] == 2 ? 0 : std::sin(static_cast<double>(3 * i[0] + i[1] + 2 * i[2])); });
    for (const auto& ranks : {std::vector<int>{1, 1, 1}, std::vector<int>{3, 2, 4}}) {
        const auto dense = tucker_decompose(X, options_of(20, ranks));
        const auto sparse = tucker_decompose(SparseTensor<double>::from_dense(X), options_of(20, ranks));
        for (const auto* result : {&dense, &sparse}) {
            expect_nonnegative(result->model);
            expect_falling_errors(result->fits);
            EXPECT_NEAR(relative_error(X, result->model), result->estimated_error, 1e-9);
            EXPECT_LT(result->estimated_error, 1);
        }
    }
}

TEST(NonnegativeTucker, RefusesWhatItHasNot) {
    const World world;
    const auto X = planted(world, 0);
    const auto S = SparseTensor<double>::from_dense(X);
    const auto model = tucker_decompose(X, options_of(2)).model;
    auto options = options_of(2);
    EXPECT_THROW(tucker_decompose(X, options, {}, &model), InvalidArgument);
    EXPECT_THROW(tucker_decompose(S, options, {}, &model), InvalidArgument);
    options.relative_error = 0.1;
    EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
    EXPECT_THROW(tucker_decompose(S, options), InvalidArgument);
    options.relative_error = 0;
    options.missing = true;
    EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
    EXPECT_THROW(tucker_decompose(S, options), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

// Core consistency of CP models.
#include "arges/core_consistency.hpp"

#include "arges/error.hpp"
#include "support/drawn_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace arges::test {
namespace {

/// A model of these elements, rows dealt out to the ranks in turn.
CpModel<double> model_of(const World& world, const std::vector<std::int64_t>& lengths, const std::vector<double>& lambda,
                         const std::function<double(std::size_t mode, std::int64_t row, std::size_t column)>& element) {
    std::vector<std::vector<std::int64_t>> rows(lengths.size());
    std::vector<std::vector<double>> factors(lengths.size());
    for (std::size_t m = 0; m < lengths.size(); ++m)
        for (std::int64_t i = world.rank(); i < lengths[m]; i += world.size()) {
            rows[m].push_back(i);
            for (std::size_t c = 0; c < lambda.size(); ++c) factors[m].push_back(element(m, i, c));
        }
    return {world, lengths, lambda, rows, factors};
}

double random_element(std::size_t mode, std::int64_t row, std::size_t column) {
    return drawn_number(mode + 1, static_cast<std::uint64_t>(row) * 10 + column);
}

/// With unit vectors as factors the core is a corner of the tensor.
TEST(CoreConsistency, FollowsTheDefinition) {
    const World world;
    Tensor<double> X(world, {5, 4, 6}, "X");
    X.fill([&](Index i) { return drawn_number(7, static_cast<std::uint64_t>(X.key(i))); });
    const std::vector<double> lambda{2, 1.5};
    const auto model = model_of(world, X.extents(), lambda,
                                [](auto, auto row, auto column) { return row == static_cast<std::int64_t>(column) ? 1.0 : 0.0; });
    const auto values = X.gather();
    double sum = 0;
    for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t b = 0; b < 2; ++b)
            for (std::size_t c = 0; c < 2; ++c) {
                const double g = values[a + 5 * (b + 4 * c)] / lambda[a], wanted = a == b && b == c ? 1 : 0;
                sum += (g - wanted) * (g - wanted);
            }
    EXPECT_NEAR(core_consistency(X, model), 100 * (1 - sum / 2), 1e-9);
    EXPECT_NEAR(core_consistency(SparseTensor<double>(X.to_sparse(0)), model), 100 * (1 - sum / 2), 1e-9);
}

TEST(CoreConsistency, IsHundredForTheTensorOfTheModel) {
    const World world;
    for (const auto& lengths : {std::vector<std::int64_t>{7, 6, 5}, std::vector<std::int64_t>{4, 5, 3, 6}}) {
        const auto model = model_of(world, lengths, {3, 2, 1}, random_element);
        const auto X = reconstruct(model);
        EXPECT_NEAR(core_consistency(X, model), 100, 1e-6);
        EXPECT_NEAR(core_consistency(SparseTensor<double>(X.to_sparse(0)), model), 100, 1e-6);
    }
    const auto two = reconstruct(model_of(world, {8, 7, 6}, {3, 2}, random_element));
    CpOptions options;
    options.rank = 2;
    options.starts = 4;
    options.max_iterations = 200;
    options.tolerance = 1e-9;
    EXPECT_GT(core_consistency(two, cp_decompose(two, options).model), 99);
    EXPECT_THROW(core_consistency(two, model_of(world, {8, 7, 5}, {1}, random_element)), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

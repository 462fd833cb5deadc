// What models leave of tensors, and how their factors run along the modes: against loops over all elements.
#include "arges/residuals.hpp"

#include "arges/error.hpp"
#include "arges/model_items.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace arges::test {
namespace {

constexpr std::int64_t lengths[] = {7, 4, 5};
const std::vector<double> weights{3, 0.5};

double factor_element(int mode, std::int64_t row, int column) { return std::sin(1.3 * static_cast<double>(row + 1) * (column + 1) + mode); }

/// Rows go round the ranks; nobody has row 2 of the first mode.
CpModel<double> small_model(const World& world) {
    std::vector<std::vector<std::int64_t>> rows(3);
    std::vector<std::vector<double>> factors(3);
    for (int m = 0; m < 3; ++m)
        for (auto i = world.rank(); i < lengths[m]; i += world.size()) {
            if (m == 0 && i == 2) continue;
            rows[m].push_back(i);
            for (int r = 0; r < 2; ++r) factors[m].push_back(factor_element(m, i, r));
        }
    return {world, {lengths[0], lengths[1], lengths[2]}, weights, rows, factors};
}

double model_element(Index x) {
    if (x[0] == 2) return 0;
    double sum = 0;
    for (int r = 0; r < 2; ++r) sum += weights[r] * factor_element(0, x[0], r) * factor_element(1, x[1], r) * factor_element(2, x[2], r);
    return sum;
}

/// Elements of the tensor; some are zero.
double tensor_element(Index x) { return (x[0] + 2 * x[1] + x[2]) % 3 == 0 ? 0 : std::cos(static_cast<double>(x[0] * x[1] + x[2])); }

Tensor<double> dense_tensor(const World& world) {
    Tensor<double> tensor(world, {lengths[0], lengths[1], lengths[2]}, "x");
    tensor.for_each_local([](Index x, double& value) { value = tensor_element(x); });
    return tensor;
}

/// @param counts  whether an element is compared
template <class F>
void compare(const Residuals& found, F&& counts) {
    double squares = 0, residual = 0;
    std::vector<std::vector<SliceResidual>> slices(3);
    for (int m = 0; m < 3; ++m)
        for (std::int64_t i = 0; i < lengths[m]; ++i) slices[m].push_back({i});
    for (std::int64_t i = 0; i < lengths[0]; ++i)
        for (std::int64_t j = 0; j < lengths[1]; ++j)
            for (std::int64_t k = 0; k < lengths[2]; ++k) {
                const std::int64_t index[] = {i, j, k};
                if (!counts(Index(index, 3))) continue;
                const double value = tensor_element(Index(index, 3)), left = value - model_element(Index(index, 3));
                squares += value * value;
                residual += left * left;
                for (int m = 0; m < 3; ++m) slices[m][index[m]].residual += left * left;
            }
    EXPECT_NEAR(found.squares, squares, 1e-10);
    EXPECT_NEAR(found.residual, residual, 1e-10);
    ASSERT_EQ(found.worst.size(), 3U);
    for (int m = 0; m < 3; ++m) {
        std::stable_sort(slices[m].begin(), slices[m].end(), [](const auto& a, const auto& b) { return a.residual > b.residual; });
        ASSERT_EQ(found.worst[m].size(), 3U);
        for (std::size_t n = 0; n < 3; ++n) {
            EXPECT_EQ(found.worst[m][n].slice, slices[m][n].slice);
            EXPECT_NEAR(found.worst[m][n].residual, slices[m][n].residual, 1e-10);
        }
    }
}

TEST(Residuals, AreThoseOfLoops) {
    const World world;
    const auto model = small_model(world);
    const auto dense = dense_tensor(world);
    const auto sparse = SparseTensor<double>::from_dense(dense);
    compare(residuals(dense, model, 3), [](Index) { return true; });
    compare(residuals(sparse, model, NotStored::zeros, 3), [](Index) { return true; });
    const auto known = residuals(sparse, model, NotStored::unknown, 3);
    compare(known, [](Index x) { return tensor_element(x) != 0; });
    EXPECT_EQ(known.elements, sparse.nonzeros());
    EXPECT_EQ(residuals(dense, model, 100).worst[0].size(), 7U);
    EXPECT_TRUE(residuals(dense, model, 0).worst[0].empty());
}

TEST(Residuals, OfATuckerModel) {
    const World world;
    const auto dense = dense_tensor(world);
    TuckerOptions options;
    options.ranks = {2, 2, 2};
    const auto model = tucker_decompose(dense, options).model;
    const auto found = residuals(dense, model, 2);
    EXPECT_NEAR(std::sqrt(found.residual / found.squares), relative_error(dense, model), 1e-12);
    EXPECT_EQ(found.elements, 140);
}

/// A core and factors with no structure; nobody has row 2 of the first mode.
TuckerModel<double> small_tucker_model(const World& world) {
    const auto cp = small_model(world);
    Tensor<double> core(world, {2, 2, 2}, "core");
    core.for_each_local([&](Index i, double& value) { value = std::sin(static_cast<double>(core.key(i) * 3 + 1)); });
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<double>> factors;
    for (int m = 0; m < 3; ++m) {
        rows.push_back(cp.rows(m));
        factors.push_back(cp.factor(m));
    }
    return {cp.lengths(), std::move(core), std::move(rows), std::move(factors)};
}

TEST(Residuals, OfASparseTensorAndATuckerModel) {
    const World world;
    const auto model = small_tucker_model(world);
    const auto dense = dense_tensor(world);
    const auto sparse = SparseTensor<double>::from_dense(dense);
    const auto wanted = residuals(dense, model, 3), zeros = residuals(sparse, model, NotStored::zeros, 3);
    EXPECT_NEAR(zeros.squares, wanted.squares, 1e-10);
    EXPECT_NEAR(zeros.residual, wanted.residual, 1e-10);
    EXPECT_EQ(zeros.elements, sparse.nonzeros());
    for (std::size_t m = 0; m < 3; ++m)
        for (std::size_t n = 0; n < 3; ++n) {
            EXPECT_EQ(zeros.worst[m][n].slice, wanted.worst[m][n].slice);
            EXPECT_NEAR(zeros.worst[m][n].residual, wanted.worst[m][n].residual, 1e-10);
        }
    const auto elements = reconstruct(model).gather(), values = dense.gather();
    double known = 0;
    for (std::size_t x = 0; x < values.size(); ++x)
        if (values[x] != 0) known += (values[x] - elements[x]) * (values[x] - elements[x]);
    EXPECT_NEAR(residuals(sparse, model, NotStored::unknown, 3).residual, known, 1e-10);
    EXPECT_THROW(residuals(SparseTensor<double>(world, {7, 4, 6}, "y"), model, NotStored::zeros, 3), InvalidArgument);
}

TEST(Residuals, RefuseWhatDoesNotFit) {
    const World world;
    auto model = small_model(world);
    EXPECT_THROW(residuals(Tensor<double>(world, {7, 4, 6}, "y"), model, 3), InvalidArgument);
    std::vector<std::vector<double>> biases;
    for (int m = 0; m < 3; ++m) biases.emplace_back(model.rows(m).size(), 0.5);
    model.set_biases(1, biases);
    const auto sparse = SparseTensor<double>::from_dense(dense_tensor(world));
    EXPECT_THROW(residuals(sparse, model, NotStored::zeros, 3), InvalidArgument);
    EXPECT_GT(residuals(sparse, model, NotStored::unknown, 3).residual, 0);
}

TEST(RowProfiles, HaveTheEndsOfEachPart) {
    const World world;
    const auto model = small_model(world);
    const auto all = row_profiles(model, 0, 100);
    ASSERT_EQ(all.size(), 2U);
    ASSERT_EQ(all[1].least.size(), 7U);
    for (std::int64_t i = 0; i < 7; ++i) {
        const double value = i == 2 ? 0 : factor_element(0, i, 1);
        EXPECT_EQ(all[1].least[i], value);
        EXPECT_EQ(all[1].largest[i], value);
    }
    const auto parts = row_profiles(model, 0, 2);  // rows 0 to 2 and 3 to 6
    ASSERT_EQ(parts[0].least.size(), 2U);
    EXPECT_EQ(parts[0].least[0], std::min({factor_element(0, 0, 0), factor_element(0, 1, 0), 0.0}));
    EXPECT_EQ(parts[0].largest[0], std::max({factor_element(0, 0, 0), factor_element(0, 1, 0), 0.0}));
    double least = INFINITY;
    for (std::int64_t i = 3; i < 7; ++i) least = std::min(least, factor_element(0, i, 0));
    EXPECT_EQ(parts[0].least[1], least);
    EXPECT_THROW(row_profiles(model, 0, 0), InvalidArgument);
    EXPECT_THROW(row_profiles(model, 3, 5), InvalidArgument);
}

}  // namespace
}  // namespace arges::test

// Tucker decompositions with weights of elements: errors by the definition, gradients that vanish, and what weights of zero and one are.
#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "arges/tucker.hpp"
#include "base/splitmix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges::test {
namespace {

using Lengths = std::vector<std::int64_t>;

/// The same number on every rank, from 0 to 1.
double number(std::uint64_t seed, std::int64_t key) { return unit_interval(splitmix(seed * 1000003 + static_cast<std::uint64_t>(key))); }

/// A model of these ranks and noise, and weights, of which about a third are zero.
template <class T>
struct Weighted {
    Tensor<T> X, W;
};
template <class T>
Weighted<T> weighted(const World& world, const Lengths& lengths, std::uint64_t seed) {
    Weighted<T> result{Tensor<T>(world, lengths, "X"), Tensor<T>(world, lengths, "W")};
    result.X.fill([&](Index i) {
        double sum = 0.3 * number(seed, result.X.key(i));
        for (std::uint64_t r = 0; r < 2; ++r) {
            double product = 1;
            for (std::size_t m = 0; m < i.size(); ++m) product *= number(seed + 10 * (m + 1) + 50 * r, i[m]) - 0.4;
            sum += 4 * product;
        }
        return static_cast<T>(sum);
    });
    result.W.fill([&](Index i) {
        const double drawn = number(seed + 7, result.W.key(i));
        return static_cast<T>(drawn < 0.3 ? 0 : 5 * drawn);
    });
    return result;
}

TuckerOptions options_of(std::vector<int> ranks, int iterations) {
    TuckerOptions options;
    options.ranks = std::move(ranks);
    options.max_iterations = iterations;
    options.tolerance = 0;
    return options;
}

template <class T>
double sum_of(const Tensor<T>& tensor) {
    double sum = 0;
    for (auto value : tensor.gather()) sum += static_cast<double>(value);
    return sum;
}

/// The root of sum w (x - m)^2 over sum w x^2.
template <class T>
double weighted_error(const Weighted<T>& given, const TuckerModel<T>& model) {
    const auto M = reconstruct(model);
    Tensor<T> left(given.X.world(), given.X.extents()), all(given.X.world(), given.X.extents());
    left["ijk"] = map([](T x, T m, T w) { return w * (x - m) * (x - m); }, given.X["ijk"], M["ijk"], given.W["ijk"]);
    all["ijk"] = map([](T x, T w) { return w * x * x; }, given.X["ijk"], given.W["ijk"]);
    return std::sqrt(sum_of(left) / sum_of(all));
}

/// A factor, or the core, as a tensor of its own.
Tensor<double> factor_of(const TuckerModel<double>& model, int mode) {
    const auto columns = model.ranks()[static_cast<std::size_t>(mode)];
    const auto rows = model.gather(mode);
    Tensor<double> factor(model.world(), {model.lengths()[static_cast<std::size_t>(mode)], columns});
    factor.fill([&](Index i) { return rows[static_cast<std::size_t>(i[0] * columns + i[1])]; });
    return factor;
}

/// The largest part of the gradient of the weighted squares, by core and factor, relative to sum w x^2.
double gradient(const Weighted<double>& given, const TuckerModel<double>& model) {
    const auto M = reconstruct(model);
    const auto& world = given.X.world();
    Tensor<double> E(world, given.X.extents());
    E["ijk"] = map([](double x, double m, double w) { return w * (x - m); }, given.X["ijk"], M["ijk"], given.W["ijk"]);
    Tensor<double> G = model.core();
    const auto A = factor_of(model, 0), B = factor_of(model, 1), C = factor_of(model, 2);
    Tensor<double> g(world, G.extents()), a(world, A.extents()), b(world, B.extents()), c(world, C.extents());
    g["abc"] = E["ijk"] * A["ia"] * B["jb"] * C["kc"];
    a["ia"] = E["ijk"] * G["abc"] * B["jb"] * C["kc"];
    b["jb"] = E["ijk"] * G["abc"] * A["ia"] * C["kc"];
    c["kc"] = E["ijk"] * G["abc"] * A["ia"] * B["jb"];
    Tensor<double> all(world, given.X.extents());
    all["ijk"] = map([](double x, double w) { return w * x * x; }, given.X["ijk"], given.W["ijk"]);
    return std::max({g.norm(), a.norm(), b.norm(), c.norm()}) / sum_of(all);
}

void expect_rising(const std::vector<double>& fits) {
    for (std::size_t i = 1; i < fits.size(); ++i) EXPECT_GE(fits[i], fits[i - 1] - 1e-9) << i;
}

template <class T>
class TuckerWeightsOf : public testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(TuckerWeightsOf, RealTypes);

/// The error is the one of the definition, however sparse tensors are distributed, and no iteration makes it larger.
TYPED_TEST(TuckerWeightsOf, HaveErrorsByTheDefinition) {
    using T = TypeParam;
    const World world;
    const double rounding = std::is_same_v<T, float> ? 2e-4 : 1e-10;
    // Of the last one ranks hold copies.
    const std::vector<std::pair<Lengths, std::vector<int>>> shapes{{{6, 7, 5}, {2, 2, 2}}, {{13, 1, 8}, {3, 1, 2}}, {{2, 3, 2}, {1, 2, 2}}};
    std::uint64_t seed = 0;
    for (const auto& [lengths, ranks] : shapes) {
        const auto given = weighted<T>(world, lengths, ++seed);
        const auto dense = tucker_decompose(given.X, options_of(ranks, 5), {}, nullptr, &given.W);
        EXPECT_EQ(dense.method, TuckerMethod::hooi);
        EXPECT_NEAR(dense.estimated_error, weighted_error(given, dense.model), rounding);
        const auto X = SparseTensor<T>::from_dense(given.X), W = SparseTensor<T>::from_dense(given.W);
        for (const char* distribution : {"medium", "coarse", "fine"}) {
            auto options = options_of(ranks, 5);
            options.distribution = distribution;
            const auto sparse = tucker_decompose(X, options, {}, nullptr, &W);
            EXPECT_NEAR(sparse.estimated_error, weighted_error(given, sparse.model), rounding) << distribution;
            auto copy = X;
            EXPECT_NEAR(tucker_decompose(std::move(copy), options, {}, nullptr, &W).estimated_error, sparse.estimated_error, rounding);
            EXPECT_EQ(copy.nonzeros(), 0);
            if constexpr (!std::is_same_v<T, float>) expect_rising(sparse.fits);
        }
        if constexpr (!std::is_same_v<T, float>) expect_rising(dense.fits);
    }
}

/// Where nothing changes any more no element of core and factors can be made better, dense and sparse alike.
TEST(TuckerWeights, LeadToWhereGradientsVanish) {
    const World world;
    if (world.size() > 3) GTEST_SKIP() << "the same on fewer ranks";
    for (std::uint64_t seed = 1; seed < 3; ++seed) {
        const auto given = weighted<double>(world, {6, 7, 5}, seed);
        const auto options = options_of({2, 2, 2}, 700);
        EXPECT_GT(gradient(given, tucker_decompose(given.X, options_of({2, 2, 2}, 2), {}, nullptr, &given.W).model), 1e-4);
        const auto dense = tucker_decompose(given.X, options, {}, nullptr, &given.W);
        EXPECT_LT(gradient(given, dense.model), 1e-6) << seed;
        const auto X = SparseTensor<double>::from_dense(given.X), W = SparseTensor<double>::from_dense(given.W);
        const auto sparse = tucker_decompose(X, options, {}, nullptr, &W);
        EXPECT_LT(gradient(given, sparse.model), 1e-6) << seed;
        // From where the other one ends nothing changes.
        auto further = options_of({2, 2, 2}, 2);
        EXPECT_NEAR(tucker_decompose(X, further, {}, &dense.model, &W).estimated_error, dense.estimated_error, 1e-8);
    }
}

/// Equal weights are those of known elements, whatever they are; weights of zero are those of unknown ones.
TEST(TuckerWeights, OfZeroAndOneAreMasks) {
    const World world;
    auto given = weighted<double>(world, {6, 7, 5}, 4);
    auto gaps = given.X;
    gaps["ijk"] = map([](double x, double w) { return w > 0 ? x : std::nan(""); }, given.X["ijk"], given.W["ijk"]);
    given.W["ijk"] = map([](double w) { return w > 0 ? 3.5 : 0.0; }, given.W["ijk"]);
    auto options = options_of({2, 3, 2}, 6);
    const auto dense = tucker_decompose(given.X, options, {}, nullptr, &given.W);
    const auto X = SparseTensor<double>::from_dense(given.X), W = SparseTensor<double>::from_dense(given.W);
    const auto sparse = tucker_decompose(X, options, {}, nullptr, &W);
    options.missing = true;
    EXPECT_NEAR(dense.estimated_error, tucker_decompose(gaps, options).estimated_error, 1e-12);
    EXPECT_NEAR(sparse.estimated_error, tucker_decompose(masked(X, W), options).estimated_error, 1e-12);
    // An element that is unknown anyway needs no weight.
    EXPECT_NEAR(tucker_decompose(gaps, options, {}, nullptr, &given.W).estimated_error, dense.estimated_error, 1e-12);
}

TEST(TuckerWeights, AreRefusedWhereTheyMakeNoSense) {
    const World world;
    const auto given = weighted<double>(world, {6, 7, 5}, 5);
    const auto X = SparseTensor<double>::from_dense(given.X), W = SparseTensor<double>::from_dense(given.W);
    const auto refuses = [&](const std::string& words, const TuckerOptions& options, const Tensor<double>& weights) {
        const auto sparse = SparseTensor<double>::from_dense(weights);
        for (const bool is_sparse : {false, true}) {
            try {
                is_sparse ? tucker_decompose(X, options, {}, nullptr, &sparse) : tucker_decompose(given.X, options, {}, nullptr, &weights);
                ADD_FAILURE() << "accepted: " << words;
            } catch (const InvalidArgument& error) {
                EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
            }
        }
    };
    auto options = options_of({2, 2, 2}, 2);
    refuses("the lengths of the tensor", options, Tensor<double>(world, {6, 5, 7}));
    refuses("there is nothing to decompose", options, Tensor<double>(world, {6, 7, 5}));
    auto negative = given.W;
    negative["ijk"] = map([](double w) { return -w; }, given.W["ijk"]);
    refuses("not negative", options, negative);
    options.relative_error = 0.1;
    refuses("given ranks", options, given.W);
    options = options_of({2, 2, 2}, 2);
    options.method = TuckerMethod::nonnegative;
    refuses("elements that are all known", options, given.W);
}

}  // namespace
}  // namespace arges::test

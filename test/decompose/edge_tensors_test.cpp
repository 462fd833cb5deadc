// Decompositions of tensors at the edge of what they are for, by every algorithm: exact starts,
// zeros, no elements, ranks over the extents, NaN and infinity, numbers that are very large or very
// small.
#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "arges/tucker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace arges::test {
namespace {

using Lengths = std::vector<std::int64_t>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
constexpr CpAlgorithm algorithms[] = {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt};

CpOptions options_for(CpAlgorithm algorithm, int rank) {
    CpOptions options;
    options.algorithm = algorithm;
    options.rank = rank;
    options.max_iterations = 20;
    return options;
}

/// Every algorithm for dense and sparse tensors: f(name, run), where run(X) decomposes.
template <class T>
void for_each_algorithm(int rank, const std::function<void(const std::string&, const std::function<CpResult<T>(const Tensor<T>&)>&)>& f) {
    const char* const names[] = {"als", "nonnegative", "opt"};
    for (auto algorithm : algorithms) {
        const auto options = options_for(algorithm, rank);
        const std::string name = names[static_cast<int>(algorithm)];
        f("dense " + name, [=](const Tensor<T>& X) { return cp_decompose(X, options); });
        f("sparse " + name, [=](const Tensor<T>& X) { return cp_decompose(SparseTensor<T>::from_dense(X), options); });
        if (algorithm == CpAlgorithm::opt) continue;
        auto perturbed = options;
        perturbed.pairwise_perturbation = true;
        f("perturbed " + name, [=](const Tensor<T>& X) { return cp_decompose(X, perturbed); });
    }
}

template <class T>
void for_each_tucker(const std::vector<int>& ranks,
                     const std::function<void(const std::string&, const std::function<TuckerResult<T>(const Tensor<T>&)>&)>& f) {
    for (auto method : {TuckerMethod::hosvd, TuckerMethod::st_hosvd, TuckerMethod::hooi})
        for (auto kernel : {TuckerKernel::gram, TuckerKernel::qr}) {
            TuckerOptions options;
            options.ranks = ranks;
            options.method = method;
            options.kernel = kernel;
            f("dense method " + std::to_string(static_cast<int>(method)) + " kernel " + std::to_string(static_cast<int>(kernel)),
              [=](const Tensor<T>& X) { return tucker_decompose(X, options); });
        }
    TuckerOptions options;
    options.ranks = ranks;
    f("sparse", [=](const Tensor<T>& X) { return tucker_decompose(SparseTensor<T>::from_dense(X), options); });
}

/// A model with whole numbers: component r is lambda_r times the r-th unit vectors. Its gradient is
/// exactly zero.
template <class T>
CpModel<T> unit_model(const World& world, const Lengths& lengths, const std::vector<double>& lambda) {
    std::vector<std::vector<std::int64_t>> rows(lengths.size());
    std::vector<std::vector<T>> factors(lengths.size());
    for (std::size_t m = 0; m < lengths.size(); ++m)
        for (auto i = world.rank(); i < lengths[m]; i += world.size()) {
            rows[m].push_back(i);
            for (std::size_t c = 0; c < lambda.size(); ++c) factors[m].push_back(T(static_cast<std::int64_t>(c) == i ? 1 : 0));
        }
    return {world, lengths, lambda, rows, factors};
}

template <class T>
void check_exact_start(const World& world) {
    const Lengths lengths{4, 3, 5};
    const auto start = unit_model<T>(world, lengths, {3, 2});
    const auto X = reconstruct(start);
    for (double tolerance : {0.0, 1e-5})
        for (auto algorithm : algorithms) {
            SCOPED_TRACE(static_cast<int>(algorithm));
            auto options = options_for(algorithm, 2);
            options.tolerance = tolerance;
            for (const auto& result :
                 {cp_decompose(X, options, {}, &start), cp_decompose(SparseTensor<T>::from_dense(X), options, {}, &start)}) {
                EXPECT_NEAR(result.fit, 1, 1e-6);
                EXPECT_GE(result.iterations, 1);
                EXPECT_EQ(result.converged, tolerance > 0);
                EXPECT_NEAR(result.model.lambda()[0], 3, 1e-5);
                EXPECT_NEAR(result.model.lambda()[1], 2, 1e-5);
            }
        }
}

TEST(EdgeTensors, AreDecomposedFromAnExactStart) {
    const World world;
    check_exact_start<double>(world);
    check_exact_start<float>(world);
}

TEST(EdgeTensors, AreDecomposedAgainFromTheirOwnModel) {
    const World world;
    Tensor<double> X(world, {4, 3, 5}, "X");
    X.fill([](Index i) { return static_cast<double>((1 + i[0]) * (2 + i[1]) * (3 + i[2])); });
    const auto first = cp_decompose(X, options_for(CpAlgorithm::als, 1));
    for (auto algorithm : algorithms) {
        const auto dense = cp_decompose(X, options_for(algorithm, 1), {}, &first.model);
        const auto sparse = cp_decompose(SparseTensor<double>::from_dense(X), options_for(algorithm, 1), {}, &first.model);
        for (const auto& result : {dense, sparse}) {
            EXPECT_NEAR(result.fit, 1, 1e-7);
            EXPECT_TRUE(result.converged);
        }
    }
    TuckerOptions tucker;
    tucker.ranks = {1, 1, 1};
    tucker.method = TuckerMethod::hooi;
    const auto found = tucker_decompose(X, tucker);
    EXPECT_NEAR(tucker_decompose(X, tucker, {}, &found.model).fit, 1, 1e-7);
    EXPECT_NEAR(tucker_decompose(SparseTensor<double>::from_dense(X), tucker, {}, &found.model).fit, 1, 1e-7);
}

/// All algorithms refuse a tensor, with a part of the message.
template <class T>
void expect_refused(const Tensor<T>& X, const std::vector<int>& ranks, const std::string& dense_part, const std::string& sparse_part) {
    const auto check = [&](const std::string& name, const auto& run) {
        const auto& part = name.starts_with("sparse") ? sparse_part : dense_part;
        try {
            run(X);
            ADD_FAILURE() << name << " is not refused";
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << name << ": " << error.what();
        }
    };
    for_each_algorithm<T>(2, check);
    for_each_tucker<T>(ranks, check);
}

TEST(EdgeTensors, OfZerosOrWithoutElementsAreRefused) {
    const World world;
    expect_refused(Tensor<double>(world, {3, 4, 2}, "X"), {1, 1, 1}, "is zero", "no nonzeros");
    expect_refused(Tensor<float>(world, {3, 4, 2}, "X"), {1, 1, 1}, "is zero", "no nonzeros");
    SparseTensor<double> stored(world, {3, 3}, "X");
    stored.write(world.rank() == 0 ? std::vector<std::int64_t>{4} : std::vector<std::int64_t>{},
                 world.rank() == 0 ? std::vector<double>{0} : std::vector<double>{}, Duplicates::refuse);
    for (auto algorithm : algorithms) EXPECT_THROW(cp_decompose(stored, options_for(algorithm, 1)), InvalidArgument);
    for_each_algorithm<double>(2, [&](const std::string& name, const auto& run) {
        EXPECT_THROW(run(Tensor<double>(world, {3, 0, 2}, "X")), InvalidArgument) << name;
    });
    for_each_tucker<double>({1, 1, 1}, [&](const std::string& name, const auto& run) {
        EXPECT_THROW(run(Tensor<double>(world, {3, 0, 2}, "X")), InvalidArgument) << name;
    });
}

TEST(EdgeTensors, WithNumbersThatAreNotFiniteAreRefused) {
    const World world;
    for (double bad : {nan, inf, -inf, 1e200}) {
        SCOPED_TRACE(bad);
        Tensor<double> X(world, {3, 4, 2}, "X");
        X.fill(1.0);
        X.write(std::vector<std::int64_t>{5}, std::vector<double>{bad});
        const std::string part = std::isnan(bad) ? "NaN" : "infinite";
        expect_refused(X, {1, 1, 1}, part, part);
    }
}

TEST(EdgeTensors, GetNoResultFromAStartThatIsNotANumber) {
    const World world;
    Tensor<double> X(world, {3, 3, 3}, "X");
    X.fill_random(1, 0.5, 1);
    auto good = unit_model<double>(world, {3, 3, 3}, {1, 1});
    for (std::size_t bad_mode = 0; bad_mode < 3; ++bad_mode) {
        std::vector<std::vector<std::int64_t>> rows;
        std::vector<std::vector<double>> factors;
        for (int m = 0; m < 3; ++m) {
            rows.push_back(good.rows(m));
            factors.push_back(good.factor(m));
        }
        if (world.rank() == 0) factors[bad_mode][0] = nan;
        const CpModel<double> start(world, {3, 3, 3}, {1, 1}, rows, factors);
        for (auto algorithm : algorithms) {
            const auto finite = [](double fit) { return std::isfinite(fit); };
            // The first mode's start is not used by algorithms that begin with its solution.
            for (int sparse : {0, 1}) try {
                    const auto result = sparse != 0
                                            ? cp_decompose(SparseTensor<double>::from_dense(X), options_for(algorithm, 2), {}, &start)
                                            : cp_decompose(X, options_for(algorithm, 2), {}, &start);
                    EXPECT_EQ(bad_mode, 0U) << static_cast<int>(algorithm);
                    EXPECT_TRUE(finite(result.fit));
                    for (int m = 0; m < 3; ++m)
                        for (double x : result.model.factor(m)) EXPECT_TRUE(finite(x));
                } catch (const Error&) {
                }
        }
    }
}

TEST(EdgeTensors, OfSmallerExtentsThanTheRankAreDecomposed) {
    const World world;
    for (const auto& lengths : {Lengths{2, 2, 2}, Lengths{1, 3, 2}, Lengths{1, 1}, Lengths{1, 1, 1, 5}}) {
        Tensor<double> X(world, lengths, "X");
        X.fill_random(3, 0.5, 1.5);
        for_each_algorithm<double>(7, [&](const std::string& name, const auto& run) {
            if (lengths.size() < 3 && name.starts_with("perturbed")) return;
            SCOPED_TRACE(name);
            const auto result = run(X);
            EXPECT_GT(result.fit, 0.5);
            EXPECT_LE(result.fit, 1);
            auto difference = reconstruct(result.model);
            std::string labels = "abcd";
            labels.resize(lengths.size());
            difference[labels] -= X[labels];
            EXPECT_NEAR(1 - difference.norm() / X.norm(), result.fit, 1e-6);
        });
        for_each_tucker<double>(std::vector<int>(lengths.size(), 7),
                                [&](const std::string& name, const auto& run) { EXPECT_THROW(run(X), InvalidArgument) << name; });
    }
}

TEST(EdgeTensors, RelativeErrorsAreOfAnySize) {
    const World world;
    TuckerOptions options;
    options.ranks = {1, 1};
    Tensor<double> X(world, {4, 3}, "X");
    X.fill([](Index i) { return i[0] == i[1] ? 1.0 : 0.0; });
    const auto model = tucker_decompose(X, options).model;
    EXPECT_NEAR(relative_error(X, model), std::sqrt(2.0 / 3), 1e-12);
    for (double scale : {1e200, 1e-200}) {
        auto scaled = X;
        scaled["ij"] *= scale;
        Tensor<double> core(model.core());
        core["ij"] *= scale;
        const TuckerModel<double> large(model.lengths(), core, {model.rows(0), model.rows(1)}, {model.factor(0), model.factor(1)});
        EXPECT_NEAR(relative_error(scaled, large), std::sqrt(2.0 / 3), 1e-12);
    }
    Tensor<double> zeros(world, {4, 3}, "zeros");
    EXPECT_EQ(relative_error(zeros, model), inf);
    X.write(std::vector<std::int64_t>{1}, std::vector<double>{nan});
    EXPECT_TRUE(std::isnan(relative_error(X, model)));
}

}  // namespace
}  // namespace arges::test

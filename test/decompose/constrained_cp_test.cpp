// CP decompositions whose factors meet constraints.
#include "arges/cpd.hpp"
#include "decompose/tensor_of.hpp"

#include "arges/error.hpp"
#include "decompose/cp/constraints.hpp"
#include "support/drawn_numbers.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace arges::test {
namespace {

using enum CpConstraintKind;
using Lengths = std::vector<std::int64_t>;
using ConstrainedMatrix = std::vector<double>;  // rows by components

const Lengths shape{9, 7, 6};
constexpr std::size_t planted_rank = 3;

/// From 0 to 1.
double part(std::uint64_t seed, std::uint64_t a) { return (drawn_number(seed, a) + 1) / 2; }

/// Positive components that have peaks, and noise.
double planted(std::int64_t i, std::int64_t j, std::int64_t k, double noise) {
    double sum = 0;
    for (std::size_t r = 0; r < planted_rank; ++r) {
        const double at = static_cast<double>(r);
        const auto hill = [&](std::int64_t x, double center) { return std::exp(-std::pow(static_cast<double>(x) - center, 2) / 4); };
        sum += (3 - at) * hill(i, 1 + 3 * at) * hill(j, 6 - 2.5 * at) * (0.2 + part(r + 5, static_cast<std::uint64_t>(k)));
    }
    return sum + noise / 2 * drawn_number(11, static_cast<std::uint64_t>(i + 10 * j + 100 * k));
}

template <class T>
Tensor<T> dense(const World& world, double noise) {
    Tensor<T> X(world, shape, "X");
    X.fill([&](Index i) { return static_cast<T>(planted(i[0], i[1], i[2], noise)); });
    return X;
}

/// Whether an element is known where a part of all are. All of the slice `gap` of the last mode are unknown.
struct KnownPart {
    double of_all = 1;
    std::int64_t gap = -1;

    bool has(std::int64_t i, std::int64_t j, std::int64_t k) const {
        return k != gap && (of_all == 1 || part(77, static_cast<std::uint64_t>(i + 10 * j + 100 * k)) < of_all);
    }
};

template <class T>
SparseTensor<T> stored(const World& world, double noise, const KnownPart& known = {}) {
    sparse::Nonzeros<double> all{shape, std::vector<std::vector<std::int64_t>>(3), {}};
    for (std::int64_t i = 0; i < shape[0]; ++i)
        for (std::int64_t j = 0; j < shape[1]; ++j)
            for (std::int64_t k = 0; k < shape[2]; ++k) {
                if (!known.has(i, j, k)) continue;
                const std::int64_t index[] = {i, j, k};
                for (std::size_t m = 0; m < 3; ++m) all.indices[m].push_back(index[m]);
                all.values.push_back(planted(i, j, k, noise));
            }
    return tensor_of<T>(world, all);
}

CpOptions with(std::vector<CpConstraint> constraints, int iterations = 60) {
    CpOptions options;
    options.rank = 3;
    options.max_iterations = iterations;
    options.tolerance = 0;
    options.constraints = std::move(constraints);
    return options;
}

template <class T>
std::vector<ConstrainedMatrix> factors_of(const CpModel<T>& model) {
    std::vector<ConstrainedMatrix> factors;
    for (int m = 0; m < model.order(); ++m) {
        const auto rows = model.gather(m);
        factors.emplace_back(rows.begin(), rows.end());
    }
    return factors;
}

/// @param rows  that must meet a constraint on rows
void expect_met(const CpConstraint& constraint, const ConstrainedMatrix& factor, std::size_t columns, double tolerance,
                const std::string& what) {
    const auto rows = factor.size() / columns;
    const auto at = [&](std::size_t i, std::size_t c) { return factor[i * columns + c]; };
    if (decompose::is_nonnegative(constraint.kind)) {
        EXPECT_GE(*std::min_element(factor.begin(), factor.end()), 0) << what;
    }
    for (std::size_t c = 0; c < columns; ++c) {
        double sum = 0;
        std::vector<double> column;
        for (std::size_t i = 0; i < rows; ++i) {
            sum += at(i, c);
            column.push_back(at(i, c));
        }
        if (constraint.kind == column_simplex) {
            EXPECT_NEAR(sum, 1, tolerance) << what;
        }
        const auto peak = std::max_element(column.begin(), column.end());
        if (constraint.kind == unimodal) {
            EXPECT_TRUE(std::is_sorted(column.begin(), peak) && std::is_sorted(peak, column.end(), std::greater<>())) << what;
        }
        for (std::size_t d = 0; d < columns && constraint.kind == orthogonal; ++d) {
            double product = 0;
            for (std::size_t i = 0; i < rows; ++i) product += at(i, c) * at(i, d);
            EXPECT_NEAR(product, c == d ? 1 : 0, tolerance) << what;
        }
    }
    if (constraint.kind != row_simplex) return;
    for (std::size_t i = 0; i < rows; ++i)
        EXPECT_NEAR(std::accumulate(factor.begin() + static_cast<std::ptrdiff_t>(i * columns),
                                    factor.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns), 0.0),
                    1, tolerance)
            << what;
}

std::vector<CpConstraint> all_kinds() {
    return {{nonnegative}, {l1, 0.05},   {nonnegative_l1, 0.05}, {l2, 0.05},      {smooth, 0.1},
            {unimodal},    {orthogonal}, {row_simplex},          {column_simplex}};
}

/// Calls f(index, element) for the known elements.
template <class F>
void over_known(double noise, const KnownPart& known, F&& f) {
    for (std::int64_t i = 0; i < shape[0]; ++i)
        for (std::int64_t j = 0; j < shape[1]; ++j)
            for (std::int64_t k = 0; k < shape[2]; ++k)
                if (known.has(i, j, k))
                    f(std::array{static_cast<std::size_t>(i), static_cast<std::size_t>(j), static_cast<std::size_t>(k)},
                      planted(i, j, k, noise));
}

double norm_of_planted(double noise, const KnownPart& known = {}) {
    double sum = 0;
    over_known(noise, known, [&](const auto&, double x) { sum += x * x; });
    return std::sqrt(sum);
}

double model_element(const std::vector<ConstrainedMatrix>& factors, const std::array<std::size_t, 3>& at, std::size_t columns) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c)
        sum += factors[0][at[0] * columns + c] * factors[1][at[1] * columns + c] * factors[2][at[2] * columns + c];
    return sum;
}

double squared_residual(const std::vector<ConstrainedMatrix>& factors, std::size_t columns, double noise, const KnownPart& known = {}) {
    double sum = 0;
    over_known(noise, known, [&](const auto& at, double x) { sum += std::pow(x - model_element(factors, at, columns), 2); });
    return sum;
}

/// Puts the weights into one of the factors.
std::vector<ConstrainedMatrix> scaled(std::vector<ConstrainedMatrix> factors, const std::vector<double>& lambda, std::size_t mode) {
    for (std::size_t i = 0; i < factors[mode].size(); ++i) factors[mode][i] *= lambda[i % lambda.size()];
    return factors;
}

/// Of every kind in every mode: the factor meets the constraint, the fit is that of the model, dense and sparse tensors agree.
template <class T>
void expect_feasible(double tolerance) {
    const World world;
    const auto X = dense<T>(world, 0.1);
    const auto S = stored<T>(world, 0.1);
    for (const auto& kind : all_kinds())
        for (const std::size_t m : {static_cast<std::size_t>(kind.kind) % 3, std::size_t{3}}) {
            std::vector<CpConstraint> constraints(3);
            if (m == 3)
                constraints.assign(3, kind);
            else
                constraints[m] = kind;
            const auto what = to_string(kind) + " of mode " + std::to_string(m);
            const auto options = with(m == 3 ? std::vector<CpConstraint>{kind} : constraints, 2);
            const auto result = cp_decompose(X, options);
            const auto other = cp_decompose(S, options);
            EXPECT_NEAR(result.fit, other.fit, tolerance) << what;
            const auto factors = factors_of(result.model);
            for (std::size_t n = 0; n < 3; ++n) expect_met(constraints[n], factors[n], 3, tolerance, what);
            const auto again = scaled(factors, result.model.lambda(), 0);
            EXPECT_NEAR(result.fit, 1 - std::sqrt(squared_residual(again, 3, 0.1)) / norm_of_planted(0.1), tolerance) << what;
        }
}

TEST(ConstrainedCp, MeetsConstraintsInDoublePrecision) { expect_feasible<double>(1e-9); }
TEST(ConstrainedCp, MeetsConstraintsInSinglePrecision) { expect_feasible<float>(2e-4); }

/// Without a constraint it is ALS.
TEST(ConstrainedCp, IsAlsWithoutConstraints) {
    const World world(MPI_COMM_SELF);
    const auto X = dense<double>(world, 0.1);
    const auto als = cp_decompose(X, with({}));
    EXPECT_EQ(cp_decompose(X, with({CpConstraint{}})).fits, als.fits);
    const auto mixed = cp_decompose(X, with({CpConstraint{l2, 1e-12}, CpConstraint{l2, 1e-12}, CpConstraint{l2, 1e-12}}));
    EXPECT_NEAR(mixed.fit, als.fit, 1e-6);
}

TEST(ConstrainedCp, ReachesTheFitOfNonnegativeColumns) {
    const World world(MPI_COMM_SELF);
    for (double noise : {0.0, 0.2}) {
        const auto X = dense<double>(world, noise);
        auto options = with({CpConstraint{nonnegative}}, 200);
        const auto found = cp_decompose(X, options);
        options.constraints.clear();
        options.algorithm = CpAlgorithm::nonnegative;
        const auto wanted = cp_decompose(X, options);
        EXPECT_GT(found.fit, wanted.fit - 2e-3) << noise;
        if (noise == 0) {
            EXPECT_GT(found.fit, 0.99);
        }
    }
}

/// The function that is minimized, with the weights in the factor of mode 0.
double objective(const std::vector<ConstrainedMatrix>& factors, const std::vector<CpConstraint>& constraints, double noise,
                 const KnownPart& known) {
    double sum = squared_residual(factors, planted_rank, noise, known) / 2;
    for (std::size_t m = 0; m < 3; ++m) {
        const auto& [kind, weight] = constraints[m];
        const auto& a = factors[m];
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (kind == l1 || kind == nonnegative_l1) sum += weight * std::abs(a[i]);
            if (kind == l2) sum += weight / 2 * a[i] * a[i];
            if (kind == smooth && i >= planted_rank) sum += weight / 2 * std::pow(a[i] - a[i - planted_rank], 2);
        }
    }
    return sum;
}

/// Of half the squared residuals, by definition.
ConstrainedMatrix gradient_of(const std::vector<ConstrainedMatrix>& factors, std::size_t mode, double noise, const KnownPart& known) {
    constexpr auto n = planted_rank;
    ConstrainedMatrix result(factors[mode].size(), 0);
    over_known(noise, known, [&](const auto& at, double x) {
        const double residual = x - model_element(factors, at, n);
        for (std::size_t c = 0; c < n; ++c) {
            double h = -residual;
            for (std::size_t m = 0; m < 3; ++m)
                if (m != mode) h *= factors[m][at[m] * n + c];
            result[at[mode] * n + c] += h;
        }
    });
    return result;
}

/// The trace of the product of the other Gram matrices, which bounds the second derivatives.
double curvature(const std::vector<ConstrainedMatrix>& factors, std::size_t mode) {
    double trace = 0;
    for (std::size_t c = 0; c < planted_rank; ++c) {
        double product = 1;
        for (std::size_t m = 0; m < 3; ++m) {
            double sum = 0;
            for (std::size_t i = c; i < factors[m].size(); i += planted_rank) sum += factors[m][i] * factors[m][i];
            if (m != mode) product *= sum;
        }
        trace += product;
    }
    return trace;
}

/// Proximal gradient steps in each mode: slow, and they never make the function larger.
void descend(std::vector<ConstrainedMatrix>& factors, const std::vector<CpConstraint>& constraints, double noise, const KnownPart& known,
             int sweeps) {
    constexpr auto n = planted_rank;
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (std::size_t m = 0; m < 3; ++m) {
            auto& a = factors[m];
            const auto& [kind, weight] = constraints[m];
            double step = curvature(factors, m);
            if (kind == l2) step += weight;
            if (kind == smooth) step += 4 * weight;
            for (int inner = 0; inner < 20; ++inner) {
                auto next = a;
                const auto of_residuals = gradient_of(factors, m, noise, known);
                for (std::size_t i = 0; i < a.size(); ++i) {
                    double gradient = of_residuals[i];
                    if (kind == l2) gradient += weight * a[i];
                    if (kind == smooth && i >= n) gradient += weight * (a[i] - a[i - n]);
                    if (kind == smooth && i + n < a.size()) gradient += weight * (a[i] - a[i + n]);
                    next[i] -= gradient / step;
                }
                for (std::size_t i = 0; i < a.size(); i += n)
                    decompose::apply_row_constraint<double>(constraints[m], step, std::span<double>(next.data() + i, n));
                for (std::size_t c = 0; c < n; ++c) {
                    std::vector<double> column;
                    for (std::size_t i = c; i < a.size(); i += n) column.push_back(next[i]);
                    if (kind == column_simplex) decompose::project_to_simplex<double>(column);
                    double squares = 0;
                    for (double v : column) squares += v * v;
                    const bool is_long = decompose::is_bounded(constraints, 0, static_cast<int>(m)) && squares > 1;
                    for (std::size_t i = 0; i < column.size(); ++i) next[i * n + c] = column[i] / (is_long ? std::sqrt(squares) : 1);
                }
                a = next;
            }
        }
}

/// From what is found, a slow method finds nothing that is much better.
void expect_minimum(const KnownPart& known) {
    const World world(MPI_COMM_SELF);
    constexpr double noise = 0.2;
    const auto X = stored<double>(world, noise, known);
    for (const auto& kind : all_kinds()) {
        if (kind.kind == unimodal || kind.kind == orthogonal || kind.kind == row_simplex) continue;
        for (const auto& other : {CpConstraint{}, CpConstraint{nonnegative}}) {
            const std::vector<CpConstraint> constraints{decompose::fixes_scale(kind.kind) ? other : kind, other,
                                                        decompose::fixes_scale(kind.kind) ? kind : other};
            auto options = with(constraints, 300);
            options.missing = known.of_all < 1;
            const auto result = cp_decompose(X, options);
            auto factors = scaled(factors_of(result.model), result.model.lambda(), 0);
            const double found = objective(factors, constraints, noise, known);
            descend(factors, constraints, noise, known, 60);
            const double best = objective(factors, constraints, noise, known);
            EXPECT_LE(found, 1.02 * best) << to_string(kind) << " with " << to_string(other) << ": " << found << ", " << best;
        }
    }
}

TEST(ConstrainedCp, FindsAMinimum) {
    if (World().size() > 1) GTEST_SKIP() << "each rank would do the same by itself";
    expect_minimum({});
    expect_minimum({0.7});
}

/// Exact data that meet a constraint are found again.
TEST(ConstrainedCp, FindsPlantedFactors) {
    const World world(MPI_COMM_SELF);
    const auto X = dense<double>(world, 0);
    for (const auto& constraints : {std::vector<CpConstraint>{{unimodal}, {unimodal}, {nonnegative}},
                                    std::vector<CpConstraint>{{column_simplex}, {column_simplex}, {}},
                                    std::vector<CpConstraint>{{column_simplex}, {column_simplex}, {column_simplex}}}) {
        auto options = with(constraints, 200);
        options.starts = 2;
        EXPECT_GT(cp_decompose(X, options).fit, 0.98) << to_string(constraints[0]) << ", " << to_string(constraints[2]);
    }
}

/// The same for every distribution of rows, and so for any number of ranks: on one rank there is one.
TEST(ConstrainedCp, DoesNotDependOnTheDistribution) {
    const World world;
    const auto whole = random_sparse(6);
    const auto X = tensor_of(world, whole);
    const World alone(MPI_COMM_SELF);
    for (const auto& kind : all_kinds()) {
        auto options = with({kind}, 2);
        options.rank = 1;
        const auto wanted = cp_decompose(tensor_of(alone, whole), options).fit;
        for (const char* distribution : {"medium", "coarse", "fine"}) {
            options.distribution = distribution;
            EXPECT_NEAR(cp_decompose(X, options).fit, wanted, 1e-8) << to_string(kind) << ", " << distribution;
        }
    }
}

/// Of every kind in every mode but one, over known elements: the factors meet the constraints, the fit is that of the model, and the same
/// for any distribution.
template <class T>
void expect_feasible_for_known(double tolerance) {
    const World world;
    const KnownPart known{0.8, 4};
    const auto X = stored<T>(world, 0.1, known);
    const World alone(MPI_COMM_SELF);
    const auto all = stored<T>(alone, 0.1, known);
    for (const auto& kind : all_kinds())
        for (const std::size_t free : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
            if (free == 3 && decompose::fixes_scale(kind.kind)) continue;
            std::vector<CpConstraint> constraints(3, kind);
            if (free < 3) constraints[free] = {};
            const auto what = to_string(kind) + " but for mode " + std::to_string(free);
            auto options = with(constraints, 2);
            options.missing = true;
            const auto wanted = cp_decompose(all, options);
            for (const char* distribution : {"medium", "coarse", "fine", "coarse-allgather"}) {
                options.distribution = kind.kind == smooth || kind.kind == unimodal ? "auto" : distribution;
                const auto result = cp_decompose(X, options);
                EXPECT_NEAR(result.fit, wanted.fit, tolerance) << what << ", " << distribution;
                const auto factors = factors_of(result.model);
                for (std::size_t n = 0; n < 3; ++n) {
                    if (n < 2 || kind.kind != row_simplex) expect_met(constraints[n], factors[n], 3, tolerance, what);
                }
                const auto again = scaled(factors, result.model.lambda(), 0);
                EXPECT_NEAR(result.fit, 1 - std::sqrt(squared_residual(again, 3, 0.1, known)) / norm_of_planted(0.1, known), tolerance)
                    << what << ", " << distribution;
            }
        }
}

TEST(ConstrainedCp, MeetsConstraintsWithMissingElements) { expect_feasible_for_known<double>(1e-8); }
TEST(ConstrainedCp, MeetsConstraintsWithMissingElementsInSinglePrecision) { expect_feasible_for_known<float>(1e-3); }

/// Half of the elements of a tensor whose factors meet the constraints say the others.
TEST(ConstrainedCp, FindsMissingElements) {
    const World world;
    for (const auto& kind : all_kinds()) {
        if (kind.kind == orthogonal || kind.kind == row_simplex) continue;
        const auto weak = decompose::is_penalty(kind.kind) ? CpConstraint{kind.kind, 1e-4} : kind;
        auto options = with({weak, {}, {nonnegative}}, 200);
        options.missing = true;
        options.starts = 6;
        const auto result = cp_decompose(stored<double>(world, 0, {0.5}), options);
        const auto factors = scaled(factors_of(result.model), result.model.lambda(), 0);
        EXPECT_LT(std::sqrt(squared_residual(factors, planted_rank, 0)), 0.03 * norm_of_planted(0))
            << to_string(kind) << " fit " << result.fit;
    }
}

/// Where all elements of a slice are missing, a smooth factor goes from one neighbour to the other.
TEST(ConstrainedCp, IsSmoothOverEmptySlices) {
    const World world;
    auto options = with({{nonnegative}, {}, {smooth, 0.3}}, 100);
    options.missing = true;
    const auto result = cp_decompose(stored<double>(world, 0.1, {0.9, 3}), options);
    const auto factors = factors_of(result.model);
    for (std::size_t c = 0; c < planted_rank; ++c) {
        const auto at = [&](std::size_t k) { return factors[2][k * planted_rank + c]; };
        EXPECT_NEAR(at(3), (at(2) + at(4)) / 2, 0.02);
    }
}

TEST(ConstrainedCp, GoesOnFromAModel) {
    const World world(MPI_COMM_SELF);
    const auto X = dense<double>(world, 0.1);
    for (const auto& kind : all_kinds()) {
        const auto first = cp_decompose(X, with({kind, {}, {}}, 30));
        const auto second = cp_decompose(X, with({kind, {}, {}}, 1), {}, &first.model);
        EXPECT_NEAR(second.fit, first.fit, 0.02) << to_string(kind);
    }
}

template <class Tensor>
std::string refusal(const Tensor& tensor, const CpOptions& options) {
    try {
        cp_decompose(tensor, options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

std::string message(const CpOptions& options) { return refusal(dense<double>(World(), 0), options); }
std::string message_of_sparse(const CpOptions& options) { return refusal(stored<double>(World(), 0), options); }

TEST(ConstrainedCp, RefusesWhatDoesNotFit) {
    EXPECT_EQ(message(with({{nonnegative}, {l1, 1}})),
              "CP decomposition: 2 constraints for 3 modes; give one for each mode, or one for all");
    EXPECT_EQ(message(with({{smooth}})), "CP decomposition: the weight of smooth must be a positive number; use smooth=0.1, for example");
    EXPECT_EQ(message(with({{unimodal, 1}})), "CP decomposition: the constraint unimodal has no weight; leave it out");
    auto options = with({{nonnegative}});
    options.algorithm = CpAlgorithm::opt;
    EXPECT_EQ(message(options), "CP decomposition: constraints are for the algorithm als, which is AO-ADMM with them; leave the other "
                                "algorithm out, or the constraints");
    options = with({{nonnegative}});
    options.pairwise_perturbation = true;
    EXPECT_EQ(message(options), "CP decomposition: pairwise perturbation is not for constrained factors; leave it out, or the constraints");
    options = with({{}, {}, {orthogonal}});
    options.rank = 8;
    EXPECT_EQ(message(options), "CP decomposition: 8 orthogonal columns need as many rows, but mode 3 has 6 slices that are not zero; use "
                                "fewer components, or no such constraint for this mode");
    options = with({{orthogonal}, {column_simplex}, {row_simplex}});
    options.missing = true;
    EXPECT_EQ(message_of_sparse(options), "CP decomposition: with missing elements of a sparse tensor, one factor at least must be free to "
                                          "have the scale of the tensor; leave the constraint of a mode out, or make it nonnegative");
    options = with({{smooth, 1}, {}, {}});
    options.missing = true;
    options.distribution = "fine";
    EXPECT_EQ(message_of_sparse(options), "CP decomposition: smooth and unimodal factors of tensors with missing elements have the "
                                          "distribution coarse-allgather; leave out others, grid, policy and partition files");
    options.constraints = {CpConstraint{static_cast<CpConstraintKind>(77)}};
    EXPECT_EQ(message(options), "CP decomposition: there is no constraint 77; use one of CpConstraintKind");
}

}  // namespace
}  // namespace arges::test

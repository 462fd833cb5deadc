// Tensor completion against a slow oracle over random tensors, and as users call it.
#include "arges/complete.hpp"
#include "decompose/tensor_of.hpp"

#include "arges/error.hpp"
#include "base/splitmix.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/completion/held_out.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace arges::test {
namespace {

using Matrix = std::vector<std::vector<double>>;  // rows of R numbers
using sparse::Nonzeros;

/// A model on every rank.
struct WholeModel {
    std::vector<Matrix> factors;

    template <class T>
    static WholeModel of(const CpModel<T>& model) {
        WholeModel result;
        const auto columns = static_cast<std::size_t>(model.rank());
        for (int m = 0; m < model.order(); ++m) {
            const auto values = model.gather(m);
            result.factors.emplace_back(values.size() / columns, std::vector<double>(columns));
            for (std::size_t i = 0; i < values.size(); ++i)
                result.factors.back()[i / columns][i % columns] =
                    static_cast<double>(values[i]) * std::pow(model.lambda()[i % columns], 1.0 / model.order());
        }
        return result;
    }
    std::size_t columns() const { return factors[0][0].size(); }
    /// Of one element and column, without a mode.
    double h(const Nonzeros<double>& tensor, std::size_t x, std::size_t but, std::size_t r) const {
        double product = 1;
        for (std::size_t m = 0; m < factors.size(); ++m)
            if (m != but) product *= factors[m][static_cast<std::size_t>(tensor.indices[m][x])][r];
        return product;
    }
    double at(const Nonzeros<double>& tensor, std::size_t x) const {
        double sum = 0;
        for (std::size_t r = 0; r < columns(); ++r) sum += h(tensor, x, factors.size(), r);
        return sum;
    }
    double squares(const Nonzeros<double>& tensor) const {
        double sum = 0;
        for (std::size_t x = 0; x < tensor.values.size(); ++x) sum += tensor.weight(x) * std::pow(tensor.values[x] - at(tensor, x), 2);
        return sum;
    }
    double rmse(const Nonzeros<double>& tensor) const { return std::sqrt(squares(tensor) / count(tensor)); }
    std::vector<double> weights() const {
        std::vector<double> result(columns(), 1);
        for (std::size_t r = 0; r < columns(); ++r)
            for (const auto& factor : factors) result[r] *= length(factor, r);
        return result;
    }
    static double length(const Matrix& factor, std::size_t r) {
        double sum = 0;
        for (const auto& row : factor) sum += row[r] * row[r];
        return std::sqrt(sum);
    }
    /// Sum of the squares of a column, those of a row as often as it has elements, or with their weights.
    double weighted(const Nonzeros<double>& tensor, std::size_t m, std::size_t r) const {
        double sum = 0;
        for (std::size_t x = 0; x < tensor.values.size(); ++x)
            sum += tensor.weight(x) * std::pow(factors[m][static_cast<std::size_t>(tensor.indices[m][x])][r], 2);
        return sum;
    }
    void balance(const Nonzeros<double>& tensor) {
        for (std::size_t r = 0; r < columns(); ++r) {
            double wanted = 1;
            for (std::size_t m = 0; m < factors.size(); ++m)
                wanted *= std::pow(weighted(tensor, m, r), 0.5 / static_cast<double>(factors.size()));
            for (std::size_t m = 0; m < factors.size(); ++m) {
                const double scale = wanted == 0 ? 0 : wanted / std::sqrt(weighted(tensor, m, r));
                for (auto& row : factors[m]) row[r] *= scale;
            }
        }
    }
    double loss(const Nonzeros<double>& tensor, double regularization) const {
        double sum = squares(tensor);
        for (std::size_t m = 0; m < factors.size(); ++m)
            for (std::size_t r = 0; r < columns(); ++r) sum += regularization * unit(tensor) * weighted(tensor, m, r);
        return sum;
    }
    /// Elements, or the sum of their weights.
    static double count(const Nonzeros<double>& tensor) {
        double sum = 0;
        for (std::size_t x = 0; x < tensor.values.size(); ++x) sum += tensor.weight(x);
        return sum;
    }
    static double mean(const Nonzeros<double>& tensor) {
        double sum = 0;
        for (std::size_t x = 0; x < tensor.values.size(); ++x) sum += tensor.weight(x) * tensor.values[x];
        return sum / count(tensor);
    }
    static double deviation(const Nonzeros<double>& tensor, double from) {
        double squares = 0;
        for (std::size_t x = 0; x < tensor.values.size(); ++x) squares += tensor.weight(x) * std::pow(tensor.values[x] - from, 2);
        return std::sqrt(squares / count(tensor));
    }
    /// What the regularization of an element is multiplied by.
    static double unit(const Nonzeros<double>& tensor) {
        const auto n = count(tensor);
        const double average = mean(tensor);
        double squares = 0;
        for (std::size_t x = 0; x < tensor.values.size(); ++x) squares += tensor.weight(x) * std::pow(tensor.values[x] - average, 2);
        return std::pow(squares / n, 1 - 1.0 / static_cast<double>(tensor.lengths.size()));
    }
};

/// Solves by Gauss's elimination with pivots.
std::vector<double> solved(Matrix a, std::vector<double> b) {
    const auto n = b.size();
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (auto r = c; r < n; ++r)
            if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
        std::swap(a[c], a[pivot]);
        std::swap(b[c], b[pivot]);
        for (std::size_t r = 0; r < n; ++r) {
            if (r == c) continue;
            const double factor = a[r][c] / a[c][c];
            for (auto k = c; k < n; ++k) a[r][k] -= factor * a[c][k];
            b[r] -= factor * b[c];
        }
    }
    for (std::size_t c = 0; c < n; ++c) b[c] /= a[c][c];
    return b;
}

std::vector<std::size_t> elements_of(const Nonzeros<double>& tensor, std::size_t mode, std::int64_t row) {
    std::vector<std::size_t> result;
    for (std::size_t x = 0; x < tensor.values.size(); ++x)
        if (tensor.indices[mode][x] == row) result.push_back(x);
    return result;
}

/// Five rounds of coordinate descent over the elements of a row, none below zero.
std::vector<double> descended(const Matrix& a, const std::vector<double>& b, std::vector<double> row) {
    for (int round = 0; round < 5; ++round)
        for (std::size_t c = 0; c < row.size(); ++c) {
            double slope = -b[c];
            for (std::size_t r = 0; r < row.size(); ++r) slope += a[c][r] * row[r];
            if (a[c][c] > 0) row[c] = std::max(0.0, row[c] - slope / a[c][c]);
        }
    return row;
}

void als_oracle(const Nonzeros<double>& tensor, double regularization, bool is_nonnegative, WholeModel& model) {
    const auto n = model.columns();
    for (std::size_t m = 0; m < model.factors.size(); ++m)
        for (std::size_t row = 0; row < model.factors[m].size(); ++row) {
            const auto elements = elements_of(tensor, m, static_cast<std::int64_t>(row));
            if (elements.empty()) continue;
            Matrix equations(n, std::vector<double>(n, 0));
            std::vector<double> right(n, 0);
            for (auto x : elements)
                for (std::size_t r = 0; r < n; ++r) {
                    const double weighted = tensor.weight(x) * model.h(tensor, x, m, r);
                    equations[r][r] += regularization * WholeModel::unit(tensor) * tensor.weight(x);
                    right[r] += tensor.values[x] * weighted;
                    for (std::size_t c = 0; c < n; ++c) equations[r][c] += weighted * model.h(tensor, x, m, c);
                }
            model.factors[m][row] = is_nonnegative ? descended(equations, right, model.factors[m][row]) : solved(equations, right);
        }
    model.balance(tensor);
}

void ccd_oracle(const Nonzeros<double>& tensor, double regularization, bool is_nonnegative, WholeModel& model) {
    for (auto r : decompose::falling_weights(model.weights()))
        for (std::size_t m = 0; m < model.factors.size(); ++m) {
            auto after = model.factors[m];
            for (std::size_t row = 0; row < after.size(); ++row) {
                double sum = 0, divisor = 0;
                for (auto x : elements_of(tensor, m, static_cast<std::int64_t>(row))) {
                    const double h = model.h(tensor, x, m, r), weight = tensor.weight(x);
                    sum += weight * (tensor.values[x] - model.at(tensor, x) + model.factors[m][row][r] * h) * h;
                    divisor += weight * (h * h + regularization * WholeModel::unit(tensor));
                }
                if (divisor > 0) after[row][r] = is_nonnegative ? std::max(0.0, sum / divisor) : sum / divisor;
            }
            model.factors[m] = after;
        }
    model.balance(tensor);
}

CompletionOptions small(CompletionAlgorithm algorithm, int rank = 3, double regularization = 0.1) {
    CompletionOptions options;
    options.rank = rank;
    options.algorithm = algorithm;
    options.max_iterations = 4;
    options.tolerance = 0;
    options.regularization = regularization;
    options.biases = CompletionBiases::off;
    return options;
}

const auto every_algorithm = {CompletionAlgorithm::als, CompletionAlgorithm::ccd, CompletionAlgorithm::sgd};

std::vector<std::string> distributions_of(CompletionAlgorithm algorithm) {
    if (algorithm == CompletionAlgorithm::ccd) return {"auto", "medium", "fine"};
    return {"auto", "medium", "fine", "coarse"};
}

/// Random tensors with elements.
std::vector<Nonzeros<double>> some_tensors() {
    std::vector<Nonzeros<double>> result;
    for (std::uint64_t seed = 1; seed < 9; ++seed)
        if (auto tensor = random_sparse(seed); tensor.count() > 1) result.push_back(std::move(tensor));
    return result;
}

/// A part of the elements of a tensor of low rank, and the others.
struct Planted {
    Nonzeros<double> known, others;
};
Planted planted(std::vector<std::int64_t> lengths, int rank, double part) {
    Planted result;
    result.known.lengths = result.others.lengths = lengths;
    result.known.indices.resize(lengths.size());
    result.others.indices.resize(lengths.size());
    std::vector<std::int64_t> index(lengths.size(), 0);
    const auto size = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{1}, std::multiplies<>());
    for (std::int64_t x = 0; x < size; ++x) {
        auto rest = x;
        double value = 0;
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            index[m] = rest % lengths[m];
            rest /= lengths[m];
        }
        for (int r = 0; r < rank; ++r) {
            double product = 1;
            for (std::size_t m = 0; m < lengths.size(); ++m)
                product *= 2 * decompose::start_value(99, static_cast<int>(m), index[m], r) - 0.5;
            value += product;
        }
        auto& to = unit_interval(decompose::element_hash(7, index)) < part ? result.known : result.others;
        for (std::size_t m = 0; m < lengths.size(); ++m) to.indices[m].push_back(index[m]);
        to.values.push_back(value);
    }
    return result;
}

/// Weights of a tensor's elements, of which a fifth have none, or 0, and a few have weights that are not stored.
struct Weights {
    Nonzeros<double> known;    ///< with weights whose mean is 1
    Nonzeros<double> weights;  ///< as they are given
};
Weights weights_of(const Nonzeros<double>& whole, std::uint64_t seed) {
    Weights result{whole, whole};
    std::vector<bool> goes, has_none;
    for (std::size_t x = 0; x < whole.values.size(); ++x) {
        const double drawn = unit_interval(splitmix(seed + 77 * x));
        goes.push_back(x > 1 && drawn < 0.2);
        has_none.push_back(x > 1 && drawn < 0.1);
        result.weights.values[x] = goes.back() ? 0 : 7 * drawn + 0.1;
    }
    result.known.weights = result.weights.values;
    decompose::split_off(result.known, goes);
    decompose::split_off(result.weights, has_none);
    double sum = 0;
    for (double weight : result.known.weights) sum += weight;
    for (double& weight : result.known.weights) weight *= static_cast<double>(result.known.count()) / sum;
    return result;
}

void check_steps(bool is_nonnegative, bool has_weights = false) {
    const World world;
    std::uint64_t seed = 0;
    for (const auto& stored : some_tensors())
        for (const auto algorithm : {CompletionAlgorithm::als, CompletionAlgorithm::ccd})
            for (const auto& distribution : distributions_of(algorithm)) {
                const auto weights = weights_of(stored, ++seed);
                const auto& whole = has_weights ? weights.known : stored;
                const auto X = tensor_of(world, stored), W = tensor_of(world, weights.weights);
                const auto* const of_elements = has_weights ? &W : nullptr;
                auto options = small(algorithm);
                options.distribution = distribution;
                options.nonnegative = is_nonnegative;
                options.max_iterations = 1;
                const auto first = complete(X, options, {}, nullptr, nullptr, of_elements);
                auto model = WholeModel::of(first.model);
                model.balance(whole);
                EXPECT_EQ(first.elements, whole.count());
                EXPECT_NEAR(first.losses[0], model.loss(whole, 0.1), 1e-9 * first.losses[0]);
                EXPECT_NEAR(first.rmse, model.rmse(whole), 1e-9 * first.rmse + 1e-12);
                EXPECT_NEAR(first.fitted_deviation, WholeModel::deviation(whole, WholeModel::mean(whole)), 1e-9);
                const auto second = complete(X, options, {}, &first.model, nullptr, of_elements);
                (algorithm == CompletionAlgorithm::als ? als_oracle : ccd_oracle)(whole, 0.1, is_nonnegative, model);
                const auto found = WholeModel::of(second.model);
                EXPECT_NEAR(second.losses[0], model.loss(whole, 0.1), 1e-8 * model.loss(whole, 0.1)) << distribution;
                double largest = 0;
                for (std::size_t x = 0; x < whole.values.size(); ++x) largest = std::max(largest, std::abs(model.at(whole, x)));
                for (std::size_t x = 0; x < whole.values.size(); ++x)
                    ASSERT_NEAR(found.at(whole, x), model.at(whole, x), 1e-6 * largest) << distribution;
            }
}

TEST(Completion, StepsAreThoseOfTheOracle) { check_steps(false); }
TEST(Completion, StepsWithoutNegativeElementsAreThoseOfTheOracle) { check_steps(true); }
TEST(Completion, StepsWithWeightsAreThoseOfTheOracle) { check_steps(false, true); }
TEST(Completion, StepsWithWeightsAndWithoutNegativeElementsAreThoseOfTheOracle) { check_steps(true, true); }

/// Elements that are held out are judged with their weights; equal weights are none, for all algorithms and for biases.
TEST(Completion, JudgesWithWeights) {
    const World world;
    const auto stored = random_sparse(3);
    const auto weights = weights_of(stored, 5);
    const auto X = tensor_of(world, stored), W = tensor_of(world, weights.weights);
    auto equal = stored;
    std::fill(equal.values.begin(), equal.values.end(), 4.0);
    const auto E = tensor_of(world, equal);
    for (const auto algorithm : every_algorithm)
        for (const auto biases : {CompletionBiases::off, CompletionBiases::on}) {
            auto options = small(algorithm, 3, 0.02);
            options.biases = biases;
            options.holdout = 0.25;
            const auto found = complete(X, options, {}, nullptr, nullptr, &W);
            auto kept = weights.known;
            const auto held = decompose::split_off(kept, 0.25, options.seed);
            EXPECT_EQ(found.elements, kept.count());
            EXPECT_EQ(found.held_out, held.count());
            EXPECT_NEAR(found.fitted_mean, WholeModel::mean(kept), 1e-12);
            EXPECT_NEAR(found.held_out_mean_rmse, WholeModel::deviation(held, WholeModel::mean(kept)), 1e-12);
            if (biases == CompletionBiases::off) {
                const auto model = WholeModel::of(found.model);
                EXPECT_NEAR(found.rmse, model.rmse(kept), 1e-9);
                EXPECT_NEAR(found.held_out_rmse, model.rmse(held), 1e-9);
            }
            auto copy = X;
            EXPECT_NEAR(complete(std::move(copy), options, {}, nullptr, nullptr, &W).held_out_rmse, found.held_out_rmse, 1e-9);
            EXPECT_EQ(copy.nonzeros(), 0);
            const auto plain = complete(X, options), same = complete(X, options, {}, nullptr, nullptr, &E);
            EXPECT_NEAR(same.held_out_rmse, plain.held_out_rmse, 1e-9);
            EXPECT_NEAR(same.held_out_bias_rmse, plain.held_out_bias_rmse, 1e-12);
            EXPECT_NEAR(same.losses.back(), plain.losses.back(), 1e-9 * plain.losses.back());
        }
    // Trials are judged likewise, and begin from copies.
    auto options = small(CompletionAlgorithm::als, 2, 0.1);
    options.max_iterations = 3;
    const auto plain = choose_completion(X, options, false, true), same = choose_completion(X, options, false, true, {}, &E),
               other = choose_completion(X, options, false, true, {}, &W);
    ASSERT_EQ(same.trials.size(), plain.trials.size());
    for (std::size_t i = 0; i < plain.trials.size(); ++i)
        EXPECT_NEAR(same.trials[i].held_out_rmse, plain.trials[i].held_out_rmse, 1e-9 * plain.trials[i].held_out_rmse);
    auto fitted = weights.known;
    const auto judge = decompose::split_off(fitted, 0.1, options.seed + 1);
    auto of_fitted = fitted;
    of_fitted.values = fitted.weights;
    options.regularization = other.trials[0].regularization;
    const auto F = tensor_of(world, fitted), V = tensor_of(world, judge), of_elements = tensor_of(world, of_fitted);
    const auto again = complete(F, options, {}, nullptr, &V, &of_elements);
    EXPECT_NEAR(other.trials[0].rmse, again.rmses[static_cast<std::size_t>(other.trials[0].best_iteration) - 1], 1e-9);
}

/// Biases are those of weighted sums.
TEST(Completion, HasBiasesOfWeightedSums) {
    const World world;
    const auto stored = random_sparse(3);
    const auto weights = weights_of(stored, 9);
    const auto& known = weights.known;
    const double mean = WholeModel::mean(known);
    Matrix biases;
    for (auto length : known.lengths) biases.emplace_back(length, 0.0);
    const auto left = [&](std::size_t x, std::size_t but) {
        double value = known.values[x] - mean;
        for (std::size_t m = 0; m < biases.size(); ++m)
            if (m != but) value -= biases[m][static_cast<std::size_t>(known.indices[m][x])];
        return value;
    };
    for (int sweep = 0; sweep < 8; ++sweep)
        for (std::size_t m = 0; m < biases.size(); ++m)
            for (std::size_t row = 0; row < biases[m].size(); ++row) {
                double sum = 0, count = 5;
                for (auto x : elements_of(known, m, static_cast<std::int64_t>(row))) {
                    sum += known.weight(x) * left(x, m);
                    count += known.weight(x);
                }
                biases[m][row] = sum / count;
            }
    double squares = 0;
    for (std::size_t x = 0; x < known.values.size(); ++x) squares += known.weight(x) * std::pow(left(x, biases.size()), 2);
    const auto X = tensor_of(world, stored), W = tensor_of(world, weights.weights);
    for (const char* distribution : {"medium", "coarse"}) {
        auto options = small(CompletionAlgorithm::als, 2);
        options.biases = CompletionBiases::on;
        options.distribution = distribution;
        const auto found = complete(X, options, {}, nullptr, nullptr, &W);
        EXPECT_NEAR(found.fitted_bias_rmse, std::sqrt(squares / WholeModel::count(known)), 1e-10);
    }
}

/// Whatever the values are, and of a part of a planted model all of it is found.
TEST(Completion, FindsFactorsWithoutNegativeElements) {
    const World world;
    const auto is_nonnegative = [](const CpModel<double>& model) {
        bool all = std::all_of(model.lambda().begin(), model.lambda().end(), [](double weight) { return weight >= 0; });
        for (int m = 0; m < model.order(); ++m)
            for (double element : model.factor(m)) all = all && element >= 0;
        return all && !model.has_biases();
    };
    for (const auto algorithm : every_algorithm) {
        auto options = small(algorithm, 3, 0.05);
        options.nonnegative = true;
        options.biases = CompletionBiases::detect;
        options.max_iterations = 15;
        for (const auto& whole : some_tensors()) {
            const auto result = complete(tensor_of(world, whole), options);
            EXPECT_TRUE(is_nonnegative(result.model));
            for (std::size_t i = 1; i < result.losses.size(); ++i) EXPECT_LE(result.losses[i], result.losses[i - 1] * (1 + 1e-12));
        }
    }
    Nonzeros<double> known = planted({14, 12, 9}, 2, 0.5).known;
    for (std::size_t x = 0; x < known.values.size(); ++x) {
        known.values[x] = 0;
        for (int r = 0; r < 2; ++r) {
            double product = 1;
            for (std::size_t m = 0; m < 3; ++m) product *= decompose::start_value(3, static_cast<int>(m), known.indices[m][x], r);
            known.values[x] += product;
        }
    }
    auto options = small(CompletionAlgorithm::als, 2, 0);
    options.nonnegative = true;
    options.max_iterations = 300;
    options.holdout = 0.1;
    options.patience = 1000;
    const auto result = complete(tensor_of(world, known), options);
    EXPECT_TRUE(is_nonnegative(result.model));
    EXPECT_LT(result.held_out_rmse, 1e-3);
}

TEST(Completion, LossesAreTheSameOnAnyNumberOfRanksAndThreads) {
    const World world, alone(MPI_COMM_SELF);
    for (const auto& whole : some_tensors())
        for (const auto algorithm : every_algorithm) {
            auto options = small(algorithm);
            const auto wanted = complete(tensor_of(alone, whole), options).losses;
            for (const auto& distribution : distributions_of(algorithm)) {
                options.distribution = distribution;
                const auto found = complete(tensor_of(world, whole), options).losses;
                ASSERT_EQ(found.size(), wanted.size());
                for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-10 * wanted[0]) << distribution;
            }
            const int threads = omp_get_max_threads();
            omp_set_num_threads(3);
            options.distribution = "auto";
            const auto threaded = complete(tensor_of(world, whole), options).losses;
            omp_set_num_threads(threads);
            for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(threaded[i], wanted[i], 1e-10 * wanted[0]);
        }
}

TEST(Completion, LossesNeverBecomeLarger) {
    const World world;
    for (const auto& whole : some_tensors())
        for (const double regularization : {0.0, 0.3})
            for (const int rank : {1, 5})
                for (const auto algorithm : every_algorithm) {
                    auto options = small(algorithm, rank, regularization);
                    options.max_iterations = 12;
                    const auto losses = complete(tensor_of(world, whole), options).losses;
                    double squares = 0;
                    for (double value : whole.values) squares += value * value;
                    for (std::size_t i = 1; i < losses.size(); ++i) EXPECT_LE(losses[i], losses[i - 1] + 1e-12 * squares);
                }
}

/// All of the tensor from a part of its elements, and what is stored as zero is known to be zero.
TEST(Completion, FindsAPlantedModel) {
    const World world;
    for (const auto algorithm : {CompletionAlgorithm::als, CompletionAlgorithm::ccd})
        for (const auto& lengths : {std::vector<std::int64_t>{14, 12, 9}, {9, 8, 7, 6}, {20, 16, 1, 5}}) {
            const auto data = planted(lengths, 2, 0.5);
            auto options = small(algorithm, 2, 0);
            options.max_iterations = algorithm == CompletionAlgorithm::als ? 200 : 150;
            const auto result = complete(tensor_of(world, data.known), options);
            EXPECT_LT(result.rmse, algorithm == CompletionAlgorithm::als ? 1e-5 : 0.02);
            const auto model = WholeModel::of(result.model);
            EXPECT_LT(std::sqrt(model.squares(data.others) / static_cast<double>(data.others.count())),
                      algorithm == CompletionAlgorithm::als ? 1e-4 : 0.05);
        }
    const auto data = planted({14, 12, 9}, 2, 0.5);
    auto options = small(CompletionAlgorithm::als, 2, 0);
    options.max_iterations = 300;
    EXPECT_LT(complete(tensor_of<float>(world, data.known), options).rmse, 1e-4);
}

TEST(Completion, DescendsByBatches) {
    const World world;
    const auto data = planted({14, 12, 9}, 2, 0.7);
    for (const double decay : {0.0, 0.01}) {
        auto options = small(CompletionAlgorithm::sgd, 2, 1e-6);
        options.max_iterations = 100;
        options.decay = decay;
        const auto result = complete(tensor_of(world, data.known), options);
        EXPECT_LT(result.rmse, 0.2 * result.rmses[0]) << decay;
    }
}

TEST(Completion, GoesOnFromItsOwnModel) {
    const World world;
    const auto whole = random_sparse(3);
    const auto X = tensor_of(world, whole);
    for (const auto algorithm : {CompletionAlgorithm::als, CompletionAlgorithm::ccd}) {
        auto options = small(algorithm);
        options.max_iterations = 6;
        const auto wanted = complete(X, options);
        options.max_iterations = 3;
        const auto half = complete(X, options);
        const auto found = complete(X, options, {}, &half.model);
        EXPECT_NEAR(found.losses.back(), wanted.losses.back(), 1e-8 * wanted.losses.back());
        auto copy = tensor_of(world, whole);
        EXPECT_EQ(complete(std::move(copy), options).losses, half.losses);
        EXPECT_EQ(copy.nonzeros(), 0);  // NOLINT: the tensor is there, without nonzeros
    }
}

/// What is held out follows from seed and indices; the model is the one that fits it best.
TEST(Completion, HoldsOutTheSameElementsOnAnyNumberOfRanks) {
    const World world, alone(MPI_COMM_SELF);
    const auto whole = random_sparse(3);
    for (const auto algorithm : every_algorithm) {
        auto options = small(algorithm, 4, 0.01);
        options.holdout = 0.25;
        options.max_iterations = 30;
        options.patience = 2;
        const auto wanted = complete(tensor_of(alone, whole), options), found = complete(tensor_of(world, whole), options);
        EXPECT_EQ(found.held_out, wanted.held_out);
        EXPECT_EQ(found.unknown, wanted.unknown);
        EXPECT_EQ(found.elements + found.held_out, whole.count());
        EXPECT_GT(found.held_out, whole.count() / 8);
        EXPECT_LT(found.held_out, whole.count() / 2);
        EXPECT_EQ(found.iterations, wanted.iterations);
        EXPECT_EQ(found.best_iteration, wanted.best_iteration);
        EXPECT_NEAR(found.held_out_rmse, wanted.held_out_rmse, 1e-6 * wanted.held_out_rmse);
        EXPECT_EQ(found.held_out_rmse, *std::min_element(found.held_out_rmses.begin(), found.held_out_rmses.end()));
        EXPECT_EQ(found.rmse, found.rmses[static_cast<std::size_t>(found.best_iteration) - 1]);
        auto kept = whole;
        const auto held = decompose::split_off(kept, 0.25, options.seed);
        EXPECT_EQ(held.count(), found.held_out);
        const auto model = WholeModel::of(found.model);
        EXPECT_NEAR(found.held_out_rmse, std::sqrt(model.squares(held) / static_cast<double>(held.count())), 1e-9);
        EXPECT_NEAR(found.rmse, std::sqrt(model.squares(kept) / static_cast<double>(kept.count())), 1e-9);
        // The same from two tensors.
        options.holdout = 0;
        const auto X = tensor_of(world, kept), V = tensor_of(world, held);
        EXPECT_NEAR(complete(X, options, {}, nullptr, &V).held_out_rmse, found.held_out_rmse, 1e-6 * found.held_out_rmse);
        if (found.stop_reason == StopReason::held_out) {
            EXPECT_EQ(found.iterations, found.best_iteration + options.patience);
        }
    }
}

TEST(Completion, CountsHeldOutElementsOfUnknownSlices) {
    const World world;
    const Nonzeros<double> known{{{4, 4}, {{0, 1, 1}, {0, 1, 2}}}, {1, 2, 3}}, held{{{4, 4}, {{0, 3}, {1, 0}}}, {2, 5}};
    const auto X = tensor_of(world, known), V = tensor_of(world, held);
    const auto result = complete(X, small(CompletionAlgorithm::als, 1), {}, nullptr, &V);
    EXPECT_EQ(result.held_out, 2);
    EXPECT_EQ(result.unknown, 1);
    EXPECT_NEAR(result.held_out_rmse, std::sqrt(WholeModel::of(result.model).squares(held) / 2), 1e-12);
}

/// More components than elements, and no regularization: singular equations get the solution of least norm.
TEST(Completion, SolvesSingularEquations) {
    const World world;
    const Nonzeros<double> one{{{3, 1, 2}, {{1}, {0}, {1}}}, {-4}};
    for (const auto algorithm : {CompletionAlgorithm::als, CompletionAlgorithm::ccd}) {
        const auto result = complete(tensor_of(world, one), small(algorithm, 7, 0));
        EXPECT_LT(result.rmse, 1e-9);
        EXPECT_TRUE(std::isfinite(result.losses.back()));
    }
    auto options = small(CompletionAlgorithm::als, 40, 0);
    const auto result = complete(tensor_of(world, random_sparse(3)), options);
    EXPECT_LT(result.rmses.back(), 1e-5);
}

/// Elements that are all the same number have no variance; the regularization is in units of that number then.
TEST(Completion, RegularizesEqualElements) {
    const World world;
    auto equal = random_sparse(3);
    std::vector<double> errors;
    for (const double value : {1.0, -0.1, 300.0}) {
        std::ranges::fill(equal.values, value);
        errors.push_back(complete(tensor_of(world, equal), small(CompletionAlgorithm::als, 3, 0.2)).rmse / std::abs(value));
        EXPECT_GT(errors.back(), 0.01);
        EXPECT_NEAR(errors.back(), errors.front(), 1e-9);
    }
}

/// With a regularization that is larger than all elements the model becomes zero, and that is no error.
TEST(Completion, GoesToZeroUnderLargeRegularization) {
    const World world;
    const auto whole = random_sparse(3);
    for (const auto algorithm : every_algorithm) {
        auto options = small(algorithm, 3, 1e9);
        options.max_iterations = 20;
        const auto result = complete(tensor_of(world, whole), options);
        double squares = 0;
        for (double value : whole.values) squares += value * value;
        EXPECT_LE(result.losses.back(), squares * (1 + 1e-6)) << static_cast<int>(algorithm);
    }
}

TEST(Completion, RefusesWhatMakesNoSense) {
    const World world;
    const auto whole = random_sparse(3);
    const auto X = tensor_of(world, whole);
    const auto refuses = [&](const char* text, const std::function<void(CompletionOptions&)>& change, const SparseTensor<double>& tensor,
                             const SparseTensor<double>* validation = nullptr) {
        auto options = small(CompletionAlgorithm::als);
        change(options);
        try {
            complete(tensor, options, {}, nullptr, validation);
            ADD_FAILURE() << text;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        }
    };
    const auto nothing = [](CompletionOptions&) {};
    refuses(
        "rank is 0", [](auto& options) { options.rank = 0; }, X);
    refuses(
        "hold out must be", [](auto& options) { options.holdout = 1; }, X);
    refuses(
        "none would be held out", [](auto& options) { options.holdout = 1e-12; }, X);
    refuses(
        "all would be held out", [](auto& options) { options.holdout = 1 - 1e-12; }, X);
    refuses(
        "patience", [](auto& options) { options.patience = 0; }, X);
    refuses(
        "biases may be negative", [](auto& options) { options.nonnegative = true, options.biases = CompletionBiases::on; }, X);
    refuses(
        "learning rate", [](auto& options) { options.learning_rate = 2; }, X);
    refuses(
        "decay", [](auto& options) { options.decay = -1; }, X);
    refuses(
        "0 batches", [](auto& options) { options.batches = 0; }, X);
    refuses(
        "regularization", [](auto& options) { options.regularization = -1; }, X);
    refuses(
        "no distribution 'grainy'", [](auto& options) { options.distribution = "grainy"; }, X);
    refuses(
        "coarse distribution", [](auto& options) { options.algorithm = CompletionAlgorithm::ccd, options.distribution = "coarse"; }, X);
    refuses(
        "choose one", [](auto& options) { options.holdout = 0.5; }, X, &X);
    refuses("no elements", nothing, SparseTensor<double>(world, {3, 3}, "empty"));
    refuses("one mode", nothing, tensor_of(world, {{{3}, {{1}}}, {1}}));
    refuses("other lengths", nothing, X, &static_cast<const SparseTensor<double>&>(tensor_of(world, {{{3, 3}, {{1}, {1}}}, {1}})));
    for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0.0}) {
        const Nonzeros<double> tensor{{{3, 3}, {{1}, {1}}}, {wrong}};
        refuses(wrong == 0 ? "zero" : std::isnan(wrong) ? "not a number" : "infinite", nothing, tensor_of(world, tensor));
    }
    EXPECT_THROW(complete(SparseTensor<double>(), small(CompletionAlgorithm::als)), InvalidArgument);
    const auto refuses_weights = [&](const char* text, const Nonzeros<double>& weights) {
        const auto W = tensor_of(world, weights);
        try {
            complete(X, small(CompletionAlgorithm::als), {}, nullptr, nullptr, &W);
            ADD_FAILURE() << text;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        }
    };
    refuses_weights("the lengths of the tensor", {{{3, 3}, {{1}, {1}}}, {1}});
    refuses_weights("no elements with a weight", {{whole.lengths, std::vector(whole.lengths.size(), std::vector<std::int64_t>{})}, {}});
    auto negative = whole;
    negative.values.assign(negative.values.size(), -1.0);
    refuses_weights("not negative", negative);
    auto options = small(CompletionAlgorithm::als, 2);
    const auto start = complete(X, options).model;
    options.rank = 3;
    EXPECT_THROW(complete(X, options, {}, &start), InvalidArgument);
}

/// The forecast is made before the factors, is the one that `planned` gets, and is refused where the limit is below it.
TEST(Completion, ForecastsItsMemory) {
    World world(MPI_COMM_WORLD, Device(DeviceKind::none));  // one with a device may do without it: see device_sums_test
    const auto X = tensor_of(world, random_sparse(3));
    for (const auto algorithm : every_algorithm) {
        auto options = small(algorithm, 50);
        std::int64_t forecast = 0;
        options.planned = [&](std::int64_t bytes, std::int64_t) { forecast = bytes; };
        EXPECT_EQ(complete(X, options).forecast_bytes, forecast);
        EXPECT_GT(forecast, 50 * 8);
        const auto limit = world.memory_limit();
        world.set_memory_limit(world.memory_in_use() + forecast / 2);
        EXPECT_THROW(complete(X, options), OutOfMemory);
        world.set_memory_limit(limit);
    }
}

TEST(Completion, StopsWhenAskedAndTellsOfEachIteration) {
    const World world;
    const auto X = tensor_of(world, random_sparse(3));
    auto options = small(CompletionAlgorithm::als);
    int asked = 0;
    options.stop = [&] { return ++asked == 2; };
    std::vector<double> losses;
    const auto result = complete(X, options, [&](const CompletionIteration& now, const auto& model) {
        losses.push_back(now.loss);
        EXPECT_EQ(model().rank(), 3);
    });
    EXPECT_EQ(result.stop_reason, StopReason::asked);
    EXPECT_EQ(result.iterations, 2);
    EXPECT_EQ(result.losses, losses);
    options.stop = {};
    options.max_iterations = 1000;
    options.tolerance = 1e-3;
    const auto settled = complete(X, options);
    EXPECT_EQ(settled.stop_reason, StopReason::tolerance);
    EXPECT_TRUE(settled.converged);
}

}  // namespace
}  // namespace arges::test

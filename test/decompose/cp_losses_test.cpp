// Generalized CP: losses, their gradients, missing elements.
#include "arges/cpd.hpp"
#include "decompose/tensor_of.hpp"

#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "decompose/cp/element_loss.hpp"
#include "decompose/cp/element_operator.hpp"
#include "decompose/cp/known_block.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "support/drawn_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace arges::test {
namespace {

using namespace decompose;
using Lengths = std::vector<std::int64_t>;
using Key = std::vector<std::int64_t>;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

const std::vector<Loss> all_losses{{LossKind::gaussian, 0},       {LossKind::poisson, 0},         {LossKind::poisson_log, 0},
                                   {LossKind::bernoulli_odds, 0}, {LossKind::bernoulli_logit, 0}, {LossKind::gamma, 0},
                                   {LossKind::rayleigh, 0},       {LossKind::huber, 0.25},        {LossKind::negative_binomial, 4},
                                   {LossKind::beta, 0.3}};

/// From 0 to 1.
double fraction(std::uint64_t seed, std::uint64_t a) { return (drawn_number(seed, a) + 1) / 2; }

/// All elements of a small tensor, on every rank; NaN where they are unknown.
struct Elements {
    Lengths lengths;
    std::vector<double> values;

    explicit Elements(Lengths n) : lengths(std::move(n)) {
        std::int64_t size = 1;
        for (auto length : lengths) size *= length;
        values.resize(static_cast<std::size_t>(size));
    }
    Key key(std::size_t place) const {
        Key result;
        for (auto length : lengths) {
            result.push_back(static_cast<std::int64_t>(place) % length);
            place /= static_cast<std::size_t>(length);
        }
        return result;
    }
    std::size_t place(const Key& key) const {
        std::int64_t result = 0;
        for (std::size_t m = key.size(); m-- > 0;) result = result * lengths[m] + key[m];
        return static_cast<std::size_t>(result);
    }
    Tensor<double> dense(const World& world) const {
        Tensor<double> X(world, lengths, "X");
        X.fill([&](Index i) { return values[place(Key(i.begin(), i.end()))]; });
        return X;
    }
    /// Of the elements that are neither NaN nor, unless they are wanted, zero.
    SparseTensor<double> sparse(const World& world, bool with_zeros) const {
        sparse::Nonzeros<double> stored;
        stored.lengths = lengths;
        stored.indices.resize(lengths.size());
        for (std::size_t x = 0; x < values.size(); ++x) {
            if (std::isnan(values[x]) || (values[x] == 0 && !with_zeros)) continue;
            const auto index = key(x);
            for (std::size_t m = 0; m < index.size(); ++m) stored.indices[m].push_back(index[m]);
            stored.values.push_back(values[x]);
        }
        return tensor_of(world, stored);
    }
};

/// A model of positive numbers by the definition.
Elements planted(const Lengths& lengths, int rank, std::uint64_t seed, double size = 1) {
    Elements X(lengths);
    for (std::size_t x = 0; x < X.values.size(); ++x) {
        const auto key = X.key(x);
        for (int r = 0; r < rank; ++r) {
            double product = size;
            for (std::size_t m = 0; m < key.size(); ++m) product *= 0.1 + fraction(seed + m, static_cast<std::uint64_t>(key[m] * rank + r));
            X.values[x] += product;
        }
    }
    return X;
}

/// Values that a loss is for.
Elements data_for(const Loss& loss, const Lengths& lengths, std::uint64_t seed) {
    auto X = planted(lengths, 2, seed);
    for (std::size_t x = 0; x < X.values.size(); ++x) {
        auto& value = X.values[x];
        const double p = fraction(seed + 50, x);
        if (loss.kind == LossKind::bernoulli_odds || loss.kind == LossKind::bernoulli_logit)
            value = p < value / (1 + value) ? 1 : 0;
        else if (loss.kind == LossKind::poisson || loss.kind == LossKind::poisson_log || loss.kind == LossKind::negative_binomial)
            value = std::floor(3 * value * p);
        else if (loss.kind == LossKind::gaussian || loss.kind == LossKind::huber)
            value += p - 0.5;
        else
            value *= 0.5 + p;
    }
    return X;
}

void forget(Elements& X, double share, std::uint64_t seed) {
    for (std::size_t x = 0; x < X.values.size(); ++x)
        if (fraction(seed + 99, x) < share) X.values[x] = unknown;
}

/// The model's elements, on every rank.
std::vector<double> model_values(const CpModel<double>& model, const Elements& like) {
    std::vector<std::vector<double>> factors;
    for (int m = 0; m < model.order(); ++m) factors.push_back(model.gather(m));
    const auto rank = static_cast<std::size_t>(model.rank());
    std::vector<double> result;
    for (std::size_t x = 0; x < like.values.size(); ++x) {
        const auto key = like.key(x);
        double sum = 0;
        for (std::size_t r = 0; r < rank; ++r) {
            double product = model.lambda()[r];
            for (std::size_t m = 0; m < key.size(); ++m) product *= factors[m][static_cast<std::size_t>(key[m]) * rank + r];
            sum += product;
        }
        result.push_back(sum);
    }
    return result;
}

double loss_of(const Loss& loss, const Elements& X, const std::vector<double>& model) {
    const auto element = make_loss(loss);
    double sum = 0;
    for (std::size_t x = 0; x < X.values.size(); ++x)
        if (!std::isnan(X.values[x])) sum += element->value(X.values[x], model[x]);
    return sum;
}

CpOptions options_for(const Loss& loss, CpAlgorithm algorithm, int iterations, bool missing = true) {
    CpOptions options;
    options.rank = 2;
    options.loss = loss;
    options.algorithm = algorithm;
    options.missing = missing;
    options.max_iterations = iterations;
    options.tolerance = 0;
    return options;
}

TEST(Losses, HaveNames) {
    for (const auto& loss : all_losses) EXPECT_EQ(parse_loss(to_string(loss)), loss);
    EXPECT_EQ(parse_loss("huber=0.25"), (Loss{LossKind::huber, 0.25}));
    for (const char* text :
         {"", "poison", "huber", "huber=", "huber=x", "huber=-1", "poisson=2", "beta=1", "beta=0", "negative-binomial=0"})
        EXPECT_THROW(parse_loss(text), InvalidArgument) << text;
}

/// Derivatives by differences; the best constant and the least loss by trying.
TEST(Losses, HaveDerivativesAndMinima) {
    for (const auto& loss : all_losses) {
        const auto f = make_loss(loss), difference = make_difference_to_zero(loss);
        const auto X = data_for(loss, {5, 4, 3}, 3);
        double mean = 0, squares = 0;
        for (double x : X.values) mean += x / 60, squares += x * x / 60;
        for (double x : X.values) {
            const double m = 0.3 + x * 0.7 + 0.1, h = 1e-6;
            double slope = 0, of_difference = 0;
            EXPECT_DOUBLE_EQ(f->derivatives(&x, &m, nullptr, &slope, 1), f->value(x, m));
            EXPECT_NEAR(slope, (f->value(x, m + h) - f->value(x, m - h)) / (2 * h), 1e-5 * (1 + std::abs(slope))) << to_string(loss);
            EXPECT_NEAR(difference->derivatives(&x, &m, nullptr, &of_difference, 1), f->value(x, m) - f->value(0, m), 1e-9);
            for (double other = f->is_bounded() ? 0.001 : -8; other < 8; other += 0.01)
                EXPECT_LE(f->least(x), f->value(x, other) + 1e-6) << to_string(loss) << " " << x << " " << other;
        }
        if (loss.kind == LossKind::huber) continue;
        const auto sum = [&](double m) {
            double total = 0;
            for (double x : X.values) total += f->value(x, m);
            return total;
        };
        const double best = f->constant(mean, squares);
        for (double other = f->is_bounded() ? 0.001 : -8; other < 8; other += 0.01)
            EXPECT_LE(sum(best), sum(other) + 1e-6) << to_string(loss);
    }
}

/// Value against the definition, gradient against a difference along some direction.
void check_objective(LossObjective<double>& objective, const std::function<double(const FactorVector<double>&)>& by_definition,
                     const World& world) {
    const auto x = objective.point();
    FactorVector<double> gradient, unused, direction(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) direction[i] = drawn_number(7 + static_cast<std::uint64_t>(world.rank()), i);
    const double value = objective.evaluate(x, gradient), h = 1e-6;
    EXPECT_NEAR(value, by_definition(x), 1e-9 * (1 + std::abs(value)));
    auto after = x, before = x;
    for (std::size_t i = 0; i < x.size(); ++i) after[i] += h * direction[i], before[i] -= h * direction[i];
    const double slope = (objective.evaluate(after, unused) - objective.evaluate(before, unused)) / (2 * h);
    EXPECT_NEAR(objective.dot(gradient, direction), slope, 2e-5 * (1 + std::abs(slope)));
}

TEST(Losses, HaveGradientsOfDenseAndSparseTensors) {
    const World world;
    const Lengths lengths{6, 5, 4};
    for (const auto& loss : all_losses)
        for (int way = 0; way < 5; ++way) {  // dense, sparse: by three grains, with zeros
            auto X = data_for(loss, lengths, 11);
            if (way < 4) forget(X, 0.4, 5);
            const bool with_zeros = way == 4;
            if (with_zeros && loss.kind != LossKind::poisson) continue;
            const double regularization = way % 2 == 0 ? 0.3 : 0;
            const auto& comm = world.state()->communicator();
            const auto dense = X.dense(world);
            const auto stored = X.sparse(world, !with_zeros);
            const auto known = known_elements<double>(
                comm, "X", stored.state()->values_of<double>(), false,
                with_zeros ? static_cast<double>(X.values.size()) - static_cast<double>(stored.state()->pattern()->total) : 0, loss);
            const HostElements here(*dense.state());
            std::unique_ptr<KnownBlock<double>> block;
            std::unique_ptr<ElementOperator<double>> elements;
            if (way == 0) {
                block = std::make_unique<KnownBlock<double>>(comm, dense.state()->layout, here.of<double>(), nullptr, 3, known);
            } else {
                DistributionRequest request;
                const char* const ways[] = {"medium", "coarse", "fine", "medium"};
                request.distribution = ways[way - 1];
                request.columns = 3;
                auto distributed = distribute_tensor<double>(*stored.state(), false, request);
                elements = std::make_unique<ElementOperator<double>>(comm, std::move(distributed.nonzeros), 3, 1, 1);
            }
            CpData<double>& data = block ? static_cast<CpData<double>&>(*block) : *elements;
            Factors<double> factors(data, 4);
            const auto objective = block ? block_objective(*block, factors, known, regularization)
                                         : element_objective(*elements, factors, known, with_zeros, regularization);
            check_objective(
                *objective,
                [&](const FactorVector<double>& x) {
                    const auto model = factors.model(world, lengths, {1, 1, 1}, {}, false);
                    return loss_of(loss, X, model_values(model, X)) + regularization * objective->dot(x, x);
                },
                world);
        }
}

/// What is reported is the loss of the model that is returned, and it does not grow.
TEST(Losses, AreThoseOfTheModel) {
    const World world;
    const Lengths lengths{7, 6, 5};
    for (const auto& loss : all_losses)
        for (int way = 0; way < 4; ++way) {                             // dense, dense with NaN, sparse, sparse by stochastic gradients
            if (way == 0 && loss.kind == LossKind::gaussian) continue;  // least squares of a whole tensor have no loss beside the fit
            auto X = data_for(loss, lengths, 21);
            if (way > 0) forget(X, 0.3, 6);
            const auto algorithm = way == 3 ? CpAlgorithm::sgd : CpAlgorithm::opt;
            std::vector<double> losses;
            const CpProgress<double> progress = [&](const CpIteration& now, const auto&) { losses.push_back(now.loss); };
            const auto options = options_for(loss, algorithm, 15, way > 0);
            const auto result =
                way < 2 ? cp_decompose(X.dense(world), options, progress) : cp_decompose(X.sparse(world, true), options, progress);
            const double expected = loss_of(loss, X, model_values(result.model, X));
            EXPECT_NEAR(result.loss, expected, 1e-8 * (1 + std::abs(expected))) << to_string(loss) << " " << way;
            EXPECT_EQ(result.known,
                      static_cast<std::int64_t>(std::count_if(X.values.begin(), X.values.end(), [](double x) { return !std::isnan(x); })));
            ASSERT_FALSE(losses.empty());
            for (std::size_t i = 1; i < losses.size(); ++i) EXPECT_LE(losses[i], losses[i - 1] * (1 + 1e-9) + 1e-9) << to_string(loss);
            EXPECT_GT(result.fit, 0) << to_string(loss) << " " << way;
            EXPECT_LT(result.fit, 1);
            if (!make_loss(loss)->is_bounded()) continue;
            for (int m = 0; m < 3; ++m)
                for (double a : result.model.factor(m)) EXPECT_GE(a, 0);
        }
}

/// Dense and sparse tensors with the same known elements have the same iterations.
TEST(Losses, OfDenseAndSparseTensorsAreTheSame) {
    const World world;
    for (const auto& loss : all_losses) {
        auto X = data_for(loss, {6, 5, 4}, 31);
        forget(X, 0.3, 7);
        const auto options = options_for(loss, CpAlgorithm::opt, 6);
        const auto dense = cp_decompose(X.dense(world), options), stored = cp_decompose(X.sparse(world, true), options);
        EXPECT_NEAR(dense.loss, stored.loss, 1e-6 * (1 + std::abs(stored.loss))) << to_string(loss);
    }
    // Zeros that are stored, and zeros that are not.
    const Loss poisson{LossKind::poisson, 0};
    auto X = data_for(poisson, {6, 5, 4}, 32);
    for (std::int64_t i = 0; i < 6; ++i) X.values[X.place({i, i % 5, i % 4})] += 1;  // no slice is empty
    const auto all = cp_decompose(X.sparse(world, true), options_for(poisson, CpAlgorithm::opt, 6, true));
    const auto nonzeros = cp_decompose(X.sparse(world, false), options_for(poisson, CpAlgorithm::opt, 6, false));
    EXPECT_NEAR(all.loss, nonzeros.loss, 1e-6 * std::abs(all.loss));
    EXPECT_NEAR(all.fit, nonzeros.fit, 1e-6);
    EXPECT_EQ(all.known, nonzeros.known);
}

/// Half of the elements of a tensor of known rank say the others.
TEST(MissingElements, AreFoundFromTheOthers) {
    const World world;
    const auto whole = planted({14, 12, 10}, 3, 41);
    auto X = whole;
    forget(X, 0.5, 8);
    for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt})
        for (bool is_dense : {true, false}) {
            auto options = options_for({}, algorithm, algorithm == CpAlgorithm::opt || !is_dense ? 300 : 600);
            options.rank = 3;
            options.tolerance = 1e-10;
            const auto result = is_dense ? cp_decompose(X.dense(world), options) : cp_decompose(X.sparse(world, true), options);
            const auto model = model_values(result.model, whole);
            double error = 0, squares = 0;
            for (std::size_t x = 0; x < model.size(); ++x) {
                error += (model[x] - whole.values[x]) * (model[x] - whole.values[x]);
                squares += whole.values[x] * whole.values[x];
            }
            const double least = algorithm == CpAlgorithm::opt ? 1e-6 : algorithm == CpAlgorithm::als ? 1e-3 : 1e-2;
            EXPECT_LT(std::sqrt(error / squares), least) << static_cast<int>(algorithm) << " " << is_dense << " " << result.iterations;
            EXPECT_NEAR(
                result.fit,
                1 - std::sqrt(result.loss / known_elements<double>(world.state()->communicator(), "X", X.values, true, 0, {}).squares *
                              world.size()),
                1e-6);
        }
}

/// Without gaps they are those without the option.
TEST(MissingElements, MayBeNone) {
    const World world;
    auto X = planted({7, 6, 5}, 3, 51);
    for (std::size_t x = 0; x < X.values.size(); ++x) X.values[x] += 0.2 * drawn_number(5, x);
    for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
        auto options = options_for({}, algorithm, 30);
        const auto missing = cp_decompose(X.dense(world), options), rows = cp_decompose(X.sparse(world, true), options);
        options.missing = false;
        const auto whole = cp_decompose(X.dense(world), options);
        EXPECT_NEAR(missing.fit, whole.fit, 1e-7) << static_cast<int>(algorithm);
        EXPECT_NEAR(rows.fit, whole.fit, algorithm == CpAlgorithm::nonnegative ? 1e-3 : 1e-7) << static_cast<int>(algorithm);
    }
}

/// Stochastic gradients come near to what L-BFGS finds with all elements, zeros included.
TEST(StochasticGradients, ComeNearTheMinimum) {
    const World world;
    for (const auto& loss : all_losses) {
        if (loss.kind == LossKind::gamma || loss.kind == LossKind::rayleigh || loss.kind == LossKind::beta ||
            loss.kind == LossKind::poisson_log || loss.kind == LossKind::bernoulli_odds)
            continue;
        auto X = data_for(loss, {12, 10, 9}, 61);
        for (std::size_t x = 0; x < X.values.size(); ++x)
            if (fraction(77, x) < 0.5) X.values[x] = 0;
        auto options = options_for(loss, CpAlgorithm::opt, 200, false);
        const auto best = cp_decompose(X.dense(world), options);
        options.algorithm = CpAlgorithm::sgd;
        options.max_iterations = 30;
        const auto found = cp_decompose(X.sparse(world, false), options);
        EXPECT_GT(found.fit, 0.8 * best.fit) << to_string(loss);
        const double loss_of_model = loss_of(loss, X, model_values(found.model, X));
        EXPECT_NEAR(found.loss, loss_of_model, 0.02 * std::abs(loss_of_model)) << to_string(loss);
    }
}

/// Weights up to 3, some of which are 0.
Elements weights_for(const Elements& X, std::uint64_t seed) {
    Elements W(X.lengths);
    for (std::size_t x = 0; x < W.values.size(); ++x) W.values[x] = fraction(seed + 3, x) < 0.2 ? 0 : 0.1 + 2.9 * fraction(seed, x);
    return W;
}

double weighted_loss(const Loss& loss, const Elements& X, const Elements& W, const std::vector<double>& model) {
    const auto f = make_loss(loss);
    double sum = 0;
    for (std::size_t x = 0; x < X.values.size(); ++x)
        if (W.values[x] > 0 && !std::isnan(X.values[x])) sum += W.values[x] * f->value(X.values[x], model[x]);
    return sum;
}

CpResult<double> weighted_cp(const World& world, const Elements& X, const Elements& W, const CpOptions& options, bool is_dense,
                             const CpProgress<double>& progress = {}) {
    const auto dense_weights = W.dense(world);
    const auto stored_weights = W.sparse(world, false);
    return is_dense ? cp_decompose(X.dense(world), options, progress, nullptr, &dense_weights)
                    : cp_decompose(X.sparse(world, false), options, progress, nullptr, &stored_weights);
}

/// What is reported is the weighted loss of the model that is returned, and it does not grow; elements that weights know and the tensor
/// does not store are zeros.
TEST(Weights, AreThoseOfTheLoss) {
    const World world;
    for (const auto& loss : all_losses)
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt, CpAlgorithm::sgd})
            for (bool is_dense : {true, false}) {
                const bool is_of_rows = algorithm == CpAlgorithm::als || algorithm == CpAlgorithm::nonnegative;
                if ((is_of_rows && loss.kind != LossKind::gaussian) || (is_dense && algorithm == CpAlgorithm::sgd)) continue;
                const auto X = data_for(loss, {5, 4, 3}, 81), W = weights_for(X, 82);
                std::vector<double> losses;
                auto options = options_for(loss, algorithm, 6, false);
                const bool is_distributed = !is_dense && is_of_rows;
                for (const char* distribution : {"auto", "medium", "fine"}) {
                    if (!is_distributed && distribution != std::string("auto")) continue;
                    losses.clear();
                    options.distribution = distribution;
                    const auto result = weighted_cp(world, X, W, options, is_dense,
                                                    [&](const CpIteration& now, const auto&) { losses.push_back(now.loss); });
                    const double expected = weighted_loss(loss, X, W, model_values(result.model, X));
                    EXPECT_NEAR(result.loss, expected, 1e-8 * (1 + std::abs(expected))) << to_string(loss) << " " << is_dense;
                    EXPECT_EQ(result.known, std::count_if(W.values.begin(), W.values.end(), [](double w) { return w > 0; }));
                    for (std::size_t i = 1; i < losses.size(); ++i) EXPECT_LE(losses[i], losses[i - 1] * (1 + 1e-9) + 1e-9) << is_dense;
                    EXPECT_GT(result.fit, 0) << to_string(loss);
                }
            }
}

/// All ways to the weighted least squares end at the same; with a regularization, those of one algorithm.
TEST(Weights, HaveOneMinimum) {
    const World world;
    auto X = planted({6, 5, 4}, 1, 91), W = weights_for(X, 93);
    for (std::size_t x = 0; x < X.values.size(); ++x) {
        X.values[x] += 0.1 * drawn_number(92, x);
        if (W.values[x] > 0) W.values[x] += 1;  // als of dense tensors needs more iterations where weights differ more
    }
    double first = 0;
    for (double regularization : {0.0, 0.4})
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
            auto options = options_for({}, algorithm, 200, false);
            options.rank = 1;
            options.tolerance = 1e-8;
            options.regularization = regularization;
            const auto dense = weighted_cp(world, X, W, options, true), sparse = weighted_cp(world, X, W, options, false);
            EXPECT_NEAR(dense.loss, sparse.loss, 1e-4 * sparse.loss) << static_cast<int>(algorithm) << " " << regularization;
            if (first == 0) first = dense.loss;
            const double expected = regularization == 0 ? first : dense.loss;
            EXPECT_NEAR(dense.loss, expected, 1e-4 * expected) << static_cast<int>(algorithm);
        }
}

/// Weights of 0 and 1 are a mask, others that are all the same change nothing but the loss.
TEST(Weights, OfOneKindChangeNothing) {
    const World world;
    auto X = planted({8, 7, 6}, 3, 95), hidden = X;
    auto W = weights_for(X, 96);
    for (std::size_t x = 0; x < W.values.size(); ++x)
        if (W.values[x] == 0) hidden.values[x] = unknown;
    for (double weight : {1.0, 2.5})
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
            for (auto& w : W.values) w = w > 0 ? weight : 0;
            const auto options = options_for({}, algorithm, 15, true);
            const auto dense = weighted_cp(world, X, W, options, true), sparse = weighted_cp(world, X, W, options, false);
            const auto of_dense = cp_decompose(hidden.dense(world), options), of_sparse = cp_decompose(hidden.sparse(world, true), options);
            EXPECT_NEAR(dense.loss, weight * of_dense.loss, 1e-6 * of_dense.loss + 1e-9);
            EXPECT_NEAR(sparse.loss, weight * of_sparse.loss, 1e-6 * of_sparse.loss + 1e-9);
            EXPECT_NEAR(dense.fit, of_dense.fit, 1e-7);
            EXPECT_NEAR(sparse.fit, of_sparse.fit, 1e-7);
        }
}

/// Ranks without any element know that there are weights.
TEST(Weights, OfElementsOfOneRank) {
    const World world;
    auto X = planted({1, 2, 1}, 1, 99), W = X;
    W.values = {2, 0};
    for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::opt, CpAlgorithm::sgd})
        for (bool is_dense : {true, false}) {
            if (is_dense && algorithm == CpAlgorithm::sgd) continue;
            const auto result = weighted_cp(world, X, W, options_for({}, algorithm, 3, false), is_dense);
            EXPECT_EQ(result.known, 1);
        }
}

TEST(Masks, SayWhichElementsAreKnown) {
    const World world;
    auto X = planted({5, 4, 3}, 2, 97);
    for (std::size_t x = 0; x < X.values.size(); x += 3) X.values[x] = 0;
    const auto W = weights_for(X, 98);
    masked(X.dense(world), W.dense(world)).for_each_local([&](Index index, double value) {
        const auto place = X.place(Key(index.begin(), index.end()));
        EXPECT_TRUE(W.values[place] > 0 ? value == X.values[place] : std::isnan(value));
    });
    const auto stored = masked(X.sparse(world, false), W.sparse(world, true)).gather();
    EXPECT_EQ(std::ssize(stored.values), std::count_if(W.values.begin(), W.values.end(), [](double w) { return w > 0; }));
    for (std::size_t x = 0; x < stored.values.size(); ++x) {
        const auto place = X.place({stored.indices[0][x], stored.indices[1][x], stored.indices[2][x]});
        EXPECT_GT(W.values[place], 0);
        EXPECT_EQ(stored.values[x], X.values[place]);
    }
}

TEST(Weights, RefuseWhatIsNoWeight) {
    const World world;
    const auto X = planted({4, 3, 2}, 2, 99);
    auto W = weights_for(X, 99);
    const auto refused = [&](const std::string& text) {
        for (bool is_dense : {true, false}) try {
                weighted_cp(world, X, W, options_for({}, CpAlgorithm::als, 3, false), is_dense);
                ADD_FAILURE() << text;
            } catch (const InvalidArgument& error) {
                EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
            }
    };
    W.values[5] = -1;
    refused("must have finite numbers that are not negative; 1 are others");
    W.values[5] = std::numeric_limits<double>::infinity();
    refused("1 are others");
    W = Elements({4, 3, 3});
    W.values[0] = 1;
    refused("must have the lengths of the tensor, 4 x 3 x 2, not 4 x 3 x 3");
    W = Elements({4, 3, 2});
    refused("there is nothing to decompose");
}

TEST(Losses, RefuseWhatTheyAreNotFor) {
    const World world;
    auto X = planted({4, 3, 2}, 2, 71);
    const auto refused = [&](const CpOptions& options, const std::string& text, bool is_dense = true) {
        try {
            is_dense ? cp_decompose(X.dense(world), options) : cp_decompose(X.sparse(world, true), options);
            ADD_FAILURE() << text;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        }
    };
    refused(options_for({LossKind::poisson, 0}, CpAlgorithm::als, 3), "is for opt and sgd");
    refused(options_for({LossKind::gamma, 0}, CpAlgorithm::opt, 3, false), "no sum in closed form", false);
    refused(options_for({}, CpAlgorithm::sgd, 3), "is dense; sgd is for sparse tensors");
    refused(options_for({LossKind::huber, -1}, CpAlgorithm::opt, 3), "DELTA");
    auto options = options_for({}, CpAlgorithm::als, 3);
    options.pairwise_perturbation = true;
    refused(options, "pairwise perturbation");
    options = options_for({}, CpAlgorithm::sgd, 3);
    options.distribution = "fine";
    refused(options, "coarse-allgather", false);
    X.values[3] = -2;
    refused(options_for({LossKind::poisson, 0}, CpAlgorithm::opt, 3), "but 1 are others");
    X.values[3] = unknown;
    refused(options_for({LossKind::poisson, 0}, CpAlgorithm::opt, 3, false), "1 of 24 elements are not finite");
    X.values[4] = std::numeric_limits<double>::infinity();
    refused(options_for({}, CpAlgorithm::als, 3), "infinite");
    for (auto& value : X.values) value = unknown;
    refused(options_for({}, CpAlgorithm::als, 3), "no element that is known");
}

}  // namespace
}  // namespace arges::test

// CP decompositions of dense tensors: the dimension tree, pairwise perturbation, and decompositions as users call them.
#include "arges/cpd.hpp"

#include "arges/einsum.hpp"
#include "arges/error.hpp"
#include "base/splitmix.hpp"
#include "base/text.hpp"
#include "decompose/cp/dense_cp_operator.hpp"
#include "interface/dense/tensor_state.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace arges::test {
namespace {

using namespace decompose;
using Lengths = std::vector<std::int64_t>;

/// Deterministic numbers in [low, high).
double number(std::uint64_t seed, std::uint64_t a, std::uint64_t b, double low, double high) {
    return low + (high - low) * unit_interval(splitmix(splitmix(seed * 1000003 + a) ^ b));
}

/// A tensor of known rank with positive or mixed factors, and noise of the given relative size.
template <class T>
Tensor<T> planted(const World& world, const Lengths& lengths, int rank, std::uint64_t seed, double noise = 0, double low = 0.1) {
    Tensor<T> X(world, lengths, "planted");
    X.fill([&](Index i) {
        double sum = 0;
        for (int r = 0; r < rank; ++r) {
            double product = 1;
            for (std::size_t m = 0; m < i.size(); ++m)
                product *= number(seed + m, static_cast<std::uint64_t>(i[m]), static_cast<std::uint64_t>(r), low, 1);
            sum += product;
        }
        if (noise > 0) sum += noise * number(seed + 77, static_cast<std::uint64_t>(X.key(i)), 1, -1, 1);
        return static_cast<T>(sum);
    });
    return X;
}

CpOptions exactly(int rank, int iterations) {
    CpOptions options;
    options.rank = rank;
    options.max_iterations = iterations;
    options.tolerance = 0;
    return options;
}

/// |X - model| / |X| by the definition.
template <class T>
double residual(const Tensor<T>& X, const CpModel<T>& model) {
    auto difference = reconstruct(model);
    std::string labels = "abcdefgh";
    labels.resize(static_cast<std::size_t>(X.order()));
    difference[labels] -= X[labels];
    return static_cast<double>(difference.norm()) / static_cast<double>(X.norm());
}

std::vector<double> fits(const std::function<void(const CpProgress<double>&)>& run) {
    std::vector<double> result;
    run([&](const CpIteration& now, const auto&) { result.push_back(now.fit); });
    return result;
}

/// Products from the tree equal those by definition, for every order, in a sweep in which factors change.
TEST(DimensionTree, EqualsProductsByDefinition) {
    const std::vector<Lengths> shapes{{3, 4},       {1, 5},          {3, 4, 5},          {7, 1, 2},
                                      {2, 3, 4, 5}, {3, 1, 2, 2, 3}, {2, 3, 2, 2, 1, 3}, {2, 2, 2, 2, 2, 2, 2, 2}};
    for (const auto& sizes : shapes)
        for (int columns : {1, 3}) {
            const auto order = static_cast<int>(sizes.size());
            ModeArray<double> block{nullptr, {}, sizes, false};
            for (int m = 0; m < order; ++m) block.modes.push_back(m);
            std::mt19937_64 random(7);
            const auto draw = [&] { return static_cast<double>(random() % 7) - 3; };
            std::vector<double> data(static_cast<std::size_t>(block.count()));
            for (auto& x : data) x = draw();
            block.data = data.data();
            std::vector<std::vector<double>> factors;
            for (auto n : sizes) {
                factors.emplace_back(static_cast<std::size_t>(n * columns));
                for (auto& x : factors.back()) x = draw();
            }
            DimensionTree<double> tree(block, columns);
            for (int sweep = 0; sweep < 2; ++sweep)
                for (int mode = 0; mode < order; ++mode) {
                    std::vector<const double*> views;
                    for (const auto& f : factors) views.push_back(f.data());
                    const auto m = static_cast<std::size_t>(mode);
                    std::vector<double> got(factors[m].size()), wanted(factors[m].size(), 0);
                    tree.multiply(mode, views, got.data());
                    for (std::int64_t x = 0; x < block.count(); ++x)
                        for (int r = 0; r < columns; ++r) {
                            double product = data[static_cast<std::size_t>(x)];
                            auto rest = x, own = x;
                            for (std::size_t k = 0; k < sizes.size(); ++k) {
                                if (k != m) product *= factors[k][static_cast<std::size_t>(rest % sizes[k] + r * sizes[k])];
                                if (k == m) own = rest % sizes[k];
                                rest /= sizes[k];
                            }
                            wanted[static_cast<std::size_t>(own + r * sizes[m])] += product;
                        }
                    ASSERT_EQ(got, wanted) << "order " << order << " mode " << mode;
                    for (auto& x : factors[m]) x = draw();
                    tree.factor_changes(mode);
                }
            EXPECT_EQ(tree.large_products(), 4) << "two in a sweep";
        }
}

/// The same iterations as for the same tensor in sparse form: start, products, solves and fits agree.
TEST(DenseCp, GivesTheFitsOfTheSparseForm) {
    const World world;
    for (std::uint64_t seed : {1U, 2U, 3U, 4U, 6U, 7U}) {
        const auto whole = random_sparse(seed);
        SparseTensor<double> S(world, whole.lengths, "S");
        Tensor<double> X(world, whole.lengths, "X");
        Lengths tuples, keys;
        std::vector<double> values;
        for (std::int64_t n = world.rank(); n < whole.count(); n += world.size()) {
            Lengths index;
            for (const auto& indices : whole.indices) index.push_back(indices[static_cast<std::size_t>(n)]);
            tuples.insert(tuples.end(), index.begin(), index.end());
            keys.push_back(X.key(index));
            values.push_back(whole.values[static_cast<std::size_t>(n)]);
        }
        S.write_at(tuples, values, Duplicates::refuse);
        X.write(keys, values);
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
            auto options = exactly(3, 5);
            options.algorithm = algorithm;
            options.regularization = seed == 2 ? 0.1 : 0;
            const auto dense = fits([&](const auto& note) { cp_decompose(X, options, note); });
            const auto sparse = fits([&](const auto& note) { cp_decompose(S, options, note); });
            ASSERT_EQ(dense.size(), sparse.size());
            for (std::size_t i = 0; i < dense.size(); ++i)
                EXPECT_NEAR(dense[i], sparse[i], 1e-8)
                    << "seed " << seed << " algorithm " << static_cast<int>(algorithm) << " iteration " << i + 1;
        }
    }
}

template <class T>
class DenseCpOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(DenseCpOf, Types);

/// Orders 2 to 8, lengths 1 and primes: the reported fit is that of the factors, and planted factors are found.
TYPED_TEST(DenseCpOf, RecoversPlantedFactors) {
    const World world;
    const std::vector<Lengths> shapes{
        {7, 11}, {7, 5, 11}, {1, 7, 5}, {5, 4, 3, 7}, {3, 5, 2, 3, 4}, {3, 2, 3, 2, 3, 3}, {2, 3, 2, 2, 3, 2, 2, 2}};
    const double rounding = std::is_same_v<TypeParam, float> ? 3e-3 : 1e-6;  // the fit is the root of a difference, its error, too
    for (const auto& lengths : shapes) {
        const auto X = planted<TypeParam>(world, lengths, 2, 5);
        if (world.size() > 4 && lengths.size() % 2 != 0) continue;  // many ranks on few cores are slow
        auto options = exactly(2, 300);
        options.tolerance = std::is_same_v<TypeParam, float> ? 1e-6 : 1e-8;
        const auto result = cp_decompose(X, options);
        EXPECT_GT(result.fit, (std::is_same_v<TypeParam, float> ? 0.997 : 0.999)) << lengths.size();
        EXPECT_NEAR(1 - result.fit, residual(X, result.model), rounding) << lengths.size();
        EXPECT_EQ(result.model.lengths(), lengths);
    }
}

TEST(DenseCp, FindsPlantedFactorsWithEveryAlgorithm) {
    const World world;
    const auto clean = planted<double>(world, {8, 7, 6}, 2, 11);
    const auto noisy = planted<double>(world, {8, 7, 6}, 2, 11, 0.02);
    for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
        auto options = exactly(2, 150);
        options.algorithm = algorithm;
        options.tolerance = 1e-6;
        double best = 0, best_noisy = 0;
        for (options.seed = 1; options.seed <= 3 && best < 0.99; ++options.seed) {
            const auto found = cp_decompose(clean, options);
            best = std::max(best, found.fit);
            best_noisy = std::max(best_noisy, cp_decompose(noisy, options).fit);
            for (int m = 0; m < 3 && algorithm == CpAlgorithm::nonnegative; ++m)
                for (double v : found.model.gather(m)) EXPECT_GE(v, 0);
        }
        EXPECT_GT(best, 0.99) << static_cast<int>(algorithm);
        EXPECT_GT(best_noisy, 0.95) << static_cast<int>(algorithm);
        EXPECT_LT(best_noisy, 0.999) << static_cast<int>(algorithm);
    }
}

/// Fits on this number of ranks are those on one rank.
TEST(DenseCp, DoesNotDependOnTheRanks) {
    const World world, alone(MPI_COMM_SELF);
    for (const auto& lengths : {Lengths{5, 7, 3}, Lengths{16, 2, 9}, Lengths{4, 3, 5, 2}}) {
        const auto options = exactly(4, 6);
        const auto together = fits([&](const auto& note) { cp_decompose(planted<double>(world, lengths, 3, 2, 0.1, -1), options, note); });
        const auto single = fits([&](const auto& note) { cp_decompose(planted<double>(alone, lengths, 3, 2, 0.1, -1), options, note); });
        ASSERT_EQ(together.size(), single.size());
        for (std::size_t i = 0; i < single.size(); ++i) EXPECT_NEAR(together[i], single[i], 1e-10);
    }
}

/// Bytes of sweeps are those that were planned, to the byte, not below their bound, and the tensor does not move.
TEST(DenseCp, SendsWhatIsPlanned) {
    const World world;
    for (const auto& lengths : {Lengths{16, 12, 10}, Lengths{31, 7}, Lengths{5, 6, 7, 8}, Lengths{24, 24, 24}}) {
        const auto X = planted<double>(world, lengths, 2, 3);
        const auto before = X.layout_to_string();
        const auto options = exactly(3, 4);
        const auto result = cp_decompose(X, options);
        EXPECT_EQ(X.layout_to_string(), before);
        EXPECT_EQ(result.sent_bytes_max, result.planned_bytes_max);
        EXPECT_GE(result.sent_bytes_max, result.sweep_bound_bytes);
        EXPECT_GE(result.sweep_bound_bytes, result.bound_bytes) << "a sweep takes more than one of its products";
        const auto text = explain_cp(X, options);
        EXPECT_NE(text.find("sweep " + with_commas(result.planned_bytes_max)), std::string::npos) << text;
        if (world.size() == 1) {
            EXPECT_EQ(result.sent_bytes_max, 0);
        }
    }
    const auto many = World::dry_run(4096);
    const Tensor<double> X(many, {800, 800, 800}, "X");
    EXPECT_NE(explain_cp(X, exactly(16, 1)).find("16x16x16"), std::string::npos) << explain_cp(X, exactly(16, 1));
}

/// Pairwise perturbation reaches the fit of exact sweeps, ends with an exact fit, and says what it did.
TEST(PairwisePerturbation, ReachesTheSameFit) {
    const World world;
    for (const auto& lengths : {Lengths{9, 8, 7}, Lengths{5, 6, 4, 5}, Lengths{3, 4, 3, 4, 3}}) {
        if (world.size() > 4 && lengths.size() != 4) continue;  // many ranks on few cores are slow
        const auto X = planted<double>(world, lengths, 3, 4, 0.05);
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative}) {
            if (world.size() > 4 && algorithm == CpAlgorithm::nonnegative) continue;
            auto options = exactly(3, 400);
            options.algorithm = algorithm;
            options.tolerance = 1e-6;
            const auto wanted = cp_decompose(X, options);
            options.pairwise_perturbation = true;
            int pairs = 0, perturbed = 0;
            CpStep last = CpStep::pairs;
            const auto found = cp_decompose<double>(X, options, [&](const CpIteration& now, const auto&) {
                pairs += now.step == CpStep::pairs ? 1 : 0;
                perturbed += now.step == CpStep::perturbed ? 1 : 0;
                last = now.step;
            });
            EXPECT_EQ(last, CpStep::exact);
            EXPECT_GT(perturbed, 3);
            EXPECT_EQ(found.perturbation_starts, pairs);
            EXPECT_NEAR(found.fit, wanted.fit, 2e-4) << lengths.size();
            EXPECT_NEAR(1 - found.fit, residual(X, found.model), 1e-7);
        }
    }
}

/// One perturbed product against the exact one: the error is of third order in the distance of the factors.
TEST(PairwisePerturbation, IsRightToTheSecondOrder) {
    const World world;
    const Lengths lengths{6, 5, 4, 3};
    const auto X = planted<double>(world, lengths, 2, 8);
    auto options = exactly(2, 400);
    options.tolerance = 0;
    options.max_iterations = 60;
    const auto model = cp_decompose(X, options).model;
    double errors[2] = {};
    for (int k = 0; k < 2; ++k) {
        const double step = k == 0 ? 0.02 : 0.01;
        const HostElements here(*X.state());
        DenseCpOperator<double> op(X.world().state()->communicator(), X.state()->layout, here.of<double>(), 2, 0.5);
        CpState<double> state{Factors<double>(op, 1), {1, 1}, 0};
        const auto place = [&](double size) {
            for (int m = 0; m < 4; ++m) {
                const auto whole = model.gather(m);
                auto rows = state.factors.matrix(m);
                for (std::int64_t i = 0; i < rows.rows; ++i)
                    for (int r = 0; r < 2; ++r) {
                        const auto index = static_cast<std::size_t>(op.rows(m).index[static_cast<std::size_t>(i)]);
                        const auto element = 2 * index + static_cast<std::size_t>(r);
                        rows.row(i)[r] = whole[element] + size * number(3, static_cast<std::uint64_t>(m), element, -1, 1);
                    }
                op.start_expand(m, rows);
                op.finish_expand(m);
                auto gram = gram_of<double>(state.factors.owned(m));
                sum_over_ranks(op.comm(), gram);
                state.factors.set_gram(m, std::move(gram));
            }
        };
        for (std::size_t r = 0; r < 2; ++r) state.lambda[r] = model.lambda()[r];
        const auto multiply = [&] {
            Buffer<double> out(state.factors.matrix(1).rows * 2);
            op.mttkrp(1, state.factors.views(), {out.data(), state.factors.matrix(1).rows, 2, 2});
            return std::vector<double>(out.data(), out.data() + op.rows(1).owned * 2);
        };
        place(0);
        op.begin_iteration(state, true);
        op.begin_iteration(state, false);
        EXPECT_EQ(op.step(), CpStep::pairs);
        place(step);
        const auto approximate = multiply();
        op.begin_iteration(state, true);
        const auto exact = multiply();
        double sum = 0;
        for (std::size_t i = 0; i < exact.size(); ++i) sum += (exact[i] - approximate[i]) * (exact[i] - approximate[i]);
        op.comm().sum(&sum, 1);
        errors[k] = std::sqrt(sum);
    }
    EXPECT_LT(errors[1], errors[0] / 3);
    EXPECT_GT(errors[0], 0);
}

TEST(DenseCp, TakesMoreComponentsThanAnExtent) {
    const World world;
    const auto X = planted<double>(world, {3, 2, 4}, 2, 9);
    const auto result = cp_decompose(X, exactly(6, 40));
    EXPECT_GT(result.fit, 0.9999);
    EXPECT_LE(result.fit, 1);
}

TEST(DenseCp, TakesSymmetricTensors) {
    const World world;
    Tensor<double> X(world, {5, 5, 5}, "ijk", "sym(i,j,k)", "X");
    X.fill([](Index i) { return 1.0 / (1 + static_cast<double>(i[0] + i[1] + i[2])); });
    const auto result = cp_decompose(X, exactly(3, 60));
    EXPECT_GT(result.fit, 0.97);
    EXPECT_NEAR(1 - result.fit, residual(X.with_symmetry(Symmetry::none(3)), result.model), 1e-7);
}

TEST(DenseCp, GoesOnFromAModel) {
    const World world;
    const auto X = planted<double>(world, {6, 5, 7}, 3, 12, 0.1);
    const auto wanted = cp_decompose(X, exactly(3, 8));
    const auto half = cp_decompose(X, exactly(3, 4));
    const auto found = cp_decompose(X, exactly(3, 4), {}, &half.model);
    EXPECT_NEAR(found.fit, wanted.fit, 1e-9);
    EXPECT_THROW(cp_decompose(X, exactly(2, 4), {}, &half.model), InvalidArgument);
}

TEST(Reconstruct, GivesPartsOfAModel) {
    const World world;
    const auto X = planted<double>(world, {6, 5, 7}, 3, 12, 0.1);
    const auto model = cp_decompose(X, exactly(3, 4)).model;
    const auto whole = reconstruct(model).gather();
    const auto part = reconstruct(model, {1, 4, 0}, {4, 5, 7});
    EXPECT_EQ(part.extents(), (Lengths{3, 1, 7}));
    const auto values = part.gather();
    for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t k = 0; k < 7; ++k)
            EXPECT_NEAR(values[static_cast<std::size_t>(i + 3 * k)], whole[static_cast<std::size_t>(i + 1 + 6 * (4 + 5 * k))], 1e-12);
    EXPECT_THROW(reconstruct(model, {0, 0}, {1, 1}), InvalidArgument);
    EXPECT_THROW(reconstruct(model, {0, 0, 0}, {6, 6, 7}), InvalidArgument);
    EXPECT_THROW(reconstruct(model, {3, 0, 0}, {2, 5, 7}), InvalidArgument);
}

TEST(DenseCp, RefusesWhatMakesNoSense) {
    const World world;
    auto X = planted<double>(world, {3, 4, 5}, 1, 1);
    const auto refused = [&](const Tensor<double>& tensor, auto change, const std::string& words) {
        auto options = exactly(2, 3);
        change(options);
        try {
            cp_decompose(tensor, options);
            ADD_FAILURE() << "accepted: " << words;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    const auto nothing = [](CpOptions&) {};
    refused(
        X, [](auto& o) { o.rank = 0; }, "rank");
    refused(
        X, [](auto& o) { o.max_iterations = 0; }, "iteration");
    refused(
        X, [](auto& o) { o.grid = "1x1x1"; }, "sparse");
    refused(
        X, [](auto& o) { o.format = "csf-one"; }, "sparse");
    refused(
        X,
        [](auto& o) {
            o.pairwise_perturbation = true;
            o.algorithm = CpAlgorithm::opt;
        },
        "alternating");
    refused(
        X,
        [](auto& o) {
            o.pairwise_perturbation = true;
            o.perturbation_threshold = 0;
        },
        "threshold");
    refused(Tensor<double>(world, {3, 4, 5}, "zeros"), nothing, "zero");
    refused(Tensor<double>(world, {3, 0, 5}, "none"), nothing, "length 0");
    refused(Tensor<double>(world, {3}, "vector"), nothing, "dimensions");
    refused(Tensor<double>(world, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "nine"), nothing, "dimensions");
    Lengths keys{7, 2};
    std::vector<double> values{std::nan(""), HUGE_VAL};
    if (world.rank() > 0) keys.clear(), values.clear();
    X.write(keys, values);
    refused(X, nothing, "2 of 60 elements are not finite (1 NaN, 1 infinite), the first is (1, 2, 0), counted from 0");
    for (auto& value : values) value = 1e200;
    X.write(keys, values);
    refused(X, nothing, "the sum of the squares of its values is infinite");
}

}  // namespace
}  // namespace arges::test

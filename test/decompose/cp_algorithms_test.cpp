// Algorithms for CP decompositions, over every way to distribute nonzeros and rows.
#include "comm/values.hpp"
#include "decompose/cp/cp_als.hpp"
#include "decompose/cp/sparse_operator.hpp"

#include "arges/error.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arges::test {
namespace {

using namespace decompose;

using Matrix = std::vector<std::vector<double>>;

/// Dense factors on every rank.
struct Model {
    std::vector<double> lambda;
    std::vector<Matrix> factors;

    double at(const std::vector<std::int64_t>& index) const {
        double sum = 0;
        for (std::size_t c = 0; c < lambda.size(); ++c) {
            double product = lambda[c];
            for (std::size_t m = 0; m < index.size(); ++m) product *= factors[m][static_cast<std::size_t>(index[m])][c];
            sum += product;
        }
        return sum;
    }
};

/// All index tuples of a shape.
std::vector<std::vector<std::int64_t>> tuples(const std::vector<std::int64_t>& lengths) {
    std::vector<std::vector<std::int64_t>> result{{}};
    for (auto length : lengths) {
        std::vector<std::vector<std::int64_t>> next;
        for (const auto& tuple : result)
            for (std::int64_t i = 0; i < length; ++i) {
                next.push_back(tuple);
                next.back().push_back(i);
            }
        result = std::move(next);
    }
    return result;
}

/// A tensor of low rank, all elements stored.
sparse::Nonzeros<double> planted_nonzeros(const std::vector<std::int64_t>& lengths, int rank, std::uint64_t seed) {
    Model model{std::vector<double>(static_cast<std::size_t>(rank), 1), {}};
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        model.factors.emplace_back();
        for (std::int64_t i = 0; i < lengths[m]; ++i) {
            model.factors[m].emplace_back();
            for (int c = 0; c < rank; ++c) model.factors[m].back().push_back(start_value(seed, static_cast<int>(m) + 50, i, c));
        }
    }
    sparse::Nonzeros<double> result{lengths, std::vector<std::vector<std::int64_t>>(lengths.size()), {}};
    for (const auto& index : tuples(lengths)) {
        for (std::size_t m = 0; m < index.size(); ++m) result.indices[m].push_back(index[m]);
        result.values.push_back(model.at(index));
    }
    return result;
}

/// X_(mode) times the Khatri-Rao product, by its definition.
Matrix naive_mttkrp(const sparse::Nonzeros<double>& x, const std::vector<Matrix>& factors, std::size_t mode, int columns) {
    Matrix result(static_cast<std::size_t>(x.lengths[mode]), std::vector<double>(static_cast<std::size_t>(columns), 0));
    for (std::size_t n = 0; n < x.values.size(); ++n)
        for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
            double v = x.values[n];
            for (std::size_t m = 0; m < factors.size(); ++m)
                if (m != mode) v *= factors[m][static_cast<std::size_t>(x.indices[m][n])][c];
            result[static_cast<std::size_t>(x.indices[mode][n])][c] += v;
        }
    return result;
}

double residual_fit(const sparse::Nonzeros<double>& x, const Model& model) {
    double norm = 0, residual = 0;
    std::map<std::vector<std::int64_t>, double> stored;
    for (std::size_t n = 0; n < x.values.size(); ++n) {
        std::vector<std::int64_t> index;
        for (const auto& indices : x.indices) index.push_back(indices[n]);
        stored[index] = x.values[n];
        norm += x.values[n] * x.values[n];
    }
    for (const auto& index : tuples(x.lengths)) {
        const auto found = stored.find(index);
        const double difference = (found == stored.end() ? 0 : found->second) - model.at(index);
        residual += difference * difference;
    }
    return 1 - std::sqrt(residual / norm);
}

class CpAlgorithms : public testing::Test {
protected:
    DistributionPlan plan(std::uint64_t seed, const sparse::Nonzeros<double>& mine) const {
        DistributionPlan result;
        result.grain = static_cast<Grain>(seed % 3);
        const auto grids = partition::all_grids(comm_.size(), mine.order());
        result.grid = grids[seed % grids.size()];
        std::vector<partition::LayerCut> cuts;
        for (std::size_t m = 0; m < mine.lengths.size(); ++m)
            cuts.push_back({m, result.grain == Grain::coarse ? comm_.size() : result.grid[m], {}});
        result.boundaries = partition::cut_modes(RankTeam(comm_), counted_tensor(RankTeam(comm_), decompose::view_of(mine)), cuts);
        for (std::int64_t x = 0; x < mine.count(); ++x)
            result.parts.push_back(static_cast<std::int32_t>((x * 7 + comm_.rank()) % comm_.size()));
        return result;
    }

    SparseOperator<double> spread(const sparse::Nonzeros<double>& whole, std::uint64_t seed, int columns) {
        const auto mine = part_of(whole, comm_);
        return {comm_, distribute(comm_, mine, plan(seed, mine)), sparse::Format::automatic, columns};
    }

    /// All rows of all factors, on every rank.
    Model gathered(SparseOperator<double>& x, CpState<double>& state, const std::vector<std::int64_t>& lengths) const {
        Model model{state.lambda, {}};
        for (int m = 0; m < x.order(); ++m) {
            const auto owned = state.factors.owned(m);
            std::vector<double> flat;
            for (std::int64_t i = 0; i < owned.rows; ++i) {
                flat.push_back(static_cast<double>(x.rows(m).index[static_cast<std::size_t>(i)]));
                flat.insert(flat.end(), owned.row(i), owned.row(i) + owned.columns);
            }
            Matrix factor(static_cast<std::size_t>(lengths[static_cast<std::size_t>(m)]), std::vector<double>(state.lambda.size(), 0));
            const auto all = arges::gathered(comm_, flat);
            for (std::size_t at = 0; at < all.size(); at += state.lambda.size() + 1)
                factor[static_cast<std::size_t>(all[at])].assign(all.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                                                 all.begin() + static_cast<std::ptrdiff_t>(at + 1 + state.lambda.size()));
            model.factors.push_back(std::move(factor));
        }
        return model;
    }

    Communicator comm_{MPI_COMM_WORLD};
};

CpState<double> start(SparseOperator<double>& x, std::uint64_t seed) {
    return {Factors<double>(x, seed), std::vector<double>(static_cast<std::size_t>(x.columns()), 1), 0};
}

/// The fit that is reported is that of the factors, for every algorithm and distribution; all distributions give the same.
TEST_F(CpAlgorithms, ReportTheFitOfTheirFactors) {
    constexpr int columns = 3;
    for (std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        const auto whole = random_sparse(seed);
        double first[3] = {};
        for (std::uint64_t way = 0; way < 3; ++way) {
            auto x = spread(whole, way, columns);
            for (int algorithm = 0; algorithm < 3; ++algorithm) {
                auto state = start(x, 5);
                IterationOptions options;
                options.max_iterations = 4;
                const AfterIteration go_on = [](int, double) { return true; };
                if (algorithm == 0) run_als(x, state, options, go_on);
                if (algorithm == 1) run_nonnegative(x, state, options, go_on);
                if (algorithm == 2) run_opt(x, state, options, go_on);
                const auto model = gathered(x, state, whole.lengths);
                EXPECT_NEAR(state.fit, residual_fit(whole, model), 1e-7) << "seed " << seed << " way " << way << " algorithm " << algorithm;
                if (way == 0) first[algorithm] = state.fit;
                EXPECT_NEAR(state.fit, first[algorithm], 1e-7) << "seed " << seed << " way " << way << " algorithm " << algorithm;
                for (std::size_t m = 0; algorithm == 1 && m < model.factors.size(); ++m)
                    for (const auto& row : model.factors[m])
                        for (double v : row) EXPECT_GE(v, 0);
            }
        }
    }
}

TEST_F(CpAlgorithms, RecoverPlantedFactors) {
    const auto whole = planted_nonzeros({7, 6, 5}, 2, 11);
    for (std::uint64_t way = 0; way < 3; ++way) {
        auto x = spread(whole, way, 2);
        IterationOptions options;
        options.max_iterations = 400;
        const AfterIteration until_exact = [](int, double fit) { return fit < 0.9999; };
        auto state = start(x, 1);
        run_als(x, state, options, until_exact);
        EXPECT_GT(state.fit, 0.999) << "least squares";
        // Rows at their bounds can stop one start far from the optimum, not all of them.
        double best = 0;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            state = start(x, seed);
            run_nonnegative(x, state, options, until_exact);
            best = std::max(best, state.fit);
        }
        EXPECT_GT(best, 0.99) << "nonnegative";
        state = start(x, 1);
        run_opt(x, state, options, until_exact);
        EXPECT_GT(state.fit, 0.999) << "all at once";
    }
}

/// More components than there are: the Gram matrices are singular, the fit is exact and finite.
TEST_F(CpAlgorithms, SurviveCollinearColumns) {
    const auto whole = planted_nonzeros({6, 5, 4}, 1, 3);
    auto x = spread(whole, 1, 4);
    auto state = start(x, 2);
    IterationOptions options;
    options.max_iterations = 30;
    double last = -1;
    run_als(x, state, options, [&](int, double fit) {
        EXPECT_GE(fit, last - 1e-6);
        EXPECT_LE(fit, 1);
        last = fit;
        return true;
    });
    EXPECT_GT(state.fit, 0.9999);
}

/// One step of least squares for one mode solves its normal equations.
TEST_F(CpAlgorithms, SolveTheNormalEquations) {
    constexpr int columns = 2;
    const auto whole = random_sparse(4);
    auto x = spread(whole, 1, columns);
    auto state = start(x, 9);
    const auto before = gathered(x, state, whole.lengths);
    IterationOptions options;
    options.max_iterations = 1;
    run_als(x, state, options, [](int, double) { return true; });
    const auto after = gathered(x, state, whole.lengths);
    // The last mode's factor, times lambda, solves A V = M with the other factors as they are now.
    const auto last = whole.lengths.size() - 1;
    const auto m = naive_mttkrp(whole, after.factors, last, columns);
    for (std::size_t i = 0; i < m.size(); ++i)
        for (std::size_t c = 0; c < columns; ++c) {
            double sum = 0;
            for (std::size_t r = 0; r < columns; ++r) {
                double v = 1;
                for (std::size_t k = 0; k < last; ++k) {
                    double product = 0;
                    for (const auto& row : after.factors[k]) product += row[r] * row[c];
                    v *= product;
                }
                sum += after.factors[last][i][r] * after.lambda[r] * v;
            }
            EXPECT_NEAR(sum, m[i][c], 1e-8);
        }
    EXPECT_NE(before.factors, after.factors);
}

TEST_F(CpAlgorithms, StartFromTheSameNumbersEverywhere) {
    EXPECT_EQ(start_value(1, 0, 5, 2), start_value(1, 0, 5, 2));
    EXPECT_NE(start_value(1, 0, 5, 2), start_value(2, 0, 5, 2));
    EXPECT_NE(start_value(1, 0, 5, 2), start_value(1, 1, 5, 2));
    EXPECT_NE(start_value(1, 0, 5, 2), start_value(1, 0, 6, 2));
    double sum = 0;
    for (std::int64_t i = 0; i < 1000; ++i) sum += start_value(3, 2, i, 1);
    EXPECT_NEAR(sum / 1000, 0.5, 0.05);
}

TEST(FitOf, RefusesWhatCannotBe) {
    EXPECT_NEAR(fit_of(4, 4, 4), 1, 1e-12);
    EXPECT_NEAR(fit_of(4, 0, 0), 0, 1e-12);
    EXPECT_THROW(fit_of(4, 4, 5), Error);
    EXPECT_THROW(fit_of(4, HUGE_VAL, 1), Error);
    EXPECT_THROW(fit_of(4, std::nan(""), 1), Error);
}

}  // namespace
}  // namespace arges::test

// Sparse Tucker decompositions against higher-order orthogonal iteration on dense arrays.
#include "arges/tucker.hpp"

#include "decompose/cp/factors.hpp"
#include "decompose/dense_matrices.hpp"
#include "decompose/tensor_of.hpp"
#include "decompose/tucker/rank_search.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "support/sparse_tensors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

namespace arges::test {
namespace {

using Tensor3 = sparse::Nonzeros<double>;

/// The method by its definition: matricizations, Kronecker products of whole factors, and all eigenvectors.
class DenseHooi {
public:
    DenseHooi(const Tensor3& tensor, const std::vector<int>& ranks, std::uint64_t seed) : tensor_(tensor), ranks_(ranks) {
        for (std::size_t m = 0; m < ranks.size(); ++m) {
            const std::set<std::int64_t> nonempty(tensor.indices[m].begin(), tensor.indices[m].end());
            DenseMatrix start(static_cast<std::size_t>(tensor.lengths[m]), static_cast<std::size_t>(ranks[m]));
            for (auto i : nonempty)
                for (std::size_t c = 0; c < start.columns; ++c)
                    start(static_cast<std::size_t>(i), c) = decompose::start_value(seed, static_cast<int>(m), i, static_cast<int>(c)) - 0.5;
            factors_.push_back(orthonormal(start));
        }
    }

    double iterate() {
        double squares = 0, kept = 0;
        for (std::size_t m = 0; m < ranks_.size(); ++m) {
            const auto y = multiplied(m);
            const auto eigen = jacobi(product(y, transposed(y)));
            kept = 0;
            for (std::size_t c = 0; c < factors_[m].columns; ++c) {
                const bool is_zero = !(eigen.values[c] > 1e-12 * eigen.values[0]);  // a rank above the product of the others
                kept += is_zero ? 0 : eigen.values[c];
                for (std::size_t i = 0; i < y.rows; ++i) factors_[m](i, c) = is_zero ? 0 : eigen.vectors(i, c);
            }
        }
        for (auto v : tensor_.values) squares += v * v;
        return 1 - std::sqrt(std::max(0.0, squares - kept) / squares);
    }

private:
    static DenseMatrix orthonormal(DenseMatrix a) {
        for (std::size_t c = 0; c < a.columns; ++c) {
            for (int twice = 0; twice < 2; ++twice)
                for (std::size_t d = 0; d < c; ++d) {
                    double dot = 0;
                    for (std::size_t i = 0; i < a.rows; ++i) dot += a(i, c) * a(i, d);
                    for (std::size_t i = 0; i < a.rows; ++i) a(i, c) -= dot * a(i, d);
                }
            double norm = 0;
            for (std::size_t i = 0; i < a.rows; ++i) norm += a(i, c) * a(i, c);
            for (std::size_t i = 0; i < a.rows; ++i) a(i, c) /= std::sqrt(norm);
        }
        return a;
    }

    /// X_(m) times the Kronecker product of the other factors.
    DenseMatrix multiplied(std::size_t m) const {
        std::size_t width = 1;
        for (std::size_t k = 0; k < ranks_.size(); ++k) width *= k == m ? 1 : factors_[k].columns;
        DenseMatrix y(static_cast<std::size_t>(tensor_.lengths[m]), width);
        for (std::size_t x = 0; x < tensor_.values.size(); ++x)
            for (std::size_t j = 0; j < width; ++j) {
                auto rest = j;
                double term = tensor_.values[x];
                for (std::size_t k = 0; k < ranks_.size(); ++k) {
                    if (k == m) continue;
                    term *= factors_[k](static_cast<std::size_t>(tensor_.indices[k][x]), rest % factors_[k].columns);
                    rest /= factors_[k].columns;
                }
                y(static_cast<std::size_t>(tensor_.indices[m][x]), j) += term;
            }
        return y;
    }

    const Tensor3& tensor_;
    std::vector<int> ranks_;
    std::vector<DenseMatrix> factors_;
};

/// All elements of the model, first index fastest.
std::vector<double> elements(const TuckerModel<double>& model) {
    std::vector<DenseMatrix> factors;
    std::size_t count = 1;
    for (int m = 0; m < model.order(); ++m) {
        const auto place = static_cast<std::size_t>(m);
        factors.emplace_back(static_cast<std::size_t>(model.lengths()[place]), static_cast<std::size_t>(model.ranks()[place]));
        factors.back().values = model.gather(m);
        count *= factors.back().rows;
    }
    const auto core = model.core().gather();
    std::vector<double> all(count, 0);
    for (std::size_t x = 0; x < count; ++x)
        for (std::size_t g = 0; g < core.size(); ++g) {
            auto of_x = x, of_g = g;
            double term = core[g];
            for (const auto& factor : factors) {
                term *= factor(of_x % factor.rows, of_g % factor.columns);
                of_x /= factor.rows;
                of_g /= factor.columns;
            }
            all[x] += term;
        }
    return all;
}

std::vector<double> elements(const Tensor3& tensor) {
    std::size_t count = 1;
    for (auto n : tensor.lengths) count *= static_cast<std::size_t>(n);
    std::vector<double> all(count, 0);
    for (std::size_t x = 0; x < tensor.values.size(); ++x) {
        std::size_t place = 0;
        for (auto m = tensor.lengths.size(); m-- > 0;)
            place = place * static_cast<std::size_t>(tensor.lengths[m]) + static_cast<std::size_t>(tensor.indices[m][x]);
        all[place] += tensor.values[x];
    }
    return all;
}

/// Tensors with empty slices, and ranks of cores that they fill.
struct Case {
    Tensor3 tensor;
    std::vector<int> ranks;
};

std::vector<Case> cases() {
    std::vector<Case> result;
    for (std::uint64_t seed = 0; result.size() < 8; ++seed) {
        auto tensor = random_sparse(seed);
        std::size_t elements = 1;
        bool crowded = true;
        std::vector<int> ranks;
        for (std::size_t m = 0; m < tensor.lengths.size(); ++m) {
            const std::set<std::int64_t> nonempty(tensor.indices[m].begin(), tensor.indices[m].end());
            elements *= static_cast<std::size_t>(tensor.lengths[m]);
            ranks.push_back(nonempty.size() > 4 ? 2 + static_cast<int>((seed + m) % 2) : 1);
            crowded = crowded && nonempty.size() > 2;
        }
        if (crowded && elements < 20000 && tensor.count() > 30) result.push_back({std::move(tensor), ranks});
    }
    return result;
}

TuckerOptions options_of(const Case& c, int iterations) {
    TuckerOptions options;
    options.ranks = c.ranks;
    options.max_iterations = iterations;
    options.tolerance = 0;
    options.seed = 3;
    return options;
}

TEST(SparseHooi, HasTheFitsOfTheDenseMethod) {
    const World world;
    for (const auto& c : cases()) {
        SCOPED_TRACE(std::to_string(c.tensor.order()) + " modes, " + std::to_string(c.tensor.count()) + " nonzeros");
        const auto X = tensor_of(world, c.tensor);
        for (const char* distribution : {"medium", "coarse", "fine"}) {
            DenseHooi dense(c.tensor, c.ranks, 3);
            auto options = options_of(c, 4);
            options.distribution = distribution;
            int calls = 0;
            tucker_decompose<double>(X, options, [&](int number, double fit) {
                EXPECT_EQ(number, ++calls);
                EXPECT_NEAR(fit, dense.iterate(), 1e-9) << distribution << ", iteration " << number;
            });
            EXPECT_EQ(calls, 4);
        }
    }
}

/// The fit is that of the model that is given, and the model is the same on one rank and on all.
TEST(SparseHooi, GivesTheModelOfItsFitOnAnyNumberOfRanks) {
    const World world, alone(MPI_COMM_SELF);
    for (const auto& c : cases()) {
        SCOPED_TRACE(std::to_string(c.tensor.order()) + " modes, " + std::to_string(c.tensor.count()) + " nonzeros");
        const auto options = options_of(c, 20);
        const auto result = tucker_decompose(tensor_of(world, c.tensor), options);
        const auto model = elements(result.model), wanted = elements(c.tensor);
        double norm = 0, missed = 0;
        for (std::size_t x = 0; x < model.size(); ++x) {
            norm += wanted[x] * wanted[x];
            missed += (wanted[x] - model[x]) * (wanted[x] - model[x]);
        }
        EXPECT_NEAR(result.fit, 1 - std::sqrt(missed / norm), 1e-7);
        const auto single = tucker_decompose(tensor_of(alone, c.tensor), options);
        EXPECT_NEAR(single.fit, result.fit, 1e-8);
        const auto of_one = elements(single.model);
        for (std::size_t x = 0; x < model.size(); ++x) ASSERT_NEAR(of_one[x], model[x], 1e-5) << x;
    }
}

TEST(SparseHooi, FindsAPlantedCore) {
    const World world;
    const std::vector<std::int64_t> lengths{9, 7, 8, 5};
    const std::vector<int> ranks{3, 2, 2, 1};
    Tensor3 whole{lengths, std::vector<std::vector<std::int64_t>>(4), {}};
    const auto number = [](std::uint64_t seed, std::int64_t i, int c) { return decompose::start_value(seed, 0, i, c) - 0.4; };
    for (std::int64_t i = 0; i < 9; ++i)
        for (std::int64_t j = 0; j < 7; ++j)
            for (std::int64_t k = 0; k < 8; ++k)
                for (std::int64_t l = 0; l < 5; ++l) {
                    if (i == 4 || k == 0) continue;  // empty slices
                    double value = 0;
                    for (int a = 0; a < 3; ++a)
                        for (int b = 0; b < 2; ++b)
                            for (int c = 0; c < 2; ++c)
                                value +=
                                    number(5, a, b + 2 * c) * number(11, i, a) * number(12, j, b) * number(13, k, c) * number(14, l, 0);
                    const std::int64_t index[] = {i, j, k, l};
                    for (std::size_t m = 0; m < 4; ++m) whole.indices[m].push_back(index[m]);
                    whole.values.push_back(value);
                }
    TuckerOptions options;
    options.ranks = ranks;
    options.tolerance = 1e-12;
    const auto result = tucker_decompose(tensor_of(world, whole), options);
    EXPECT_GT(result.fit, 1 - 1e-6);
    EXPECT_TRUE(result.converged);
    const auto model = elements(result.model), wanted = elements(whole);
    for (std::size_t x = 0; x < model.size(); ++x) ASSERT_NEAR(model[x], wanted[x], 1e-6);
    // Columns are orthonormal, so the core has the norm of the tensor.
    double of_core = 0, of_tensor = 0;
    for (auto g : result.model.core().gather()) of_core += g * g;
    for (auto v : wanted) of_tensor += v * v;
    EXPECT_NEAR(of_core, of_tensor, 1e-9 * of_tensor);
    // With a larger core nothing is lost, and the columns beyond the rank are zero or harmless.
    options.ranks = {4, 3, 3, 2};
    const auto larger = tucker_decompose(tensor_of(world, whole), options);
    EXPECT_GT(larger.fit, 1 - 1e-6);
}

/// Random cores and factors with noise at all elements of slices that are not empty.
Tensor3 planted(std::uint64_t seed, const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& ranks, double noise) {
    std::int64_t count = 1, of_core = 1;
    for (auto n : lengths) count *= n;
    for (auto r : ranks) of_core *= r;
    Tensor3 whole{lengths, std::vector<std::vector<std::int64_t>>(lengths.size()), {}};
    for (std::int64_t x = 0; x < count; ++x) {
        double value = noise * (decompose::start_value(seed, 99, x, 0) - 0.5);
        for (std::int64_t g = 0; g < of_core; ++g) {
            auto of_x = x, of_g = g;
            double term = decompose::start_value(seed, 50, g, 0) - 0.5;
            for (std::size_t m = 0; m < lengths.size(); ++m) {
                term *= decompose::start_value(seed, static_cast<int>(m), of_x % lengths[m], static_cast<int>(of_g % ranks[m])) - 0.5;
                of_x /= lengths[m];
                of_g /= ranks[m];
            }
            value += term;
        }
        if (x % lengths[0] == 2) continue;
        auto rest = x;
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            whole.indices[m].push_back(rest % lengths[m]);
            rest /= lengths[m];
        }
        whole.values.push_back(value);
    }
    return whole;
}

std::int64_t elements_of(const std::vector<std::int64_t>& ranks) {
    return std::accumulate(ranks.begin(), ranks.end(), std::int64_t{1}, std::multiplies<>());
}

/// The error is met, and the core is hardly larger than that of the same tensor as a dense one.
TEST(SparseHooi, FindsRanksForAnError) {
    const World world;
    const std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> shapes{
        {{14, 12, 10}, {3, 2, 4}}, {{20, 15, 4}, {9, 7, 2}}, {{8, 7, 6, 5}, {2, 3, 2, 1}}, {{30, 25}, {6, 6}}};
    for (std::size_t k = 0; k < shapes.size(); ++k)
        for (double error : {0.3, 0.03, 1e-4}) {
            const auto whole = planted(k + 1, shapes[k].first, shapes[k].second, error < 1e-3 ? 0 : 0.002);
            SCOPED_TRACE("shape " + std::to_string(k) + ", error " + std::to_string(error));
            const auto X = tensor_of(world, whole);
            TuckerOptions options;
            options.relative_error = error;
            options.max_iterations = 200;
            const auto result = tucker_decompose(X, options);
            EXPECT_LE(result.estimated_error, error);
            EXPECT_EQ(result.stop_reason, StopReason::tolerance);
            EXPECT_EQ(static_cast<std::size_t>(result.iterations), result.fits.size());
            EXPECT_GT(result.forecast_bytes, 0);
            Tensor<double> dense(world, shapes[k].first, "X");
            const auto values = elements(whole);
            dense.fill([&](Index i) { return values[static_cast<std::size_t>(dense.key(i))]; });
            EXPECT_NEAR(relative_error(dense, result.model), result.estimated_error, 1e-6);
            options.method = TuckerMethod::hooi;
            const auto of_dense = tucker_decompose(dense, options).model.ranks();
            EXPECT_LE(static_cast<double>(elements_of(result.model.ranks())), 1.1 * static_cast<double>(elements_of(of_dense)));
        }
}

TEST(SparseHooi, DoesNotExceedRanksThatAreGivenWithAnError) {
    const World world;
    const auto X = tensor_of(world, planted(3, {14, 12, 10}, {5, 4, 6}, 0));
    TuckerOptions options;
    options.relative_error = 1e-4;
    options.ranks = {3, 4, 5};
    const auto result = tucker_decompose(X, options);
    for (std::size_t m = 0; m < 3; ++m) EXPECT_LE(result.model.ranks()[m], options.ranks[m]);
    EXPECT_GT(result.estimated_error, 1e-4);
    options.ranks = {7, 6, 8};
    EXPECT_EQ(tucker_decompose(X, options).model.ranks(), (std::vector<std::int64_t>{5, 4, 6}));
    const auto larger = tucker_decompose(X, options).model;
    options.ranks.clear();
    EXPECT_EQ(tucker_decompose(X, options, {}, &larger).model.ranks(), (std::vector<std::int64_t>{5, 4, 6}));
    options.relative_error = 1e-7;
    EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
    options.relative_error = 0;
    EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
}

/// About so many of the elements, the same on all ranks.
Tensor3 some_of(const Tensor3& whole, double share) {
    Tensor3 some{whole.lengths, std::vector<std::vector<std::int64_t>>(whole.lengths.size()), {}};
    for (std::size_t x = 0; x < whole.values.size(); ++x) {
        if (decompose::start_value(77, 0, static_cast<std::int64_t>(x), 0) > share) continue;
        for (std::size_t m = 0; m < whole.lengths.size(); ++m) some.indices[m].push_back(whole.indices[m][x]);
        some.values.push_back(whole.values[x]);
    }
    return some;
}

/// The dense tensor whose elements that are not stored are NaN.
Tensor<double> with_gaps(const World& world, const Tensor3& some) {
    Tensor<double> gaps(world, some.lengths, "X");
    std::vector<double> values(static_cast<std::size_t>(gaps.size()), std::nan(""));
    for (std::size_t x = 0; x < some.values.size(); ++x) {
        std::size_t place = 0;
        for (auto m = some.lengths.size(); m-- > 0;)
            place = place * static_cast<std::size_t>(some.lengths[m]) + static_cast<std::size_t>(some.indices[m][x]);
        values[place] = some.values[x];
    }
    gaps.fill([&](Index i) { return values[static_cast<std::size_t>(gaps.key(i))]; });
    return gaps;
}

double error_of(const TuckerModel<double>& model, const Tensor3& wanted) {
    const auto all = elements(model), values = elements(wanted);
    double norm = 0, missed = 0;
    for (std::size_t x = 0; x < all.size(); ++x) {
        norm += values[x] * values[x];
        missed += (values[x] - all[x]) * (values[x] - all[x]);
    }
    return std::sqrt(missed / norm);
}

TuckerOptions missing_options(const std::vector<int>& ranks, int iterations) {
    TuckerOptions options;
    options.ranks = ranks;
    options.missing = true;
    options.max_iterations = iterations;
    options.tolerance = 0;
    return options;
}

/// Half of the elements of an exact core are known.
TEST(SparseHooi, RecoversElementsThatAreNotStored) {
    const World world;
    for (const auto& [lengths, ranks] :
         std::vector<std::pair<std::vector<std::int64_t>, std::vector<int>>>{{{24, 20, 16}, {2, 2, 2}}, {{10, 9, 8, 7}, {2, 1, 2, 2}}}) {
        const auto whole = planted(4, lengths, {ranks.begin(), ranks.end()}, 0), half = some_of(whole, 0.5);
        const auto X = tensor_of(world, half);
        for (const char* distribution : {"medium", "coarse", "fine"}) {
            auto options = missing_options(ranks, 400);
            options.distribution = distribution;
            const auto result = tucker_decompose(X, options);
            EXPECT_LT(error_of(result.model, whole), 1e-6) << distribution;
            EXPECT_LT(result.estimated_error, 1e-6);
            for (std::size_t i = 1; i < result.fits.size(); ++i) EXPECT_GE(result.fits[i], result.fits[i - 1] - 1e-9) << i;
            options.max_iterations = 1;
            const auto next = tucker_decompose(X, options, {}, &result.model);
            EXPECT_LE(next.estimated_error, result.estimated_error + 1e-9);
        }
    }
}

/// As the dense tensor whose other elements are NaN, where both go on until nothing changes; and the fit is that of stored elements.
TEST(SparseHooi, HasTheErrorsOfDenseTensorsWithGaps) {
    const World world;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto some = some_of(planted(seed, {12, 10, 9}, {2, 2, 2}, 0.02), 0.7);
        const auto X = tensor_of(world, some);
        auto options = missing_options({2, 2, 2}, 600);
        const auto sparse = tucker_decompose(X, options), dense = tucker_decompose(with_gaps(world, some), options);
        EXPECT_NEAR(sparse.estimated_error, dense.estimated_error, 1e-6) << seed;
        const auto of_model = elements(sparse.model);
        double norm = 0, missed = 0;
        for (std::size_t x = 0; x < some.values.size(); ++x) {
            const auto place = static_cast<std::size_t>(some.indices[0][x] + 12 * (some.indices[1][x] + 10 * some.indices[2][x]));
            norm += some.values[x] * some.values[x];
            missed += (some.values[x] - of_model[place]) * (some.values[x] - of_model[place]);
        }
        EXPECT_NEAR(sparse.estimated_error, std::sqrt(missed / norm), 1e-12);
        options.relative_error = 0.1;
        EXPECT_THROW(tucker_decompose(X, options), InvalidArgument);
    }
}

/// Where every element is stored nothing is missing.
TEST(SparseHooi, WithoutGapsIsTheSameWithMissing) {
    const World world;
    auto whole = planted(6, {8, 7, 6}, {3, 3, 3}, 0.3);
    auto options = missing_options({2, 2, 2}, 300);
    const auto X = tensor_of(world, whole);
    const auto filled = tucker_decompose(X, options);
    options.missing = false;
    // The slice that is not stored is zero in one, and unknown, which is zero in the model, in the other.
    EXPECT_NEAR(filled.estimated_error, tucker_decompose(X, options).estimated_error, 1e-7);
}

TEST(RankSearch, GrowsWhatIsNotSmallWithinLimits) {
    using decompose::CoreState, decompose::grown_ranks;
    const std::vector<std::int64_t> limits{100, 100, 5};
    CoreState core{{4, 4, 4}, {{3, 2, 1}, {3, 2, 0}, {3, 2, 1}}, 2, 1};
    EXPECT_EQ(grown_ranks(core, limits, 4096), (std::vector<int>{8, 4, 5}));
    core.slices[0].back() = core.slices[2].back() = 0;  // none asks: all do
    EXPECT_EQ(grown_ranks(core, limits, 4096), (std::vector<int>{8, 8, 5}));
    EXPECT_EQ(grown_ranks(core, limits, 31), (std::vector<int>{5, 5, 5}));
    EXPECT_EQ(grown_ranks(core, limits, 20), (std::vector<int>{5, 4, 4}));
    EXPECT_EQ(grown_ranks(core, limits, 16), core.ranks);
    EXPECT_EQ(grown_ranks(core, {4, 4, 4}, 4096), core.ranks);
}

}  // namespace
}  // namespace arges::test

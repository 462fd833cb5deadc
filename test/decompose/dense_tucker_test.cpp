// Tucker decompositions of dense tensors.
#include "arges/tucker.hpp"

#include "arges/error.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/temporary_folder.hpp"
#include "support/drawn_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace arges::test {
namespace {

using Lengths = std::vector<std::int64_t>;

/// Smooth, with singular values that fall quickly, and noise.
template <class T>
Tensor<T> smooth(const World& world, const Lengths& lengths, double noise = 0) {
    Tensor<T> X(world, lengths, "smooth");
    X.fill([&](Index i) {
        double sum = 0.3;
        for (std::size_t m = 0; m < i.size(); ++m)
            sum += static_cast<double>((i[m] + 1) * static_cast<std::int64_t>(m + 1)) / static_cast<double>(lengths[m]);
        return static_cast<T>(1 / sum + noise * drawn_number(5, static_cast<std::uint64_t>(X.key(i))));
    });
    return X;
}

TuckerOptions with_ranks(std::vector<int> ranks, TuckerMethod method = TuckerMethod::st_hosvd) {
    TuckerOptions options;
    options.ranks = std::move(ranks);
    options.method = method;
    return options;
}

TuckerOptions with_error(double error, TuckerMethod method = TuckerMethod::st_hosvd) {
    TuckerOptions options;
    options.relative_error = error;
    options.method = method;
    return options;
}

template <class T>
void expect_orthonormal(const TuckerModel<T>& model, double tolerance) {
    for (int m = 0; m < model.order(); ++m) {
        const auto u = model.gather(m);
        const auto mode = static_cast<std::size_t>(m);
        const auto n = static_cast<std::size_t>(model.lengths()[mode]), r = static_cast<std::size_t>(model.ranks()[mode]);
        for (std::size_t a = 0; a < r; ++a)
            for (std::size_t b = 0; b < r; ++b) {
                double sum = 0;
                for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(u[i * r + a]) * static_cast<double>(u[i * r + b]);
                ASSERT_NEAR(sum, a == b ? 1 : 0, tolerance) << "mode " << m;
            }
    }
}

/// The Gram matrix by definition.
TEST(DenseUnfolding, GivesGramMatricesAndProducts) {
    const World world;
    for (const auto& lengths : {Lengths{5, 7, 3}, Lengths{4, 1, 6, 2}, Lengths{17, 2}, Lengths{9}, Lengths{2, 3, 2, 3, 2}}) {
        Tensor<double> X(world, lengths, "X");
        X.fill([&](Index i) { return std::floor(8 * drawn_number(3, static_cast<std::uint64_t>(X.key(i)))); });
        const auto values = X.gather();
        for (int mode = 0; mode < X.order(); ++mode) {
            const auto m = static_cast<std::size_t>(mode);
            const auto n = lengths[m];
            std::int64_t before = 1;
            for (std::size_t k = 0; k < m; ++k) before *= lengths[k];
            const auto behind = X.size() / before / n;
            const auto at = [&](std::int64_t b, std::int64_t i, std::int64_t q) {
                return values[static_cast<std::size_t>(b + before * (i + n * q))];
            };
            const auto moved = decompose::with_whole_mode(X, mode, {});
            EXPECT_EQ(moved.tensor.gather(), values);
            const auto gram = decompose::mode_gram(moved.tensor, mode);
            std::vector<double> u;
            for (std::int64_t x = 0; x < 2 * n; ++x) u.push_back(std::floor(4 * drawn_number(9, static_cast<std::uint64_t>(x))));
            const auto product = Tensor<double>(decompose::mode_product(*moved.tensor.state(), mode, u.data(), 2)).gather();
            for (std::int64_t i = 0; i < n && world.rank() == 0; ++i)
                for (std::int64_t j = 0; j <= i; ++j) {
                    double sum = 0;
                    for (std::int64_t b = 0; b < before; ++b)
                        for (std::int64_t q = 0; q < behind; ++q) sum += at(b, i, q) * at(b, j, q);
                    ASSERT_EQ(gram[static_cast<std::size_t>(i + n * j)], sum) << "mode " << mode;
                }
            for (std::int64_t b = 0; b < before; ++b)
                for (std::int64_t q = 0; q < behind; ++q)
                    for (std::int64_t c = 0; c < 2; ++c) {
                        double sum = 0;
                        for (std::int64_t i = 0; i < n; ++i) sum += at(b, i, q) * u[static_cast<std::size_t>(i + n * c)];
                        ASSERT_EQ(product[static_cast<std::size_t>(b + before * (c + 2 * q))], sum);
                    }
        }
    }
}

/// Panels of every kind: many short pieces, long pieces, and the first mode.
TEST(DenseUnfolding, GivesLargeGramMatrices) {
    const World world;
    for (const auto& lengths : {Lengths{40, 30, 50}, Lengths{700, 5, 3}}) {
        const auto check = [&](auto zero) {
            using T = decltype(zero);
            const auto X = smooth<T>(world, lengths, 0.5);
            for (int mode = 0; mode < 3; ++mode) {
                const auto gram = decompose::mode_gram(decompose::with_whole_mode(X, mode, {}).tensor, mode);
                const double norm = decompose::norm_squared(X);
                if (world.rank() > 0) continue;  // the first rank has it
                const auto n = static_cast<std::size_t>(lengths[static_cast<std::size_t>(mode)]);
                double trace = 0;
                for (std::size_t i = 0; i < n; ++i) trace += gram[i * (n + 1)];
                EXPECT_NEAR(trace / norm, 1, (std::is_same_v<T, float> ? 1e-5 : 1e-12));
            }
        };
        check(0.0);
        check(0.0F);
    }
}

TEST(DenseTuckerOrder, IsTheCheapest) {
    const RankGrid one{{}}, two{{2}};
    const MachineModel machine;
    const auto order = [&](const RankGrid& grid, const Lengths& lengths, const Lengths& ranks) {
        return decompose::cheapest_mode_order(default_layout(grid, lengths, Symmetry::none(static_cast<int>(lengths.size()))), ranks, 8,
                                              machine);
    };
    EXPECT_EQ(order(one, {300, 20, 200}, {300, 2, 200})[0], 1);
    EXPECT_EQ(order(one, {40, 50, 60}, {40, 50, 1})[0], 2);
    const auto layout = default_layout(two, {300, 300, 300}, Symmetry::none(3));
    const auto spread = decompose::cheapest_mode_order(layout, {30, 30, 30}, 8, machine);
    EXPECT_GT(layout.slot(spread.back()).grid_length(), 1) << "the mode that has to be moved comes last";
}

/// As measured: the kernels take equally long near 1200 x 900, 600 x 450 and 300 x 220.
TEST(DenseTuckerKernel, IsTheFasterOne) {
    for (const auto& [length, width] : {std::pair{300, 30}, std::pair{300, 150}, std::pair{600, 300}, std::pair{2000, 1000}})
        EXPECT_EQ(decompose::cheaper_kernel(length, width, 2), TuckerKernel::qr) << length << " x " << width;
    for (const auto& [length, width] : {std::pair{300, 250}, std::pair{600, 500}, std::pair{1000, 1000}, std::pair{300, 10000}})
        EXPECT_EQ(decompose::cheaper_kernel(length, width, 2), TuckerKernel::gram) << length << " x " << width;
}

/// Planted multilinear rank: every method finds it, for orders 1 to 6.
TEST(DenseTucker, RecoversPlantedRanks) {
    const World world;
    const std::vector<Lengths> shapes{{6, 7}, {7, 5, 11}, {1, 7, 5}, {5, 4, 3, 6}, {3, 5, 2, 3, 4}, {3, 2, 3, 2, 3, 3}};
    for (const auto& lengths : shapes) {
        if (world.size() > 4 && lengths.size() % 2 != 0) continue;  // many ranks on few cores are slow
        Tensor<double> X(world, lengths, "planted");
        X.fill([&](Index i) {
            double sum = 0;
            for (std::uint64_t r = 0; r < 2; ++r) {
                double product = 1;
                for (std::size_t m = 0; m < i.size(); ++m) product *= drawn_number(m + 10 * r, static_cast<std::uint64_t>(i[m]));
                sum += product;
            }
            return sum;
        });
        std::vector<int> ranks;
        for (auto n : lengths) ranks.push_back(static_cast<int>(std::min<std::int64_t>(n, 2)));
        for (auto method : {TuckerMethod::hosvd, TuckerMethod::st_hosvd, TuckerMethod::hooi})
            for (auto kernel : {TuckerKernel::gram, TuckerKernel::qr}) {
                auto options = with_ranks(ranks, method);
                options.kernel = kernel;
                const auto result = tucker_decompose(X, options);
                EXPECT_LT(relative_error(X, result.model), 1e-12) << lengths.size() << " method " << static_cast<int>(method);
                expect_orthonormal(result.model, 1e-12);
                options.ranks.clear();
                options.relative_error = 1e-6;
                const auto found = tucker_decompose(X, options);
                for (std::size_t m = 0; m < ranks.size(); ++m) EXPECT_EQ(found.model.ranks()[m], ranks[m]) << "mode " << m;
            }
    }
    const auto tall = tucker_decompose(smooth<double>(world, {300, 4, 3}, 0.1), with_ranks({3, 2, 2}));
    EXPECT_EQ(
        std::count_if(tall.steps.begin(), tall.steps.end(), [](const auto& s) { return s.mode == 0 && s.kernel == TuckerKernel::qr; }), 1);
    EXPECT_NEAR(relative_error(smooth<double>(world, {300, 4, 3}, 0.1), tall.model), tall.estimated_error, 1e-9);
    const auto vector = tucker_decompose(smooth<double>(world, {5}), with_ranks({1}));
    EXPECT_LT(relative_error(smooth<double>(world, {5}), vector.model), 1e-12);
}

/// The error stays below what is allowed, is what is reported, and at most the root of the order times the best for these ranks.
TEST(DenseTucker, KeepsTheErrorBound) {
    const World world;
    for (const auto& lengths : {Lengths{13, 11, 12}, Lengths{6, 7, 5, 6}, Lengths{31, 17}}) {
        const auto X = smooth<double>(world, lengths, 1e-3);
        for (double bound : {0.3, 1e-1, 1e-2, 1e-3})
            for (auto method : {TuckerMethod::hosvd, TuckerMethod::st_hosvd}) {
                if (world.size() > 2 && bound != 1e-2) continue;  // many ranks on few cores are slow
                const auto result = tucker_decompose(X, with_error(bound, method));
                const double error = relative_error(X, result.model);
                EXPECT_LE(error, bound * (1 + 1e-12)) << "method " << static_cast<int>(method);
                // Squares of estimates have an error of the machine precision: noise below its root.
                constexpr double noise = 1e-7;
                EXPECT_NEAR(error, result.estimated_error, error > 1e-6 ? 1e-9 : noise);
                auto refined = with_ranks({result.model.ranks().begin(), result.model.ranks().end()}, TuckerMethod::hooi);
                refined.max_iterations = 10;
                const auto best = tucker_decompose(X, refined);
                EXPECT_LE(best.estimated_error, error * (1 + 1e-9) + noise);
                EXPECT_LE(error, std::sqrt(static_cast<double>(lengths.size())) * best.estimated_error * 1.05 + 1e-9);
                EXPECT_NEAR(relative_error(X, best.model), best.estimated_error, best.estimated_error > 1e-6 ? 1e-9 : noise);
            }
    }
}

/// Below the root of the machine precision Gram matrices give noise; the choice is automatic.
TEST(DenseTucker, TakesTheAccurateKernelWhereItMatters) {
    const World world;
    const Lengths lengths{9, 8, 10};
    Tensor<double> X(world, lengths, "steep");
    X.fill([](Index i) { return std::pow(1e-3, static_cast<double>(i[0])) * (i[0] == i[1] && i[1] == i[2] ? 1 : 0); });
    const auto accurate = tucker_decompose(X, with_error(1e-10));
    EXPECT_EQ(accurate.steps[0].kernel, TuckerKernel::qr);
    for (auto rank : accurate.model.ranks()) EXPECT_EQ(rank, 4);
    EXPECT_LE(relative_error(X, accurate.model), 1e-10);
    EXPECT_EQ(tucker_decompose(X, with_error(1e-4)).steps[0].kernel, TuckerKernel::gram);
    Tensor<float> Y(world, lengths, "steep");
    Y.fill([](Index i) { return std::pow(1e-2F, static_cast<float>(i[0])) * (i[0] == i[1] && i[1] == i[2] ? 1.F : 0.F); });
    EXPECT_EQ(tucker_decompose(Y, with_error(1e-5)).steps[0].kernel, TuckerKernel::qr);
    const auto in_float = tucker_decompose(Y, with_error(1e-2));
    EXPECT_EQ(in_float.steps[0].kernel, TuckerKernel::gram);
    EXPECT_LE(relative_error(Y, in_float.model), 1e-2);
}

/// Models on this number of ranks are those on one rank.
TEST(DenseTucker, DoesNotDependOnTheRanks) {
    const World world, alone(MPI_COMM_SELF);
    for (const auto& lengths : {Lengths{8, 7, 6}, Lengths{3, 17}, Lengths{4, 5, 4, 3}})
        for (auto method : {TuckerMethod::hosvd, TuckerMethod::st_hosvd, TuckerMethod::hooi}) {
            std::vector<int> ranks;
            for (auto n : lengths) ranks.push_back(static_cast<int>(n) / 2);
            auto options = with_ranks(ranks, method);
            for (int m = static_cast<int>(lengths.size()); m-- > 0;) options.order.push_back(m);
            const auto here = tucker_decompose(smooth<double>(world, lengths, 0.2), options),
                       there = tucker_decompose(smooth<double>(alone, lengths, 0.2), options);
            EXPECT_NEAR(here.estimated_error, there.estimated_error, 1e-10);
            const auto a = reconstruct(here.model).gather(), b = reconstruct(there.model).gather();
            for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-8);
        }
}

/// What is sent equals what was planned, is not below the bounds, and the tensor stays as it is.
TEST(DenseTucker, SendsWhatIsPlanned) {
    const World world;
    const auto& comm = world.state()->communicator();
    for (const auto& lengths : {Lengths{16, 12, 10}, Lengths{7, 31}, Lengths{5, 6, 7, 8}, Lengths{24, 24, 48}, Lengths{300, 4, 6}})
        for (auto method : {TuckerMethod::hosvd, TuckerMethod::st_hosvd, TuckerMethod::hooi})
            for (auto kernel : {TuckerKernel::gram, TuckerKernel::qr}) {
                const auto X = smooth<double>(world, lengths, 0.1);
                const auto before = X.layout_to_string();
                const auto values = X.gather();
                auto options = with_ranks(std::vector<int>(lengths.size(), 3), method);
                options.kernel = kernel;
                options.max_iterations = 2;
                options.tolerance = 0;
                if (lengths.back() == 10) options.relative_error = 0.2, options.ranks.clear(), options.tolerance = 0.5;
                SCOPED_TRACE(std::to_string(lengths[0]) + " x " + std::to_string(lengths[1]) + " method " +
                             std::to_string(static_cast<int>(method)) + " kernel " + std::to_string(static_cast<int>(kernel)));
                std::int64_t moved = 0;
                for (const auto& step : tucker_decompose(X, options).steps) {
                    EXPECT_EQ(step.sent_bytes, step.planned_bytes) << "mode " << step.mode;
                    EXPECT_EQ(step.sent_bytes_max, comm.maximum(step.sent_bytes));
                    EXPECT_EQ(step.planned_bytes_max, step.sent_bytes_max);
                    const auto all = comm.sum(step.sent_bytes);
                    if (lengths.back() == 48) {  // the ranks have equal shares
                        EXPECT_GE(all, step.bound_bytes * world.size()) << "mode " << step.mode;
                    }
                    moved += step.sent_bytes_max;
                }
                EXPECT_EQ(moved > 0, world.size() > 1);
                if (method == TuckerMethod::hooi) continue;  // statements may move what they are given
                EXPECT_EQ(X.layout_to_string(), before);
                EXPECT_EQ(X.gather(), values);
            }
}

TEST(DenseTucker, WorksInSinglePrecision) {
    const World world;
    const auto X = smooth<float>(world, {13, 11, 12}, 1e-2);
    for (auto method : {TuckerMethod::hosvd, TuckerMethod::st_hosvd, TuckerMethod::hooi}) {
        const auto result = tucker_decompose(X, with_error(0.05, method));
        EXPECT_LE(relative_error(X, result.model), 0.05);
        expect_orthonormal(result.model, 1e-5);
    }
}

TEST(DenseTucker, TakesSymmetricTensorsAndRanksBeyondTheOtherModes) {
    const World world;
    Tensor<double> S(world, {6, 6, 6}, "ijk", "sym(i,j,k)", "S");
    S.fill([](Index i) { return 1.0 / (1 + static_cast<double>(i[0] + i[1] + i[2])); });
    const auto result = tucker_decompose(S, with_error(1e-4));
    EXPECT_LE(relative_error(S, result.model), 1e-4);
    const auto tall = tucker_decompose(smooth<double>(world, {12, 2, 2}), with_ranks({8, 2, 2}));
    EXPECT_EQ(tall.model.ranks(), (Lengths{8, 2, 2}));
    expect_orthonormal(tall.model, 1e-12);
    EXPECT_LT(relative_error(smooth<double>(world, {12, 2, 2}), tall.model), 1e-8) << "below the root of the machine precision";
}

TEST(DenseTucker, GivesPartsOfAModel) {
    const World world;
    const auto X = smooth<double>(world, {7, 5, 6}, 0.1);
    const auto model = tucker_decompose(X, with_ranks({3, 2, 3})).model;
    const auto whole = reconstruct(model).gather();
    const auto fiber = reconstruct(model, {2, 0, 4}, {3, 5, 5});
    EXPECT_EQ(fiber.extents(), (Lengths{1, 5, 1}));
    const auto values = fiber.gather();
    for (std::int64_t j = 0; j < 5; ++j)
        EXPECT_NEAR(values[static_cast<std::size_t>(j)], whole[static_cast<std::size_t>(2 + 7 * (j + 5 * 4))], 1e-12);
    EXPECT_EQ(reconstruct(model, {2, 3, 0}, {2, 5, 6}).size(), 0);
    EXPECT_THROW(reconstruct(model, {0, 0, 0}, {8, 5, 6}), InvalidArgument);
    EXPECT_NEAR(model.compression(), 210.0 / (18 + 21 + 10 + 18), 1e-12);
}

TEST(DenseTucker, SavesLoadsAndGoesOn) {
    const World world;
    const TemporaryFolder folder(world);
    const auto X = smooth<double>(world, {9, 8, 7}, 0.3);
    auto options = with_ranks({3, 3, 3}, TuckerMethod::hooi);
    options.order = {0, 1, 2};
    options.tolerance = 0;
    options.max_iterations = 4;
    const auto wanted = tucker_decompose(X, options);
    options.max_iterations = 2;
    const auto half = tucker_decompose(X, options);
    const auto file = folder / "model.h5";
    save_model(half.model, file);
    const auto loaded = load_tucker_model<double>(world, file);
    EXPECT_EQ(loaded.lengths(), half.model.lengths());
    EXPECT_EQ(loaded.core().gather(), half.model.core().gather());
    for (int m = 0; m < 3; ++m) EXPECT_EQ(loaded.gather(m), half.model.gather(m));
    EXPECT_NEAR(tucker_decompose(X, options, {}, &loaded).estimated_error, wanted.estimated_error, 1e-10);
    EXPECT_THROW(load_tucker_model<float>(world, file), InvalidArgument);
    EXPECT_THROW(load_tucker_model<double>(world, folder / "none.h5"), InvalidArgument);
    options.ranks = {3, 3, 2};
    EXPECT_THROW(tucker_decompose(X, options, {}, &loaded), InvalidArgument);
}

/// Of known elements only, what is not known is found; the error is that of the known ones.
TEST(DenseTucker, FindsMissingElements) {
    const World world;
    const Lengths lengths{9, 8, 7};
    Tensor<double> whole(world, lengths, "whole"), gaps(world, lengths, "gaps");
    const auto value = [&](Index i) {
        double sum = 2;
        for (std::uint64_t r = 0; r < 2; ++r) {
            double product = 1;
            for (std::size_t m = 0; m < i.size(); ++m) product *= drawn_number(m + 10 * r, static_cast<std::uint64_t>(i[m]));
            sum += product;
        }
        return sum;
    };
    whole.fill(value);
    gaps.fill([&](Index i) { return drawn_number(9, static_cast<std::uint64_t>(gaps.key(i))) < -0.4 ? std::nan("") : value(i); });
    auto options = with_ranks({3, 3, 3}, TuckerMethod::automatic);
    options.missing = true;
    options.max_iterations = 3000;
    options.tolerance = 1e-13;
    const auto found = tucker_decompose(gaps, options);
    EXPECT_EQ(found.method, TuckerMethod::hooi);
    EXPECT_LT(relative_error(whole, found.model), 1e-3) << found.iterations;
    expect_orthonormal(found.model, 1e-12);
    for (std::size_t i = 1; i < found.fits.size(); ++i) EXPECT_GE(found.fits[i], found.fits[i - 1] - 1e-12);
    options.max_iterations = 2;
    const auto early = tucker_decompose(gaps, options);
    // By the definition, on the elements of all ranks.
    auto difference = reconstruct(early.model);
    difference["ijk"] -= whole["ijk"];
    auto known = gaps;
    known.for_each_local([](Index, double& x) { x = std::isnan(x) ? 0 : 1; });
    Tensor<double> masked(world, lengths, "masked");
    masked["ijk"] = difference["ijk"] * known["ijk"];
    auto of_known = whole;
    of_known["ijk"] = whole["ijk"] * known["ijk"];
    EXPECT_NEAR(early.estimated_error, masked.norm() / of_known.norm(), 1e-10);
    // Without gaps it is hooi.
    options.ranks = {2, 2, 2};
    options.missing = false;
    options.method = TuckerMethod::hooi;
    const auto plain = tucker_decompose(whole, options);
    options.missing = true;
    EXPECT_NEAR(tucker_decompose(whole, options).estimated_error, plain.estimated_error, 1e-9);
    options.relative_error = 0.1;
    EXPECT_THROW(tucker_decompose(gaps, options), InvalidArgument);
    options.relative_error = 0;
    options.method = TuckerMethod::hosvd;
    EXPECT_THROW(tucker_decompose(gaps, options), InvalidArgument);
}

TEST(DenseTucker, RefusesWhatMakesNoSense) {
    const World world;
    auto X = smooth<double>(world, {3, 4, 5});
    const auto refused = [&](const Tensor<double>& tensor, const TuckerOptions& options, const std::string& words) {
        try {
            tucker_decompose(tensor, options);
            ADD_FAILURE() << "accepted: " << words;
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    const auto good = with_ranks({2, 2, 2});
    refused(X, with_ranks({2, 2}), "ranks");
    refused(X, with_ranks({2, 0, 2}), "mode 2");
    refused(X, with_ranks({4, 2, 2}), "mode 1");
    refused(X, TuckerOptions{}, "neither");
    refused(X, with_error(-1), "relative error");
    refused(X, with_error(1), "relative error");
    refused(X, with_error(std::nan("")), "relative error");
    auto options = good;
    options.order = {0, 0, 1};
    refused(X, options, "order");
    options = good;
    options.grid = "1x1x1";
    refused(X, options, "sparse");
    options = good;
    options.max_iterations = 0;
    refused(X, options, "iteration");
    refused(Tensor<double>(world, {3, 4, 5}, "zeros"), good, "zero");
    refused(Tensor<double>(world, {3, 0, 5}, "none"), good, "length 0");
    Lengths keys{7, 2};
    std::vector<double> values{std::nan(""), HUGE_VAL};
    if (world.rank() > 0) keys.clear(), values.clear();
    X.write(keys, values);
    refused(X, good, "2 of 60 elements are not finite (1 NaN, 1 infinite), the first is (1, 2, 0), counted from 0");
    for (auto& value : values) value = 1e200;
    X.write(keys, values);
    refused(X, good, "the sum of the squares of its values is infinite");
}

}  // namespace
}  // namespace arges::test

// Decompositions of sparse tensors whose sums over nonzeros run on a device: as on the host.
#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/tucker.hpp"
#include "decompose/cp/element_operator.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/sparse_device.hpp"
#include "decompose/tensor_of.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/world/world_state.hpp"
#include "support/failing_device.hpp"
#include "support/sparse_tensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace arges::test {
namespace {

/// A machine whose device is faster than the host at anything.
MachineModel with_fast_device() {
    MachineModel machine;
    machine.device = DeviceRates{.copied_bytes_per_second = 1e18, .link_bytes_per_second = 1e18, .call_seconds = 1e-18};
    return machine;
}

constexpr std::int64_t ample = 1 << 30;  // bytes on the device

CpOptions cp_options(std::uint64_t seed, const char* format) {
    CpOptions options;
    options.rank = 1 + static_cast<int>(seed % 7);
    options.max_iterations = 4;
    options.tolerance = 0;
    options.seed = seed;
    options.format = format;
    options.algorithm = std::array{CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}[seed % 3];
    options.starts = seed % 4 == 0 ? 2 : 1;
    options.init = seed % 5 == 0 ? CpInit::sketched : CpInit::random;
    options.distribution = std::array{"medium", "coarse", "fine", "coarse-allgather"}[seed / 3 % 4];
    return options;
}

template <class T>
class SparseSumsOnADevice : public ::testing::Test {
protected:
    const TestDevice device;
    const World host{MPI_COMM_WORLD, Device(DeviceKind::none)}, fast{with_fast_device(), Device(DeviceKind::cuda, ample)};

    /// By squared residuals: rounding is in these.
    static void expect_alike(const std::vector<double>& found, const std::vector<double>& wanted) {
        constexpr double tolerance = sizeof(T) == 4 ? 2e-3 : 1e-9;
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
            EXPECT_NEAR((1 - found[i]) * (1 - found[i]), (1 - wanted[i]) * (1 - wanted[i]), tolerance) << i;
    }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SparseSumsOnADevice, Types);

TYPED_TEST(SparseSumsOnADevice, CpHasTheSameFits) {
    using T = TypeParam;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        if (seed % 10 == 0) continue;  // hardly a nonzero
        SCOPED_TRACE(seed);
        const auto whole = random_sparse(seed);
        const auto X = tensor_of<T>(this->host, whole), Y = tensor_of<T>(this->fast, whole);
        const auto wanted = cp_decompose(X, cp_options(seed, "csf-all"));
        const auto before = TestDevice::calls();
        for (const char* format : {"auto", "device"}) {
            const auto found = cp_decompose(Y, cp_options(seed, format));
            EXPECT_EQ(this->fast.maximum(found.format == "device" ? 1 : 0), 1);  // a rank without nonzeros does without
            EXPECT_EQ(this->fast.device_memory_in_use(), 0);
            this->expect_alike(found.fits, wanted.fits);
        }
        EXPECT_GT(this->fast.maximum(TestDevice::calls() - before), 0);
        EXPECT_NE(cp_decompose(Y, cp_options(seed, "csf-one")).format, "device");
    }
}

TYPED_TEST(SparseSumsOnADevice, TuckerHasTheSameErrors) {
    using T = TypeParam;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        if (seed % 10 == 0) continue;
        SCOPED_TRACE(seed);
        const auto whole = random_sparse(seed);
        TuckerOptions options;
        for (auto length : whole.lengths)
            options.ranks.push_back(
                static_cast<int>(std::min<std::int64_t>(length, 1 + static_cast<std::int64_t>(seed + options.ranks.size()) % 3)));
        options.max_iterations = 3;
        options.tolerance = 0;
        options.seed = seed;
        if (seed % 3 == 0) options.method = TuckerMethod::nonnegative;
        options.distribution = std::array{"medium", "coarse", "fine"}[seed / 3 % 3];
        const auto wanted = tucker_decompose(tensor_of<T>(this->host, whole), options);
        const auto found = tucker_decompose(tensor_of<T>(this->fast, whole), options);
        EXPECT_EQ(wanted.device_ranks, 0);
        EXPECT_GT(found.device_ranks, 0);
        this->expect_alike(found.fits, wanted.fits);
    }
    EXPECT_EQ(this->fast.device_memory_in_use(), 0);  // cores lie there
}

TEST(CompletionsOnADevice, HaveTheSameErrors) {
    const TestDevice device;
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none)), fast(with_fast_device(), Device(DeviceKind::cuda, ample));
    for (std::uint64_t seed = 1; seed <= 32; ++seed) {
        if (seed % 10 == 0) continue;
        SCOPED_TRACE(seed);
        const auto whole = random_sparse(seed);
        auto of_weights = whole;
        for (std::size_t x = 0; x < of_weights.values.size(); ++x) of_weights.values[x] = 0.5 + static_cast<double>((x + seed) % 4);
        CompletionOptions options;
        options.rank = 1 + static_cast<int>(seed % 6);
        options.max_iterations = 3;
        options.tolerance = 0;
        options.regularization = 0.1;
        options.seed = seed;
        options.nonnegative = seed % 5 == 0;
        options.holdout = seed % 4 == 0 && whole.count() > 50 ? 0.2 : 0;
        options.distribution = std::array{"medium", "coarse", "fine", "auto"}[seed % 4];
        const auto completed = [&](const World& world) {
            const auto X = tensor_of<double>(world, whole), W = tensor_of<double>(world, of_weights, "W");
            return complete(X, options, {}, nullptr, nullptr, seed % 3 == 0 ? &W : nullptr);
        };
        const auto wanted = completed(host), found = completed(fast);
        EXPECT_EQ(wanted.device_ranks, 0);
        EXPECT_GT(found.device_ranks, 0);
        EXPECT_EQ(fast.device_memory_in_use(), 0);
        ASSERT_EQ(found.rmses.size(), wanted.rmses.size());
        for (std::size_t i = 0; i < wanted.rmses.size(); ++i) EXPECT_NEAR(found.rmses[i], wanted.rmses[i], 1e-9) << i;
        EXPECT_NEAR(found.held_out_rmse, wanted.held_out_rmse, 1e-8 * (1 + wanted.held_out_rmse));
    }
}

/// The equations of all rows, which a device makes, have no room on the host: rows are made one after the other there.
TEST(CompletionsOnADevice, DoWithoutWhereTheHostHasNoRoom) {
    const TestDevice device;
    const World world(with_fast_device(), Device(DeviceKind::cuda, ample));
    const auto X = tensor_of<double>(world, random_sparse(8));
    CompletionOptions options;
    options.rank = 40;
    options.max_iterations = 2;
    std::int64_t needed = 0;
    options.planned = [&](std::int64_t bytes, std::int64_t) { needed = bytes; };
    EXPECT_GT(complete(X, options).device_ranks, 0);
    auto limited = world;
    limited.set_memory_limit(needed - 1);  // what the tensor holds is in both
    EXPECT_LT(complete(X, options).device_ranks, world.size());
    EXPECT_LE(needed, limited.memory_limit());
}

const std::array all_losses{Loss{LossKind::gaussian, 0},       Loss{LossKind::poisson, 0},         Loss{LossKind::poisson_log, 0},
                            Loss{LossKind::bernoulli_odds, 0}, Loss{LossKind::bernoulli_logit, 0}, Loss{LossKind::gamma, 0},
                            Loss{LossKind::rayleigh, 0},       Loss{LossKind::huber, 0.25},        Loss{LossKind::negative_binomial, 4},
                            Loss{LossKind::beta, 0.3}};

/// Values that each loss is for.
sparse::Nonzeros<double> random_for(const Loss& loss, std::uint64_t seed) {
    auto X = random_sparse(seed);
    const bool is_binary = loss.kind == LossKind::bernoulli_odds || loss.kind == LossKind::bernoulli_logit;
    for (auto& value : X.values) value = is_binary ? (value > 0 ? 1 : 0.25) : loss.kind == LossKind::gaussian ? value : std::abs(value);
    return X;
}

sparse::Nonzeros<double> weights_for(sparse::Nonzeros<double> X, std::uint64_t seed) {
    for (std::size_t x = 0; x < X.values.size(); ++x) X.values[x] = 0.5 + static_cast<double>((x + seed) % 4);
    return X;
}

/// The value of an objective at its first point, and the gradient's rows by definition of the distribution, which is the same.
template <class T>
std::vector<double> value_and_gradient(const World& world, const Loss& loss, bool with_zeros, std::uint64_t seed,
                                       const ElementKernels* device) {
    const auto whole = random_for(loss, seed);
    const auto X = tensor_of<T>(world, whole), W = tensor_of<T>(world, weights_for(whole, seed));
    const auto& comm = world.state()->communicator();
    std::vector<T> weights(W.local_values().begin(), W.local_values().end());
    const bool is_weighted = !with_zeros && seed % 3 == 0;
    const auto known = decompose::known_elements<T>(comm, "X", X.state()->template values_of<T>(), false, with_zeros ? 1000 : 0, loss,
                                                    is_weighted ? std::optional<std::span<const T>>(weights) : std::nullopt);
    decompose::DistributionRequest request;
    request.distribution = std::array{"medium", "coarse", "fine"}[seed % 3];
    request.columns = 1 + static_cast<int>(seed % 5);
    auto distributed = decompose::distribute_tensor<T>(*X.state(), false, request, is_weighted ? &weights : nullptr);
    decompose::ElementOperator<T> elements(comm, std::move(distributed.nonzeros), request.columns, 1, 1, device);
    decompose::Factors<T> factors(elements, seed);
    const auto objective = decompose::element_objective(elements, factors, known, with_zeros, 0.1);
    decompose::FactorVector<T> gradient;
    std::vector<double> result{objective->evaluate(objective->point(), gradient)};
    result.insert(result.end(), gradient.begin(), gradient.end());
    return result;
}

TYPED_TEST(SparseSumsOnADevice, LossesHaveTheSameGradients) {
    using T = TypeParam;
    constexpr double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-10;
    for (std::uint64_t seed = 1; seed <= 22; ++seed) {
        if (seed % 10 == 0) continue;
        SCOPED_TRACE(seed);
        const auto& loss = all_losses[seed % 11 % all_losses.size()];
        const bool with_zeros = loss.kind == LossKind::poisson;
        const auto* const there = seed % 2 == 0 || this->host.rank() == 0 ? &device_kernels<T>() : nullptr;  // at times on one rank only
        const auto wanted = value_and_gradient<T>(this->host, loss, with_zeros, seed, nullptr);
        const auto found = value_and_gradient<T>(this->host, loss, with_zeros, seed, there);
        EXPECT_EQ(found.size(), wanted.size());
        double largest = 1;
        for (double one : wanted) largest = std::max(largest, std::abs(one));
        for (std::size_t i = 0; i < std::min(found.size(), wanted.size()); ++i) EXPECT_NEAR(found[i], wanted[i], tolerance * largest) << i;
    }
}

/// Rows by their equations, and losses; in single precision equations stay on the host.
TYPED_TEST(SparseSumsOnADevice, ElementsHaveTheSameModels) {
    using T = TypeParam;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        if (seed % 10 == 0) continue;
        SCOPED_TRACE(seed);
        CpOptions options;
        options.algorithm = std::array{CpAlgorithm::als, CpAlgorithm::opt, CpAlgorithm::nonnegative, CpAlgorithm::opt}[seed % 4];
        const bool is_opt = options.algorithm == CpAlgorithm::opt;
        if (is_opt) options.loss = all_losses[seed % 11 % all_losses.size()];
        options.missing = options.loss.kind != LossKind::poisson;
        options.rank = 1 + static_cast<int>(seed % 6);
        options.max_iterations = 3;
        options.tolerance = 0;
        options.regularization = 0.1;
        options.seed = seed;
        options.starts = 1 + static_cast<int>(seed % 2);
        if (seed % 8 == 0) options.constraints = {parse_constraint("l1=0.1")};
        options.distribution = std::array{"medium", "coarse", "fine", "auto"}[seed / 2 % 4];
        const auto whole = random_for(options.loss, seed);
        const auto decomposed = [&](const World& world) {
            const auto X = tensor_of<T>(world, whole), W = tensor_of<T>(world, weights_for(whole, seed));
            return cp_decompose(X, options, {}, nullptr, options.missing && seed % 3 == 0 ? &W : nullptr);
        };
        const auto wanted = decomposed(this->host), found = decomposed(this->fast);
        const bool can_be_there = is_opt || sizeof(T) == 8;
        EXPECT_EQ(this->fast.maximum(found.format == "device" ? 1 : 0), can_be_there ? 1 : 0);
        EXPECT_EQ(wanted.format, "rows");
        EXPECT_EQ(this->fast.device_memory_in_use(), 0);
        EXPECT_NEAR(found.loss, wanted.loss, (sizeof(T) == 4 ? 2e-3 : 1e-8) * (1 + std::abs(wanted.loss)));
        this->expect_alike(found.fits, wanted.fits);
    }
}

/// Room for some nonzeros of some ranks only: the others have them on the host.
TEST(DeviceRooms, AreUsedAsFarAsTheyGo) {
    const TestDevice device;
    const auto whole = random_sparse(8);
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    const auto wanted = cp_decompose(tensor_of<double>(host, whole), cp_options(8, "auto")).fit;
    for (std::int64_t limit : {1, 3000, 20000, 40000, 1 << 20}) {
        const World world(with_fast_device(), Device(DeviceKind::cuda, limit));
        const auto X = tensor_of<double>(world, whole);
        TestDevice::reset_peak();
        const auto before = TestDevice::peak();
        EXPECT_NEAR(cp_decompose(X, cp_options(8, "auto")).fit, wanted, 1e-9) << limit;
        EXPECT_LE(TestDevice::peak() - before, limit);
    }
    const World small(with_fast_device(), Device(DeviceKind::cuda, 1000));
    EXPECT_THROW(cp_decompose(tensor_of<double>(small, whole), cp_options(8, "device")), OutOfMemory);
    EXPECT_THROW(cp_decompose(tensor_of<double>(host, whole), cp_options(8, "device")), InvalidArgument);
}

/// Likewise of losses and equations, whose rows need room on the host, too.
TEST(DeviceRooms, OfKnownElementsAreUsedAsFarAsTheyGo) {
    const TestDevice device;
    const auto whole = random_sparse(8);
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    for (const auto algorithm : {CpAlgorithm::als, CpAlgorithm::opt}) {
        auto options = cp_options(6, "auto");
        options.algorithm = algorithm;
        options.missing = true;
        options.rank = 40;
        options.regularization = 0.1;
        std::int64_t needed = 0;
        options.planned = [&](std::int64_t bytes, std::int64_t) { needed = bytes; };
        const auto wanted = cp_decompose(tensor_of<double>(host, whole), options).fit;
        const auto on_host = needed;
        for (std::int64_t limit : {1, 3000, 20000, 60000, 1 << 20}) {
            World world(with_fast_device(), Device(DeviceKind::cuda, limit));
            const auto X = tensor_of<double>(world, whole);
            TestDevice::reset_peak();
            const auto before = TestDevice::peak();
            EXPECT_NEAR(cp_decompose(X, options).fit, wanted, 1e-9) << limit;
            EXPECT_LE(TestDevice::peak() - before, limit);
            if (limit < 1 << 20) continue;
            EXPECT_GT(needed, on_host);
            world.set_memory_limit(needed - 1);  // what the tensor holds is in both
            EXPECT_EQ(world.maximum(cp_decompose(X, options).format == "device" ? 0 : 1), 1);
            EXPECT_LE(needed, world.memory_limit());
        }
    }
}

/// Small sums are faster on the host, large ones on a device; neither depends on the other where a rank has hardly a nonzero.
TEST(DeviceRooms, AreLeftEmptyWhereTheHostIsFaster) {
    const auto sums = [](std::int64_t nonzeros, std::int64_t columns) {
        decompose::SparseShare share;
        share.lengths = share.rows = share.owned = {50000, 20000, 366};
        share.nonzeros = {nonzeros};
        return decompose::device_mttkrp(share, columns, *machine_with_device("h200", {}));
    };
    EXPECT_GT(sums(100, 16).seconds, sums(100, 16).on_host);
    EXPECT_LT(sums(20000000, 16).seconds, 0.1 * sums(20000000, 16).on_host);
    EXPECT_GT(sums(20000000, 64).bytes, sums(20000000, 16).bytes);
}

class DecompositionsOnADevice : public FailingDevice {};

TEST_F(DecompositionsOnADevice, FailOnAllRanks) {
    const World fast(with_fast_device(), Device(DeviceKind::cuda, ample));
    const auto Y = tensor_of<double>(fast, random_sparse(8));
    check("a CP decomposition", [&] { static_cast<void>(cp_decompose(Y, cp_options(6, "device"))); });
    TuckerOptions options;
    options.ranks = std::vector<int>(static_cast<std::size_t>(Y.order()), 1);
    check("a Tucker decomposition", [&] { static_cast<void>(tucker_decompose(Y, options)); });
    CompletionOptions completion;
    completion.rank = 2;
    completion.max_iterations = 2;
    check("a completion", [&] { static_cast<void>(complete(Y, completion)); });
    auto missing = cp_options(6, "auto");
    missing.missing = true;
    check("a CP decomposition of missing elements", [&] { static_cast<void>(cp_decompose(Y, missing)); });
    missing.algorithm = CpAlgorithm::opt;
    check("a loss", [&] { static_cast<void>(cp_decompose(Y, missing)); });
}

}  // namespace
}  // namespace arges::test

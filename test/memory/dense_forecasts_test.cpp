// What decompositions of dense tensors say that they take, against what they do take.
#include "arges/cpd.hpp"
#include "arges/tensor_io.hpp"
#include "arges/tucker.hpp"
#include "base/splitmix.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/dense/tensor_files.hpp"
#include "io/temporary_folder.hpp"
#include "memory/counted_memory.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// Blocks that no forecast of a step counts: objects, lists of movements and plans, messages of agreement, what MPI allocates when it is
/// first used.
constexpr std::int64_t small_change = 900000;

class DenseForecasts : public testing::Test {
protected:
    /// Its arrays are below 2 MiB, so that they are counted.
    Tensor<double> tensor(const std::vector<std::int64_t>& extents) const {
        Tensor<double> result(world_, extents, "x");
        result.fill([](Index i) {
            double sum = 1;
            std::uint64_t noise = 0;
            for (std::size_t m = 0; m < i.size(); ++m) {
                sum += 0.1 * static_cast<double>((m + 1) * static_cast<std::size_t>(i[m]) % 17);
                noise = splitmix(noise + static_cast<std::uint64_t>(i[m]));
            }
            return 1 / sum + 0.3 * unit_interval(noise);
        });
        return result;
    }
    void expect_covered(std::int64_t taken, std::int64_t forecast, const std::string& what) const {
        taken = world_.state()->communicator().maximum(taken);
        EXPECT_LE(taken, forecast + small_change) << what;
    }
    static std::vector<std::vector<std::int64_t>> shapes() {
        return {{60, 50, 70}, {200, 900}, {20, 25, 18, 22}, {7, 9, 8, 10, 11, 3}, {1000, 8, 9}};
    }
    static std::string text(const std::vector<std::int64_t>& extents) {
        std::string result;
        for (auto n : extents) result += " " + std::to_string(n);
        return result;
    }

    World world_;
};

TEST_F(DenseForecasts, CoverCp) {
    for (const auto& extents : shapes()) {
        const auto x = tensor(extents);
        const auto held = x.state()->shape().local_size(world_.rank()) * 8;
        for (const auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt})
            for (const bool perturbs : {false, true}) {
                if (perturbs && algorithm == CpAlgorithm::opt) continue;
                CpOptions options;
                options.init = perturbs ? CpInit::sketched : algorithm == CpAlgorithm::nonnegative ? CpInit::hosvd : CpInit::random;
                options.rank = 5;
                options.algorithm = algorithm;
                options.pairwise_perturbation = perturbs;
                options.perturbation_threshold = 0.1;
                options.regularization = 1e-6;
                options.max_iterations = 12;
                options.tolerance = 0;
                std::int64_t forecast = 0;
                const auto taken = held + most_held([&] { forecast = cp_decompose(x, options).forecast_bytes; });
                expect_covered(taken, forecast,
                               text(extents) + (perturbs ? ", perturbed, " : ", ") + std::to_string(static_cast<int>(algorithm)));
            }
    }
}

TEST_F(DenseForecasts, CoverConstrainedCp) {
    for (const auto& extents : shapes()) {
        const auto x = tensor(extents);
        const auto held = x.state()->shape().local_size(world_.rank()) * 8;
        for (const char* name : {"nonnegative", "l2=0.1", "smooth=0.1", "unimodal", "column-simplex"}) {
            CpOptions options;
            options.rank = std::string(name) == "unimodal" ? 2 : 5;
            options.constraints = {parse_constraint(name)};
            options.max_iterations = 3;
            options.tolerance = 0;
            std::int64_t forecast = 0;
            const auto taken = held + most_held([&] { forecast = cp_decompose(x, options).forecast_bytes; });
            expect_covered(taken, forecast, text(extents) + ", " + name);
        }
    }
}

TEST_F(DenseForecasts, CoverTucker) {
    for (const auto& extents : shapes()) {
        const auto x = tensor(extents);
        const auto held = x.state()->shape().local_size(world_.rank()) * 8;
        for (const auto method : {TuckerMethod::st_hosvd, TuckerMethod::hosvd, TuckerMethod::hooi, TuckerMethod::nonnegative})
            for (const auto kernel : {TuckerKernel::gram, TuckerKernel::qr}) {
                TuckerOptions options;
                options.ranks.assign(extents.size(), 3);
                options.method = method;
                options.kernel = kernel;
                options.max_iterations = 2;
                std::int64_t forecast = 0;
                const auto taken = held + most_held([&] { forecast = tucker_decompose(x, options).forecast_bytes; });
                expect_covered(taken, forecast,
                               text(extents) + ", method " + std::to_string(static_cast<int>(method)) + ", kernel " +
                                   std::to_string(static_cast<int>(kernel)));
            }
    }
}

/// Over the limit they are refused by all ranks; buffers for reading are cut to what is left.
TEST_F(DenseForecasts, CoverTuckerOfKnownElements) {
    for (const auto& extents : shapes()) {
        const auto x = tensor(extents), weights = tensor(extents);
        const auto held = x.state()->shape().local_size(world_.rank()) * 8;
        for (const bool has_weights : {false, true}) {
            TuckerOptions options;
            options.ranks.assign(extents.size(), 3);
            options.missing = true;
            options.max_iterations = 2;
            std::int64_t forecast = 0;
            const auto taken = (has_weights ? 2 : 1) * held + most_held([&] {
                                   forecast = tucker_decompose(x, options, {}, nullptr, has_weights ? &weights : nullptr).forecast_bytes;
                               });
            expect_covered(taken, forecast, text(extents) + (has_weights ? ", weights" : ", missing"));
        }
    }
}

TEST_F(DenseForecasts, AreRefusedOverTheLimit) {
    const auto x = tensor({60, 50, 70});
    const auto limit = world_.memory_limit();
    CpOptions cp;
    TuckerOptions tucker;
    tucker.ranks = {3, 3, 3};
    world_.set_memory_limit(world_.memory_in_use() + 1000);
    EXPECT_THROW(cp_decompose(x, cp), OutOfMemory);
    EXPECT_THROW(tucker_decompose(x, tucker), OutOfMemory);
    world_.set_memory_limit(limit);

    const TemporaryFolder folder(world_);
    const auto file = folder / "x.npy";
    write_npy(x, file);
    const auto bytes = x.state()->shape().max_local_size() * 8;
    world_.set_memory_limit(world_.memory_in_use() + bytes + 1000);
    EXPECT_THROW(read_tensor<double>(world_, file), OutOfMemory);
    const auto room = io::tensor_reading_memory(world_, file, 8, 0);
    world_.set_memory_limit(world_.memory_in_use() + bytes + 5 * room);
    const auto taken = most_held([&] { EXPECT_EQ(read_tensor<double>(world_, file).size(), x.size()); });
    EXPECT_LE(taken, bytes + 5 * room + small_change);
    world_.set_memory_limit(limit);
}

}  // namespace
}  // namespace arges::test

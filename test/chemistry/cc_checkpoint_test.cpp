#include "chemistry/cc_checkpoint.hpp"

#include "arges/checkpoint.hpp"
#include "arges/error.hpp"
#include "chemistry/cc_driver.hpp"
#include "chemistry/temporary_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace arges::chemistry {
namespace {

const char* const water = "examples/data/h2o_sto3g.fcidump";

CcOptions options_for(Method method, const std::string& path) {
    CcOptions options;
    options.method = method;
    options.checkpoint = {path, 3, false};
    return options;
}

/// Has the checkpoint of a CCSD calculation that went to its end; made once.
class Checkpoints : public testing::Test {
protected:
    static void SetUpTestSuite() {
        world_.emplace();
        file_ = std::make_unique<TemporaryFile>(*world_, nullptr);
        whole_ = run_coupled_cluster(*world_, water, options_for(Method::ccsd, file_->path()));
    }
    static void TearDownTestSuite() {
        file_.reset();
        world_.reset();
    }
    static const World& world() { return *world_; }
    static const CcResult& whole() { return whole_; }
    static std::string path() { return file_->path(); }

private:
    static inline std::optional<World> world_;
    static inline std::unique_ptr<TemporaryFile> file_;
    static inline CcResult whole_;
};

TEST_F(Checkpoints, are_where_a_calculation_goes_on_on_any_number_of_ranks) {
    const TemporaryFile file(world(), nullptr);
    CcOptions options = options_for(Method::ccsd, file.path());
    options.solver.max_iterations = 6;
    EXPECT_THROW(run_coupled_cluster(world(), water, options), NotConverged);
    {
        const CheckpointReader saved(world(), file.path());
        EXPECT_EQ(saved.value<std::string>("method"), "ccsd");
        EXPECT_EQ(saved.value<std::int64_t>("iteration"), 6);
        EXPECT_EQ(saved.tensors().size(), 2u);
    }
    options.solver.max_iterations = 100;
    options.checkpoint.restart = true;
    const auto check = [](const CcResult& rest) {
        EXPECT_LT(rest.iterations, whole().iterations);
        EXPECT_NEAR(rest.energy(Method::ccsd).value(), whole().energy(Method::ccsd).value(), 1e-8);
    };
    if (world().rank() == 0) {
        const World alone(MPI_COMM_SELF);
        const std::string copy = file.path() + ".copy";
        std::filesystem::copy_file(file.path(), copy);
        CcOptions on_one = options;
        on_one.checkpoint.path = copy;
        check(run_coupled_cluster(alone, water, on_one));
        std::filesystem::remove(copy);
    }
    check(run_coupled_cluster(world(), water, options));
}

TEST_F(Checkpoints, of_triples_lead_to_the_energy_of_ccsdt) {
    if (world().size() > 4) GTEST_SKIP() << "many ranks are slow; the others of this suite run there";
    constexpr double ccsdt = -0.070812807696379;  // examples/data/references.csv
    const TemporaryFile file(world(), nullptr);
    if (world().rank() == 0) std::filesystem::copy_file(path(), file.path());
    Communicator(world().communicator()).barrier();
    CcOptions options = options_for(Method::ccsdt, file.path());
    options.solver.tolerance = 1e-9;
    options.checkpoint.restart = true;  // from the amplitudes of CCSD
    options.solver.max_iterations = 5;
    EXPECT_THROW(run_coupled_cluster(world(), water, options), NotConverged);
    {
        const CheckpointReader saved(world(), file.path());
        EXPECT_EQ(saved.value<std::string>("method"), "ccsdt");
        EXPECT_EQ(saved.tensors().size(), 3u);
    }
    options.solver.max_iterations = 100;  // and on from those of CCSDT
    const CcResult rest = run_coupled_cluster(world(), water, options);
    EXPECT_NEAR(rest.energy(Method::ccsdt).value(), ccsdt, 1e-9);
}

TEST_F(Checkpoints, of_converged_amplitudes_need_one_iteration) {
    CcOptions options = options_for(Method::ccsd_t, path());
    options.checkpoint.restart = true;
    options.solver.tolerance = 1e-7;
    const CcResult again = run_coupled_cluster(world(), water, options);
    EXPECT_EQ(again.iterations, 1);
    EXPECT_NEAR(again.energy(Method::ccsd).value(), whole().energy(Method::ccsd).value(), 1e-8);
    EXPECT_NEAR(again.energy(Method::ccsd_t).value(), -0.07077996564911129, 1e-8);
}

TEST_F(Checkpoints, of_ccsd_are_a_start_for_ccsdt) {
    const TemporaryFile file(world(), nullptr);
    if (world().rank() == 0) std::filesystem::copy_file(path(), file.path());
    Communicator(world().communicator()).barrier();
    CcOptions options = options_for(Method::ccsdt, file.path());
    options.checkpoint.restart = true;
    options.solver.max_iterations = 1;
    double energy = 0;  // after one step; from first-order amplitudes that leads to -0.0628
    CcProgress progress;
    progress.iteration = [&](const IterationReport& report) { energy = report.energy; };
    EXPECT_THROW(run_coupled_cluster(world(), water, options, progress), NotConverged);
    EXPECT_NEAR(energy, whole().energy(Method::ccsd).value(), 5e-4);
}

/// The message of the error that reading amplitudes gives.
std::string error_of(const AmplitudeFile& file, TensorSet amplitudes) {
    try {
        file.load(amplitudes);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

TEST(Checkpoint, that_does_not_fit_is_refused) {
    const World world;
    const TemporaryFile file(world, nullptr);
    Reference reference;
    reference.energy = -1;
    const TensorSet small({Tensor<double>(world, {3, 2}, "T1")});
    AmplitudeFile({file.path(), 1, false}, "ccsd", false, reference).save(small, {}, true);
    const auto error = [&](const std::string& path, bool spatial) {
        return error_of(AmplitudeFile({path, 1, true}, "rccsd", spatial, reference), small);
    };
    EXPECT_EQ(error(file.path(), false), "");
    EXPECT_NE(error(file.path(), true).find("over spin orbitals"), std::string::npos);
    reference.energy = -1.1;
    EXPECT_NE(error(file.path(), false).find("another molecule"), std::string::npos);

    const TemporaryFile text(world, "not a checkpoint"), none(world, nullptr),
        other(world, nullptr);
    for (const TemporaryFile* wrong : {&text, &none})
        EXPECT_NE(error(wrong->path(), false).find(wrong->path()), std::string::npos);
    {
        CheckpointWriter writer(world, other.path());
        writer.add("T1", Tensor<double>(world, {4, 10}));
        writer.commit();
    }
    EXPECT_NE(error(other.path(), false).find("has no value 'method'"), std::string::npos);
}

TEST(Checkpoint, of_other_sizes_is_refused) {
    const World world;
    const TemporaryFile file(world, nullptr);
    Reference reference;
    reference.energy = -1;
    const TensorSet small({Tensor<double>(world, {3, 2}, "T1")});
    AmplitudeFile({file.path(), 1, false}, "ccsd", false, reference).save(small, {}, true);
    TensorSet large({Tensor<double>(world, {3, 4}, "T1")});
    const AmplitudeFile wrong({file.path(), 1, true}, "ccsd", false, reference);
    try {
        wrong.load(large);
        ADD_FAILURE() << "no error";
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("T1 is 3 x 2, this calculation has 3 x 4"),
                  std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace arges::chemistry

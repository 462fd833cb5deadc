#include "arges/chemistry/cc_checkpoint.hpp"

#include "arges/checkpoint.hpp"
#include "arges/chemistry/cc_driver.hpp"
#include "arges/error.hpp"
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
        EXPECT_NE(saved.value<std::string>("orbital_order").find("all alpha spin orbitals, then all beta"), std::string::npos);
        EXPECT_EQ(saved.value<std::int64_t>("occupied_alpha"), 5);
        EXPECT_EQ(saved.value<std::int64_t>("virtual_beta"), 2);
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

/// So that a script which is submitted again and again needs no condition.
TEST_F(Checkpoints, that_are_not_there_yet_start_afresh) {
    const TemporaryFile file(world(), nullptr);
    CcOptions options = options_for(Method::ccsd, file.path());
    options.checkpoint.restart = true;
    const CcResult first = run_coupled_cluster(world(), water, options);
    EXPECT_EQ(first.iterations, whole().iterations);
    EXPECT_LE(run_coupled_cluster(world(), water, options).iterations, 2);
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

/// Has a file with singles of two occupied orbitals.
class SmallCheckpoint : public testing::Test {
protected:
    SmallCheckpoint() {
        reference.energy = -1;
        reference.spin[0].occupied = 2;
        AmplitudeFile({file.path(), 1, false}, "ccsd", false, reference).save(small, {}, true);
    }
    const World world;
    const TemporaryFile file{world, nullptr};
    Reference reference;
    TensorSet small{{{"T1", Tensor<double>(world, {3, 2})}}};
};

TEST_F(SmallCheckpoint, that_does_not_fit_is_refused) {
    const auto error = [&](const std::string& path, bool spatial) {
        return error_of(AmplitudeFile({path, 1, true}, "rccsd", spatial, reference), small);
    };
    EXPECT_EQ(error(file.path(), false), "");
    EXPECT_NE(error(file.path(), true).find("over spin orbitals"), std::string::npos);
    reference.energy = -1.1;
    EXPECT_NE(error(file.path(), false).find("another molecule"), std::string::npos);

    const TemporaryFile text(world, "not a checkpoint"), none(world, nullptr), other(world, nullptr);
    EXPECT_NE(error(text.path(), false).find(text.path()), std::string::npos);
    EXPECT_EQ(error(none.path(), false), "");
    {
        CheckpointWriter writer(world, other.path());
        writer.add("T1", Tensor<double>(world, {4, 10}));
        writer.commit();
    }
    EXPECT_NE(error(other.path(), false).find("has no value 'method'"), std::string::npos);
}

TEST_F(SmallCheckpoint, of_other_electrons_is_refused_and_without_their_numbers_read) {
    const TemporaryFile old(world, nullptr);
    {
        CheckpointWriter writer(world, old.path());
        Tensor<double> ones(world, {3, 2});
        ones.fill(1.0);
        writer.add("T1", ones);
        writer.set("method", std::string("ccsd"));
        writer.set("orbitals", std::string("spin"));
        writer.set("reference_energy", -1.0);
        writer.commit();
    }
    std::swap(reference.spin[0], reference.spin[1]);
    const AmplitudeFile other({file.path(), 1, true}, "ccsd", false, reference), older({old.path(), 1, true}, "ccsd", false, reference);
    EXPECT_NE(error_of(other, small).find("occupied_alpha is 2, this calculation has 0"), std::string::npos);
    older.load(small);
    EXPECT_EQ(small["T1"].sum(), 6);
}

/// The beta orbitals of an index follow the alpha ones: no single excitation changes the spin of an electron.
TEST(Checkpoint, counts_alpha_before_beta_orbitals) {
    const World world;
    const std::string path = "examples/data/h2o_cation_uhf_sto3g.fcidump";
    const TemporaryFile file(world, nullptr);
    run_coupled_cluster(world, path, options_for(Method::ccsd, file.path()));
    const CheckpointReader saved(world, file.path());
    const auto o = saved.value<std::int64_t>("occupied_alpha"), v = saved.value<std::int64_t>("virtual_alpha");
    EXPECT_EQ(o, 5);
    EXPECT_EQ(saved.value<std::int64_t>("occupied_beta"), 4);
    EXPECT_EQ(v, 2);
    EXPECT_EQ(saved.value<std::int64_t>("virtual_beta"), 3);
    const Tensor<double> t1 = saved.read<double>("T1");
    const std::vector<double> values = t1.gather();
    for (std::int64_t i = 0; i < t1.extents()[1]; ++i)
        for (std::int64_t a = 0; a < t1.extents()[0]; ++a) {
            const double value = values[static_cast<std::size_t>(a + i * t1.extents()[0])];
            EXPECT_TRUE((a < v) == (i < o) || value == 0) << a << " " << i << " " << value;
        }
    EXPECT_GT(t1.norm(), 1e-4);
}

TEST_F(SmallCheckpoint, of_other_sizes_is_refused) {
    const AmplitudeFile wrong({file.path(), 1, true}, "ccsd", false, reference);
    const auto error = error_of(wrong, TensorSet({{"T1", Tensor<double>(world, {3, 4})}}));
    EXPECT_NE(error.find("T1 is 3 x 2, this calculation has 3 x 4"), std::string::npos) << error;
}

}  // namespace
}  // namespace arges::chemistry

#include "chemistry/cc_checkpoint.hpp"

#include "arges/checkpoint.hpp"
#include "arges/error.hpp"
#include "chemistry/cc_driver.hpp"
#include "chemistry/temporary_file.hpp"

#include <gtest/gtest.h>

#include <string>

namespace arges::chemistry {
namespace {

const char* const water = "examples/data/h2o_sto3g.fcidump";
const char* const hydride = "examples/data/lih_631g.fcidump";

CcOptions options_for(Method method, const TemporaryFile& file) {
    CcOptions options;
    options.method = method;
    options.solver.tolerance = 1e-10;
    options.checkpoint = {file.path(), 3, false};
    return options;
}

/// The message of the error that a calculation gives.
std::string error_of(const World& world, const char* molecule, const CcOptions& options) {
    try {
        run_coupled_cluster(world, molecule, options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

TEST(Checkpoint, is_where_a_calculation_goes_on) {
    const World world;
    const TemporaryFile file(world, nullptr);
    CcOptions options = options_for(Method::ccsdt, file);
    const CcResult whole = run_coupled_cluster(world, water, options);
    options.solver.max_iterations = 8;
    EXPECT_THROW(run_coupled_cluster(world, water, options), NotConverged);
    {
        const CheckpointReader saved(world, file.path());
        EXPECT_EQ(saved.value<std::string>("method"), "ccsdt");
        EXPECT_EQ(saved.value<std::int64_t>("iteration"), 8);
        EXPECT_EQ(saved.tensors().size(), 3u);
    }

    options.solver.max_iterations = 100;
    options.checkpoint.restart = true;
    const CcResult rest = run_coupled_cluster(world, water, options);
    EXPECT_LT(rest.iterations, whole.iterations);
    EXPECT_NEAR(rest.energy(Method::ccsdt).value(), whole.energy(Method::ccsdt).value(), 1e-10);
}

TEST(Checkpoint, goes_on_on_another_number_of_ranks) {
    const World world;
    const TemporaryFile file(world, nullptr);
    CcOptions options = options_for(Method::ccsd, file);
    const CcResult whole = run_coupled_cluster(world, water, options);
    options.solver.max_iterations = 6;
    EXPECT_THROW(run_coupled_cluster(world, water, options), NotConverged);
    if (world.rank() == 0) {
        const World alone(MPI_COMM_SELF);
        options.solver.max_iterations = 100;
        options.checkpoint.restart = true;
        const CcResult rest = run_coupled_cluster(alone, water, options);
        EXPECT_LT(rest.iterations, whole.iterations);
        EXPECT_NEAR(rest.energy(Method::ccsd).value(), whole.energy(Method::ccsd).value(), 1e-10);
    }
}

TEST(Checkpoint, of_converged_amplitudes_needs_one_iteration) {
    const World world;
    const TemporaryFile file(world, nullptr);
    CcOptions options = options_for(Method::rccsd_t, file);
    const CcResult whole = run_coupled_cluster(world, water, options);
    options.checkpoint.restart = true;
    options.solver.tolerance = 1e-9;
    const CcResult again = run_coupled_cluster(world, water, options);
    EXPECT_EQ(again.iterations, 1);
    EXPECT_NEAR(again.energy(Method::rccsd_t).value(), whole.energy(Method::rccsd_t).value(), 1e-9);
}

TEST(Checkpoint, of_ccsd_is_a_start_for_ccsdt) {
    const World world;
    const TemporaryFile file(world, nullptr);
    run_coupled_cluster(world, water, options_for(Method::ccsd, file));
    CcOptions options = options_for(Method::ccsdt, file);
    options.checkpoint.restart = true;
    const CcResult result = run_coupled_cluster(world, water, options);
    EXPECT_NEAR(result.energy(Method::ccsdt).value(), -0.070812807700799, 1e-8);
}

TEST(Checkpoint, that_does_not_fit_is_refused) {
    const World world;
    const TemporaryFile file(world, nullptr);
    run_coupled_cluster(world, water, options_for(Method::ccsd, file));
    CcOptions options = options_for(Method::ccsd, file);
    options.checkpoint.restart = true;
    EXPECT_NE(error_of(world, hydride, options).find("another molecule"), std::string::npos);
    options.method = Method::rccsd;
    EXPECT_NE(error_of(world, water, options).find("over spin orbitals"), std::string::npos);

    const TemporaryFile text(world, "not a checkpoint");
    options.checkpoint.path = text.path();
    EXPECT_NE(error_of(world, water, options).find(text.path()), std::string::npos);
    const TemporaryFile none(world, nullptr);
    options.checkpoint.path = none.path();
    EXPECT_NE(error_of(world, water, options).find(none.path()), std::string::npos);

    const TemporaryFile other(world, nullptr);
    {
        CheckpointWriter writer(world, other.path());
        writer.add("T1", Tensor<double>(world, {4, 10}));
        writer.commit();
    }
    options.checkpoint.path = other.path();
    EXPECT_NE(error_of(world, water, options).find("has no value 'method'"), std::string::npos);
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

#include "comm/processes.hpp"

#include <gtest/gtest.h>

#include <map>

namespace arges::test {
namespace {

using Environment = std::map<std::string, std::string>;

std::string answer(std::string_view library, const Environment& variables) {
    return wrong_launcher(library, [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::optional<std::string>() : found->second;
    });
}

TEST(Launcher, OfTheRightMpiOrNoneIsFine) {
    for (const char* const library : {"MPICH Version: 4.0.2", "Open MPI v4.1.4"}) {
        EXPECT_EQ(answer(library, {}), "");
        EXPECT_EQ(answer(library, {{"SLURM_STEP_NUM_TASKS", "1"}}), "");
        EXPECT_EQ(answer(library, {{"SLURM_NTASKS", "8"}}), "") << "in a batch script, without srun";
    }
    EXPECT_EQ(answer("MPICH Version: 4.0.2", {{"PMI_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "")
        << "mpiexec starts its helpers with srun";
    EXPECT_EQ(answer("Open MPI v4.1.4", {{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMI_SIZE", "2"}}), "");
}

TEST(Launcher, OfAnotherMpiIsNamedWithTheCure) {
    const auto open_mpi = answer("MPICH Version: 4.0.2", {{"OMPI_COMM_WORLD_SIZE", "2"}});
    for (const char* const text : {"Open MPI's mpiexec started 2 processes", "built with MPICH", "mpiexec.mpich", "ARGES_ALONE=1"})
        EXPECT_NE(open_mpi.find(text), std::string::npos) << open_mpi;
    const auto mpich = answer("Open MPI v4.1.4, package: Debian", {{"PMI_SIZE", "16"}});
    for (const char* const text : {"MPICH's mpiexec started 16 processes", "built with Open MPI", "mpiexec.openmpi"})
        EXPECT_NE(mpich.find(text), std::string::npos) << mpich;
    const auto srun = answer("MPICH Version: 4.0.2", {{"SLURM_STEP_NUM_TASKS", "4"}});
    EXPECT_NE(srun.find("--mpi=pmi2"), std::string::npos) << srun;
}

}  // namespace
}  // namespace arges::test

#include "comm/processes.hpp"

#include "arges/error.hpp"
#include "base/options.hpp"

#include <mpi.h>

#include <array>
#include <cstdlib>

namespace arges {

namespace {

/// A launcher, and where it says how many processes it started.
struct Launcher {
    const char *name, *variable;
};

constexpr std::array<Launcher, 6> launchers{{{"Open MPI's mpiexec", "OMPI_COMM_WORLD_SIZE"},
                                             {"MPICH's mpiexec", "PMI_SIZE"},
                                             {"MVAPICH's mpiexec", "MV2_COMM_WORLD_SIZE"},
                                             {"jsrun", "JSM_NAMESPACE_SIZE"},
                                             {"flux run", "FLUX_JOB_SIZE"},
                                             {"srun", "SLURM_STEP_NUM_TASKS"}}};

bool is_open_mpi(std::string_view library) { return library.find("Open MPI") != std::string_view::npos; }

}  // namespace

std::string wrong_launcher(std::string_view library, const std::function<std::optional<std::string>(const std::string&)>& variable) {
    const bool open_mpi = is_open_mpi(library);
    // The MPI's own launcher was there, and says one process: nothing to doubt.
    if (variable(open_mpi ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE")) return "";
    for (const auto& launcher : launchers) {
        const auto text = variable(launcher.variable);
        if (!text || std::atoll(text->c_str()) < 2) continue;
        const std::string own = open_mpi ? "Open MPI" : "MPICH", command = open_mpi ? "mpiexec.openmpi" : "mpiexec.mpich";
        const bool is_srun = std::string_view(launcher.name) == "srun";
        return std::string(launcher.name) + " started " + *text + " processes (" + launcher.variable +
               "), but the program was built with " + own + ", for which this one is alone; " +
               (is_srun ? "use srun --mpi=pmi2 or --mpi=pmix, or start it with " : "start it with ") + own + "'s own mpiexec (" + command +
               " on Debian); ARGES_ALONE=1 if every process is to work by itself";
    }
    return "";
}

void require_right_launcher() {
    if (alone_option()) return;
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    const auto problem = wrong_launcher({version.data(), static_cast<std::size_t>(length)}, launcher_variable);
    if (!problem.empty()) throw InvalidArgument(problem);
}

}  // namespace arges

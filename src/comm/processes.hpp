/// The processes of a program, and programs that the launcher of another MPI started.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace arges {

/// True from MPI_Init on until MPI_Finalize. Local.
bool mpi_is_running();
/// The communicator of a handle as Fortran has them; nothing: all processes of the program. Local.
MPI_Comm communicator_of_fortran(std::optional<std::int64_t> handle);

/// What is wrong with how this process was started, and the cure; empty if nothing. MPI believes that it is alone, although a launcher
/// started several processes: one of another MPI, or a batch system's without MPI's process manager. Each would compute everything by
/// itself and write the same files.
/// @param library      name of the MPI, as in its version text
/// @param variable  value of a variable of the environment
std::string wrong_launcher(std::string_view library, const std::function<std::optional<std::string>(const std::string&)>& variable);

/// The same for this process, which has one rank in all. ARGES_ALONE=1 says that it is meant so. Local. @throws InvalidArgument with the
/// cure
void require_right_launcher();

}  // namespace arges

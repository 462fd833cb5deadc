/// MPI for the lifetime of a program.
#pragma once

#include "comm/communicator.hpp"

#include <mpi.h>

#include <cstdint>

namespace arges {

/// Initialises MPI, and finalises it in the destructor.
class MpiSession {
public:
    MpiSession(int& argc, char**& argv);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    /// Rank among all processes of the program.
    int rank() const;
    /// Ends all processes at once: only for an error that a single one of them sees.
    [[noreturn]] void abort(int code) const;
};

/// True from MPI_Init on until MPI_Finalize. Local.
bool mpi_is_running();
/// The communicator of a handle as Fortran has them. Local.
MPI_Comm communicator_of_fortran(std::int64_t handle);
/// All processes of the program. MPI must be initialised. Collective.
Communicator all_processes();

}  // namespace arges

#include "comm/processes.hpp"

#include "arges/error.hpp"
#include "arges/mpi_session.hpp"

#include <mpi.h>

#include <cstdlib>

namespace arges {

MpiSession::MpiSession(int& argc, char**& argv) {
    int provided = 0;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) throw MpiError("MPI_Init_thread failed");
}

MpiSession::~MpiSession() { MPI_Finalize(); }

int MpiSession::rank() const {
    int rank = 0;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) throw MpiError("MPI_Comm_rank failed");
    return rank;
}

void MpiSession::abort(int code) const {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();
}

bool mpi_is_running() {
    int has_begun = 0, has_ended = 0;
    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    return has_begun != 0 && has_ended == 0;
}

MPI_Comm communicator_of_fortran(std::optional<std::int64_t> handle) {
    return handle ? MPI_Comm_f2c(static_cast<MPI_Fint>(*handle)) : MPI_COMM_WORLD;
}

}  // namespace arges

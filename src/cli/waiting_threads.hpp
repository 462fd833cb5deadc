/// How threads of OpenMP wait for each other: libgomp reads that from the environment when it is loaded.
#pragma once

#include <string>

namespace arges::cli {

/// Where the program would run on several threads, and neither OMP_WAIT_POLICY nor GOMP_SPINCOUNT is set, sets GOMP_SPINCOUNT so that a
/// thread which waits gives its core to other programs soon, and starts the program again. Before MPI is initialised: a launcher sees one
/// process. Returns where there is nothing to do, or the program cannot be started again. Local. @param argv  of main()
void let_waiting_threads_yield(char** argv);

/// "GOMP_SPINCOUNT=1000"; what is to be set for so many threads, empty: nothing. Local.
std::string setting_for_waiting_threads(int threads);

/// What is set, for tables: "GOMP_SPINCOUNT=1000". Local.
std::string waiting_threads_text();

}  // namespace arges::cli

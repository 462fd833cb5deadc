/// What the environment says of threads that wait, for the runtime of OpenMP.
#pragma once

#include <string>

namespace arges {

/// "GOMP_SPINCOUNT=1000" or "OMP_WAIT_POLICY=passive"; empty: nobody says how long they keep their core.
std::string waiting_threads_option();

}  // namespace arges

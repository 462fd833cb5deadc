/// Sizes for libraries that count in 32 bits: BLAS, LAPACK, ScaLAPACK and MPI.
#pragma once

#include "arges/error.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace arges {

/// n as an int. `what` begins the message: what n is the size of. @throws Unsupported if it is none
inline int to_int(std::int64_t n, const char* what = "an array dimension") {
    if (n < std::numeric_limits<int>::min() || n > std::numeric_limits<int>::max())
        throw Unsupported(std::string(what) + " of " + std::to_string(n) +
                          ": BLAS, LAPACK and MPI count to 2^31 - 1 only; use more ranks or smaller dimensions");
    return static_cast<int>(n);
}

}  // namespace arges

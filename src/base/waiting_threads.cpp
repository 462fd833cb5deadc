#include "base/waiting_threads.hpp"

#include <cstdlib>

namespace arges {

std::string waiting_threads_option() {
    for (const char* const name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"})
        if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return std::string(name) + "=" + value;
    return {};
}

}  // namespace arges

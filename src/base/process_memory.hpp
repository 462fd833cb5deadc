/// What the operating system says about this process.
#pragma once

#include <cstdint>

namespace arges {

/// Largest resident size of this process so far, in bytes; 0 where the system does not tell.
std::int64_t peak_process_memory();
/// Resident size of this process now, in bytes; 0 where the system does not tell.
std::int64_t current_process_memory();

}  // namespace arges

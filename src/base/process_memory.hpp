/// What the operating system says about this process.
#pragma once

#include <cstdint>

namespace arges {

/// Largest resident size of this process so far, in bytes; 0 where the system does not tell.
std::int64_t peak_process_memory();
/// From now on blocks of 1 MiB and more go back to the system when they are freed, whatever their size was before, as those of the
/// library's arrays do; else the C library keeps blocks up to 32 MiB, which it may not find a use for. Local.
void give_freed_memory_back();
/// Resident size of this process now, in bytes; 0 where the system does not tell.
std::int64_t current_process_memory();

}  // namespace arges

#include "base/memory_tally.hpp"

#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <fstream>
#include <string>

namespace arges {

namespace {

/// A field such as "VmHWM:" of the Linux file /proc/self/status, in bytes; 0 if it is not there.
std::int64_t status_field(const std::string& name) {
    std::ifstream stream("/proc/self/status");
    for (std::string word; stream >> word;) {
        std::int64_t kilobytes = 0;
        if (word == name && stream >> kilobytes) return kilobytes * 1024;
    }
    return 0;
}

}  // namespace

void give_freed_memory_back() {
#ifdef __GLIBC__
    constexpr int least_bytes = 1 << 20;
    mallopt(M_MMAP_THRESHOLD, least_bytes);
    mallopt(M_TRIM_THRESHOLD, least_bytes);
#endif
}

std::int64_t peak_process_memory() {
    if (const std::int64_t bytes = status_field("VmHWM:"); bytes > 0) return bytes;
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::int64_t>(usage.ru_maxrss) * 1024 : 0;
}

std::int64_t current_process_memory() { return status_field("VmRSS:"); }

}  // namespace arges

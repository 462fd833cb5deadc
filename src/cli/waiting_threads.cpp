#include "cli/waiting_threads.hpp"

#include "base/waiting_threads.hpp"

#include <omp.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace arges::cli {

namespace {

constexpr const char* looks = "GOMP_SPINCOUNT";
constexpr const char* few = "1000";  // looks: microseconds instead of milliseconds

}  // namespace

std::string setting_for_waiting_threads(int threads) {
    return threads <= 1 || !waiting_threads_option().empty() ? "" : std::string(looks) + "=" + few;
}

void let_waiting_threads_yield(char** argv) {
    if (setting_for_waiting_threads(omp_get_max_threads()).empty()) return;
    constexpr const char* program = "/proc/self/exe";
    std::error_code unknown;
    const auto name = std::filesystem::read_symlink(program, unknown).filename().string();
    if (unknown || name.starts_with("ld-") || name.starts_with("ld.so")) return;  // a loader that was told what to load
    setenv(looks, few, 1);
    execv(program, argv);
    unsetenv(looks);
}

std::string waiting_threads_text() {
    const auto said = waiting_threads_option();
    return said.empty() ? "as the runtime of OpenMP says" : said;
}

}  // namespace arges::cli

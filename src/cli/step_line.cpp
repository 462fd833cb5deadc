#include "cli/step_line.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <iostream>

namespace arges::cli {

StepLine::StepLine(const World& world) : is_terminal_(world.rank() == 0 && isatty(STDERR_FILENO) != 0) {}

void StepLine::show(const std::string& text) {
    if (!is_terminal_ || (text.empty() && !is_shown_)) return;
    std::cerr << "\r\033[K" << text << std::flush;
    is_shown_ = !text.empty();
}

void StepLine::show(const std::string& text, double done) {
    constexpr double pause = 0.2;
    if (!is_terminal_ || since_.seconds() < pause) return;
    since_.lap();
    show(fmt::format("{}: {:.0f} %", text, 100 * done));
}

}  // namespace arges::cli

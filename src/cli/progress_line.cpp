#include "cli/progress_line.hpp"

#include <fmt/core.h>

#include <ostream>
#include <utility>

#include <unistd.h>

namespace arges::cli {

namespace {

constexpr double seconds_between = 0.2;

}  // namespace

ProgressLine::ProgressLine(std::ostream& out, bool shown, std::string what) : out_(out), shown_(shown), what_(std::move(what)) {}

ProgressLine::~ProgressLine() {
    if (written_) out_ << "\r\033[K" << std::flush;
}

void ProgressLine::update(double part) {
    if (!shown_ || since_.seconds() < seconds_between) return;
    out_ << fmt::format("\r{} {:.0f} %\033[K", what_, 100 * part) << std::flush;
    written_ = true;
    since_.lap();
}

bool errors_on_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace arges::cli

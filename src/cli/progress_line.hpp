/// How far long work is, for those who watch.
#pragma once

#include "base/stopwatch.hpp"

#include <iosfwd>
#include <string>

namespace arges::cli {

/// A line such as "(T) 41 %" that is written over and over on a terminal, at most five times a second, and goes away at the end.
class ProgressLine {
public:
    /// @param shown  false: nothing is written; see errors_on_terminal()
    ProgressLine(std::ostream& out, bool shown, std::string what);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// @param part  what is done, 0 to 1
    void update(double part);

private:
    std::ostream& out_;
    bool shown_, written_ = false;
    std::string what_;
    Stopwatch since_;
};

/// True if this process's standard error is a terminal.
bool errors_on_terminal();

}  // namespace arges::cli

/// A line about long steps.
#pragma once

#include "arges/world.hpp"
#include "base/stopwatch.hpp"

#include <string>

namespace arges::cli {

/// What is under way, in a line on standard error that each next one replaces; only where that is a terminal. On rank 0.
class StepLine {
public:
    explicit StepLine(const World& world);
    ~StepLine() { show(""); }
    StepLine(const StepLine&) = delete;
    StepLine& operator=(const StepLine&) = delete;

    /// Shows a step; an empty text removes the line. Local.
    void show(const std::string& text);
    /// Shows a step of which a part is done, 0 to 1, a few times in a second. Local.
    void show(const std::string& text, double done);

private:
    bool is_shown_ = false, is_terminal_ = false;
    Stopwatch since_;
};

}  // namespace arges::cli

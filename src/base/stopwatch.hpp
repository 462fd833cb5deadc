/// Wall-clock time.
#pragma once

#include <chrono>

namespace arges {

/// Starts when it is made.
class Stopwatch {
public:
    /// Seconds since the start or the last lap, which starts anew.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double> passed = now - start_;
        start_ = now;
        return passed.count();
    }
    /// Seconds since the start or the last lap.
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace arges

/// Memory that steps will take, worked out before they are taken.
#pragma once

#include <algorithm>
#include <cstdint>

namespace arges {

/// Adds up what steps that follow each other hold, and notes the most that is held at any time. A function that allocates has one beside it
/// that returns the tally of it, from sizes alone; such tallies are put together in the order of the steps.
class MemoryTally {
public:
    /// So many bytes more are held from now on; fewer where they are negative.
    void hold(std::int64_t bytes) {
        held_ += bytes;
        peak_ = std::max(peak_, held_);
    }
    /// So many bytes are held for a while.
    void pass(std::int64_t bytes) { peak_ = std::max(peak_, held_ + bytes); }
    /// Steps with a tally of their own come next.
    void add(const MemoryTally& steps) {
        pass(steps.peak_);
        held_ += steps.held_;
    }
    std::int64_t held() const { return held_; }
    std::int64_t peak() const { return peak_; }

private:
    std::int64_t held_ = 0, peak_ = 0;
};

}  // namespace arges

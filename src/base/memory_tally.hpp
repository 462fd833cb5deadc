/// Memory: what steps will take, worked out before they are taken; what this process has; and giving that of a vector back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

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

/// Largest resident size of this process so far, in bytes; 0 where the system does not tell.
std::int64_t peak_process_memory();
/// From now on blocks of 1 MiB and more go back to the system when they are freed, whatever their size was before, as those of the
/// library's arrays do; else the C library keeps blocks up to 32 MiB, which it may not find a use for. Local.
void give_freed_memory_back();
/// Resident size of this process now, in bytes; 0 where the system does not tell.
std::int64_t current_process_memory();

/// Frees the memory of a vector, which is empty afterwards. To assign {} or to call clear() would keep it: {} is taken for a list of no
/// elements.
template <class V>
void release(std::vector<V>& values) {
    std::vector<V>().swap(values);
}

}  // namespace arges

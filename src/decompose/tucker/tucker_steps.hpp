/// What each step of a Tucker decomposition takes: seconds, bytes, and their lower bound.
#pragma once

#include "arges/tucker.hpp"
#include "base/stopwatch.hpp"
#include "comm/communicator.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// The steps so far. Seconds and bytes sent are counted from one call of note() to the next.
class TuckerSteps {
public:
    TuckerSteps(const Communicator& comm, std::int64_t element_bytes)
        : comm_(comm), element_bytes_(element_bytes), sent_(comm.traffic().bytes_sent) {}

    /// Adds the bytes that were sent since the last call to a step, and those that were planned for it; returns the seconds.
    double note(TuckerStep& step, std::int64_t planned);
    /// A step cannot move less than so many words.
    void raise_bound(TuckerStep& step, double words) const;

    /// What is done for the next step; it becomes a part of that one.
    TuckerStep& pending() { return pending_; }
    /// Begins a step of a mode.
    TuckerStep& begin(int mode, int iteration);
    /// The latest step of a mode, to which what is pending is added.
    TuckerStep& go_on(int mode);
    /// All steps, with the bytes of the busiest ranks. Collective.
    std::vector<TuckerStep> finish() &&;

private:
    const Communicator& comm_;
    std::int64_t element_bytes_, sent_;
    Stopwatch watch_;
    TuckerStep pending_;
    std::vector<TuckerStep> steps_;
};

}  // namespace arges::decompose

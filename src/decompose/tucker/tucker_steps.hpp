/// What Tucker decompositions note: seconds, bytes and their lower bound of each step, and the fit after each iteration of hooi.
#pragma once

#include "arges/tucker.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "decompose/cp/cp_als.hpp"
#include "decompose/stop.hpp"

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

/// Keeps the fit of an iteration, and says whether to go on. Collective. @param watch  began with the iterations
template <class T>
bool note_iteration(const Communicator& comm, const TuckerOptions& options, const TuckerProgress& progress, const Stopwatch& watch,
                    double fit, double change, TuckerResult<T>& result) {
    result.fits.push_back(fit);
    ++result.iterations;
    CollectiveCall::run_callback(comm, [&] {
        if (progress) progress(result.iterations, fit);
    });
    result.converged = is_settled(fit, change, options.tolerance);
    if (result.converged)
        result.stop_reason = StopReason::tolerance;
    else
        result.stop_reason = wanted_stop(comm, options, watch);
    return result.stop_reason == StopReason::iterations;
}

}  // namespace arges::decompose

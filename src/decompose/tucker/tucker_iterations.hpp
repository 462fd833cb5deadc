/// What sparse and dense iterations of hooi do after each one.
#pragma once

#include "arges/tucker.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/cp_als.hpp"

namespace arges::decompose {

/// Keeps the fit of an iteration, and says whether to go on. Collective.
template <class T>
bool note_iteration(const Communicator& comm, const TuckerOptions& options, const TuckerProgress& progress, double fit, double change,
                    TuckerResult<T>& result) {
    result.fits.push_back(fit);
    ++result.iterations;
    CollectiveCall::run_callback(comm, [&] {
        if (progress) progress(result.iterations, fit);
    });
    result.converged = is_settled(fit, change, options.tolerance);
    if (result.converged)
        result.stop_reason = StopReason::tolerance;
    else if (options.stop && options.stop())
        result.stop_reason = StopReason::asked;
    return result.stop_reason == StopReason::iterations;
}

}  // namespace arges::decompose

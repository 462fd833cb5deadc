/// What sparse and dense iterations of hooi do after each one.
#pragma once

#include "arges/tucker.hpp"
#include "decompose/cp/cp_als.hpp"

namespace arges::decompose {

/// Keeps the fit of an iteration, and says whether to go on. Collective if TuckerOptions::stop is.
template <class T>
bool note_iteration(const TuckerOptions& options, const TuckerProgress& progress, double fit, double change, TuckerResult<T>& result) {
    result.fits.push_back(fit);
    ++result.iterations;
    if (progress) progress(result.iterations, fit);
    result.converged = is_settled(fit, change, options.tolerance);
    if (result.converged)
        result.stop_reason = StopReason::tolerance;
    else if (options.stop && options.stop())
        result.stop_reason = StopReason::asked;
    return result.stop_reason == StopReason::iterations;
}

}  // namespace arges::decompose

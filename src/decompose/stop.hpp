/// Whether iterations end because somebody wants so, or because their time is over.
#pragma once

#include "arges/cpd.hpp"
#include "base/stopwatch.hpp"
#include "comm/communicator.hpp"

namespace arges::decompose {

/// Asked after each iteration; StopReason::iterations: there may be more. Collective.
/// @param options  of any method: stop and seconds  @param watch  began with the iterations
template <class Options>
StopReason wanted_stop(const Communicator& comm, const Options& options, const Stopwatch& watch) {
    if (options.stop && options.stop()) return StopReason::asked;
    if (options.seconds > 0 && comm.maximum(watch.seconds() >= options.seconds ? 1 : 0) > 0) return StopReason::seconds;
    return StopReason::iterations;
}

}  // namespace arges::decompose

/// The time of calculations, done or modelled.
#pragma once

#include "base/stopwatch.hpp"
#include "interface/world/world_state.hpp"

namespace arges::chemistry {

/// Seconds since it was made: of a clock, or on a dry run those that the machine model gives for the statements since then.
class WorkClock {
public:
    explicit WorkClock(const World& world) : state_(*world.state()), modelled_(state_.planned_seconds()) {}
    double seconds() const { return state_.dry() ? state_.planned_seconds() - modelled_ : watch_.seconds(); }

private:
    const WorldState& state_;
    double modelled_;
    Stopwatch watch_;
};

}  // namespace arges::chemistry

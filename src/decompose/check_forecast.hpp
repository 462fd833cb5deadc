/// Whether what a decomposition takes is there.
#pragma once

#include "interface/world_state.hpp"

#include <cstdint>
#include <string>

namespace arges::decompose {

/// @throws OutOfMemory on every rank if a forecast, of which the tensor is a part, is over what the memory limit leaves. Collective.
/// @param held by the tensor now, on the rank that has most
/// @param cures for the message: what takes less memory, by commas
void check_forecast(const WorldState& world, const std::string& title, std::int64_t forecast, std::int64_t held,
                    const std::string& cures = "use more ranks, fewer components");

}  // namespace arges::decompose

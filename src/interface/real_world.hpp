/// Worlds that have data.
#pragma once

#include "arges/error.hpp"
#include "interface/world_state.hpp"

#include <string>

namespace arges {

/// The communicator of a world of real ranks.
/// @param what names the caller in messages
/// @throws InvalidArgument for a dry run and for World::outside()
inline const Communicator& communicator_of(const World& world, const std::string& what) {
    if (world.is_dry_run()) throw InvalidArgument(what + ": the world is a dry run, which has no data; use a world of real ranks");
    return world.state()->communicator();
}

}  // namespace arges

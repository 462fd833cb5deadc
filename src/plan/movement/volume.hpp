/// How much a rank moves, without the list of its messages.
#pragma once

#include "plan/movement/movement.hpp"

#include <cstdint>

namespace arges {

/// Equal to MovementRun(comm, spec, rank).volume(). Where a rank has messages for most of a very large machine this is far cheaper:
/// the messages are a product over components, so only sums over each component's short lists are needed.
Volume movement_volume(const Movement& spec, std::int64_t rank);

/// What a movement takes on any rank at most.
struct MovementBound {
    Volume volume;                    ///< elements, where messages go straight to their ranks
    std::int64_t buffers = 0;         ///< elements of all messages that there is room for
    std::int64_t list_bytes = 0;      ///< of the lists that MovementRun keeps
    std::int64_t building_bytes = 0;  ///< besides, while they are built
};

/// Elements are counted where that is quick; the rest follows from extents, so that it costs nothing for any number of elements
/// and ranks.
MovementBound movement_bound(const Movement& spec);

}  // namespace arges

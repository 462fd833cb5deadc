/// What differs on the last rank.
#pragma once

#include "arges/world.hpp"

namespace arges::test {

inline bool last(const World& world) { return world.rank() + 1 == world.size(); }

/// One value on the last rank, another on the others.
template <class V>
V on_last(const World& world, V there, V elsewhere) {
    return last(world) ? there : elsewhere;
}

}  // namespace arges::test

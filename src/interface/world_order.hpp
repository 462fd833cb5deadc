/// In which order a World numbers its ranks.
#pragma once

#include "arges/world.hpp"
#include "comm/communicator.hpp"

#include <cstdint>
#include <optional>

namespace arges {

/// The shape of a world and the number that this rank has in it.
struct WorldOrder {
    Torus torus;
    std::optional<std::int64_t> rank;  ///< none: as in the communicator
};

/// What RankOrder, ARGES_COORDINATES and ARGES_RANK_ORDER say; of the variables and the file, those of rank 0 count. Coordinates are
/// those of all processes, and count for communicators of all of them. Collective.
/// @param torus  given by the user
/// @throws InvalidArgument on every rank as parse_coordinates() and place_on_torus() do, or if the file cannot be read
WorldOrder world_order(const Communicator& ranks, const Torus& torus, RankOrder order);

}  // namespace arges

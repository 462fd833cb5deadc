/// Vertices of a spread hypergraph on their way to the ranks where their smallest nets are. Pure: what moves goes through Team.
#pragma once

#include "partition/hypergraph/spread_hypergraph.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// Which vertices of a rank went where, and which came.
struct VertexMoves {
    std::vector<std::int32_t> to;                   ///< rank that each vertex of this one went to
    std::vector<std::vector<std::uint32_t>> from;  ///< by rank, vertices of this one now that came from it, in its order
};

/// A share with other vertices.
struct MovedShare {
    HypergraphShare share;
    VertexMoves moves;
};

/// Brings vertices that share a small net together, as small nets say most about which vertices belong together: each vertex goes with its
/// smallest net of two pins or more, and ranks get consecutive ones of these nets, with about equal numbers of pins. Nets with one pin are
/// left out. Collective.
/// @param sizes pins of the nets of `share` on all ranks
MovedShare moved_to_small_nets(const Team& team, const HypergraphShare& share, const std::vector<std::int64_t>& sizes);

/// Parts of the vertices as they were before the moves. Collective.
VertexParts returned(const Team& team, const VertexMoves& moves, const VertexParts& parts);

}  // namespace arges::partition

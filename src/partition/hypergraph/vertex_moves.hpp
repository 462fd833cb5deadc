/// Vertices of a spread hypergraph on their way to the ranks where their smallest nets are. Pure: what moves goes through Team.
#pragma once

#include "partition/hypergraph/spread_hypergraph.hpp"

#include <cstdint>
#include <vector>

namespace arges::partition {

/// Which vertices of a rank went where, and which came. Empty: none did.
struct VertexMoves {
    std::vector<std::int32_t> to;                  ///< rank that each vertex of this one went to
    std::vector<std::vector<std::uint32_t>> from;  ///< by rank, vertices of this one now that came from it, in its order
};

/// A share with other vertices.
struct MovedShare {
    HypergraphShare share;
    VertexMoves moves;
};

/// Ranks for this rank's vertices that bring those together that share a small net, as small nets say most about what belongs together:
/// each vertex goes with its smallest net of two pins or more, and ranks get consecutive ones of these nets, with about equal numbers of
/// pins. Collective.
/// @param sizes pins of the nets of `share` on all ranks
std::vector<std::int32_t> ranks_by_small_nets(const Team& team, const HypergraphShare& share, const std::vector<std::int64_t>& sizes);

/// Moves vertices to the given ranks. Nets with one pin on all ranks are left out. Collective.
MovedShare moved(const Team& team, const HypergraphShare& share, const std::vector<std::int64_t>& sizes, std::vector<std::int32_t> to);

/// Parts of the vertices as they were before the moves. Collective.
VertexParts returned(const Team& team, const VertexMoves& moves, const VertexParts& parts);

}  // namespace arges::partition

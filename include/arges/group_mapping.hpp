/// @file group_mapping.hpp
/// How symmetric groups are spread over ranks.
#pragma once

#include <cstdint>

namespace arges {

/// How symmetric groups are spread over ranks by new tensors, and by the products of which they stay a part; see
/// World::set_group_mapping(). Results are the same, but for rounding. Source: Solomonik et al., Cyclops (2012), section 3, for blocks.
enum class GroupMapping : std::uint8_t {
    packed,  ///< the packed index of a group is cyclic over the ranks: no padding
    blocks,  ///< each dimension of a group is cyclic; virtual blocks make up equal phases, and every block is padded
    best     ///< tensors are packed; each product takes for each group what is faster by the planner's model
};

}  // namespace arges

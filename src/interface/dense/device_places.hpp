/// Which tensors lie on a device that has no room for all: those that statements used last.
#pragma once

#include "interface/dense/tensor_state.hpp"

#include <vector>

namespace arges {

/// Brings tensors that lie on the host to the device if earlier statements have computed with them there, copying them. Where there is no
/// room, tensors that were used less recently than the one before (the least recent first) are put off to the host, if that has room: a
/// round of statements whose tensors do not all fit leaves them where they are. Tensors whose address somebody has stay. Collective.
/// @param used  by a statement, the same on all ranks  @return true if some were brought
bool bring_to_device(WorldState& world, const std::vector<TensorState*>& used);

/// Notes a use of tensors, and which of those on the host a step on the device copied. @param crossing  these
void note_use(WorldState& world, const std::vector<TensorState*>& used, const std::vector<TensorState*>& crossing);

}  // namespace arges

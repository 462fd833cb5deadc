/// One movement between arrays of a world's tensors.
#pragma once

#include "arges/element_kernels.hpp"
#include "interface/world/world_state.hpp"
#include "plan/movement/movement.hpp"
#include "redistribute/element_transfer.hpp"

namespace arges {

/// to = alpha * from + beta * to, as the movement says, by the kernels of `to`; in a dry run nothing. A null alpha stands for one.
/// Collective.
/// @throws OutOfMemory on every rank, before anything is moved if messages and lists are over the memory limit of one
void run_movement(WorldState& world, const ElementKernels& kernels, const Movement& spec, const SourceArray& from, void* to,
                  const void* alpha, const void* beta);

/// Copies every element to the same indices of another layout, as run_movement() does. Collective.
inline void move_elements(WorldState& world, const ElementKernels& kernels, const Layout& from, const SourceArray& source, const Layout& to,
                          void* target) {
    run_movement(world, kernels, copy_between(from, to), source, target, nullptr, kernels.zero);
}

}  // namespace arges

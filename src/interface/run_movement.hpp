/// One movement between arrays of a world's tensors.
#pragma once

#include "arges/error.hpp"
#include "interface/world_state.hpp"
#include "plan/estimate_cost.hpp"
#include "redistribute/exchange.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace arges {

/// to = alpha * from + beta * to, as the movement says; in a dry run nothing. Collective.
/// @throws OutOfMemory on every rank, before anything is moved if messages and lists are over the memory limit of one
template <class T>
void run_movement(WorldState& world, const ExchangeSpec& spec, const T* from, T* to, T alpha, T beta) {
    if (world.dry()) {
        world.note_seconds(estimated_seconds(spec, sizeof(T), world.machine()) + preparing_seconds(spec, world.machine()));
        return;
    }
    Workspace workspace;
    std::optional<Exchange> exchange;
    std::int64_t buffers = 0, most = 0;
    world.agree([&] {
        exchange.emplace(world.exchange_communicator(), spec, world.rank());
        buffers = (exchange->workspace_elements() + 16) * static_cast<std::int64_t>(sizeof(T));
        most = buffers + exchange->list_bytes();
    });
    if (world.exchange_communicator() != nullptr) most = world.communicator().maximum(most);
    const auto left = world.least_free_bytes();
    if (most > left)
        throw OutOfMemory("moving elements to another layout takes " + std::to_string(most) + " bytes per rank for messages and lists, with " + std::to_string(left) +
                          " left under the limit; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
    world.make_room(most);
    world.note_working(most);
    world.agree([&] { workspace.reserve(buffers); });
    world.agree([&] { exchange->run(from, to, alpha, beta, false, workspace); });
}

/// Copies every element to the same indices of another layout, as run_movement() does. Collective.
template <class T>
void move_elements(WorldState& world, const Layout& from, const T* source, const Layout& to, T* target) {
    run_movement(world, copy_between(from, to), source, target, T(1), T(0));
}

}  // namespace arges

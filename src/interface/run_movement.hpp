/// One movement between arrays of a world's tensors.
#pragma once

#include "interface/world_state.hpp"
#include "redistribute/exchange.hpp"

#include <optional>

namespace arges {

/// to = alpha * from + beta * to, as the movement says; in a dry run nothing. Collective. @throws OutOfMemory on every rank
template <class T>
void run_movement(const WorldState& world, const ExchangeSpec& spec, const T* from, T* to, T alpha, T beta) {
    if (world.dry()) return;
    Workspace workspace;
    std::optional<Exchange> exchange;
    world.agree([&] {
        exchange.emplace(world.exchange_communicator(), spec, world.rank());
        workspace.reserve((exchange->workspace_elements() + 16) * static_cast<std::int64_t>(sizeof(T)));
    });
    world.agree([&] { exchange->run(from, to, alpha, beta, false, workspace); });
}

}  // namespace arges

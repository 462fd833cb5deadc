#include "interface/run_movement.hpp"

#include "arges/error.hpp"
#include "plan/estimate_cost.hpp"
#include "redistribute/exchange.hpp"

#include <optional>
#include <string>

namespace arges {

void run_movement(WorldState& world, const ElementKernels& kernels, const ExchangeSpec& spec, const void* from, void* to, const void* alpha, const void* beta) {
    if (world.dry()) {
        world.note_seconds(estimated_seconds(spec, kernels.size, world.machine()) + preparing_seconds(spec, world.machine()));
        return;
    }
    Workspace workspace;
    std::optional<Exchange> exchange;
    std::int64_t buffers = 0, most = 0;
    world.agree([&] {
        exchange.emplace(world.exchange_communicator(), spec, world.rank());
        buffers = exchange->workspace_elements() * kernels.size + 128;
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
    world.agree([&] { exchange->run(kernels, from, to, alpha, beta, false, workspace); });
}

}  // namespace arges

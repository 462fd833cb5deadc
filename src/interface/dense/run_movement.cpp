#include "interface/dense/run_movement.hpp"

#include "plan/movement/movement.hpp"
#include "plan/product/estimate_cost.hpp"
#include "redistribute/movement_run.hpp"

#include <optional>

namespace arges {

void run_movement(WorldState& world, const ElementKernels& kernels, const Movement& given, const SourceArray& from, void* to,
                  const void* alpha, const void* beta) {
    auto spec = given;
    if (from.kernels_or(kernels).space != kernels.space) spec.from_bytes = kernels.size;  // it lies in another memory
    if (world.dry()) {
        const auto bound = movement_bound(spec);
        world.note_working(bound.buffers * kernels.size + bound.list_bytes, 0, bound.building_bytes);
        world.note_seconds(estimated_seconds(spec, kernels.size, world.plan_options()) + preparing_seconds(spec, world.machine()));
        return;
    }
    Workspace workspace;
    std::optional<MovementRun> run;
    std::int64_t buffers = 0, most = 0;
    world.agree([&] {
        run.emplace(world.movement_communicator(), spec, world.rank());
        buffers = run->workspace_bytes(kernels.size);
        most = buffers + run->list_bytes();
    });
    world.require_everywhere(world.most(most), "moving elements to another layout");
    world.agree([&] { workspace.reserve(buffers); });
    world.agree([&] { run->run(kernels, from, to, alpha, beta, false, workspace); });
}

}  // namespace arges

// Movements in which nearly every element changes its rank, and key-value pairs. Work is counted in elements, of all ranks.
#include "key_value_pairs.hpp"
#include "layouts.hpp"
#include "plan/movement/movement.hpp"
#include "plan/product/estimate_cost.hpp"
#include "redistribute/movement_run.hpp"
#include "scaling_case.hpp"

#include "interface/world/world_state.hpp"

#include <cmath>
#include <utility>

namespace bench {

namespace {

Outcome run_relayout(const arges::World& world, const Setting& setting, const Relayout& c) {
    const auto& comm = world.state()->communicator();
    const auto spec = arges::copy_between(layout_of(c, c.from, comm.size(), false), layout_of(c, c.to, comm.size(), true));
    const std::vector<double> from(static_cast<std::size_t>(spec.from.local_size(comm.rank())), 1);
    std::vector<double> to(static_cast<std::size_t>(spec.to.local_size(comm.rank())));
    arges::Workspace workspace;
    arges::MovementRun movement(comm.size() > 1 ? &comm : nullptr, spec, comm.rank());
    double sent = 0;
    auto outcome = timed(world, setting, [&] {
        const auto before = comm.traffic().bytes_sent;
        movement.run(from.data(), to.data(), 1.0, 0.0, false, workspace);
        sent = static_cast<double>(comm.traffic().bytes_sent - before);
    });
    const auto volume = arges::movement_volume(spec, comm.rank());
    compare_with_plan(world, static_cast<double>(volume.sent) * sizeof(double), sent, outcome);
    outcome.predicted = arges::estimated_seconds(spec, sizeof(double), world.state()->plan_options());
    outcome.size = "n=" + std::to_string(c.extents[0]);
    outcome.unit = "element";
    outcome.work = sum(world, static_cast<double>(to.size()));
    return outcome;
}

/// @param labels of the tensor, all of one extent
ScalingCase relayout(const std::string& name, const std::string& about, const char* labels, Side from, Side to) {
    const auto run = [labels, from, to](const arges::World& world, const Setting& setting) {
        const std::size_t order = std::string(labels).size();
        const auto tensor = [&](std::int64_t n) { return Relayout{"", labels, std::vector<std::int64_t>(order, n), from, to}; };
        const auto elements = [&](std::int64_t n) { return static_cast<double>(layout_of(tensor(n), from, 1, false).max_local_size()); };
        return run_relayout(world, setting, tensor(extent_for(setting, 2, elements)));
    };
    return {name, about, run};
}

ScalingCase pairs(const std::string& name, const std::string& about, bool ascending, bool reads) {
    const auto run = [ascending, reads](const arges::World& world, const Setting& setting) {
        const auto count = static_cast<std::int64_t>(setting.total_words() / static_cast<double>(world.size()));
        const auto extent = std::llround(std::cbrt(setting.total_words()));
        arges::Tensor<double> A(world, {extent, extent, extent}, "abc");
        const auto own = pairs_of(extent, count, world.rank(), ascending);
        A.write(own.keys, own.values);
        auto outcome = timed(world, setting, [&] {
            if (reads)
                A.read(own.keys);
            else
                A.write(own.keys, own.values);
        });
        outcome.size = std::to_string(count) + " each";
        outcome.unit = "pair";
        outcome.work = static_cast<double>(count) * static_cast<double>(world.size());
        return outcome;
    };
    return {name, about, run};
}

}  // namespace

std::vector<ScalingCase> exchange_cases() {
    return {relayout("rows-columns", "a matrix, from rows on ranks to columns on ranks", "ij", {"", false, true}, {""}),
            relayout("halves", "antisymmetric halves, from one on ranks to the other", "abij", {"antisym(a,b) antisym(i,j)", false, true},
                     {"antisym(a,b) antisym(i,j)"}),
            relayout("unpack", "integrals of eightfold symmetry, packed, to all elements", "pqrs", {"sym(sym(p,q),sym(r,s))"}, {""}),
            pairs("write", "key-value pairs, random keys", false, false), pairs("read", "likewise, read", false, true)};
}

}  // namespace bench

#include "scaling_case.hpp"

#include "base/stopwatch.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>

namespace bench {

namespace {

double reduced(const arges::World& world, double value, MPI_Op operation) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, world.communicator());
    return value;
}

}  // namespace

double largest(const arges::World& world, double value) { return reduced(world, value, MPI_MAX); }
double sum(const arges::World& world, double value) { return reduced(world, value, MPI_SUM); }

Outcome timed(const arges::World& world, const Setting& setting, const std::function<void()>& work) {
    const auto& state = *world.state();
    const auto seconds = [&] {
        MPI_Barrier(world.communicator());
        const arges::Stopwatch watch;
        work();
        return largest(world, watch.seconds());
    };
    Outcome outcome;
    outcome.first = seconds();
    for (int i = 0; i < setting.settle; ++i) work();
    std::vector<double> all;
    for (int i = 0; i < setting.repetitions; ++i) {
        const auto before = state.communicator().traffic();
        const auto planned = state.planned_bytes();
        const double predicted = state.planned_seconds();
        all.push_back(seconds());
        const auto after = state.communicator().traffic();
        if (i + 1 < setting.repetitions) continue;
        const auto sent = static_cast<double>(after.bytes_sent - before.bytes_sent);
        outcome.messages = sum(world, static_cast<double>(after.messages_sent - before.messages_sent));
        outcome.sent = sum(world, sent);
        const double seconds_of_plans = state.planned_seconds() - predicted;
        if (seconds_of_plans <= 0) continue;  // no statement
        outcome.predicted = seconds_of_plans;
        compare_with_plan(world, static_cast<double>(state.planned_bytes() - planned), sent, outcome);
    }
    std::sort(all.begin(), all.end());
    outcome.seconds = all[all.size() / 2];
    return outcome;
}

void compare_with_plan(const arges::World& world, double planned, double sent, Outcome& outcome) {
    outcome.planned = sum(world, planned);
    outcome.ranks_not_as_planned = static_cast<std::int64_t>(sum(world, planned == sent ? 0 : 1));
}

std::int64_t extent_for(const Setting& setting, std::int64_t from, const std::function<double(std::int64_t)>& size) {
    std::int64_t high = from;
    while (size(high) < setting.total_words()) high *= 2;
    std::int64_t low = from;
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (size(middle) < setting.total_words())
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

}  // namespace bench

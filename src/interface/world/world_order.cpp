#include "interface/world/world_state.hpp"

#include "arges/error.hpp"
#include "base/options.hpp"
#include "comm/values.hpp"
#include "topology/rank_order.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace arges {

namespace {

std::string text_of_file(const std::string& file) {
    std::ifstream stream(file);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    if (!stream.is_open() || stream.bad())
        throw InvalidArgument("coordinates in " + file +
                              ": the file cannot be read; let ARGES_COORDINATES name one that rank 0 can read, or unset it");
    return text;
}

}  // namespace

WorldOrder world_order(const Communicator& ranks, const Torus& torus, RankOrder order) {
    const auto by_machine = from_first_rank(ranks, [&] { return machine_order_option() || order == RankOrder::by_machine; });
    const auto file = from_first_rank(ranks, [] { return coordinates_option().value_or(""); });
    WorldOrder result{torus, std::nullopt};
    if (!file.empty() && ranks.size() == process_count()) {
        const auto text = from_first_rank(ranks, [&] { return text_of_file(file); });
        ranks.agree([&] {
            const auto placed = place_on_torus(parse_coordinates(text, file, ranks.size()), torus, file);
            result = {placed.torus, placed.rank[process_number()]};
        });
    } else if (by_machine) {
        const auto node = ranks.nodes();
        ranks.agree([&] { result.rank = order_by_nodes(node)[ranks.rank()]; });
    }
    return result;
}

PlannedMachine resolved(PlannedMachine machine) {
    if (machine.ranks && *machine.ranks < 1)
        throw InvalidArgument("World::dry_run: " + std::to_string(*machine.ranks) + " ranks; at least one is needed");
    const auto& file = machine.coordinates;
    if (!file.empty())
        machine.torus = place_on_torus(parse_coordinates(text_of_file(file), file, machine.ranks), machine.torus, file).torus;
    if (!machine.ranks) machine.ranks = machine.torus.lengths().empty() ? 1 : machine.torus.ranks();
    const auto per_node = machine.ranks_per_node;
    if (per_node < 0 || (per_node > 0 && per_node < *machine.ranks && *machine.ranks % per_node != 0))
        throw InvalidArgument("World::dry_run: " + std::to_string(*machine.ranks) + " ranks with " + std::to_string(per_node) +
                              " on a node; all nodes must have as many, so give a divisor of the number of ranks");
    return machine;
}

}  // namespace arges

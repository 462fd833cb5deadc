// arges machine: what a World of these ranks takes this machine for, and what its plans and limits rest on.
#include "arges/machine.hpp"
#include "base/options.hpp"
#include "cli/program.hpp"
#include "cli/subcommand.hpp"
#include "cli/waiting_threads.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace arges::cli {

namespace {

struct MachineCommand {
    WorldOptions world;
    bool json = false;
};

void print_json(std::ostream& out, const World& world, const WorldMachine& found, const std::string& file) {
    nlohmann::ordered_json object;
    object["ranks"] = world.size();
    object["ranks_per_node"] = found.ranks_per_node;
    object["threads"] = found.threads;
    object["waiting_threads"] = waiting_threads_text();
    object["torus"] = world.torus().lengths();
    for (const auto& grid : found.grids) object["grids"].push_back(grid.lengths());
    object["memory_limit"] = world.memory_limit();
    object["machine_file"] = file;
    const auto& machine = found.machine;
    object["flops_per_second"] = machine.flops_per_second;
    object["bytes_per_second"] = machine.bytes_per_second;
    object["copied_bytes_per_second"] = machine.copied_bytes_per_second;
    object["message_seconds"] = machine.message_seconds;
    out << object.dump(2) << std::endl;
}

void print_table(std::ostream& out, const World& world, const WorldMachine& found, const std::string& file) {
    const auto& machine = found.machine;
    std::string smaller;
    for (std::size_t g = 1; g < found.grids.size(); ++g) smaller += (smaller.empty() ? "" : ", ") + found.grids[g].to_string();
    std::vector<std::vector<std::string>> rows{
        {"ranks", std::to_string(world.size())},
        {"ranks on a node", std::to_string(found.ranks_per_node)},
        {"threads of a rank", std::to_string(found.threads)},
        {"threads that wait", waiting_threads_text()},
        {"torus", world.torus().to_string()},
        {"process grid", found.grids.front().to_string()},
        {"grids with idle ranks", smaller.empty() ? "none" : smaller},
        {"memory limit of a rank", format_bytes(world.memory_limit())},
        {"constants from", file.empty() ? "defaults, see arges calibrate" : file},
        {"matrix products", fmt::format("{:.4g} Gflop/s per rank", machine.flops_per_second * 1e-9)},
        {"local copies", fmt::format("{:.4g} GB/s per rank", machine.copied_bytes_per_second * 1e-9)},
        {"between ranks", fmt::format("{:.4g} GB/s per rank", machine.bytes_per_second * 1e-9)},
        {"a message", fmt::format("{:.4g} microseconds", machine.message_seconds * 1e6)},
    };
    out << table(rows, {true, true}) << std::flush;
}

void run(const MachineCommand& command, const Console& console) {
    const auto world = command.world.make_world();
    const auto found = machine_of(world);
    const auto named = machine_file_option();
    const auto file = !named.empty() && std::filesystem::is_regular_file(named) ? named : std::string();
    command.json ? print_json(console.out, world, found, file) : print_table(console.out, world, found, file);
}

}  // namespace

Action declare_machine(CLI::App& app) {
    const auto command = std::make_shared<MachineCommand>();
    command->world.declare(app);
    app.add_flag("--json", command->json, "print one JSON object instead of a table");
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

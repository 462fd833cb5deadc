// arges calibrate: measures the constants that plans and predicted seconds rest on, and stores them.
#include "arges/error.hpp"
#include "arges/machine.hpp"
#include "base/options.hpp"
#include "cli/outputs.hpp"
#include "cli/program.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace arges::cli {

namespace {

struct CalibrateCommand {
    std::string output;
    std::int64_t ranks_per_node = 0;
    std::string device{};
    bool json = false;
    Outputs outputs{};
};

void print_json(std::ostream& out, const MachineMeasurement& measured, const std::string& file) {
    const auto& machine = measured.machine;
    nlohmann::ordered_json object;
    for (const auto& constants : {machine_constants(), optional_machine_constants()})
        for (const auto& constant : constants) object[constant.name] = machine.*constant.value;
    for (const auto& constant : device_constants())
        if (machine.device) object[constant.name] = *machine.device.*constant.value;
    object["products"] = nlohmann::ordered_json::array();
    for (const auto& rate : measured.products)
        object["products"].push_back({{"edge", rate.edge}, {"flops_per_second", rate.flops_per_second}});
    if (measured.has_nodes) {
        object["on_node_bytes_per_second"] = machine.interconnect.on_node_bytes_per_second;
        object["on_node_message_seconds"] = machine.interconnect.on_node_message_seconds;
        object["node_bytes_per_second"] = machine.interconnect.node_bytes_per_second;
    }
    object["network_measured"] = measured.has_network;
    object["ranks"] = measured.ranks;
    object["ranks_per_node"] = measured.ranks_per_node;
    object["file"] = file;
    out << object.dump(2) << std::endl;
}

void print_table(std::ostream& out, const MachineMeasurement& measured, const std::string& file) {
    const auto& machine = measured.machine;
    std::vector<std::vector<std::string>> rows;
    const auto add = [&rows](const std::string& name, double value, const char* unit) {
        rows.push_back({name, fmt::format("{:.4g}", value), unit});
    };
    for (const auto& rate : measured.products)
        add("matrix products, edge " + std::to_string(rate.edge), rate.flops_per_second * 1e-9, "Gflop/s per rank");
    add("matrix products, large", machine.flops_per_second * 1e-9, "Gflop/s per rank");
    if (machine.half_rate_edge > 0) add("half of that", machine.half_rate_edge, "edge");
    add("local copies", machine.copied_bytes_per_second * 1e-9, "GB/s per rank");
    add("copies along lists", machine.listed_element_seconds * 1e9, "ns per element");
    add("cache", machine.cache_bytes / (1 << 20), "MiB per rank");
    add("MTTKRP", machine.nonzero_column_seconds * 1e9, "ns per nonzero and column");
    add("rows of factors", machine.row_column_seconds * 1e9, "ns per row and column");
    add("multiplications, sparse", machine.sparse_product_seconds * 1e9, "ns per pair of nonzeros");
    add("sorting", machine.sorted_nonzero_seconds * 1e9, "ns per nonzero");
    add("multiplications, matrices", machine.multiplication_seconds * 1e9, "ns on one thread");
    add("multiplications, vectors", machine.vector_multiplication_seconds * 1e9, "ns on one thread");
    add("copies in another order", machine.packed_element_seconds * 1e9, "ns per element on one thread");
    add("choosing a plan", machine.planning_seconds * 1e6, "microseconds");
    const std::string where = !measured.has_network ? " (assumed)" : measured.has_nodes ? ", other node" : "";
    add("between ranks" + where, machine.bytes_per_second * 1e-9, "GB/s per rank");
    add("a message" + where, machine.message_seconds * 1e6, "microseconds");
    if (measured.has_nodes) {
        const auto& links = machine.interconnect;
        add("between ranks, same node", links.on_node_bytes_per_second * 1e-9, "GB/s per rank");
        add("a message, same node", links.on_node_message_seconds * 1e6, "microseconds");
        add("between nodes, all ranks", links.node_bytes_per_second * 1e-9, "GB/s per node");
    }
    if (const auto& device = machine.device) {
        add("device: matrix products, large", device->flops_per_second * 1e-9, "Gflop/s");
        add("device: half of that", device->half_rate_edge, "edge");
        add("device: copies", device->copied_bytes_per_second * 1e-9, "GB/s");
        add("device: copies along lists", device->listed_element_seconds * 1e9, "ns per element");
        add("device: between its memory and the host's", device->link_bytes_per_second * 1e-9, "GB/s");
        add("device: a call", device->call_seconds * 1e6, "microseconds");
        add("device: memory", device->memory_bytes / (1 << 30), "GiB per rank");
    }
    out << table(rows, {true, false, true});
    if (!measured.has_network) out << "One rank measures no network: run it with mpiexec on two or more.\n";
    out << "stored in " << file << std::endl;
}

void run(CalibrateCommand& command, const Console& console) {
    std::optional<Device> device;
    if (!command.device.empty()) device.emplace(parse_device(command.device, "--device"));
    const World world(MachineModel(), device);  // a file that is damaged is replaced
    const auto file = command.output.empty() ? machine_file_option() : command.output;
    world.agree([&] {
        if (file.empty()) throw InvalidArgument("there is no home folder to store the constants in; name a file with --output");
    });
    if (!command.output.empty()) command.outputs.claim(world, file);
    const auto measured = measure_machine(world, command.ranks_per_node);
    world.agree([&] {
        if (world.rank() == 0) write_machine_model(file, measured.machine);
    });
    command.json ? print_json(console.out, measured, file) : print_table(console.out, measured, file);
}

}  // namespace

Action declare_calibrate(CLI::App& app) {
    const auto command = std::make_shared<CalibrateCommand>();
    app.add_option("--output", command->output, "file to write; else the one that ARGES_MACHINE names, which is replaced");
    command->outputs.declare(app);
    app.add_option("--ranks-per-node", command->ranks_per_node, "ranks that follow each other on a node; else as detected")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
    app.add_option("--device", command->device, "measures the ranks' devices, too: cuda or none; as ARGES_DEVICE, else none")
        ->check(accepted_by([](const std::string& text) { parse_device(text, ""); }, "DEVICE"));
    app.add_flag("--json", command->json, "print one JSON object instead of a table");
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

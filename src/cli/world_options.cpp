#include "cli/world_options.hpp"

#include "arges/error.hpp"
#include "base/options.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace arges::cli {

CLI::Validator accepted_by(const std::function<void(const std::string&)>& parse, const std::string& what) {
    return CLI::Validator(
        [parse](std::string& text) {
            try {
                parse(text);
                return std::string();
            } catch (const Error& error) {
                return std::string(error.what());
            }
        },
        what);
}

void refuse_options(const CLI::App& app, std::initializer_list<const char*> names, const std::string& reason) {
    for (const char* name : names)
        if (app.count(name) > 0) throw CLI::ValidationError(name, reason + "; leave it out");
}

double parse_positive(std::string_view text) {
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
        throw InvalidArgument("'" + std::string(text) + "' must be a positive number");
    return value;
}

std::string format_bytes(std::int64_t bytes) {
    constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double value = bytes;
    int unit = 0;
    for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
    return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

void WorldOptions::declare(CLI::App& app) {
    app.add_option("--torus", torus_, "shape of the machine, e.g. 4x4x2; its product is the number of ranks")
        ->check(accepted_by([](const std::string& text) { Torus::parse(text); }, "SHAPE"));
    app.add_option("--memory", memory_, "memory limit of a rank, e.g. 2G")
        ->check(accepted_by([](const std::string& text) { parse_bytes(text, ""); }, "SIZE"));
    declare_group_mapping(app, group_mapping_);
    auto* const device = app.add_option("--device", device_,
                                        "where dense tensors have their elements, and products run: cuda or none (the host); as "
                                        "ARGES_DEVICE, else none")
                             ->check(accepted_by([](const std::string& text) { parse_device(text, ""); }, "DEVICE"));
    app.add_option("--device-memory", device_memory_, "memory limit of a rank on the device, e.g. 16G; else its part of what is free there")
        ->check(accepted_by([](const std::string& text) { parse_bytes(text, ""); }, "SIZE"))
        ->needs(device);
}

void declare_planned_machine(CLI::App& app, PlannedMachine& machine, CLI::Option* dry) {
    const std::string whose = dry == nullptr ? "" : "with --dry: ";
    CLI::Option* const options[] = {
        app.add_option("--ranks", machine.ranks, whose + "number of ranks; else what --torus or --coordinates hold")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{std::numeric_limits<std::int32_t>::max()})),
        app.add_option("--ranks-per-node", machine.ranks_per_node, whose + "ranks on a node, a divisor of the number of ranks")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{std::numeric_limits<std::int32_t>::max()})),
        app.add_option("--machine", machine.file,
                       whose + "file of constants and interconnect of the machine, else that of ARGES_MACHINE; or a100, h100, h200: "
                               "ranks with such a device each"),
        app.add_option("--coordinates", machine.coordinates, whose + "file with the coordinates of each rank, whose torus it is")};
    if (dry != nullptr)
        for (CLI::Option* const option : options) option->needs(dry);
}

void declare_group_mapping(CLI::App& app, std::string& text) {
    app.add_option("--group-mapping", text,
                   "how symmetric groups are spread: packed, blocks (of virtual grids), or best (for each product); as "
                   "ARGES_GROUP_MAPPING, else packed")
        ->check(accepted_by([](const std::string& given) { parse_group_mapping(given, ""); }, "MAPPING"));
}

GroupMapping group_mapping_of(const std::string& text) {
    return text.empty() ? group_mapping_option() : parse_group_mapping(text, "--group-mapping");
}

World WorldOptions::make_world() const { return limited(made(torus())); }

World WorldOptions::make_planning_world() const { return limited(made({})); }

World WorldOptions::made(const Torus& torus) const {
    if (device_.empty()) return torus.lengths().empty() ? World() : World(World().communicator(), torus);
    const auto memory = device_memory_.empty() ? 0 : parse_bytes(device_memory_, "--device-memory");
    return World(Device(parse_device(device_, "--device"), memory), torus);
}

World WorldOptions::limited(World world) const {
    if (!memory_.empty()) world.set_memory_limit(parse_bytes(memory_, "--memory"));
    if (!group_mapping_.empty()) world.set_group_mapping(group_mapping_of(group_mapping_));
    return world;
}

}  // namespace arges::cli

/// The options that all subcommands have in common.
#pragma once

#include "arges/world.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace arges::cli {

/// --torus, --memory, --group-mapping, --device and --device-memory.
class WorldOptions {
public:
    /// Adds the options; the object must live as long as the parsed values are needed.
    void declare(CLI::App& app);
    /// All processes of the program, as the options say. Collective.
    World make_world() const;
    /// Likewise without the torus, for plans of machines that need not be there.
    World make_planning_world() const;
    /// What --torus says.
    Torus torus() const { return torus_.empty() ? Torus() : Torus::parse(torus_); }

private:
    World made(const Torus& torus) const;
    World limited(World world) const;
    std::string torus_;
    std::string memory_;
    std::string group_mapping_;
    std::string device_;
    std::string device_memory_;
};

/// Adds --ranks, --ranks-per-node, --machine and --coordinates: the machine of a plan. --torus is declared by others.
/// @param dry  flag that they need; null: none
void declare_planned_machine(CLI::App& app, PlannedMachine& machine, CLI::Option* dry = nullptr);

/// Adds --group-mapping.
void declare_group_mapping(CLI::App& app, std::string& text);

/// What --group-mapping says, or ARGES_GROUP_MAPPING where it is left out.
GroupMapping group_mapping_of(const std::string& text);

/// "21.3 MB"; a unit is a power of 1024 here, too.
std::string format_bytes(std::int64_t bytes);

/// Reads a positive finite number.
/// @throws InvalidArgument for anything else
double parse_positive(std::string_view text);

/// Accepts what `parse` reads without throwing an Error; `what` stands for the value in --help.
CLI::Validator accepted_by(const std::function<void(const std::string&)>& parse, const std::string& what);

/// @throws CLI::ValidationError if one of the options was given: "--grid: `reason`; leave it out"
void refuse_options(const CLI::App& app, std::initializer_list<const char*> names, const std::string& reason);

}  // namespace arges::cli

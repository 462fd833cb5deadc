/// What a subcommand of `arges` is, and the table of all of them.
#pragma once

#include "cli/program.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <vector>

namespace arges::cli {

/// Runs a subcommand whose options have been parsed; errors are exceptions.
using Action = std::function<void(const Console&)>;

/// A subcommand. To add one: write a file with its declare function, name it below, and add a line
/// to the table in subcommands.cpp.
struct Subcommand {
    const char* name;
    const char* summary;               ///< one line for --help
    Action (*declare)(CLI::App& app);  ///< adds the options to `app`
};

/// All subcommands, in the order of --help.
const std::vector<Subcommand>& subcommands();

Action declare_calibrate(CLI::App& app);
Action declare_cc(CLI::App& app);
Action declare_complete(CLI::App& app);
Action declare_convert(CLI::App& app);
Action declare_cpd(CLI::App& app);
Action declare_machine(CLI::App& app);
Action declare_plan(CLI::App& app);
Action declare_stats(CLI::App& app);
Action declare_tucker(CLI::App& app);

}  // namespace arges::cli

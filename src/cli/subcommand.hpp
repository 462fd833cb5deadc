/// What a subcommand of `arges` is, the table of all of them, and what a mistyped word of the command line may have meant.
#pragma once

#include "cli/program.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace arges::cli {

/// Runs a subcommand whose options have been parsed; errors are exceptions.
using Action = std::function<void(const Console&)>;

/// A subcommand. To add one: write a file with its declare function, name it below, and add a line
/// to the table in program.cpp.
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
Action declare_predict(CLI::App& app);
Action declare_report(CLI::App& app);
Action declare_show(CLI::App& app);
Action declare_stats(CLI::App& app);
Action declare_tucker(CLI::App& app);

/// Accepts one of some words, and refuses others with what there is and what was meant; `also` are accepted, and not told of. Pure.
CLI::Validator one_of(const std::vector<std::string>& words, const std::vector<std::string>& also = {});

/// "; did you mean --tolerance?" for the first word that the parser did not expect; "" where nothing is near.
std::string spelling_hint(const CLI::App& app);

}  // namespace arges::cli

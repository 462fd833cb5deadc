#include "cli/program.hpp"

#include "arges/error.hpp"
#include "cli/interruption.hpp"
#include "cli/spelling.hpp"
#include "cli/subcommand.hpp"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace arges::cli {

namespace {

constexpr const char* version = "arges " ARGES_VERSION;

/// One line, whatever the message was.
int fail(const Console& console, std::string message, int code) {
    for (char& c : message)
        if (c == '\n') c = ' ';
    console.err << "arges: error: " << message << std::endl;
    return code;
}

}  // namespace

int run_program(int argc, const char* const* argv, const Console& console) {
    CLI::App app("Arges: distributed tensors with permutational symmetry", "arges");
    app.set_version_flag("--version", version);
    app.require_subcommand(0, 1);
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const Subcommand& subcommand : subcommands()) {
        CLI::App* sub = app.add_subcommand(subcommand.name, subcommand.summary);
        actions.emplace_back(sub, subcommand.declare(*sub));
    }
    try {
        app.parse(argc, argv);
        for (const auto& [sub, action] : actions)
            if (sub->parsed()) {
                action(console);
                return exit_success;
            }
        return fail(console, "a subcommand is required (see arges --help)", exit_usage);
    } catch (const CLI::Success& request) {  // --help, --version
        return app.exit(request, console.out, console.err);
    } catch (const CLI::ExtrasError& error) {
        return fail(console, error.what() + spelling_hint(app) + " (see arges --help)", exit_usage);
    } catch (const CLI::ParseError& error) {
        return fail(console, std::string(error.what()) + " (see arges --help)", exit_usage);
    } catch (const Interrupted& end) {
        console.err << "arges: interrupted; " << end.left << std::endl;
        return exit_signal + end.signal;
    } catch (const Error& error) {
        return fail(console, error.what(), exit_error);
    }
}

}  // namespace arges::cli

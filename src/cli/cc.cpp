// arges ccsd FILE: correlation energies of a molecule.
#include "chemistry/cc_driver.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>
#include <string>

namespace arges::cli {

namespace {

using chemistry::CcResult;
using chemistry::IterationReport;
using chemistry::Method;

struct CcsdCommand {
    std::string file;
    std::string method = "ccsd";
    int max_iterations = 100;
    double tolerance = 1e-8;
    bool json = false;
    bool no_diis = false;
    WorldOptions world{};

    chemistry::CcOptions options() const {
        return {chemistry::parse_method(method), {max_iterations, tolerance, no_diis ? 0 : 8}};
    }
};

void print_plan(std::ostream& out, const CcsdCommand& command, const CcResult& result,
                const World& world) {
    const std::int64_t occupied = result.electrons / 2;
    out << fmt::format("{} of {}: {} electrons in {} orbitals ({} occupied, {} virtual)\n",
                       to_string(command.options().method), command.file, result.electrons,
                       result.orbitals, occupied, result.orbitals - occupied);
    out << fmt::format("{} {}, memory forecast {} per rank, limit {}\n\n", result.ranks,
                       result.ranks == 1 ? "rank" : "ranks",
                       format_bytes(result.forecast_memory_bytes),
                       format_bytes(world.memory_limit()))
        << std::flush;
}

void print_iteration(std::ostream& out, const IterationReport& report) {
    if (report.iteration == 1)
        out << fmt::format("{:>9} {:>20} {:>12} {:>10}\n", "iteration", "energy", "residual",
                           "seconds");
    out << fmt::format("{:>9} {:>20.12f} {:>12.2e} {:>10.3f}\n", report.iteration, report.energy,
                       report.residual, report.seconds)
        << std::flush;
}

void print_energies(std::ostream& out, const CcResult& result) {
    const auto row = [&out](const char* name, double energy) {
        out << fmt::format("{:<28} {:>20.12f}\n", name, energy);
    };
    out << fmt::format("\n{:<28} {:>20}\n", "energy", "hartree");
    row("SCF total", result.scf);
    if (result.mp2) row("MP2 correlation", *result.mp2);
    if (result.ccsd) row("CCSD correlation", *result.ccsd);
    if (result.ccsd_t) {
        row("(T) correction", *result.ccsd_t - *result.ccsd);
        row("CCSD(T) correlation", *result.ccsd_t);
        row("CCSD(T) total", result.scf + *result.ccsd_t);
    } else if (result.ccsd) {
        row("CCSD total", result.scf + *result.ccsd);
    } else if (result.mp2) {
        row("MP2 total", result.scf + *result.mp2);
    }
    if (!result.mp2) out << "No MP2 energy: the orbitals are not canonical RHF orbitals.\n";
    if (result.iterations > 0)
        out << fmt::format("\n{} iterations, {:.3f} seconds each", result.iterations,
                           result.seconds_per_iteration);
    out << fmt::format("\npeak memory {} per rank, forecast {}\n",
                       format_bytes(result.peak_memory_bytes),
                       format_bytes(result.forecast_memory_bytes))
        << std::flush;
}

void print_json(std::ostream& out, const CcResult& result) {
    nlohmann::ordered_json object;
    object["scf"] = result.scf;
    if (result.mp2) object["mp2"] = *result.mp2;
    if (result.ccsd) object["ccsd"] = *result.ccsd;
    if (result.ccsd_t) object["ccsd(t)"] = *result.ccsd_t;
    object["iterations"] = result.iterations;
    object["seconds_per_iteration"] = result.seconds_per_iteration;
    object["peak_memory_bytes"] = result.peak_memory_bytes;
    object["forecast_memory_bytes"] = result.forecast_memory_bytes;
    object["ranks"] = result.ranks;
    out << object.dump(2) << std::endl;
}

void run(const CcsdCommand& command, const Console& console) {
    const World world = command.world.make_world();
    chemistry::CcProgress progress;
    if (!command.json) {
        progress.planned = [&](const CcResult& result) {
            print_plan(console.out, command, result, world);
        };
        progress.iteration = [&](const IterationReport& report) {
            print_iteration(console.out, report);
        };
    }
    const CcResult result =
        chemistry::run_coupled_cluster(world, command.file, command.options(), progress);
    command.json ? print_json(console.out, result) : print_energies(console.out, result);
}

}  // namespace

Action declare_ccsd(CLI::App& app) {
    const auto command = std::make_shared<CcsdCommand>();
    app.add_option("FILE", command->file, "integrals in FCIDUMP form over RHF orbitals")
        ->required();
    app.add_option("--method", command->method, "mp2, ccsd or ccsd(t)")
        ->check(
            accepted_by([](const std::string& text) { chemistry::parse_method(text); }, "METHOD"))
        ->capture_default_str();
    app.add_option("--max-iterations", command->max_iterations, "give up after so many iterations")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--tolerance", command->tolerance,
                   "converged when the residual norm and the change of the energy are below")
        ->check(accepted_by([](const std::string& text) { parse_positive(text); }, "HARTREE"))
        ->capture_default_str();
    app.add_flag("--no-diis", command->no_diis, "without convergence acceleration");
    app.add_flag("--json", command->json, "print one JSON object instead of tables");
    command->world.declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

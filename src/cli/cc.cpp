// arges cc FILE: correlation energies of a molecule.
#include "arges/chemistry/cc_driver.hpp"
#include "base/read_number.hpp"
#include "cli/interruption.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace arges::cli {

namespace {

using chemistry::CcResult;
using chemistry::FcidumpHeader;
using chemistry::IterationReport;
using chemistry::Method;

/// Reads a number of orbitals; nothing for "auto". @throws InvalidArgument for anything else
std::optional<std::int64_t> parse_frozen_core(const std::string& text) {
    if (text == "auto") return std::nullopt;
    std::int64_t count = 0;
    if (!read_number(text, count) || count < 0) throw InvalidArgument("'" + text + "' must be a number of orbitals, or auto");
    return count;
}

struct CcCommand {
    std::string file;
    std::string method = "ccsd";
    int max_iterations = 100;
    double tolerance = 1e-8;
    bool json = false;
    bool dry = false;
    PlannedMachine machine{};
    int diis_vectors = 8;
    double seconds = 0;
    std::string checkpoint;
    int checkpoint_interval = 5;
    bool restart = false;
    std::string progress = "auto";
    std::string frozen_core = "0";
    std::int64_t frozen_virtuals = 0;
    std::optional<double> core_energy{};
    Outputs outputs{};
    WorldOptions world{};

    chemistry::CcOptions options() const {
        return {chemistry::parse_method(method),
                {max_iterations, tolerance, diis_vectors, seconds},
                {checkpoint, checkpoint_interval, restart},
                {parse_frozen_core(frozen_core).value_or(0), frozen_virtuals},
                !parse_frozen_core(frozen_core),
                {core_energy}};
    }
};

void print_plan(std::ostream& out, const CcCommand& command, const CcResult& result, const World& world) {
    const FcidumpHeader& header = result.header;
    const std::string method = to_string(command.options().method);
    if (header.closed_shell()) {
        const std::int64_t occupied = header.electrons / 2;
        out << fmt::format("{} of {}: {} electrons in {} orbitals ({} occupied, {} virtual)\n", method, command.file, header.electrons,
                           header.orbitals, occupied, header.orbitals - occupied);
    } else {
        out << fmt::format("{} of {}: {} alpha and {} beta electrons in {} {} orbitals\n", method, command.file, header.electrons_of(0),
                           header.electrons_of(1), header.orbitals,
                           header.form == chemistry::OrbitalForm::restricted ? "restricted" : "unrestricted");
    }
    const auto torus = result.torus.lengths().size() > 1 ? " (" + result.torus.to_string() + ")" : "";
    out << fmt::format("{} {}{}, memory forecast {} per rank, limit {}\n\n", result.ranks, result.ranks == 1 ? "rank" : "ranks", torus,
                       format_bytes(result.forecast_memory_bytes), format_bytes(world.memory_limit()))
        << std::flush;
}

/// Calls f(name, seconds) for each part that takes time.
template <class F>
void for_each_part(const chemistry::CcSeconds& seconds, F&& f) {
    f("reading", seconds.reading);
    f("preparation", seconds.preparation);
    if (seconds.iteration > 0) f("iteration", seconds.iteration);
    if (seconds.triples > 0) f("(T)", seconds.triples);
}

void print_estimate(std::ostream& out, const CcResult& result) {
    out << fmt::format("{:<12} {:>10}\n", "estimate", "seconds");
    for_each_part(result.forecast_seconds,
                  [&](const char* name, double seconds) { out << fmt::format("{:<12} {:>10.3g}\n", name, seconds); });
    out << "These follow from the constants of the machine, which `arges calibrate` measures.\n" << std::flush;
}

void print_iteration(std::ostream& out, const IterationReport& report) {
    if (report.iteration == 1) out << fmt::format("{:>9} {:>20} {:>12} {:>10}\n", "iteration", "energy", "residual", "seconds");
    out << fmt::format("{:>9} {:>20.12f} {:>12.2e} {:>10.3f}\n", report.iteration, report.energy, report.residual, report.seconds)
        << std::flush;
}

void print_energies(std::ostream& out, const CcResult& result) {
    const auto row = [&out](const std::string& name, double energy) { out << fmt::format("{:<28} {:>20.12f}\n", name, energy); };
    out << fmt::format("\n{:<28} {:>20}\n", "energy", "hartree");
    row("SCF total", result.scf);
    double before = 0;
    for (const auto& [method, correlation] : result.energies) {
        if (method == Method::ccsd_t || method == Method::rccsd_t) row("(T) correction", correlation - before);
        row(to_string(method) + " correlation", correlation);
        before = correlation;
    }
    if (!result.energies.empty()) {
        const auto& [method, correlation] = result.energies.back();
        row(to_string(method) + " total", result.scf + correlation);
    }
    if (result.frozen.any())
        out << fmt::format("{} core and {} virtual orbitals are frozen.\n", result.frozen.core, result.frozen.virtuals);
    if (result.round_off_repeats > 0)
        out << fmt::format("{} entries of the file repeat an integral up to round-off (1e-8 hartree): the "
                           "larger value was taken.\n",
                           result.round_off_repeats);
    if (!result.energy(Method::mp2)) out << "No spin-adapted MP2 energy: these are not RHF orbitals.\n";
    out << fmt::format("\nseconds: {:.3f} reading, {:.3f} preparation", result.seconds.reading, result.seconds.preparation);
    if (result.iterations > 0) out << fmt::format(", {} iterations of {:.3f}", result.iterations, result.seconds.iteration);
    if (result.seconds.triples > 0) out << fmt::format(", {:.3f} (T)", result.seconds.triples);
    out << fmt::format("\npeak memory {} per rank, forecast {}\n", format_bytes(result.peak_memory_bytes),
                       format_bytes(result.forecast_memory_bytes))
        << std::flush;
}

/// One object. @param planned  without what only a calculation finds
void print_json(std::ostream& out, const CcResult& result, bool planned) {
    nlohmann::ordered_json object;
    if (!planned) {
        object["scf"] = result.scf;
        for (const auto& [method, correlation] : result.energies) object[name_of(method)] = correlation;
        object["iterations"] = result.iterations;
        object["seconds_per_iteration"] = result.seconds.iteration;
        for_each_part(result.seconds, [&](const char* name, double seconds) { object["seconds"][name] = seconds; });
        object["peak_memory_bytes"] = result.peak_memory_bytes;
        object["frozen_core"] = result.frozen.core;
        object["frozen_virtuals"] = result.frozen.virtuals;
        object["round_off_repeats"] = result.round_off_repeats;
    }
    for_each_part(result.forecast_seconds, [&](const char* name, double seconds) { object["forecast_seconds"][name] = seconds; });
    object["forecast_memory_bytes"] = result.forecast_memory_bytes;
    object["ranks"] = result.ranks;
    object["torus"] = result.torus.to_string();
    out << object.dump(2) << std::endl;
}

void run(CcCommand& command, const Console& console) {
    const World world = command.dry ? command.world.make_planning_world() : command.world.make_world();
    if (command.dry) {
        command.machine.torus = command.world.torus();
        const bool is_here = command.machine == PlannedMachine();
        const CcResult result = chemistry::plan_coupled_cluster(world, command.file, command.options(),
                                                                is_here ? std::nullopt : std::optional(command.machine));
        if (command.json) return print_json(console.out, result, true);
        print_plan(console.out, command, result, world);
        return print_estimate(console.out, result);
    }
    command.outputs.keep_inputs({command.file});
    command.restart ? command.outputs.claim_continued(world, command.checkpoint) : command.outputs.claim(world, command.checkpoint);
    if (command.restart && world.rank() == 0 && !std::filesystem::exists(command.checkpoint))
        console.err << fmt::format("arges: {} is not there yet; the calculation starts afresh\n", command.checkpoint);
    chemistry::CcProgress progress;
    progress.saved = [&](const IterationReport& report) {
        set_interruption_note(
            fmt::format("{} has the amplitudes of iteration {}, go on with --restart", command.checkpoint, report.iteration));
    };
    StepLine steps(world, command.progress);
    progress.triples = [&](double done) { done < 1 ? steps.show("(T)", done) : steps.show(""); };
    progress.planned = [&](const CcResult& result) {
        if (!command.json) print_plan(console.out, command, result, world);
    };
    progress.iteration = [&](const IterationReport& report) {
        if (!command.json) print_iteration(console.out, report);
        steps.show_iteration(fmt::format("iteration {}, energy {:.8f}", report.iteration, report.energy),
                             {{"iteration", report.iteration}, {"energy", report.energy}, {"residual", report.residual}}, !command.json);
    };
    const CcResult result = chemistry::run_coupled_cluster(world, command.file, command.options(), progress);
    steps.show("");
    command.json ? print_json(console.out, result, false) : print_energies(console.out, result);
}

}  // namespace

Action declare_cc(CLI::App& app) {
    const auto command = std::make_shared<CcCommand>();
    app.add_option("FILE", command->file, "integrals over RHF, ROHF or UHF orbitals: FCIDUMP text, or TREXIO in HDF5")->required();
    app.add_option("--method", command->method, "mp2, ccsd, ccsd(t), rccsd, rccsd(t), ccsdt or ccsdtq")
        ->check(accepted_by([](const std::string& text) { chemistry::parse_method(text); }, "METHOD"))
        ->capture_default_str();
    app.add_option("--max-iterations,--iterations", command->max_iterations, "give up after so many iterations")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--tolerance", command->tolerance, "converged when the residual norm and the change of the energy are below")
        ->check(accepted_by([](const std::string& text) { parse_positive(text); }, "HARTREE"))
        ->capture_default_str();
    app.add_option("--diis", command->diis_vectors, "iterations kept for convergence acceleration; 0: without")
        ->check(CLI::Range(0, 100))
        ->capture_default_str();
    declare_seconds(app, command->seconds, "that is an error, and with --checkpoint, --restart goes on");
    app.add_option("--frozen-core", command->frozen_core,
                   "number of doubly occupied orbitals to leave out, the first ones; or auto: inner shells, below -2 "
                   "hartree")
        ->check(accepted_by([](const std::string& text) { parse_frozen_core(text); }, "K|auto"))
        ->capture_default_str();
    app.add_option("--frozen-virtuals", command->frozen_virtuals, "number of virtual orbitals to leave out, the last ones")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option(
        "--core-energy", command->core_energy,
        "core energy of a file without one, in hartree, as of a model without nuclei: 0; else such a file is refused as truncated");
    CLI::Option* const checkpoint =
        app.add_option("--checkpoint", command->checkpoint, "write amplitudes to this HDF5 file while iterating and at the end");
    app.add_option("--checkpoint-every", command->checkpoint_interval, "iterations between two checkpoints")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str()
        ->needs(checkpoint);
    app.add_flag("--restart", command->restart, "start from the amplitudes in the checkpoint, if it is there yet")->needs(checkpoint);
    command->outputs.declare(app);
    CLI::Option* const dry = app.add_flag("--dry", command->dry, "print sizes and estimates of memory and time, and compute nothing");
    declare_planned_machine(app, command->machine, dry);
    app.add_flag("--json", command->json, "print one JSON object instead of tables");
    declare_progress(app, command->progress);
    command->world.declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

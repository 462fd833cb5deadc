// arges convert IN OUT: a sparse tensor, or the integrals of a molecule, in another form; the hypergraph of a sparse tensor.
#include "arges/error.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/conversions.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/table_options.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

namespace arges::cli {

namespace {

struct ConvertCommand : FileCommand {
    std::string output;
    std::string output_base = "one";
    std::string maps;
    std::string model = "fine";
    bool compact = false;
    TableCommand table{};
    Outputs outputs{};
    std::optional<double> core_energy{};

    /// Of the maps.
    std::string folder() const { return maps.empty() ? std::filesystem::path(output).parent_path().string() : maps; }
    std::string map(std::size_t mode) const { return (std::filesystem::path(folder()) / fmt::format("mode_{}.map", mode)).string(); }
    bool is_table() const { return !table.options.columns.empty() || is_table_name(file) || file == "-"; }
    IndexBase written_base() const { return output_base == "zero" ? IndexBase::zero : IndexBase::one; }
};

/// What was done.
struct Conversion {
    ReadReport report{};
    std::int64_t ranks = 1;
    double density = 0;
    std::vector<std::int64_t> lengths{};  ///< written
    std::vector<std::string> maps{};      ///< files
    std::string ids{};                    ///< file; empty: the indices have none
    std::int64_t bytes_written = 0;
    double read_seconds = 0, write_seconds = 0;
    std::int64_t peak_memory_bytes = 0;  ///< of the process that used most
};

Conversion convert(const ConvertCommand& command, const World& world, ElementType element, bool is_dense) {
    Stopwatch watch;
    Conversion done{.ranks = world.size()};
    auto tensor = command.read_stored(world, element, is_dense, done.report);
    done.density = tensor.density();
    done.read_seconds = watch.lap();
    std::vector<std::vector<std::int64_t>> maps;
    if (command.compact) {
        tensor = compacted(tensor, maps);
        for (const auto& map : maps) {
            done.maps.push_back(command.map(done.maps.size() + 1));
            write_map(world, map, done.maps.back(), command.written_base());
        }
    }
    write_sparse(tensor, command.output, command.written_base());
    const auto ids = ids_path(command.file);
    if (!ids_outline(world, ids).empty()) done.ids = ids_path(command.output);
    command.compact && !done.ids.empty() ? select_ids(world, ids, maps, done.ids) : copy_ids(world, ids, ids_path(command.output));
    done.write_seconds = watch.lap();
    done.peak_memory_bytes = world.maximum(peak_process_memory());
    done.lengths = tensor.extents();
    done.bytes_written = file_bytes(command.output);
    return done;
}

void print_tables(std::ostream& out, const ConvertCommand& command, const Conversion& done) {
    const auto& report = done.report;
    const auto row = [&out](const char* name, const std::string& text) { out << fmt::format("{:<12} {}\n", name, text); };
    row("read",
        fmt::format("{}, {}, {}, {:.3f} s ({:.0f} MB/s) on {} {}", command.file, report.form, format_bytes(report.bytes), done.read_seconds,
                    static_cast<double>(report.bytes) / done.read_seconds / 1e6, done.ranks, done.ranks == 1 ? "rank" : "ranks"));
    if (report.lines > 0) row("lines", with_commas(report.lines));
    row("index base", std::to_string(report.index_base));
    row("entries", with_commas(report.entries));
    row("duplicates", with_commas(report.duplicates));
    row("nonzeros", fmt::format("{}, density {}", with_commas(report.entries - report.duplicates), scientific(done.density)));
    row("written", fmt::format("{}, {}, {:.3f} s", command.output, format_bytes(done.bytes_written), done.write_seconds));
    if (command.compact) row("compacted", lengths_text(done.lengths));
    for (const auto& map : done.maps) row("map", map);
    if (!done.ids.empty()) row("ids", done.ids);
    row("memory", format_bytes(done.peak_memory_bytes) + ", largest process");
    out << '\n' << modes_table(report) << std::flush;
}

void print_json(std::ostream& out, const ConvertCommand& command, const Conversion& done) {
    nlohmann::ordered_json object;
    object["input"] = command.file;
    object["output"] = command.output;
    object.update(report_json(done.report));
    object["density"] = done.density;
    object["lengths_written"] = done.lengths;
    object["maps"] = done.maps;
    object["ids"] = done.ids;
    object["bytes_written"] = done.bytes_written;
    object["read_seconds"] = done.read_seconds;
    object["write_seconds"] = done.write_seconds;
    object["peak_memory_bytes"] = done.peak_memory_bytes;
    object["ranks"] = done.ranks;
    out << object.dump(2) << std::endl;
}

/// Takes the places of all files before the work.
void claim_outputs(ConvertCommand& command, const World& world) {
    command.outputs.keep_inputs({command.file, ids_path(command.file)});
    command.outputs.claim(world, command.output);
    command.outputs.claim(world, ids_path(command.output));
    if (!command.compact) return;
    Outputs::make_folder(world, command.maps, "--maps");
    std::vector<std::string> maps;
    for (std::size_t mode = 1; mode <= static_cast<std::size_t>(max_sparse_order); ++mode) maps.push_back(command.map(mode));
    command.outputs.refuse_present(world, maps);
    command.outputs.claim(world, maps.front());
}

void run(ConvertCommand& command, const Console& console) {
    const World world = command.world.make_world();
    const bool is_dense = command.is_dense(world, {}, {"--drop"});
    const bool is_single = command.is_single(world, is_dense);
    claim_outputs(command, world);
    const auto done = convert(command, world, is_single ? ElementType::float32 : ElementType::float64, is_dense);
    command.json ? print_json(console.out, command, done) : print_tables(console.out, command, done);
}

void run_hypergraph(ConvertCommand& command, const Console& console) {
    refuse_options(*command.app, {"--output-base", "--compact", "--maps", "--type", "--drop"},
                   command.output + " is a file of a hypergraph by its name, and this is for tensors");
    const World world = command.world.make_world();
    command.is_single(world);
    claim_outputs(command, world);
    convert_to_hypergraph(world, {command.file, command.output, command.model, command.read_options()}, command.json, console.out);
}

void run_table(ConvertCommand& command, const Console& console) {
    refuse_options(*command.app, {"--base", "--lengths", "--compact", "--maps", "--model", "--core-energy", "--drop"},
                   command.file + " is a table, and this is for tensors");
    if (is_hypergraph_name(command.output) || chemistry::is_integral_name(command.output))
        throw CLI::ValidationError(command.output + ": of a table a tensor is made; end the name with .atns or .tns");
    const World world = command.world.make_world();
    if (command.table.options.columns.empty())
        throw CLI::ValidationError(command.file == "-" ? "--columns: of a table on standard input, say which columns make modes"
                                                       : command.file + ": this is a table; say which columns make modes: " +
                                                             conversion_line(world, command.file));
    auto table = command.table.read_options();
    table.duplicates = command.read_options().duplicates;
    if (command.counts_duplicates()) table.value.clear();
    claim_outputs(command, world);
    StepLine steps(world, command.progress);
    table.progress = [&](double done) { done < 1 ? steps.show("reading " + command.file, done) : steps.show("numbering ids"); };
    convert_table(world, {command.file, command.output, table, command.duplicates_name(), command.asks_for_float(), command.written_base()},
                  command.json, console.out);
}

void check_output_name(const std::string& path) {
    if (chemistry::is_integral_name(path) || is_hypergraph_name(path)) return;
    try {
        check_sparse_name(path);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(std::string(error.what()) + "; for integrals .fcidump (text) or .h5 (TREXIO), for a hypergraph .hgr");
    }
}

void run_integrals(ConvertCommand& command, const Console& console) {
    refuse_options(*command.app,
                   {"--output-base", "--compact", "--maps", "--model", "--base", "--lengths", "--duplicates", "--type", "--drop"},
                   command.output + " is a file of integrals by its name, and this is for sparse tensors");
    const World world = command.world.make_world();
    claim_outputs(command, world);
    convert_integrals(world, {command.file, command.output, {command.core_energy}}, command.json, console.out);
}

}  // namespace

std::int64_t file_bytes(const std::string& path) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    return unknown ? 0 : static_cast<std::int64_t>(size);
}

Action declare_convert(CLI::App& app) {
    const auto command = std::make_shared<ConvertCommand>();
    app.add_option("IN", command->file,
                   "a sparse tensor: .tns, .tns.gz, .mtx, .atns, or SPLATT's .bin; a dense one: .npy, HDF5, file.h5:/dataset; a table: "
                   ".csv, .tsv, also .gz, or - (standard input); or "
                   "integrals: FCIDUMP text, or TREXIO in HDF5")
        ->required();
    app.add_option("OUT", command->output,
                   "the file to write: .tns or .tns.gz (text), .mtx (MatrixMarket), .atns (binary); integrals: .fcidump (text), .h5 "
                   "(TREXIO); hypergraph: .hgr (hMETIS)")
        ->required()
        ->check(accepted_by(check_output_name, "FILE"));
    app.add_option("--output-base", command->output_base, "what the text that is written calls the first index: one or zero")
        ->check(one_of({"one", "zero"}))
        ->capture_default_str();
    auto* const compact =
        app.add_flag("--compact", command->compact, "remove empty slices, and write the indices that were kept to mode_N.map");
    app.add_option("--maps", command->maps, "folder for the maps, made if it is missing; without it that of OUT")->needs(compact);
    app.add_option(
           "--model", command->model,
           "hypergraph: fine (a vertex for each nonzero), coarse (for each nonempty slice) or coarse-opt (weights for cpd --algorithm opt)")
        ->check(one_of({"fine", "coarse", "coarse-opt"}))
        ->capture_default_str();
    app.add_option("--core-energy", command->core_energy, "integrals: core energy of a file without one, as of a model without nuclei: 0");
    command->declare_drop(app);
    command->outputs.declare(app);
    command->table.declare(app, "table: column of the values; without it every row counts 1");
    declare_progress(app, command->progress);
    command->declare(app, "tables", "sum", true);
    return [command](const Console& console) {
        if (command->is_table()) return run_table(*command, console);
        TableCommand::refuse(*command->app, command->file);
        if (command->counts_duplicates())
            throw CLI::ValidationError("--duplicates count: this is for tables; use sum, mean, first, last or refuse");
        if (is_hypergraph_name(command->output)) return run_hypergraph(*command, console);
        if (chemistry::is_integral_name(command->output)) return run_integrals(*command, console);
        refuse_options(*command->app, {"--model"},
                       command->output + " is a file of a tensor by its name, and this is for hypergraphs (.hgr)");
        run(*command, console);
    };
}

}  // namespace arges::cli

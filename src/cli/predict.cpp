// arges predict MODEL FILE: elements of a model at the indices of a text, or the ids of a table.
#include "arges/predict.hpp"
#include "base/text.hpp"
#include "cli/forecast.hpp"
#include "cli/ids.hpp"
#include "cli/outputs.hpp"
#include "cli/program.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/table_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

namespace arges::cli {

namespace {

struct PredictCommand {
    std::string model, file, output, base = "detect";
    bool json = false;
    TableCommand table{};
    Outputs outputs{};
    WorldOptions world{};
    const CLI::App* app = nullptr;

    bool is_table() const { return !table.options.columns.empty() || is_table_name(file) || file == "-"; }
};

const char* unknown_text(const CpModel<double>& model) {
    return model.has_biases() ? "only the other slices' biases tell" : "the model is zero";
}

void print_summary(std::ostream& out, const PredictCommand& command, const CpModel<double>& model, const PredictionReport& report,
                   const ModelIds& ids) {
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const char* name, const std::string& text) { rows.push_back({name, text}); };
    add("model", fmt::format("{}: {}, rank {}{}", command.model, lengths_text(model.lengths()), model.rank(),
                             model.has_biases() ? ", with biases" : ""));
    add("predictions",
        with_commas(report.predictions) + (command.is_table() ? "" : fmt::format(", indices count from {}", report.index_base)) +
            (report.skipped > 0
                 ? ", and " + with_commas(report.skipped) + (report.skipped == 1 ? " row" : " rows") + " with empty fields left out"
                 : ""));
    for (std::size_t m = 0; m < report.unknown_ids.size(); ++m)
        if (report.unknown_ids[m] > 0) add("unknown ids", fmt::format("{} in {}", with_commas(report.unknown_ids[m]), ids.name(m)));
    if (report.unknown > 0) add("in unknown slices", fmt::format("{}, where {}", with_commas(report.unknown), unknown_text(model)));
    if (report.has_values) add("RMSE", fmt::format("{:.8g}", report.rmse));
    add("written", command.output);
    out << table(rows, {true, true}) << std::flush;
}

void print_json(std::ostream& out, const PredictCommand& command, const CpModel<double>& model, const PredictionReport& report) {
    nlohmann::ordered_json object{{"model", command.model},
                                  {"lengths", model.lengths()},
                                  {"rank", model.rank()},
                                  {"biases", model.has_biases()},
                                  {"lines", report.lines},
                                  {"predictions", report.predictions},
                                  {"in_unknown_slices", report.unknown}};
    if (command.is_table()) {
        object["unknown_ids"] = report.unknown_ids;
        object["skipped"] = report.skipped;
    } else {
        object["index_base"] = report.index_base;
    }
    if (report.has_values) object["rmse"] = report.rmse;
    object["output"] = command.output;
    out << object.dump(2) << std::endl;
}

void run(PredictCommand& command, const Console& console) {
    if (command.is_table())
        refuse_options(*command.app, {"--base"}, command.file + " is a table, and this is for indices");
    else
        TableCommand::refuse(*command.app, command.file);
    const World world = command.world.make_world();
    const auto ids_file = ids_path(command.model);
    command.outputs.keep_inputs({command.file, ids_file, (std::filesystem::path(command.model) / "description.json").string()});
    command.outputs.claim(world, command.output);
    const auto model = load_model<double>(world, command.model);
    MemoryForecast forecast(world);
    const auto bytes = command.is_table() ? prediction_bytes(model, command.file, ids_file, command.table.read_options(), command.output)
                                          : prediction_bytes(model, command.file, command.output);
    if (bytes > 0) forecast.expect(command.file, bytes, "use more ranks, a file in parts, or raise --memory");
    const auto report = command.is_table() ? predict_table(model, command.file, ids_file, command.table.read_options(), command.output)
                                           : predict_file(model, command.file, command.output, index_base_of(command.base));
    if (command.json) {
        print_json(console.out, command, model, report);
    } else if (!command.output.empty()) {
        print_summary(console.out, command, model, report,
                      command.is_table() ? model_ids(world, command.model, model.lengths()) : ModelIds());
    } else {
        console.out << report.text;
        if (report.has_values) console.out << fmt::format("# RMSE {:.8g} of {}\n", report.rmse, report.predictions);
        console.out << std::flush;
        if (report.unknown > 0)
            console.err << fmt::format("arges: warning: {} of {} predictions {} in slices that the model does not know, where {}\n",
                                       with_commas(report.unknown), with_commas(report.predictions), report.unknown == 1 ? "is" : "are",
                                       unknown_text(model));
    }
}

}  // namespace

Action declare_predict(CLI::App& app) {
    const auto command = std::make_shared<PredictCommand>();
    app.add_option("MODEL", command->model, "folder of complete or cpd")->required();
    app.add_option(
           "FILE", command->file,
           "text with the indices of an element on each line, and maybe its value (.tns, .tns.gz); or a table with the ids of the model: "
           ".csv, .tsv, also .gz, or - (standard input)")
        ->required();
    app.add_option("-o,--output", command->output, "file for indices or ids and predicted values; if not given, they are printed");
    declare_base(app, command->base);
    command->app = &app;
    command->table.declare(app, "table: column of values, which the predictions are compared with");
    app.add_flag("--json", command->json, "print one JSON object, and no predictions");
    command->outputs.declare(app);
    command->world.declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

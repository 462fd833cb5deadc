// arges report MODEL --html FILE: a decomposition as a page to look at.
#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "arges/output_claim.hpp"
#include "arges/table_io.hpp"
#include "arges/tensor_io.hpp"
#include "base/read_number.hpp"
#include "base/text.hpp"
#include "cli/iteration_report.hpp"
#include "cli/outputs.hpp"
#include "cli/report_page.hpp"
#include "cli/run_record.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <ostream>

namespace arges::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ReportCommand : FileCommand {  // whose file is that of --tensor
    std::string model, html, not_stored, ranks;
    std::int64_t top = 10;
    std::size_t components = 20;
    Outputs outputs{};
};

/// Rows of a mode that are looked at to see what its ids are.
std::vector<std::int64_t> sampled_rows(std::int64_t length) {
    constexpr std::int64_t most = 64;
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < std::min(most, length); ++i) rows.push_back(i * length / std::min(most, length));
    return rows;
}

/// Names of rows of one mode. Collective.
std::vector<std::string> names_of(const World& world, const ShownModel& model, std::size_t mode, const std::vector<std::int64_t>& rows) {
    std::vector<std::vector<std::int64_t>> indices(model.lengths.size());
    indices[mode] = rows;
    const auto ids = model.ids.of(world, indices);
    if (!ids.empty()) return ids[mode];
    std::vector<std::string> names;
    for (auto row : rows) names.push_back(std::to_string(row));
    return names;
}

/// The order of rows means something: they have times or numbers, which are no ids by the name of the mode, or nothing at all.
bool is_ordered(const ShownModel& model, std::size_t mode, const std::vector<std::string>& samples) {
    if (!model.ids.is_there()) return true;
    auto name = model.ids.names[mode];
    if (name.find(':') != std::string::npos) return true;  // times in bins, or what comes again of them
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (name.ends_with("id")) return false;
    return std::all_of(samples.begin(), samples.end(), [](const auto& text) {
        double value = 0;
        return read_number(text, value) || is_time(text);
    });
}

/// The rows with the largest and the least biases. Collective.
template <class Model>
void add_biases(const World& world, const Model& model, const ShownModel& shown, std::size_t mode, std::int64_t count, ReportMode& result) {
    if constexpr (requires { model.has_biases(); }) {
        if (!model.has_biases()) return;
        const auto all = model.gather_bias(static_cast<int>(mode));
        std::vector<std::int64_t> rows(all.size());
        std::iota(rows.begin(), rows.end(), 0);
        const auto is_larger = [&](auto a, auto b) { return all[a] != all[b] ? all[a] > all[b] : a < b; };
        std::sort(rows.begin(), rows.end(), is_larger);
        const auto half = std::min<std::int64_t>(count, std::ssize(rows)) / 2 + 1;
        if (2 * half < std::ssize(rows)) rows.erase(rows.begin() + half, rows.end() - half);
        result.biased = names_of(world, shown, mode, rows);
        for (auto row : rows) result.biases.push_back(all[row]);
    }
}

/// Collective.
template <class Model>
ReportMode report_mode(const World& world, const Model& model, const ShownModel& shown, std::size_t mode, std::int64_t top) {
    constexpr std::int64_t most_columns = 60, parts = 240;
    ReportMode result;
    const auto length = shown.lengths[mode];
    add_biases(world, model, shown, mode, top, result);
    if (length < 2 || !is_ordered(shown, mode, names_of(world, shown, mode, sampled_rows(length)))) return result;
    result.picture = length <= most_columns ? ModePicture::columns : ModePicture::line;
    result.profiles = row_profiles(model, static_cast<int>(mode), result.picture == ModePicture::columns ? length : parts);
    std::vector<std::int64_t> rows{0, length - 1};
    if (result.picture == ModePicture::columns) {
        rows.resize(length);
        std::iota(rows.begin(), rows.end(), 0);
    }
    result.labels = names_of(world, shown, mode, rows);
    return result;
}

/// The record of the run that made the model, unless it is of another model.
Json run_of(const World& world, const std::string& path, const SavedModel& model, std::vector<std::string>& warnings) {
    std::string warning;
    auto run = read_run(world, path, warning);
    if (!warning.empty()) warnings.push_back(warning);
    if (run.is_null()) return run;
    constexpr double rounding = 1e-6;
    double found = 0, said = 0;
    if (model.cp) {
        for (double weight : model.cp->lambda()) found += std::abs(weight);
        for (const auto& weight : run.contains("lambda") ? run["lambda"] : Json::array())
            said += weight.is_number() ? std::abs(weight.get<double>()) : 0;
    } else {
        found = model.tucker ? model.tucker->core().norm() : model.tucker_single->core().norm();
        said = run.contains("core_norm") && run["core_norm"].is_number() ? run["core_norm"].get<double>() : 0;
    }
    if (std::abs(found - said) <= rounding * std::max(found, said)) return run;
    warnings.push_back(run_path(path) + " is of another model than the one that is there, and is left out");
    return {};
}

/// The object of `arges cpd --ranks --json`. @throws InvalidArgument if the file has none
Json ranks_of(const World& world, const std::string& path) {
    if (path.empty()) return {};
    const auto text = read_text(world, path);
    if (text.empty()) throw InvalidArgument(path + ": there is no such file; make one with arges cpd FILE --ranks A:B --json > " + path);
    auto object = Json::parse(text, nullptr, false);
    if (!object.is_object() || !object.contains("ranks"))
        throw InvalidArgument(path + ": this is not what arges cpd FILE --ranks A:B --json prints; give that");
    return object;
}

/// What elements that are not stored are: as it was said, else as the model was made.
NotStored others_of(const ReportCommand& command, const SavedModel& model, const Json& run) {
    if (!command.not_stored.empty()) return command.not_stored == "zeros" ? NotStored::zeros : NotStored::unknown;
    const bool is_said = run.is_object() && run.contains("elements_not_stored") && run["elements_not_stored"].is_string();
    const auto said = is_said ? run["elements_not_stored"].get<std::string>() : "";
    const bool is_completion = (model.cp && model.cp->has_biases()) || said == "unknown" || said == "missing";
    return is_completion ? NotStored::unknown : NotStored::zeros;
}

/// What the model leaves of the tensor. Collective.
Residuals residuals_of(const ReportCommand& command, const World& world, const SavedModel& model, ReportResiduals& left) {
    ReadReport read;
    if (left.is_dense && model.tucker_single) return residuals(read_tensor<float>(world, command.file), *model.tucker_single, command.top);
    if (left.is_dense) {
        const auto tensor = read_tensor<double>(world, command.file);
        if (model.cp && not_finite(tensor).nan == 0 && left.others == NotStored::zeros) return residuals(tensor, *model.cp, command.top);
        if (model.tucker) return residuals(tensor, *model.tucker, command.top);
        left.others = NotStored::unknown;
        return residuals(known_elements(tensor, MissingElements::nan), *model.cp, left.others, command.top);
    }
    if (model.tucker_single) {
        const SparseTensor<float> tensor(command.read_stored(world, ElementType::float32, false, read));
        return residuals(tensor, *model.tucker_single, left.others, command.top);
    }
    const SparseTensor<double> tensor(command.read_stored(world, ElementType::float64, false, read));
    return model.tucker ? residuals(tensor, *model.tucker, left.others, command.top)
                        : residuals(tensor, *model.cp, left.others, command.top);
}

/// Collective.
void add_residuals(const ReportCommand& command, const World& world, const SavedModel& model, Report& report) {
    if (command.file.empty())
        return refuse_options(*command.app, {"--base", "--lengths", "--duplicates", "--type"}, "this is for --tensor");
    ReportResiduals left{.tensor = command.file, .is_dense = command.is_dense(world, {"--not-stored"}, {})};
    static_cast<void>(command.is_single(world, left.is_dense));
    left.others = others_of(command, model, report.run);
    left.found = residuals_of(command, world, model, left);
    for (std::size_t m = 0; m < left.found.worst.size(); ++m) {
        std::vector<std::int64_t> slices;
        for (const auto& slice : left.found.worst[m]) slices.push_back(slice.slice);
        left.names.push_back(names_of(world, report.model, m, slices));
    }
    report.residuals.push_back(std::move(left));
}

Report make_report(const ReportCommand& command, const World& world) {
    const auto model = load_saved_model(world, command.model);
    Report report{.model = shown_model(world, command.model, model, {.top = command.top}), .components = command.components};
    if (!report.model.ids.warning.empty()) report.warnings.push_back(report.model.ids.warning);
    report.run = run_of(world, command.model, model, report.warnings);
    report.ranks = ranks_of(world, command.ranks);
    report.has_biases = model.cp && model.cp->has_biases();
    if (report.has_biases) report.mean = model.cp->mean();
    model.visit([&](const auto& of) {
        for (std::size_t m = 0; m < report.model.lengths.size(); ++m)
            report.modes.push_back(report_mode(world, of, report.model, m, command.top));
    });
    add_residuals(command, world, model, report);
    return report;
}

void run(ReportCommand& command, const Console& console) {
    const World world = command.world.make_world();
    const auto inside = (std::filesystem::path(command.model) / "description.json").string();
    command.outputs.keep_inputs({command.model, inside, run_path(command.model), ids_path(command.model), command.file, command.ranks});
    command.outputs.claim(world, command.html);
    const auto report = make_report(command, world);
    print_warnings(console.err, report.warnings);
    const auto page = report_page(report);
    write_text(world, page, command.html);
    const auto shown = std::min(command.components, report.model.components.size());
    if (command.json) {
        Json object{{"html", command.html}, {"bytes", page.size()}, {"model", report.model.kind}, {"components", shown}};
        object["run"] = report.run.is_object();
        object["warnings"] = report.warnings;
        if (!report.residuals.empty()) {
            const auto& found = report.residuals.front().found;
            object["residual"] = std::sqrt(found.residual);
            object["relative_residual"] = found.squares > 0 ? Json(std::sqrt(found.residual / found.squares)) : Json();
        }
        console.out << object.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
        return;
    }
    console.out << fmt::format("{}: {}, a page for a browser\n", command.html, format_bytes(std::ssize(page)))
                << fmt::format("{}: {} model, {}\n", command.model, report.model.kind, lengths_text(report.model.lengths)) << std::flush;
}

}  // namespace

Action declare_report(CLI::App& app) {
    const auto command = std::make_shared<ReportCommand>();
    app.add_option("MODEL", command->model, "folder of cpd or complete, or file of tucker")->required();
    app.add_option("--html", command->html, "the page to write")->required();
    auto* const tensor = app.add_option("--tensor", command->file, "what the model was made from: its residuals by slice are shown");
    app.add_option("--not-stored", command->not_stored,
                   "elements that the tensor does not store: zeros or unknown; if not given, as for the model")
        ->check(one_of({"zeros", "unknown"}))
        ->needs(tensor);
    app.add_option("--ranks", command->ranks, "file with what arges cpd --ranks A:B --json has printed");
    app.add_option("--top", command->top, "items of each mode in a component, and slices of a mode")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100}))
        ->capture_default_str();
    app.add_option("--components", command->components, "so many at most, those of most weight")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1024}))
        ->capture_default_str();
    command->outputs.declare(app);
    command->declare(app, "lines");
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

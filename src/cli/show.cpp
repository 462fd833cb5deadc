// arges show MODEL: what weighs most in each component of a decomposition.
#include "arges/output_claim.hpp"
#include "base/csv_field.hpp"
#include "base/text.hpp"
#include "base/text_width.hpp"
#include "cli/ids.hpp"
#include "cli/iteration_report.hpp"
#include "cli/model_components.hpp"
#include "cli/outputs.hpp"
#include "cli/program.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

namespace arges::cli {

namespace {

struct ShowCommand {
    std::string model;
    ShownChoice choice{};
    bool json = false, csv = false;
    std::string output;
    Outputs outputs{};
    WorldOptions world{};
};

constexpr std::size_t widest_items = 95;  // behind the numbers of the items

/// Of the columns of a mode.
std::size_t width_of(const ShownModel& shown, const ShownMode& mode) {
    constexpr std::size_t of_numbers = 19;
    auto width = text_width(shown.ids.name(mode.mode));
    for (const auto& name : mode.names) width = std::max(width, text_width(shown_id(name)));
    return width + of_numbers;
}

/// Some modes beside each other.
std::string items_table(const ShownModel& shown, const std::vector<const ShownMode*>& modes) {
    std::size_t most = 0;
    std::vector<std::string> heading{"top"};
    std::vector<bool> left{false};
    for (const auto* mode : modes) {
        heading.insert(heading.end(), {shown.ids.name(mode->mode), "value", "share"});
        left.insert(left.end(), {true, false, false});
        most = std::max(most, mode->items.size());
    }
    std::vector<std::vector<std::string>> rows{heading};
    for (std::size_t i = 0; i < most; ++i) {
        auto& row = rows.emplace_back(std::vector<std::string>{std::to_string(i + 1)});
        for (const auto* mode : modes) {
            const bool is_there = i < mode->items.size();
            row.push_back(is_there ? shown_id(mode->names[i]) : "");
            row.push_back(is_there ? fmt::format("{:.4f}", mode->items[i].value) : "");
            row.push_back(is_there ? percent(mode->items[i].share) : "");
        }
    }
    return most == 0 ? "no item: all rows are zero\n" : table(rows, left);
}

std::string component_text(const ShownModel& shown, const ShownComponent& component) {
    const bool is_cp = shown.kind == "CP";
    std::string text = "\n";
    if (!is_cp) text += "mode " + std::to_string(component.modes.front().mode + 1) + ", ";
    text += fmt::format("component {}, weight {:.5g}, {} of the {}\n", component.number, component.weight, percent(component.share),
                        is_cp ? "sum of weights" : "squared norm of the core");
    std::vector<const ShownMode*> line;
    std::string tables;
    std::size_t width = 0;
    for (const auto& mode : component.modes) {
        const auto more = width_of(shown, mode);
        if (!line.empty() && width + more > widest_items) {
            tables += items_table(shown, line) + "\n";
            line.clear();
            width = 0;
        }
        line.push_back(&mode);
        width += more;
    }
    return text + tables + items_table(shown, line);
}

nlohmann::ordered_json component_json(const ShownModel& shown, const ShownComponent& component) {
    nlohmann::ordered_json object{{"component", component.number}, {"weight", component.weight}, {"share", component.share}};
    object["modes"] = nlohmann::ordered_json::array();
    for (const auto& mode : component.modes) {
        auto items = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < mode.items.size(); ++i) {
            nlohmann::ordered_json item{{"index", mode.items[i].index}};
            if (shown.ids.is_there()) item["id"] = mode.names[i];
            item["value"] = mode.items[i].value;
            item["share"] = mode.items[i].share;
            items.push_back(item);
        }
        object["modes"].push_back({{"mode", mode.mode + 1}, {"name", shown.ids.name(mode.mode)}, {"items", items}});
    }
    return object;
}

/// A line for each item: those of a component one mode after the other.
std::string components_csv(const ShownModel& shown) {
    std::string text = "component,weight,component_share,mode,index,item,value,share\n";
    for (const auto& component : shown.components)
        for (const auto& mode : component.modes)
            for (std::size_t i = 0; i < mode.items.size(); ++i) {
                text += fmt::format("{},{},{},", component.number, component.weight, component.share);
                append_csv_field(text, shown.ids.name(mode.mode));
                text += fmt::format(",{},", mode.items[i].index);
                append_csv_field(text, mode.names[i]);
                text += fmt::format(",{},{}\n", mode.items[i].value, mode.items[i].share);
            }
    return text;
}

void run(ShowCommand& command, const Console& console) {
    const World world = command.world.make_world();
    command.outputs.keep_inputs({command.model, (std::filesystem::path(command.model) / "description.json").string()});
    command.outputs.claim(world, command.output);
    const auto shown = shown_model(world, command.model, load_saved_model(world, command.model), command.choice);
    std::vector<std::string> warnings;
    if (!shown.ids.warning.empty()) warnings.push_back(shown.ids.warning);
    print_warnings(console.err, warnings);
    if (command.csv || !command.output.empty()) {
        const auto text = components_csv(shown);
        if (command.output.empty())
            console.out << text << std::flush;
        else
            write_text(world, text, command.output);
        return;
    }
    if (command.json) {
        nlohmann::ordered_json object{{"model", shown.kind},   {"lengths", shown.lengths}, {"ranks", shown.ranks},
                                      {"ids", shown.ids.file}, {"warnings", warnings},     {"components", nlohmann::ordered_json::array()}};
        for (const auto& component : shown.components) object["components"].push_back(component_json(shown, component));
        console.out << object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
        return;
    }
    console.out << fmt::format("{}: {} model, {}, {} {}{}\n", command.model, shown.kind, lengths_text(shown.lengths),
                               shown.kind == "CP" ? "rank" : "core", lengths_text(shown.ranks),
                               shown.ids.is_there() ? "" : "; indices from 0, since there are no ids");
    for (const auto& component : shown.components) console.out << component_text(shown, component);
    console.out << std::flush;
}

}  // namespace

Action declare_show(CLI::App& app) {
    const auto command = std::make_shared<ShowCommand>();
    app.add_option("MODEL", command->model, "folder of cpd or complete, or file of tucker")->required();
    app.add_option("--top", command->choice.top, "items of each mode in a component")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}))
        ->capture_default_str();
    app.add_option("--component", command->choice.component, "this one only, from 1")->check(CLI::Range(1, 1000000));
    app.add_option("--mode", command->choice.mode, "this one only, by its number from 1 or its name");
    auto* const json = app.add_flag("--json", command->json, "print one JSON object instead of tables");
    app.add_flag("--csv", command->csv, "print one table with a line for each item, its fields between commas")->excludes(json);
    app.add_option("-o,--output", command->output, "file for this table")->excludes(json);
    command->outputs.declare(app);
    command->world.declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

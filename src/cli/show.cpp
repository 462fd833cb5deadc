// arges show MODEL: what weighs most in each component of a decomposition.
#include "arges/error.hpp"
#include "arges/model_items.hpp"
#include "base/read_number.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"
#include "cli/ids.hpp"
#include "cli/iteration_report.hpp"
#include "cli/program.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <ostream>
#include <system_error>

namespace arges::cli {

namespace {

struct ShowCommand {
    std::string model;
    std::string mode;
    std::int64_t top = 10;
    int component = 0;
    bool json = false;
    WorldOptions world{};
};

/// The items of a mode in a component.
struct ShownMode {
    std::size_t mode = 0;  ///< from 0
    std::vector<ModelItem> items{};
    std::vector<std::string> names{};
};

/// A component: of CP with all modes, of Tucker of one mode.
struct ShownComponent {
    int number = 0;  ///< from 1
    double weight = 0, share = 0;
    std::vector<ShownMode> modes{};
};

struct ShownModel {
    std::string kind;
    std::vector<std::int64_t> lengths{}, ranks{};
    std::vector<ShownComponent> components{};
    ModelIds ids{};
};

/// The place of the mode that is asked for, by number or name; none: all of them. @throws InvalidArgument if there is none
std::vector<std::size_t> asked_modes(const ShowCommand& command, const ShownModel& model) {
    std::vector<std::size_t> all(model.lengths.size());
    std::iota(all.begin(), all.end(), 0);
    if (command.mode.empty()) return all;
    const auto named = std::find(model.ids.names.begin(), model.ids.names.end(), command.mode);
    if (named != model.ids.names.end()) return {static_cast<std::size_t>(named - model.ids.names.begin())};
    std::size_t number = 0;
    if (read_number(command.mode, number) && number >= 1 && number <= all.size()) return {number - 1};
    const auto nearest = nearest_word(command.mode, model.ids.names);
    throw InvalidArgument(fmt::format("{}: there is no mode '{}'; {}", command.model, command.mode,
                                      nearest.empty() ? fmt::format("modes are numbered from 1 to {}{}", all.size(),
                                                                    model.ids.names.empty() ? "" : ", or called " + joined(model.ids.names))
                                                      : "did you mean " + nearest + "?"));
}

/// @throws InvalidArgument if there is no component of this number
void check_component(const ShowCommand& command, std::int64_t most) {
    if (command.component > most)
        throw InvalidArgument(fmt::format("{}: there is no component {}; there are {}", command.model, command.component, most));
}

void show_cp(const ShowCommand& command, const World& world, ShownModel& shown) {
    const auto model = load_model<double>(world, command.model);
    shown.kind = "CP";
    shown.lengths = model.lengths();
    shown.ranks = {model.rank()};
    shown.ids = model_ids(world, command.model, shown.lengths);
    check_component(command, model.rank());
    double sum = 0;
    for (double weight : model.lambda()) sum += std::abs(weight);
    for (int r = 0; r < model.rank(); ++r)
        shown.components.push_back({r + 1, model.lambda()[r], sum > 0 ? std::abs(model.lambda()[r]) / sum : 0, {}});
    for (auto mode : asked_modes(command, shown)) {
        auto items = top_items(model, static_cast<int>(mode), command.top);
        for (auto& component : shown.components) component.modes.push_back({mode, std::move(items[component.number - 1]), {}});
    }
}

/// Norms of the slices of the core along a mode.
template <class T>
std::vector<double> slice_norms(const Tensor<T>& core, const std::vector<T>& elements, std::size_t mode) {
    const auto& extents = core.extents();
    std::int64_t stride = 1;
    for (std::size_t m = 0; m < mode; ++m) stride *= extents[m];
    std::vector<double> norms(extents[mode]);
    for (std::int64_t i = 0; i < std::ssize(elements); ++i)
        norms[i / stride % extents[mode]] += static_cast<double>(elements[i]) * static_cast<double>(elements[i]);
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
}

template <class T>
void show_tucker(const ShowCommand& command, const TuckerModel<T>& model, ShownModel& shown) {
    shown.kind = "Tucker";
    shown.lengths = model.lengths();
    shown.ranks = model.ranks();
    shown.ids = model_ids(model.world(), command.model, shown.lengths);
    check_component(command, *std::max_element(shown.ranks.begin(), shown.ranks.end()));
    const auto core = model.core().gather();
    for (auto mode : asked_modes(command, shown)) {
        const auto norms = slice_norms(model.core(), core, mode);
        double sum = 0;
        for (double norm : norms) sum += norm * norm;
        auto items = top_items(model, static_cast<int>(mode), command.top);
        for (std::size_t c = 0; c < items.size(); ++c)
            shown.components.push_back(
                {static_cast<int>(c) + 1, norms[c], sum > 0 ? norms[c] * norms[c] / sum : 0, {{mode, std::move(items[c]), {}}}});
    }
}

/// Of float or double, whichever the file has.
void show_tucker_file(const ShowCommand& command, const World& world, ShownModel& shown) {
    std::unique_ptr<const TuckerModel<double>> model;
    std::string why;
    try {
        model = std::make_unique<const TuckerModel<double>>(load_tucker_model<double>(world, command.model));
    } catch (const InvalidArgument& error) {  // the same on every rank
        why = error.what();
    }
    if (model) return show_tucker(command, *model, shown);
    std::unique_ptr<const TuckerModel<float>> other;
    try {
        other = std::make_unique<const TuckerModel<float>>(load_tucker_model<float>(world, command.model));
    } catch (const InvalidArgument&) {
        throw InvalidArgument(why);
    }
    show_tucker(command, *other, shown);
}

/// Ids where there are some, else indices.
void add_names(const World& world, ShownModel& shown) {
    std::vector<std::vector<std::int64_t>> indices(shown.lengths.size());
    for (auto& component : shown.components)
        for (const auto& mode : component.modes)
            for (const auto& item : mode.items) indices[mode.mode].push_back(item.index);
    const auto ids = shown.ids.of(world, indices);
    std::vector<std::size_t> next(indices.size());
    for (auto& component : shown.components)
        for (auto& mode : component.modes)
            for (const auto& item : mode.items)
                mode.names.push_back(ids.empty() ? std::to_string(item.index) : ids[mode.mode][next[mode.mode]++]);
}

constexpr std::size_t widest_items = 95;  // behind the numbers of the items

/// Of the columns of a mode.
std::size_t width_of(const ShownModel& shown, const ShownMode& mode) {
    constexpr std::size_t of_numbers = 19;
    auto width = shown.ids.name(mode.mode).size();
    for (const auto& name : mode.names) width = std::max(width, shown_id(name).size());
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

void run(const ShowCommand& command, const Console& console) {
    const World world = command.world.make_world();
    ShownModel shown;
    std::error_code ignored;
    const bool is_folder = world.maximum(std::filesystem::is_directory(command.model, ignored) ? 1 : 0) == 1;
    is_folder ? show_cp(command, world, shown) : show_tucker_file(command, world, shown);
    if (command.component > 0)
        std::erase_if(shown.components, [&](const auto& component) { return component.number != command.component; });
    add_names(world, shown);
    std::vector<std::string> warnings;
    if (!shown.ids.warning.empty()) warnings.push_back(shown.ids.warning);
    print_warnings(console.err, warnings);
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
    app.add_option("--top", command->top, "items of each mode in a component")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}))
        ->capture_default_str();
    app.add_option("--component", command->component, "this one only, from 1")->check(CLI::Range(1, 1000000));
    app.add_option("--mode", command->mode, "this one only, by its number from 1 or its name");
    app.add_flag("--json", command->json, "print one JSON object instead of tables");
    command->world.declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

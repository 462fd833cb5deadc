#include "cli/report_page.hpp"

#include "base/text.hpp"
#include "cli/charts.hpp"
#include "cli/html.hpp"
#include "cli/sparse_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace arges::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string section(const std::string& title, const std::string& body) {
    return "<section>\n<h2>" + escaped(title) + "</h2>\n" + body + "</section>\n";
}
std::string note(const std::string& text) { return "<p class=\"note\">" + escaped(text) + "</p>\n"; }
std::string figure(const std::string& caption, const std::string& chart) {
    return "<figure>\n<figcaption>" + escaped(caption) + "</figcaption>\n" + chart + "</figure>\n";
}
std::string figures(const std::string& body) { return "<div class=\"figures\">\n" + body + "</div>\n"; }

/// A member of an object as it is printed; empty where it is missing.
std::string text_of(const Json& object, const char* name, const char* format = "{:.6g}") {
    if (!object.is_object() || !object.contains(name)) return {};
    const auto& value = object[name];
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_number_integer()) return std::string_view(format) == "{}" ? value.dump() : with_commas(value.get<std::int64_t>());
    return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>()) : "";
}

/// The numbers of a list; none where it is missing. What is no number is NaN.
std::vector<double> numbers_of(const Json& object, const char* name) {
    std::vector<double> numbers;
    if (!object.is_object() || !object.contains(name) || !object[name].is_array()) return numbers;
    for (const auto& value : object[name]) numbers.push_back(value.is_number() ? value.get<double>() : NAN);
    return numbers;
}

std::string modes_text(const ShownModel& model) {
    std::vector<std::string> names;
    for (std::size_t m = 0; m < model.lengths.size(); ++m) names.push_back(model.ids.name(m) + " (" + with_commas(model.lengths[m]) + ")");
    return joined(names);
}

std::string summary(const Report& report) {
    const auto& model = report.model;
    const auto& run = report.run;
    std::vector<std::pair<std::string, std::string>> facts{
        {"model", model.kind + ", " + (model.kind == "CP" ? "rank " : "core ") + lengths_text(model.ranks)}, {"modes", modes_text(model)}};
    const auto add = [&](const char* name, const std::string& text) {
        if (!text.empty()) facts.emplace_back(name, text);
    };
    if (report.has_biases) add("biases", fmt::format("mean {:.6g} and a bias for each slice, beside the components", report.mean));
    add("made from", text_of(run, "input"));
    add("made by", run.is_object() ? "arges " + text_of(run, "program") : "");
    add("algorithm", text_of(run, "algorithm"));
    add("method", text_of(run, "method"));
    add("loss", text_of(run, "loss"));
    add("seed", text_of(run, "seed", "{}"));
    add("fit", text_of(run, "fit", "{:.8f}"));
    add("relative error", text_of(run, "error", "{:.6e}"));
    add("RMSE, fitted elements", text_of(run, "rmse"));
    add("RMSE, held-out elements", text_of(run, "held_out_rmse"));
    add("RMSE of the mean instead", text_of(run, "held_out_mean_rmse"));
    add("RMSE of biases instead", text_of(run, "held_out_bias_rmse"));
    if (text_of(run, "iterations") != "0") {
        add("iterations", text_of(run, "iterations"));
        add("stopped by", text_of(run, "stop_reason"));
    }
    add("elements not stored", text_of(run, "elements_not_stored"));
    add("nonzeros", text_of(run, "nonzeros"));
    add("elements", text_of(run, "elements"));
    auto text = html_facts(facts);
    if (!model.ids.is_there()) text += note("There are no ids: rows are named by their indices, from 0.");
    for (const auto& warning : report.warnings) text += note("Note: " + warning);
    if (run.is_object() && run.contains("warnings") && run["warnings"].is_array())
        for (const auto& warning : run["warnings"])
            if (warning.is_string()) text += note("Warning of the run: " + warning.get<std::string>());
    return text;
}

/// At most so many of a series, evenly.
std::vector<double> thinned(const std::vector<double>& values) {
    constexpr std::size_t most = 400;
    if (values.size() <= most) return values;
    std::vector<double> some;
    for (std::size_t i = 0; i < most; ++i) some.push_back(values[i * (values.size() - 1) / (most - 1)]);
    return some;
}

std::string history(const Json& run) {
    std::string text;
    const auto add = [&](const char* name, const char* caption, const std::vector<double>& second) {
        const auto values = numbers_of(run, name);
        if (values.size() < 2) return;
        std::vector<ChartLine> lines{{thinned(values), thinned(values)}};
        if (second.size() > 1) lines.push_back({thinned(second), thinned(second), true});
        text += figure(caption, line_chart(lines, "iteration 1", "iteration " + with_commas(std::ssize(values)), false, caption));
    };
    const auto held_out = numbers_of(run, "held_out_rmses");
    add("fits", "fit after each iteration", {});
    add("rmses",
        held_out.size() > 1 ? "RMSE after each iteration: fitted elements (line), held-out ones (broken line)"
                            : "RMSE of fitted elements after each iteration",
        held_out);
    return text.empty() ? "" : section("History", figures(text));
}

std::string weights(const Report& report) {
    std::string text;
    const auto count = report.model.lengths.size();
    const bool is_cp = report.model.kind == "CP";
    for (std::size_t m = 0; m < (is_cp ? 1 : count); ++m) {
        std::vector<ChartBar> bars;
        std::size_t all = 0;
        for (const auto& component : report.model.components) {
            if (!is_cp && component.modes.front().mode != m) continue;
            if (++all > report.components) continue;
            bars.push_back({"component " + std::to_string(component.number), component.weight,
                            fmt::format("{:.4g} ({})", component.weight, percent(component.share))});
        }
        const auto caption = is_cp ? "weight, and share of the sum of weights"
                                   : report.model.ids.name(m) + ": norm of the core's slice, and share of the squared norm of the core";
        text += figure(caption + (all > bars.size() ? fmt::format("; {} smaller ones are not shown", all - bars.size()) : ""),
                       bar_chart(bars, caption));
    }
    return section("Weights", figures(text));
}

bool is_shown(const Report& report, const ShownComponent& component) {
    return static_cast<std::size_t>(component.number) <= report.components;
}

/// Names of all items of a mode that bars are drawn for.
std::vector<std::string> labels_of(const Report& report, std::size_t mode) {
    std::vector<std::string> labels;
    for (const auto& component : report.model.components)
        for (const auto& items : component.modes)
            if (items.mode == mode && is_shown(report, component)) labels.insert(labels.end(), items.names.begin(), items.names.end());
    return labels;
}

/// A mode of a component. @param caption  what it begins with
std::string picture(const Report& report, const ShownComponent& component, const ShownMode& items, const std::string& caption) {
    constexpr double negligible = 1e-6;
    const auto& mode = report.modes[items.mode];
    const auto what = fmt::format("component {}, {}", component.number, report.model.ids.name(items.mode));
    if (items.items.empty()) return figure(caption, note("all rows are zero"));
    const double largest = items.items.front().value;
    std::vector<ChartBar> bars;
    if (mode.picture == ModePicture::bars) {
        for (std::size_t i = 0; i < items.items.size(); ++i)
            if (const double value = items.items[i].value; std::abs(value) > negligible * std::abs(largest))
                bars.push_back({items.names[i], value, fmt::format("{:.4f}", value)});
        return figure(caption, bar_chart(bars, what + ": largest values", labels_of(report, items.mode)));
    }
    const auto peak = fmt::format("{}; largest: {} ({:.4f})", caption, items.names.front(), largest);
    const auto& profile = mode.profiles[static_cast<std::size_t>(component.number - 1)];
    if (mode.picture == ModePicture::columns) {
        for (std::size_t i = 0; i < mode.labels.size(); ++i) bars.push_back({mode.labels[i], profile.largest[i], ""});
        return figure(peak, column_chart(bars, what + ": values in order"));
    }
    return figure(
        peak, line_chart({{profile.least, profile.largest}}, mode.labels.front(), mode.labels.back(), true, what + ": values in order"));
}

std::string component_section(const std::string& title, const std::string& pictures) {
    return "<section class=\"component\">\n<h3>" + escaped(title) + "</h3>\n" + figures(pictures) + "</section>\n";
}

std::string cp_components(const Report& report) {
    const auto stability = numbers_of(report.run, "stability");
    std::string text;
    for (const auto& component : report.model.components) {
        if (!is_shown(report, component)) continue;
        auto title = fmt::format("Component {}: weight {:.5g}, {} of the sum of weights", component.number, component.weight,
                                 percent(component.share));
        const auto place = static_cast<std::size_t>(component.number - 1);
        if (place < stability.size()) title += fmt::format(", score in other starts {:.2f}", stability[place]);
        std::string pictures;
        for (const auto& mode : component.modes) pictures += picture(report, component, mode, report.model.ids.name(mode.mode));
        text += component_section(title, pictures);
    }
    return text;
}

/// By mode, since each has components of its own.
std::string tucker_components(const Report& report) {
    std::string text;
    for (std::size_t m = 0; m < report.model.lengths.size(); ++m) {
        std::string pictures;
        for (const auto& component : report.model.components)
            if (component.modes.front().mode == m && is_shown(report, component))
                pictures += picture(report, component, component.modes.front(),
                                    fmt::format("component {}, {} of the squared norm", component.number, percent(component.share)));
        text += component_section(report.model.ids.name(m), pictures);
    }
    return text;
}

std::string components(const Report& report) {
    const auto& all = report.model.components;
    const auto left_out = std::count_if(all.begin(), all.end(), [&](const auto& component) { return !is_shown(report, component); });
    auto text = note("Horizontal bars are the rows with the largest absolute values. Columns and lines are all rows of a mode in their "
                     "order; a band goes "
                     "from the least to the largest value where several rows share a place.");
    text += report.model.kind == "CP" ? cp_components(report) : tucker_components(report);
    if (left_out > 0) text += note(fmt::format("{} further components are not shown (--components).", left_out));
    return section("Components", text);
}

std::string biases(const Report& report) {
    if (!report.has_biases) return "";
    std::string text;
    for (std::size_t m = 0; m < report.modes.size(); ++m) {
        const auto& mode = report.modes[m];
        std::vector<ChartBar> bars;
        for (std::size_t i = 0; i < mode.biases.size(); ++i) bars.push_back({mode.biased[i], mode.biases[i], ""});
        if (!bars.empty())
            text += figure(report.model.ids.name(m), bar_chart(bars, report.model.ids.name(m) + ": largest and least biases"));
    }
    return section("Biases", note("Slices with the largest and the least biases.") + figures(text));
}

std::string residuals(const ReportResiduals& left, const Report& report) {
    const auto& found = left.found;
    const auto count = static_cast<double>(std::max<std::int64_t>(found.elements, 1));
    auto text = html_facts(
        {{"tensor", left.tensor},
         {"elements", with_commas(found.elements) + (left.is_dense                     ? ""
                                                     : left.others == NotStored::zeros ? " are stored; the others are zeros, and count"
                                                                                       : " are known; the others do not count")},
         {"residual", fmt::format("{:.6g}, {} of the norm of the tensor", std::sqrt(found.residual),
                                  percent(found.squares > 0 ? std::sqrt(found.residual / found.squares) : 0))},
         {"root mean square", left.is_dense || left.others == NotStored::unknown
                                  ? fmt::format("{:.6g}", std::sqrt(found.residual / count))
                                  : fmt::format("{:.6g} for each stored element", std::sqrt(found.residual / count))}});
    std::string pictures;
    for (std::size_t m = 0; m < found.worst.size(); ++m) {
        const auto& name = report.model.ids.name(m);
        std::vector<ChartBar> bars;
        std::vector<std::vector<std::string>> rows{{name, "elements", "of the slice's norm"}};
        for (std::size_t i = 0; i < found.worst[m].size(); ++i) {
            const auto& slice = found.worst[m][i];
            const double part = found.residual > 0 ? slice.residual / found.residual : 0;
            bars.push_back({left.names[m][i], part, percent(part)});
            rows.push_back({left.names[m][i], with_commas(slice.elements),
                            slice.squares > 0 ? percent(std::sqrt(slice.residual / slice.squares)) : "-"});
        }
        pictures += figure(name, bar_chart(bars, name + ": slices with the largest residuals") + html_table(rows, {true, false, false}));
    }
    return section("Residuals by slice",
                   text + note("Slices with the largest parts of the squared residual; below, the residual of each relative to its norm.") +
                       figures(pictures));
}

/// Rows of a list of objects, with the columns that are named: member, heading, format.
struct TableColumn {
    const char *member, *heading, *format;
};
std::vector<std::vector<std::string>> rows_of(const Json& list, const std::vector<TableColumn>& columns) {
    std::vector<std::vector<std::string>> rows(1);
    for (const auto& column : columns) rows[0].emplace_back(column.heading);
    for (const auto& object : list) {
        auto& row = rows.emplace_back();
        for (const auto& column : columns) row.push_back(text_of(object, column.member, column.format));
    }
    return rows;
}

bool has_list(const Json& object, const char* name) {
    return object.is_object() && object.contains(name) && object[name].is_array() && !object[name].empty();
}

/// Where a column has its largest or least number.
std::vector<std::size_t> best_of(const Json& list, const char* member, bool is_largest) {
    std::vector<std::size_t> best;
    double most = -INFINITY;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].is_object() || !list[i].contains(member) || !list[i][member].is_number()) continue;
        const double value = is_largest ? list[i][member].get<double>() : -list[i][member].get<double>();
        if (value > most) best = {i};
        most = std::max(most, value);
    }
    return best;
}

std::string starts(const Json& run) {
    if (!has_list(run, "starts") || run["starts"].size() < 2) return "";
    const auto rows = rows_of(run["starts"], {{"seed", "seed", "{}"},
                                              {"fit", "fit", "{:.8f}"},
                                              {"iterations", "iterations", "{}"},
                                              {"seconds", "seconds", "{:.3f}"},
                                              {"score", "score with the best", "{:.3f}"},
                                              {"stop_reason", "stopped by", "{}"}});
    return section("Starts", html_table(rows, {false, false, false, false, false, true}, best_of(run["starts"], "fit", true)) +
                                 note("The best start, whose model this is, stands out. Score: how alike its components and those of the "
                                      "start are; 1: the same."));
}

std::string trials(const Json& run) {
    if (!has_list(run, "trials")) return "";
    const auto rows = rows_of(run["trials"], {{"rank", "rank", "{}"},
                                              {"regularization", "regularization", "{:g}"},
                                              {"held_out_rmse", "held-out RMSE", "{:.6g}"},
                                              {"rmse", "fitted RMSE", "{:.6g}"},
                                              {"best_iteration", "iterations", "{}"}});
    return section("What was tried", html_table(rows, std::vector<bool>(5, false), best_of(run["trials"], "held_out_rmse", false)));
}

std::string ranks(const Json& found) {
    if (!has_list(found, "ranks")) return "";
    const auto& list = found["ranks"];
    const auto rows = rows_of(list, {{"rank", "rank", "{}"},
                                     {"fit", "fit", "{:.6f}"},
                                     {"starts", "starts", "{}"},
                                     {"near_best", "near best", "{}"},
                                     {"agreement", "agreement", "{:.3f}"},
                                     {"core_consistency", "core consistency %", "{:.1f}"},
                                     {"seconds", "seconds", "{:.3f}"}});
    std::vector<double> fits, ticks;
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < list.size(); ++i) {
        fits.push_back(list[i].is_object() && list[i].contains("fit") && list[i]["fit"].is_number() ? list[i]["fit"].get<double>() : NAN);
        if (found.contains("recommended") && list[i].is_object() && list[i].contains("rank") && list[i]["rank"] == found["recommended"])
            best = {i};
    }
    const auto chart =
        list.size() < 2
            ? ""
            : figure("fit by rank", line_chart({{fits, fits}}, "rank " + rows[1][0], "rank " + rows.back()[0], false, "fit by rank"));
    return section(
        "Ranks", html_table(rows, std::vector<bool>(7, false), best) +
                     note(best.empty() ? "No rank has a consistent core and best starts that agree."
                                       : "The rank that stands out is the largest whose core is consistent and whose best starts agree.") +
                     figures(chart));
}

}  // namespace

std::string report_page(const Report& report) {
    std::string body = "<h1>" + escaped(report.model.path) + "</h1>\n" + summary(report) + history(report.run) + weights(report) +
                       components(report) + biases(report);
    for (const auto& left : report.residuals) body += residuals(left, report);
    body += starts(report.run) + trials(report.run) + ranks(report.ranks);
    return html_page(report.model.path + " - arges report", body + "<footer>Made by arges " ARGES_VERSION ".</footer>\n");
}

}  // namespace arges::cli

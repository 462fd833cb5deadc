#include "cli/plan_tables.hpp"

#include "base/math.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "cli/program.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace arges::cli {

namespace {

using Json = nlohmann::ordered_json;

/// Bytes of a bound; rounding of the solver does not take one away.
std::int64_t whole(double bytes) { return saturated(bytes * (1 + 1e-9) + 1e-6); }

std::string intensity_text(const StepBounds& bounds) {
    if (bounds.tiles.empty()) return "-";
    return std::isinf(bounds.intensity) ? "all in cache" : scientific(bounds.intensity);
}

std::string grid_text(const StepReport& step) {
    std::string text;
    for (const auto& part : step.grid)
        if (part.ranks > 1 || part.in_blocks) text += (text.empty() ? "" : " ") + to_string(part);
    if (!step.rows_of.empty()) text = "rows of " + step.rows_of;
    if (step.working_ranks < step.ranks) text += fmt::format("{}{} ranks idle", text.empty() ? "" : "; ", step.ranks - step.working_ranks);
    if (step.repetition > 1) text += fmt::format("{}{} ranks do the same work", text.empty() ? "" : "; ", step.repetition);
    return text;
}

std::string steps_table(const PlanReport& report) {
    std::vector<std::vector<std::string>> rows{
        {"step", "kind", "planned bytes", "memory-independent", "memory-dependent", "intensity", "flops", "working bytes", "seconds"}};
    for (std::size_t s = 0; s < report.steps.size(); ++s) {
        const auto& step = report.steps[s];
        rows.push_back({std::to_string(s + 1), to_string(step.kind), with_commas(step.bytes),
                        with_commas(whole(step.bounds.memory_independent_bytes)), with_commas(whole(step.bounds.memory_dependent_bytes)),
                        intensity_text(step.bounds), scientific(step.flops), with_commas(step.working_bytes), scientific(step.seconds)});
    }
    rows.push_back({"all", "", with_commas(report.bytes), with_commas(whole(report.bound_bytes)), "", "", scientific(report.flops),
                    with_commas(report.peak_bytes), scientific(report.seconds)});
    return table(rows, {true, true, false, false, false, false, false, false, false}, 2);
}

std::string tensors_table(const PlanReport& report) {
    std::vector<std::vector<std::string>> rows{{"step", "tensor", "at rest", "in the product", "sent", "received", "all ranks"}};
    for (std::size_t s = 0; s < report.steps.size(); ++s)
        for (const auto& operand : report.steps[s].operands) {
            std::vector<std::string> row{std::to_string(s + 1), operand.name, operand.at_rest, operand.stays ? "stays" : operand.working};
            for (auto bytes : {operand.most_sent, operand.most_received, operand.total})
                row.push_back(operand.stays ? "" : with_commas(bytes));
            rows.push_back(row);
        }
    return table(rows, {true, true, true, true, false, false, false}, 2);
}

/// What is on the links; empty where there are none to tell apart.
std::string links_table(const PlanReport& report) {
    std::vector<std::vector<std::string>> rows{{"step", "tensor", "busiest link", "mean link", "hops", "messages of a rank"}};
    for (std::size_t s = 0; s < report.steps.size(); ++s)
        for (const auto& operand : report.steps[s].operands)
            if (const auto& links = operand.links)
                rows.push_back({std::to_string(s + 1), operand.name, with_commas(whole(links->busiest)), with_commas(whole(links->mean)),
                                scientific(links->hops), std::to_string(links->messages)});
    return rows.size() == 1 ? "" : "\nbytes on links, one way\n" + table(rows, {true, true, false, false, false, false}, 2);
}

std::string step_lines(std::size_t number, const StepReport& step) {
    auto text = fmt::format("step {}: {}\n", number, step.statement);
    if (const auto grid = grid_text(step); !grid.empty()) text += "  grid: " + grid + "\n";
    if (!step.place.empty()) {
        text += "  on the " + step.place;
        if (step.crossing_bytes > 0) text += ": " + with_commas(step.crossing_bytes) + " bytes pass between both memories";
        text += "\n";
    }
    if (std::any_of(step.grid.begin(), step.grid.end(), [](const auto& part) { return part.in_blocks; }))
        text += "  padding of blocks: " + percent(step.padding) + " more products than useful ones\n";
    std::string parts;
    for (const auto& window : step.windows) parts += fmt::format(" {}/{}", window.label, window.count);
    if (!parts.empty()) text += "  in ranges, for lack of memory:" + parts + "\n";
    parts.clear();
    for (const auto& product : step.chain) parts += (parts.empty() ? " " : "; ") + product;
    if (!parts.empty()) text += "  on each rank:" + parts + "\n";
    parts.clear();
    for (const auto& tile : step.bounds.tiles) parts += fmt::format(" {}={}", tile.label, scientific(tile.length));
    if (!parts.empty()) text += "  tiles of the bound:" + parts + "\n";
    return text;
}

std::string head_lines(const PlanRequest& request, const std::string& type, const EinsumPlan& plan) {
    const auto& report = plan.report;
    std::string sizes;
    for (const auto& [label, size] : request.sizes) sizes += fmt::format(" {}={}", label, size);
    const auto mapping = request.group_mapping;
    auto text = fmt::format("{} with{} of {} on {} ranks ({}){}\n", request.einsum, sizes, type, report.ranks, plan.torus.to_string(),
                            mapping == GroupMapping::packed ? "" : ", groups " + to_string(mapping));
    text += fmt::format("memory per rank: tensors {}{}, working memory and intermediates {}", format_bytes(report.tensor_bytes),
                        mapping == GroupMapping::packed ? "" : " (" + percent(report.tensor_padding) + " padding)",
                        format_bytes(report.peak_bytes));
    text += request.memory_limit ? ", limit " + format_bytes(*request.memory_limit) : ", no limit";
    return text + "\n\n";
}

std::string sampling_line(const PlanReport& report) {
    for (const auto& step : report.steps)
        if (step.counted_ranks < step.ranks) return fmt::format("; counted on {} of them", step.counted_ranks);
    return "";
}

Json bounds_json(const StepBounds& bounds) {
    Json object;
    object["memory_independent_bytes"] = whole(bounds.memory_independent_bytes);
    object["memory_dependent_bytes"] = whole(bounds.memory_dependent_bytes);
    return object;
}

Json parts_json(const std::vector<GridPart>& parts) {
    auto object = Json::object();
    for (const auto& part : parts) object[part.label] = part.ranks;
    return object;
}

Json operand_json(const OperandReport& operand) {
    Json object;
    object["name"] = operand.name;
    object["at_rest"] = operand.at_rest;
    object["working"] = operand.working;
    object["is_result"] = operand.is_result;
    object["stays"] = operand.stays;
    object["bytes_sent"] = operand.most_sent;
    object["bytes_received"] = operand.most_received;
    object["bytes_all_ranks"] = operand.total;
    if (operand.links)
        object["links"] = {{"busiest_bytes", whole(operand.links->busiest)},
                           {"mean_bytes", whole(operand.links->mean)},
                           {"hops", operand.links->hops},
                           {"messages", operand.links->messages},
                           {"stages", operand.links->stages}};
    return object;
}

Json step_json(const StepReport& step) {
    Json object;
    object["statement"] = step.statement;
    object["kind"] = to_string(step.kind);
    object["grid"] = parts_json(step.grid);
    for (const auto& part : step.grid)
        if (part.in_blocks) object["virtual_blocks"][part.label] = part.virtual_blocks;
    object["padding"] = step.padding;
    object["working_ranks"] = step.working_ranks;
    object["repetition"] = step.repetition;
    if (!step.rows_of.empty()) object["rows_of"] = step.rows_of;
    if (step.streams) object["streams"] = true;
    for (const auto& window : step.windows) object["windows"][window.label] = window.count;
    if (!step.chain.empty()) object["chain"] = step.chain;
    object["operands"] = Json::array();
    for (const auto& operand : step.operands) object["operands"].push_back(operand_json(operand));
    object["counted_ranks"] = step.counted_ranks;
    object["bytes"] = step.bytes;
    object["bytes_sent"] = step.bytes_sent;
    object["bytes_all_ranks"] = step.bytes_total;
    object["lower_bounds"] = bounds_json(step.bounds);
    object["intensity"] = std::isfinite(step.bounds.intensity) ? Json(step.bounds.intensity) : Json();
    object["tiles"] = Json::object();
    for (const auto& tile : step.bounds.tiles) object["tiles"][tile.label] = tile.length;
    object["flops"] = step.flops;
    object["useful_flops"] = step.useful_flops;
    object["working_bytes"] = step.working_bytes;
    if (!step.place.empty()) {
        object["place"] = step.place;
        object["crossing_bytes"] = step.crossing_bytes;
    }
    object["seconds"] = step.seconds;
    return object;
}

}  // namespace

std::string plan_tables(const PlanRequest& request, const std::string& type, const EinsumPlan& plan) {
    const auto& report = plan.report;
    auto text = head_lines(request, type, plan) + "bytes per rank (inputs received, results sent) and lower bounds\n" +
                steps_table(report) + "\nbytes of the busiest rank, and of all ranks" + sampling_line(report) + "\n" +
                tensors_table(report) + links_table(report) + "\n";
    if (!report.reason.empty()) text += report.reason + "\n";
    for (std::size_t s = 0; s < report.steps.size(); ++s) text += step_lines(s + 1, report.steps[s]);
    text += fmt::format("\nlower bound for algorithms that evaluate the product at once only: {} bytes\n",
                        with_commas(whole(report.at_once.bytes())));
    return text + fmt::format("planned in {:.3f} s, counted in {:.3f} s\n", plan.planning_seconds, plan.reporting_seconds);
}

std::string plan_json(const PlanRequest& request, const std::string& type, const EinsumPlan& plan) {
    const auto& report = plan.report;
    Json object;
    object["einsum"] = request.einsum;
    for (const auto& [label, size] : request.sizes) object["sizes"][std::string(1, label)] = size;
    object["type"] = type;
    object["group_mapping"] = to_string(request.group_mapping);
    object["ranks"] = report.ranks;
    object["torus"] = plan.torus.to_string();
    object["memory_limit_bytes"] = request.memory_limit ? Json(*request.memory_limit) : Json();
    object["bytes"] = report.bytes;
    object["bytes_sent"] = report.bytes_sent;
    object["bytes_all_ranks"] = report.bytes_total;
    object["lower_bound_bytes"] = whole(report.bound_bytes);
    object["lower_bounds_at_once"] = bounds_json(report.at_once);
    object["flops"] = report.flops;
    object["useful_flops"] = report.useful_flops;
    object["tensor_bytes"] = report.tensor_bytes;
    object["tensor_padding"] = report.tensor_padding;
    object["peak_working_bytes"] = report.peak_bytes;
    object["seconds"] = report.seconds;
    object["planning_seconds"] = plan.planning_seconds;
    object["reporting_seconds"] = plan.reporting_seconds;
    if (!report.reason.empty()) object["reason"] = report.reason;
    object["steps"] = Json::array();
    for (const auto& step : report.steps) object["steps"].push_back(step_json(step));
    return object.dump(2) + "\n";
}

}  // namespace arges::cli

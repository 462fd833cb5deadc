#include "plan/report/plan_report.hpp"

#include "base/math.hpp"
#include "base/text.hpp"

#include <cmath>

namespace arges {

namespace {

/// Bytes as a whole number; rounding of the solver does not take one away.
std::string whole(double bytes) { return with_commas(saturated(bytes * (1 + 1e-9) + 1e-6)); }

std::string grid_text(const StepReport& step) {
    if (step.kind == StepKind::rows)
        return "  grid on " + std::to_string(step.ranks) + " ranks: each rank multiplies the rows of " + step.rows_of + " that it has\n";
    const bool fused = step.kind == StepKind::fused;
    std::string text = (fused ? "  fused on one grid of " : "  grid on ") + std::to_string(step.working_ranks) + " ranks:";
    for (const auto& part : step.grid) {
        if (fused && part.ranks == 1 && !part.in_blocks) continue;
        text += " " + to_string(part);
    }
    if (step.working_ranks < step.ranks)
        text += "; " + std::to_string(step.ranks - step.working_ranks) + " of " + std::to_string(step.ranks) + " ranks are idle";
    if (step.repetition > 1) text += "; " + std::to_string(step.repetition) + " ranks do the same work";
    return text + "\n";
}

std::string windows_text(const StepReport& step) {
    std::int64_t panels = 1, slices = 1;
    std::string summed, free;
    for (const auto& window : step.windows) {
        (window.is_summed && step.kind != StepKind::fused ? panels : slices) *= window.count;
        auto& text = window.is_summed && step.kind != StepKind::fused ? summed : free;
        text += " " + window.label + "/" + std::to_string(window.count);
    }
    std::string text;
    if (panels > 1) text += "  for lack of memory: recursive SUMMA in " + std::to_string(panels) + " panels:" + summed + "\n";
    if (slices > 1)
        text += "  for lack of memory in " + std::to_string(slices) + " slices:" + free + "; what does not depend on them is repeated\n";
    if (step.streams)
        text += step.place == "device" ? "  parts of operands come and go while others are multiplied\n"
                                       : "  what a window needs is under way while the one before is multiplied\n";
    return text;
}

std::string chain_text(const StepReport& step) {
    std::string text;
    for (const auto& product : step.chain) text += (text.empty() ? "  on each rank: " : "; ") + product;
    return text.empty() ? "" : text + "\n";
}

std::string links_text(const OperandReport& operand) {
    if (!operand.links) return "";
    const auto& links = *operand.links;
    std::string stages;
    for (const auto& stage : links.stages) stages += (stages.empty() ? "    relayed: " : ", then ") + stage;
    return (stages.empty() ? "" : stages + "\n") + "    links: busiest " + whole(links.busiest) + " bytes, mean " + whole(links.mean) +
           "; hops " + scientific(links.hops) + ", messages of a rank " + std::to_string(links.messages) + "\n";
}

std::string moved_text(const std::string& what, const StepReport& step, const OperandReport& operand) {
    return "  " + pad(what, 34) + " sent " + pad_left(with_commas(operand.most_sent), 14) + "  received " +
           pad_left(with_commas(operand.most_received), 14) + "  all ranks " + pad_left(with_commas(operand.total), 16) +
           (step.counted_ranks < step.ranks ? "  (from " + std::to_string(step.counted_ranks) + " ranks)" : "") + "\n" +
           links_text(operand);
}

std::string operand_text(const StepReport& step, const OperandReport& operand) {
    if (operand.stays) return "  " + pad(operand.name + " stays: " + operand.working, 34) + "\n";
    std::string broken;
    for (const auto& group : operand.broken) broken += " " + group;
    return moved_text(operand.is_result ? "result " + operand.working + " to " + operand.name : operand.name + " to " + operand.working,
                      step, operand) +
           (broken.empty() ? "" : "    " + operand.name + " is unpacked: the product takes" + broken + " apart\n");
}

std::string place_text(const StepReport& step) {
    if (step.place.empty()) return "";
    const auto crossing = step.crossing_bytes == 0 ? "" : "; " + with_commas(step.crossing_bytes) + " bytes pass between both memories";
    return "  " + std::string(step.kind == StepKind::movement ? "into the memory of the " : "computed on the ") + step.place + crossing +
           "\n";
}

std::string movement_text(const StepReport& step) {
    const auto& operand = step.operands.front();
    return step.statement + "\n  from " + operand.at_rest + "\n  to   " + operand.working + "\n" + place_text(step) +
           moved_text("bytes per rank (busiest)", step, operand) + "  predicted seconds " + scientific(step.seconds) + "\n";
}

std::string flops_text(double flops, double useful, std::int64_t ranks) {
    return "  flops per rank " + scientific(flops) + ", useful in all " + scientific(useful) + ", padding and repetition " +
           percent(useful > 0 ? flops * static_cast<double>(ranks) / useful - 1 : 0) + "\n";
}

std::string bounds_text(const StepBounds& bounds) {
    return "  lower bound per rank (memory-independent) " + whole(bounds.memory_independent_bytes) + " bytes\n" +
           "  lower bound per rank (memory-dependent) " + whole(bounds.memory_dependent_bytes) + " bytes\n";
}

std::string intensity_text(const StepBounds& bounds) {
    if (bounds.tiles.empty()) return "";
    if (std::isinf(bounds.intensity)) return "  intensity: all tensors fit into a cache\n";
    std::string text = "  intensity at most " + scientific(bounds.intensity) + " products per word, reached in tiles";
    for (const auto& tile : bounds.tiles) text += " " + tile.label + "=" + scientific(tile.length);
    return text + "\n";
}

std::string total_text(const PlanReport& report) {
    return "in all\n  planned per rank (inputs received, results sent) " + with_commas(report.bytes) + " bytes, sent by all ranks " +
           with_commas(report.bytes_total) + "\n  lower bound per rank (largest of a step) " + whole(report.bound_bytes) +
           " bytes\n  lower bound per rank (for algorithms that evaluate the product at once only) " + whole(report.at_once.bytes()) +
           " bytes\n" + flops_text(report.flops, report.useful_flops, report.ranks) + "  working memory and intermediates per rank " +
           with_commas(report.peak_bytes) + " bytes\n  predicted seconds " + scientific(report.seconds) + "\n";
}

}  // namespace

std::string explain(const StepReport& step) {
    if (step.kind == StepKind::movement) return movement_text(step);
    auto text = step.statement + "\n" + place_text(step) + grid_text(step) + windows_text(step) + chain_text(step) +
                "  bytes per rank (busiest):\n";
    for (const auto& operand : step.operands) text += operand_text(step, operand);
    text += flops_text(step.flops, step.useful_flops, step.ranks);
    text += "  working memory per rank " + with_commas(step.working_bytes) + " bytes\n";
    text += "  planned per rank (inputs received, results sent) " + with_commas(step.bytes) + " bytes\n";
    return text + bounds_text(step.bounds) + intensity_text(step.bounds) + "  predicted seconds " + scientific(step.seconds) + "\n";
}

std::string explain(const PlanReport& report) {
    std::string text = report.reason.empty() ? "" : "note: " + report.reason + "\n";
    for (const auto& step : report.steps) text += explain(step);
    return report.steps.size() > 1 ? text + total_text(report) : text;
}

std::string explain(const ProductPlan& plan) { return explain(step_report(plan, {})); }

}  // namespace arges

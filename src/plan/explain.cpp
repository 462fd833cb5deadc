#include "plan/explain.hpp"

#include "base/text.hpp"
#include "plan/estimate_cost.hpp"
#include "plan/exchange_lists.hpp"
#include "plan/fused_plan.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Bytes over ranks, counted exactly; over a sample of ranks where there are very many.
struct MovedBytes {
    std::int64_t most_sent = 0, most_received = 0, total = 0;
    bool sampled = false;
};

constexpr std::int64_t max_counted_ranks = 64;

MovedBytes moved_bytes(const ExchangeSpec& movement, std::int64_t element_bytes) {
    MovedBytes result;
    const auto ranks = movement.from.grid().ranks();
    const auto counted = std::min(ranks, max_counted_ranks);
    result.sampled = counted < ranks;
    for (std::int64_t i = 0; i < counted; ++i) {
        const auto rank = counted == ranks ? i : i * (ranks - 1) / (counted - 1);
        const auto volume = ExchangeLists(movement, rank).volume();
        result.most_sent = std::max(result.most_sent, volume.sent * element_bytes);
        result.most_received = std::max(result.most_received, volume.received * element_bytes);
        result.total += volume.sent * element_bytes;
    }
    if (result.sampled)
        result.total = static_cast<std::int64_t>(static_cast<double>(result.total) / static_cast<double>(counted) *
                                                 static_cast<double>(ranks));
    return result;
}

std::string movement_line(const std::string& what, const ExchangeSpec& movement, std::int64_t element_bytes) {
    const auto bytes = moved_bytes(movement, element_bytes);
    return "  " + pad(what, 34) + " sent " + pad_left(with_commas(bytes.most_sent), 14) + "  received " +
           pad_left(with_commas(bytes.most_received), 14) + "  all ranks " + pad_left(with_commas(bytes.total), 16) +
           (bytes.sampled ? "  (from 64 ranks)" : "") + "\n";
}

std::vector<std::string> names_of(const std::vector<int>& labels, const std::vector<std::string>& names) {
    std::vector<std::string> result;
    for (int l : labels) result.push_back(names[static_cast<std::size_t>(l)]);
    return result;
}

std::string label_text(const std::vector<int>& labels, const std::vector<std::string>& names) {
    return Labels(names_of(labels, names)).to_string();
}

std::string group_text(const IndexGroup& g, const std::vector<std::string>& names) {
    const auto text = label_text(g.labels, names);
    return g.labels.size() == 1 ? text : "(" + text + ")";
}

std::string statement_text(const ContractionSpec& spec) {
    auto text = spec.output.name + "[" + label_text(spec.output.labels, spec.label_names) + "] <-";
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        text += std::string(i == 0 ? " " : " * ") + (spec.inputs[i].conjugated ? "conj " : "") + spec.inputs[i].name + "[" +
                label_text(spec.inputs[i].labels, spec.label_names) + "]";
    if (spec.terms.size() > 1) text += ", summed over " + std::to_string(spec.terms.size()) + " permutations";
    return text;
}

std::string grid_text(const ContractionPlan& plan, const std::vector<IndexGroup>& groups) {
    if (plan.rows) return " each rank multiplies the rows of " + plan.spec.inputs[plan.rows->operand].name + " that it has";
    std::string text;
    std::int64_t used = 1;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto& m = plan.group_mapping[g];
        text += " " + group_text(groups[g], plan.spec.label_names) + "=" + std::to_string(plan.group_places[g]);
        std::int64_t virtual_blocks = 1;
        for (auto v : m.virtual_factor) virtual_blocks *= v;
        if (virtual_blocks > 1) text += "(x" + std::to_string(virtual_blocks) + " virtual)";
        used *= plan.group_places[g];
    }
    const auto ranks = plan.spec.output.layout.grid().ranks();
    if (used < ranks) text += "; " + std::to_string(ranks / used) + " ranks do the same work";
    return text;
}

std::string name_of(const ContractionPlan& plan, Operand o) {
    return o == operand_c ? plan.spec.output.name : plan.spec.inputs[o].name;
}

std::string bound_line(const ContractionPlan& plan, const std::vector<IndexGroup>& groups) {
    double m = 1, n = 1, k = 1;
    for (const auto& g : groups) {
        if (g.is_batch()) return "";
        (g.is_contracted() ? k : g.in(operand_a) ? m : n) *= static_cast<double>(g.size);
    }
    const auto words = matmul_lower_bound_words(m, n, k, static_cast<double>(plan.spec.output.layout.grid().ranks()));
    return "  lower bound per rank (memory-independent) " + with_commas(static_cast<std::int64_t>(words) *
                                                                          plan.spec.element_bytes) +
           " bytes\n";
}

}  // namespace

std::string explain(const ContractionPlan& plan) {
    const auto groups = plan.groups();
    const auto ranks = plan.spec.output.layout.grid().ranks();
    const auto& names = plan.spec.label_names;
    std::string text = statement_text(plan.spec) + "\n";
    text += "  grid on " + std::to_string(ranks) + " ranks:" + grid_text(plan, groups) + "\n";
    if (!plan.panels.empty()) {
        text += "  recursive SUMMA in " + std::to_string(panel_count(plan)) + " panels:";
        for (const auto& level : plan.panels)
            text += " " + group_text(groups[static_cast<std::size_t>(level.group)], names) + "/" + std::to_string(level.count);
        text += "\n";
    }
    text += "  bytes per rank (busiest):\n";
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (o == operand_b && plan.unary()) continue;
        const auto& w = plan.operand[o];
        const auto shape = w.layout.to_string(names_of(w.labels, names));
        if (w.in_place) {
            text += "  " + pad(name_of(plan, o) + " stays: " + shape, 34) + "\n";
            continue;
        }
        const auto what = o == operand_c ? "result " + shape + " to " + name_of(plan, o) : name_of(plan, o) + " to " + shape;
        text += movement_line(what, plan.movement(o), plan.spec.element_bytes);
    }
    const double executed = plan.cost.flops * static_cast<double>(ranks);
    text += "  flops per rank " + scientific(plan.cost.flops) + ", useful in all " + scientific(plan.cost.useful_flops) +
            ", padding and repetition " +
            percent(plan.cost.useful_flops > 0 ? executed / plan.cost.useful_flops - 1 : 0) + "\n";
    text += "  working memory per rank " + with_commas(plan.cost.working_bytes) + " bytes\n";
    if (!plan.unary()) text += bound_line(plan, groups);
    return text;
}

std::string explain(const FusedPlan& plan) {
    const auto& spec = plan.spec;
    const auto& names = spec.label_names;
    const auto ranks = spec.output.layout.grid().ranks();
    std::string text = spec.output.name + "[" + label_text(spec.output.labels, names) + "] <-";
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        text += std::string(i == 0 ? " " : " * ") + (spec.inputs[i].conjugated ? "conj " : "") + spec.inputs[i].name + "[" +
                label_text(spec.inputs[i].labels, names) + "]";
    if (spec.terms.size() > 1) text += ", summed over " + std::to_string(spec.terms.size()) + " permutations";
    text += "\n  fused on one grid of " + std::to_string(ranks) + " ranks:";
    for (std::size_t l = 0; l < spec.label_extents.size(); ++l)
        if (plan.places(static_cast<int>(l)) > 1) text += " " + names[l] + "=" + std::to_string(plan.places(static_cast<int>(l)));
    text += "\n  on each rank:";
    auto labels_of = [&](int node) -> const std::vector<int>& {
        const auto n = static_cast<std::size_t>(node);
        return n < plan.inputs.size() ? plan.inputs[n].labels : plan.steps[n - plan.inputs.size()].labels;
    };
    for (std::size_t s = 0; s < plan.steps.size(); ++s)
        text += std::string(s == 0 ? " " : "; ") + label_text(labels_of(plan.steps[s].first), names) + "," +
                label_text(labels_of(plan.steps[s].second), names) + "->" + label_text(plan.steps[s].labels, names);
    text += "\n  bytes per rank (busiest):\n";
    for (std::size_t i = 0; i <= plan.inputs.size(); ++i) {
        const bool out = i == plan.inputs.size();
        const auto& w = out ? plan.result : plan.inputs[i];
        const auto& name = out ? spec.output.name : spec.inputs[i].name;
        const auto shape = w.layout.to_string(names_of(w.labels, names));
        if (w.in_place)
            text += "  " + pad(name + " stays: " + shape, 34) + "\n";
        else
            text += movement_line(out ? "result " + shape + " to " + name : name + " to " + shape, plan.movement(i), spec.element_bytes);
    }
    const double executed = plan.cost.flops * static_cast<double>(ranks);
    text += "  flops per rank " + scientific(plan.cost.flops) + ", useful in all " + scientific(plan.cost.useful_flops) +
            ", padding and repetition " + percent(plan.cost.useful_flops > 0 ? executed / plan.cost.useful_flops - 1 : 0) + "\n";
    return text + "  working memory per rank " + with_commas(plan.cost.working_bytes) + " bytes\n";
}

std::string explain_movement(const ExchangeSpec& movement, const std::vector<std::string>& label_names,
                             std::int64_t element_bytes) {
    std::string text = "move [" + label_text(movement.from_labels, label_names) + "] to [" +
                       label_text(movement.to_labels, label_names) + "]";
    if (movement.terms.size() > 1) text += ", summed over " + std::to_string(movement.terms.size()) + " permutations";
    text += "\n  from " + movement.from.to_string(names_of(movement.from_labels, label_names)) + "\n  to   " +
            movement.to.to_string(names_of(movement.to_labels, label_names)) + "\n";
    return text + movement_line("bytes per rank (busiest)", movement, element_bytes);
}

}  // namespace arges

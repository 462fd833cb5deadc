#include "plan/report/plan_report.hpp"

#include "arges/expression.hpp"
#include "base/math.hpp"
#include "base/overloaded.hpp"
#include "plan/movement/relay.hpp"
#include "plan/product/count_bytes.hpp"
#include "plan/product/estimate_cost.hpp"

#include <algorithm>
#include <map>

namespace arges {

namespace {

std::vector<std::string> names_of(const std::vector<int>& labels, const std::vector<std::string>& names) {
    std::vector<std::string> result;
    for (int l : labels) result.push_back(names[l]);
    return result;
}

std::string label_text(const std::vector<int>& labels, const std::vector<std::string>& names) {
    return Labels(names_of(labels, names)).to_string();
}

std::string permutations_text(std::size_t terms) { return terms > 1 ? ", summed over " + std::to_string(terms) + " permutations" : ""; }

/// C[ij] <- A[ik] * B[kj]
std::string statement_text(const Product& spec) {
    auto text = spec.output.name + "[" + label_text(spec.output.labels, spec.label_names) + "] <-";
    for (std::size_t i = 0; i < spec.factors.size(); ++i)
        text += std::string(i == 0 ? " " : " * ") + (spec.factors[i].conjugated ? "conj " : "") + spec.factors[i].name + "[" +
                label_text(spec.factors[i].labels, spec.label_names) + "]";
    return text + permutations_text(spec.terms.size());
}

/// The groups of related labels that the tensor is stored with, and that the product multiplies one by one.
std::vector<std::string> broken_groups(const Operand& tensor, const WorkingOperand& working, const std::vector<std::string>& names) {
    const auto groups = [](const Layout& layout, const std::vector<int>& labels) {
        std::vector<std::vector<int>> result;
        for (int s = 0; s < layout.slots(); ++s) {
            result.emplace_back();
            for (int d : layout.slot_dimensions(s)) result.back().push_back(labels[d]);
            std::sort(result.back().begin(), result.back().end());
        }
        return result;
    };
    const auto kept = groups(working.layout, working.labels);
    std::vector<std::string> broken;
    for (const auto& group : groups(tensor.layout, tensor.labels))
        if (std::adjacent_find(group.begin(), group.end()) == group.end() && group.size() > 1 &&
            std::find(kept.begin(), kept.end(), group) == kept.end())
            broken.push_back("(" + label_text(group, names) + ")");
    return broken;
}

/// Why a product is computed in two parts, or by half: each factor of it keeps its elements when its pairs exchange their indices together.
std::string reason_for_parts(const std::vector<PlannedStep>& steps, const std::map<int, std::string>& names) {
    std::vector<std::string> whole, plus;
    for (const auto& step : steps) {
        const auto* const part = part_movement(step);
        if (part == nullptr || is_antisymmetric_part(*part)) continue;
        whole.push_back(names.at(step.inputs[0]));
        plus.push_back(names.at(step.output));
    }
    if (whole.size() == 2)
        return names.at(output_operand) + " is computed in two parts, " + plus[0] + " " + plus[1] + " and " + whole[0] + "- " + whole[1] +
               "-, because " + whole[0] + " and " + whole[1] +
               " stay as they are when both of their pairs are exchanged: the parts that are symmetric (+) " +
               "and antisymmetric (-) in each pair do not mix, and take a quarter of the products, with pairs packed";
    for (const auto& step : steps)
        if (const auto* const product = step.product(); product != nullptr && product->rows && product->rows->once)
            return "half of the products are computed, and their mirror image is added, because both factors stay as they are when their "
                   "pairs are exchanged";
    return "";
}

double tensor_padding(const Product& spec) {
    double stored = 0, share = 0;
    const auto add = [&](const Layout& layout) {
        const auto ranks = static_cast<double>(layout.grid().ranks()) / layout.copies();
        stored += layout.max_local_size();
        share += static_cast<double>(layout.packed_size()) / ranks;
    };
    add(spec.output.layout);
    for (const auto& factor : spec.factors) add(factor.layout);
    return share > 0 ? stored / share - 1 : 0;
}

/// Builds the report of a step and keeps its counts.
class StepReporter {
public:
    StepReporter(std::int64_t ranks, std::int64_t element_bytes, const PlanOptions& options)
        : options_(options), count_(ranks, element_bytes), element_bytes_(element_bytes) {
        report_.ranks = report_.working_ranks = ranks;
        report_.counted_ranks = count_.counted_ranks();
    }

    void add(const ProductPlan& plan) {
        report_.kind = kind_of(plan);
        report_.statement = statement_text(plan.spec);
        const auto step = bounded_step(plan);
        if (plan.rows)
            report_.rows_of = plan.spec.factors[plan.rows->operand].name;
        else
            add_grid(plan, step.labels);
        for (const auto& window : plan.windows) {
            const std::size_t a = window.axis;
            report_.windows.push_back({step.labels[a], window.count, plan.axes[a].is_contracted()});
        }
        report_.streams = plan.streams;
        if (report_.kind == StepKind::fused) add_chain(plan);
        for (std::size_t o = 0; o < plan.operands.size(); ++o)
            add_operand(
                plan.tensor(o), plan.operands[o], o == plan.result(), plan.spec.label_names, [&] { return plan.movement(o); },
                plan.repetitions(o));
        report_.bounds = step_bounds(step, options_);
        set_place(plan.spec.on_device);
        for (std::size_t o = 0; o < plan.operands.size(); ++o)
            if (plan.spec.crosses(plan.tensor(o)))
                report_.crossing_bytes =
                    saturated_sum(report_.crossing_bytes, saturated_product(plan.repetitions(o), crossing_bytes(plan.operands[o].layout)));
        set_cost(plan.cost);
    }

    void add(const PlannedStep& step, const PlannedMovement& planned, const std::map<int, std::string>& operands,
             const std::vector<std::string>& names) {
        const auto& movement = planned.spec;
        report_.kind = StepKind::movement;
        report_.statement = operands.at(step.output) + "[" + label_text(movement.to_labels, names) + "] <- " +
                            (planned.conjugated ? "conj " : "") + operands.at(step.inputs[0]) + "[" +
                            label_text(movement.from_labels, names) + "]" +
                            (part_movement(step) != nullptr ? "" : permutations_text(movement.terms.size()));
        OperandReport operand;
        operand.name = operands.at(step.inputs[0]);
        operand.at_rest = movement.from.to_string(names_of(movement.from_labels, names));
        operand.working = movement.to.to_string(names_of(movement.to_labels, names));
        count(operand, movement, false);
        PlanCost cost;
        cost.seconds = step.seconds(element_bytes_, options_);
        set_place(planned.to_device);
        if (planned.from_device != planned.to_device) report_.crossing_bytes = crossing_bytes(movement.to);
        set_cost(cost);
    }

    StepReport take() { return std::move(report_); }
    const ByteCount& bytes() const { return count_; }

private:
    void set_place(bool on_device) {
        if (options_.device_memory_limit) report_.place = on_device ? "device" : "host";
    }
    std::int64_t crossing_bytes(const Layout& layout) const { return saturated_product(layout.max_local_size(), element_bytes_); }

    void add_grid(const ProductPlan& plan, const std::vector<std::string>& labels) {
        std::int64_t used = 1;
        for (std::size_t a = 0; a < labels.size(); ++a) {
            GridPart part{labels[a], plan.grid_lengths[a]};
            for (auto v : plan.mapping[a].virtual_factor) part.virtual_blocks *= v;
            part.in_blocks = plan.mapping[a].is_blocks() && (part.ranks > 1 || part.virtual_blocks > 1);
            report_.grid.push_back(part);
            used *= part.ranks;
        }
        report_.working_ranks = plan.grid.ranks();
        report_.repetition = report_.working_ranks / used;
        if (plan.cost.useful_flops > 0) report_.padding = plan.cost.flops * static_cast<double>(used) / plan.cost.useful_flops - 1;
    }

    /// The labels of a node of the chain.
    static std::string node_text(const ProductPlan& plan, int node) {
        std::vector<int> labels;
        for (int a : plan.axes_of_node(node)) {
            const auto& axis = plan.axes[a].labels;
            labels.insert(labels.end(), axis.begin(), axis.end());
        }
        return label_text(labels, plan.spec.label_names);
    }

    void add_chain(const ProductPlan& plan) {
        for (std::size_t s = 0; s < plan.chain.size(); ++s) {
            const auto& step = plan.chain[s];
            report_.chain.push_back(node_text(plan, step.first) + "," + node_text(plan, step.second) + "->" +
                                    node_text(plan, plan.result() + s));
        }
    }

    template <class Planned>
    void add_operand(const Operand& tensor, const WorkingOperand& working, bool is_result, const std::vector<std::string>& names,
                     const Planned& movement, std::int64_t repetitions) {
        OperandReport operand;
        operand.name = tensor.name;
        operand.at_rest = tensor.layout.to_string(names_of(tensor.labels, names));
        operand.working = working.layout.to_string(names_of(working.labels, names));
        operand.is_result = is_result;
        operand.stays = working.in_place;
        if (!is_result) operand.broken = broken_groups(tensor, working, names);
        if (operand.stays)
            report_.operands.push_back(operand);
        else
            count(operand, movement(), is_result, repetitions);
    }

    void count(OperandReport operand, const Movement& movement, bool is_result, std::int64_t repetitions = 1) {
        const auto volumes = count_.add(movement, is_result, repetitions);
        for (const auto& v : volumes) {
            operand.most_sent = std::max(operand.most_sent, v.sent);
            operand.most_received = std::max(operand.most_received, v.received);
        }
        operand.total = count_.total(volumes);
        operand.links = links(movement, std::max(operand.most_sent, operand.most_received));
        report_.operands.push_back(operand);
    }

    std::optional<LinkReport> links(const Movement& movement, std::int64_t bytes) const {
        const auto& grid = movement.from.grid();
        if (!options_.links || bytes == 0 || !(grid == movement.to.grid()) || !(grid == options_.whole_grid(movement.to)))
            return std::nullopt;
        if (!movement.stages.empty()) return relayed_links(movement, bytes);
        const auto among = exchanged_dimensions(movement);
        const auto use = options_.links->use(among);
        LinkReport report{use.busiest * static_cast<double>(bytes), use.mean * static_cast<double>(bytes), use.hops, 1, {}};
        for (int t = 0; t < grid.dimensions(); ++t)
            if ((among & dimension(t)) != 0) report.messages *= grid.lengths[t];
        --report.messages;
        return report;
    }

    LinkReport relayed_links(const Movement& movement, std::int64_t bytes) const {
        LinkReport report;
        Dimensions among = 0;
        std::vector<Links::Stage> stages;
        for (const auto& stage : movement.stages) {
            std::int64_t ranks = 1;
            auto& own = stages.emplace_back(Links::Stage{0, stage.way});
            for (const int t : stage.torus) {
                own.along |= dimension(t);
                ranks *= movement.to.grid().lengths[t];
            }
            among |= own.along;
            const auto count = std::to_string(ranks);
            report.stages.push_back(stage.way == RelayWay::direct ? count + " each to each"
                                    : stage.way == RelayWay::ring ? "ring of " + count
                                                                  : "line of " + count);
        }
        for (const auto& way : options_.links->gathers(among))
            if (way.stages == stages) {
                report.busiest = way.busiest * static_cast<double>(bytes);
                report.hops = way.hops;
                report.mean = way.hops * static_cast<double>(bytes) / (2.0 * static_cast<double>(options_.links->lines_of(among)));
            }
        const Relay first(movement, 0);
        for (const auto& step : first.steps()) report.messages += std::ssize(step.sends);
        return report;
    }

    void set_cost(const PlanCost& cost) {
        report_.bytes = count_.most_needed();
        report_.bytes_sent = count_.most_sent();
        report_.bytes_total = count_.total();
        report_.flops = cost.flops;
        report_.useful_flops = cost.useful_flops;
        report_.working_bytes = cost.working_bytes;
        report_.seconds = cost.seconds;
    }

    const PlanOptions& options_;
    StepReport report_;
    ByteCount count_;
    std::int64_t element_bytes_;
};

StepReporter report_step(const PlannedStep& step, const std::map<int, std::string>& names, const Product& spec,
                         const PlanOptions& options) {
    StepReporter reporter(options.whole_grid(spec.output.layout).ranks(), spec.element_bytes, options);
    std::visit(Overloaded{[&](const PlannedMovement& movement) { reporter.add(step, movement, names, spec.label_names); },
                          [&](const ProductPlan& product) { reporter.add(product); }},
               step.work);
    return reporter;
}

}  // namespace

std::string to_string(const GridPart& part) {
    auto text = part.label + "=" + std::to_string(part.ranks);
    if (!part.in_blocks) return text;
    return text + " (" + std::to_string(part.virtual_blocks) + (part.virtual_blocks == 1 ? " block)" : " virtual blocks)");
}

StepKind kind_of(const ProductPlan& plan) {
    return plan.rows ? StepKind::rows : plan.chain.size() > 1 ? StepKind::fused : StepKind::pairwise;
}

std::string to_string(StepKind kind) {
    switch (kind) {
    case StepKind::movement: return "movement";
    case StepKind::pairwise: return "pairwise";
    case StepKind::rows: return "rows";
    case StepKind::fused: return "fused";
    }
    return "";
}

PlanReport plan_report(const PlannedProduct& plan, const Product& spec, const PlanOptions& options) {
    PlanReport report;
    const auto names = operand_names(plan.steps, spec);
    report.reason = reason_for_parts(plan.steps, names);
    report.ranks = options.whole_grid(spec.output.layout).ranks();
    ByteCount count(report.ranks, spec.element_bytes);
    std::int64_t held = 0, largest = 0;
    for (const auto& planned : plan.steps) {
        auto reporter = report_step(planned, names, spec, options);
        count.add(reporter.bytes());
        report.steps.push_back(reporter.take());
        const auto& step = report.steps.back();
        report.bound_bytes = std::max(report.bound_bytes, step.bounds.bytes());
        report.flops += step.flops;
        report.useful_flops += step.useful_flops;
        report.seconds += step.seconds;
        largest = std::max(largest, step.working_bytes);
    }
    report.bytes = count.most_needed();
    report.bytes_sent = count.most_sent();
    report.bytes_total = count.total();
    const auto bytes_of = [&](const Layout& layout) { return saturated_product(layout.max_local_size(), spec.element_bytes); };
    for (const auto& layout : plan.intermediates) {
        const auto bytes = bytes_of(layout);
        held = saturated_sum(held, saturated_sum(bytes, (64 - bytes % 64) % 64));  // as Workspace::padded()
    }
    report.peak_bytes = saturated_sum(held, largest);
    report.tensor_bytes = bytes_of(spec.output.layout);
    for (const auto& factor : spec.factors) report.tensor_bytes = saturated_sum(report.tensor_bytes, bytes_of(factor.layout));
    report.tensor_padding = tensor_padding(spec);
    report.at_once = step_bounds(bounded_step(spec), options);
    return report;
}

StepReport step_report(const ProductPlan& plan, const PlanOptions& options) {
    StepReporter reporter(options.whole_grid(plan.spec.output.layout).ranks(), plan.spec.element_bytes, options);
    reporter.add(plan);
    return reporter.take();
}

const Movement* part_movement(const PlannedStep& step) {
    const auto* const movement = std::get_if<PlannedMovement>(&step.work);
    return movement != nullptr && step.output != output_operand ? &movement->spec : nullptr;
}

bool is_antisymmetric_part(const Movement& part) { return part.terms.back().negative; }

std::map<int, std::string> operand_names(const std::vector<PlannedStep>& steps, const Product& spec) {
    std::map<int, std::string> names{{output_operand, spec.output.name}};
    for (std::size_t f = 0; f < spec.factors.size(); ++f) names[static_cast<int>(f)] = spec.factors[f].name;
    int count = 0;
    for (const auto& step : steps) {
        if (step.output == output_operand) continue;
        if (const auto* const part = part_movement(step))
            names[step.output] = names[step.inputs[0]] + (is_antisymmetric_part(*part) ? "-" : "+");
        else
            names[step.output] = "intermediate " + std::to_string(++count) + " for " + spec.output.name;
    }
    return names;
}

}  // namespace arges

#include "plan/fused_plan.hpp"

#include "plan/estimate_cost.hpp"
#include "plan/working_operand.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

std::vector<int> distinct(const std::vector<int>& labels) {
    std::vector<int> result;
    for (int l : labels)
        if (!contains(result, l)) result.push_back(l);
    return result;
}

/// Builds a plan for given mappings.
class FusedBuilder {
public:
    FusedBuilder(const FusedSpec& spec, std::vector<SlotMapping> mapping) {
        plan_.spec = spec;
        plan_.label_mapping = std::move(mapping);
    }

    FusedPlan build() {
        if (plan_.spec.output_is_free) plan_.spec.output.layout = *scattered_layout(plan_, plan_.spec.output);
        for (const auto& input : plan_.spec.inputs) plan_.inputs.push_back(working(input, {}, true));
        set_result();
        set_steps();
        return std::move(plan_);
    }

private:
    /// The tensor's own array, if its slots are labels that are mapped as the plan wants them.
    bool lies_right(const OperandSpec& operand) const {
        if (operand.conjugated || distinct(operand.labels).size() != operand.labels.size()) return false;
        const auto& layout = operand.layout;
        for (int s = 0; s < layout.slots(); ++s) {
            if (layout.slot_dimensions(s).size() != 1) return false;
            const int label = operand.labels[static_cast<std::size_t>(layout.slot_dimensions(s)[0])];
            if (!(layout.mapping(s) == plan_.label_mapping[static_cast<std::size_t>(label)])) return false;
        }
        return true;
    }

    WorkingOperand working(const OperandSpec& operand, const std::vector<int>& partial, bool may_stay) const {
        WorkingOperand w;
        w.in_place = may_stay && lies_right(operand);
        w.labels = w.in_place ? operand.labels : distinct(operand.labels);
        w.groups = w.labels;
        if (w.in_place) {
            w.layout = operand.layout;
            return w;
        }
        std::vector<SymmetryNode> slots;
        std::vector<SlotMapping> mapping;
        std::vector<std::int64_t> extents;
        for (std::size_t d = 0; d < w.labels.size(); ++d) {
            slots.push_back(leaf(static_cast<int>(d)));
            mapping.push_back(plan_.label_mapping[static_cast<std::size_t>(w.labels[d])]);
            extents.push_back(plan_.spec.label_extents[static_cast<std::size_t>(w.labels[d])]);
        }
        const int order = static_cast<int>(extents.size());
        w.layout = Layout(operand.layout.grid(), extents, Symmetry(order, product(slots)), mapping, partial);
        return w;
    }

    void set_result() {
        const auto& spec = plan_.spec;
        std::vector<int> partial;
        for (std::size_t l = 0; l < plan_.label_mapping.size(); ++l)
            if (!contains(spec.output.labels, static_cast<int>(l)))
                partial.insert(partial.end(), plan_.label_mapping[l].torus.begin(), plan_.label_mapping[l].torus.end());
        // Labels that only the output has are broadcast by the movement.
        auto result = spec.output;
        std::erase_if(result.labels, [&](int l) {
            return std::none_of(spec.inputs.begin(), spec.inputs.end(), [&](const auto& input) { return contains(input.labels, l); });
        });
        const bool broadcast = result.labels.size() < spec.output.labels.size();
        const bool direct = !broadcast && partial.empty() && spec.terms.size() == 1 && !spec.output_is_busy;
        plan_.result = working(result, partial, direct);
    }

    double elements(const std::vector<int>& labels) const {
        double product = 1;
        for (int l : labels) product *= static_cast<double>(plan_.spec.label_extents[static_cast<std::size_t>(l)]);
        return product;
    }

    /// Labels of the result of a step: those of the larger factor in their order, the other's new ones where the first summed one
    /// was, so that matrix products find contiguous operands.
    std::vector<int> result_labels(const std::vector<int>& a, const std::vector<int>& b, const std::set<int>& kept) const {
        const bool a_larger = elements(a) >= elements(b);
        const auto &large = a_larger ? a : b, &small = a_larger ? b : a;
        std::vector<int> fresh, result;
        for (int l : small)
            if (kept.count(l) > 0 && !contains(large, l)) fresh.push_back(l);
        bool placed = false;
        for (int l : large) {
            const bool summed = kept.count(l) == 0, batch = !summed && contains(small, l);
            if ((summed || batch) && !placed) {
                result.insert(result.end(), fresh.begin(), fresh.end());
                placed = true;
            }
            if (!summed) result.push_back(l);
        }
        if (!placed) result.insert(result.end(), fresh.begin(), fresh.end());
        return result;
    }

    void set_steps() {
        const auto& order = plan_.spec.order;
        std::vector<std::vector<int>> labels;
        for (const auto& input : plan_.inputs) labels.push_back(input.labels);
        const auto inputs = labels.size();
        std::vector<bool> used(inputs + order.size(), false);
        std::vector<int> buffer_of(inputs + order.size(), -1);
        std::vector<int> free_buffers;
        for (std::size_t s = 0; s < order.size(); ++s) {
            LocalStep step{order[s][0], order[s][1], {}, -1};
            used[static_cast<std::size_t>(step.first)] = used[static_cast<std::size_t>(step.second)] = true;
            std::set<int> kept(plan_.spec.output.labels.begin(), plan_.spec.output.labels.end());
            for (std::size_t node = 0; node < labels.size(); ++node)
                if (!used[node]) kept.insert(labels[node].begin(), labels[node].end());
            const auto &a = labels[static_cast<std::size_t>(step.first)], &b = labels[static_cast<std::size_t>(step.second)];
            const bool last = s + 1 == order.size();
            step.labels = last ? plan_.result.labels : result_labels(a, b, kept);
            if (!last) {
                if (free_buffers.empty()) free_buffers.push_back(plan_.buffers++);
                step.buffer = free_buffers.back();
                free_buffers.pop_back();
                buffer_of[inputs + s] = step.buffer;
            }
            for (int node : {step.first, step.second})
                if (buffer_of[static_cast<std::size_t>(node)] >= 0) free_buffers.push_back(buffer_of[static_cast<std::size_t>(node)]);
            labels.push_back(step.labels);
            plan_.steps.push_back(std::move(step));
        }
    }

    FusedPlan plan_;
};

/// Seconds, flops and memory of the chain on the busiest rank.
class FusedCost {
public:
    FusedCost(FusedPlan& plan, const PlanOptions& options) : plan_(plan), options_(options) {}

    void estimate() {
        auto& cost = plan_.cost;
        cost = {};
        const auto bytes = static_cast<double>(plan_.spec.element_bytes);
        double traffic = 0, useful = 0, buffers = 0;
        auto labels_of = [&](int node) -> const std::vector<int>& {
            const auto n = static_cast<std::size_t>(node);
            return n < plan_.inputs.size() ? plan_.inputs[n].labels : plan_.steps[n - plan_.inputs.size()].labels;
        };
        for (const auto& step : plan_.steps) {
            std::set<int> all(labels_of(step.first).begin(), labels_of(step.first).end());
            all.insert(labels_of(step.second).begin(), labels_of(step.second).end());
            double local = 1, whole = 1;
            for (int l : all) {
                local *= length(l);
                whole *= extent(l);
            }
            cost.flops += local * plan_.spec.flops_per_product;
            useful += whole * plan_.spec.flops_per_product;
            traffic += block(labels_of(step.first)) + block(labels_of(step.second)) + block(step.labels);
            if (step.buffer >= 0) buffers += block(step.labels);
        }
        cost.useful_flops = useful;
        double moved = 0, copied = 0, working = buffers, messages = 0;
        for (std::size_t i = 0; i <= plan_.inputs.size(); ++i) {
            const bool out = i == plan_.inputs.size();
            const auto& w = out ? plan_.result : plan_.inputs[i];
            const auto& tensor = out ? plan_.spec.output : plan_.spec.inputs[i];
            plan_.words.push_back(0);
            if (w.in_place) continue;
            const double words = moved_words(tensor, w);
            plan_.words.back() = static_cast<std::int64_t>(words);
            moved += words;
            const auto size = static_cast<double>(w.layout.max_local_size());
            copied += 2 * size + 2 * words;
            working += size;
            messages = std::max(messages, 2 * words);
        }
        const auto& machine = options_.machine;
        cost.working_bytes = static_cast<std::int64_t>((working + messages) * bytes);
        cost.seconds = std::max(cost.flops / machine.flops_per_second, traffic * bytes / (2 * machine.copied_bytes_per_second)) +
                       moved * bytes * link_weight() / machine.bytes_per_second + copied * bytes / machine.copied_bytes_per_second +
                       (moved > 0 ? machine.message_seconds : 0);
    }

private:
    double extent(int label) const { return static_cast<double>(plan_.spec.label_extents[static_cast<std::size_t>(label)]); }
    double length(int label) const {
        return static_cast<double>(ceil_div(plan_.spec.label_extents[static_cast<std::size_t>(label)], plan_.places(label)));
    }
    double block(const std::vector<int>& labels) const {
        double product = 1;
        for (int l : labels) product *= length(l);
        return product;
    }
    double link_weight() const {
        double weight = options_.link_weight.empty() ? 1 : 0.01;
        for (const auto& mapping : plan_.label_mapping)
            for (int t : mapping.torus)
                if (!options_.link_weight.empty()) weight = std::max(weight, options_.link_weight[static_cast<std::size_t>(t)]);
        return weight;
    }

    FusedPlan& plan_;
    const PlanOptions& options_;
};

}  // namespace

std::int64_t FusedPlan::places(int label) const {
    std::int64_t product = 1;
    for (int t : label_mapping[static_cast<std::size_t>(label)].torus)
        product *= spec.output.layout.grid().lengths[static_cast<std::size_t>(t)];
    return product;
}

ExchangeSpec FusedPlan::movement(std::size_t i) const {
    const bool out = i == inputs.size();
    const auto& tensor = out ? spec.output : spec.inputs[i];
    const auto& w = out ? result : inputs[i];
    ExchangeSpec e;
    e.label_extents = spec.label_extents;
    e.from = out ? w.layout : tensor.layout;
    e.from_labels = out ? w.labels : tensor.labels;
    e.to = out ? tensor.layout : w.layout;
    e.to_labels = out ? tensor.labels : w.labels;
    e.terms = out ? spec.terms : std::vector<LabelTerm>{e.identity()};
    return e;
}

FusedPlan fused_with_mapping(const FusedSpec& spec, std::vector<SlotMapping> mapping, const PlanOptions& options) {
    auto plan = FusedBuilder(spec, std::move(mapping)).build();
    FusedCost(plan, options).estimate();
    return plan;
}

void choose_where_inputs_stay(FusedPlan& plan) {
    plan.stay.assign(plan.inputs.size(), std::nullopt);
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
        auto tensor = plan.spec.inputs[i];
        if (plan.inputs[i].in_place || tensor.conjugated) continue;
        const auto layout = scattered_layout(plan, tensor);
        if (!layout) continue;
        tensor.layout = *layout;
        if (static_cast<std::int64_t>(moved_words(tensor, plan.inputs[i])) < plan.words[i]) plan.stay[i] = layout;
    }
}

std::optional<Layout> scattered_layout(const FusedPlan& plan, const OperandSpec& tensor) {
    const auto& present = tensor.layout;
    if (distinct(tensor.labels).size() != tensor.labels.size()) return std::nullopt;
    std::vector<SlotMapping> mapping;
    std::vector<double> remaining;
    for (int s = 0; s < present.slots(); ++s) {
        if (present.slot_dimensions(s).size() != 1) return std::nullopt;
        const int label = tensor.labels[static_cast<std::size_t>(present.slot_dimensions(s)[0])];
        mapping.push_back(plan.label_mapping[static_cast<std::size_t>(label)]);
        remaining.push_back(static_cast<double>(plan.spec.label_extents[static_cast<std::size_t>(label)]) /
                            static_cast<double>(plan.places(label)));
    }
    for (int t = 0; t < present.grid().dimensions(); ++t) {
        bool used = false;
        for (const auto& m : mapping) used = used || contains(m.torus, t);
        const auto longest = std::max_element(remaining.begin(), remaining.end());
        const auto length = static_cast<double>(present.grid().lengths[static_cast<std::size_t>(t)]);
        if (used || longest == remaining.end() || *longest < length) continue;
        mapping[static_cast<std::size_t>(longest - remaining.begin())].torus.push_back(t);
        *longest /= length;
    }
    return Layout(present.grid(), present.extents(), present.symmetry(), mapping);
}

}  // namespace arges

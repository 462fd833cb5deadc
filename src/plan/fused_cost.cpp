#include "plan/fused_cost.hpp"

#include "base/math.hpp"
#include "base/saturate.hpp"
#include "plan/estimate_cost.hpp"
#include "plan/moved_words.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

/// Seconds, flops and memory of the chain on the busiest rank.
class FusedCost {
public:
    FusedCost(FusedPlan& plan, const PlanOptions& options, std::span<const double> words) : plan_(plan), options_(options), words_(words) {}

    void estimate() {
        auto& cost = plan_.cost;
        cost = {};
        plan_.words.clear();
        const auto bytes = static_cast<double>(plan_.spec.element_bytes);
        double traffic = 0, useful = 0, buffers = 0;
        for (const auto& step : plan_.steps) {
            std::set<int> all(plan_.labels_of(step.first).begin(), plan_.labels_of(step.first).end());
            all.insert(plan_.labels_of(step.second).begin(), plan_.labels_of(step.second).end());
            double local = 1, whole = 1;
            for (int l : all) {
                local *= length(l);
                whole *= extent(l);
            }
            // Once per slice: in all what the whole block needs, if the step has the label.
            const auto runs = static_cast<double>(plan_.slices);
            local *= runs;
            cost.flops += local * plan_.spec.flops_per_product();
            useful += whole * plan_.spec.flops_per_product();
            traffic += runs * (block(plan_.labels_of(step.first)) + block(plan_.labels_of(step.second)) + block(step.labels));
            if (step.buffer >= 0) buffers += block(step.labels);
        }
        cost.useful_flops = useful;
        double moved = 0, copied = 0, working = buffers, messages = 0;
        for (std::size_t i = 0; i <= plan_.inputs.size(); ++i) {
            const bool out = i == plan_.inputs.size();
            const auto& w = out ? plan_.result : plan_.inputs[i];
            plan_.words.push_back(0);
            if (w.in_place) continue;
            const double words = words_[i];
            plan_.words.back() = static_cast<std::int64_t>(words);
            moved += words;
            double size = 1;
            for (int l : w.labels) size *= static_cast<double>(ceil_div(plan_.spec.label_extents[static_cast<std::size_t>(l)], plan_.places(l)));
            const double share = plan_.is_sliced(i) ? 1 / static_cast<double>(plan_.slices) : 1;
            copied += 2 * size + 2 * words;
            working += block(w.labels);
            messages = std::max(messages, 2 * words * share);
        }
        const auto& machine = options_.machine;
        const bool whole = plan_.grid == options_.whole_grid(plan_.spec.output.layout);
        const double weight = whole ? link_weight(options_, plan_.label_mapping) : 1;
        cost.working_bytes = saturated((working + messages) * bytes);
        cost.seconds = std::max(cost.flops / machine.flops_per_second, traffic * bytes / (2 * machine.copied_bytes_per_second)) +
                       moved * bytes * weight / machine.bytes_per_second + copied * bytes / machine.copied_bytes_per_second +
                       (moved > 0 ? machine.message_seconds * static_cast<double>(plan_.slices) : 0);
    }

private:
    double extent(int label) const { return static_cast<double>(plan_.spec.label_extents[static_cast<std::size_t>(label)]); }
    /// Indices of a label on a rank, in one slice.
    double length(int label) const {
        const auto local = ceil_div(plan_.spec.label_extents[static_cast<std::size_t>(label)], plan_.places(label));
        return static_cast<double>(label == plan_.sliced_label ? ceil_div(local, plan_.slices) : local);
    }
    double block(const std::vector<int>& labels) const {
        double product = 1;
        for (int l : labels) product *= length(l);
        return product;
    }
    FusedPlan& plan_;
    const PlanOptions& options_;
    std::span<const double> words_;
};

}  // namespace

void estimate_cost(FusedPlan& plan, const PlanOptions& options, std::span<const double> words) { FusedCost(plan, options, words).estimate(); }

std::vector<double> words_of(const FusedPlan& plan) {
    std::vector<double> result;
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) result.push_back(plan.inputs[i].in_place ? 0 : moved_words(plan.spec.factors[i], plan.inputs[i]));
    result.push_back(plan.result.in_place ? 0 : moved_words(plan.spec.output, plan.result));
    return result;
}

void slice_to_fit(FusedPlan& plan, const PlanOptions& options) {
    if (plan.cost.working_bytes <= options.memory_limit) return;
    const auto whole = plan;
    const auto words = words_of(plan);
    for (std::int64_t slices = 2; plan.cost.working_bytes > options.memory_limit; slices *= 2) {
        auto best = whole;
        bool found = false;
        for (std::size_t l = 0; l < whole.spec.label_extents.size(); ++l) {
            const int label = static_cast<int>(l);
            if (whole.spec.label_extents[l] / whole.places(label) < slices) continue;
            auto cut = whole;
            cut.sliced_label = label;
            cut.slices = slices;
            estimate_cost(cut, options, words);
            if (found && cut.cost.working_bytes >= best.cost.working_bytes) continue;
            best = std::move(cut);
            found = true;
        }
        if (!found) return;
        plan = std::move(best);
    }
}

void choose_where_inputs_stay(FusedPlan& plan) {
    plan.stay.assign(plan.inputs.size(), std::nullopt);
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
        auto tensor = plan.spec.factors[i];
        if (plan.inputs[i].in_place || tensor.conjugated) continue;
        const auto layout = scattered_layout(plan, tensor);
        if (!layout) continue;
        tensor.layout = *layout;
        if (static_cast<std::int64_t>(moved_words(tensor, plan.inputs[i])) < plan.words[i]) plan.stay[i] = layout;
    }
}

}  // namespace arges

#include "plan/fused_plan.hpp"

#include "base/math.hpp"
#include "base/saturate.hpp"
#include "plan/fused_cost.hpp"

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
    FusedBuilder(const Product& spec, const PairOrder& order, const RankGrid& grid, std::vector<SlotMapping> mapping) {
        plan_.spec = spec;
        plan_.order = order;
        plan_.grid = grid;
        plan_.label_mapping = std::move(mapping);
    }

    /// The plan without its cost.
    FusedPlan build() {
        if (plan_.spec.output_is_free) plan_.spec.output.layout = *scattered_layout(plan_, plan_.spec.output);
        for (const auto& input : plan_.spec.factors) plan_.inputs.push_back(working(input, {}, true));
        set_result();
        set_steps();
        return std::move(plan_);
    }

private:
    WorkingOperand working(const OperandSpec& operand, const std::vector<int>& partial, bool may_stay) const {
        WorkingOperand w;
        w.in_place = may_stay && lies_right(plan_, operand);
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
        w.layout = Layout(plan_.grid, extents, Symmetry(order, product(slots)), mapping, partial);
        return w;
    }

    void set_result() {
        const auto& spec = plan_.spec;
        std::vector<int> partial;
        for (std::size_t l = 0; l < plan_.label_mapping.size(); ++l)
            if (!contains(spec.output.labels, static_cast<int>(l)))
                partial.insert(partial.end(), plan_.label_mapping[l].torus.begin(), plan_.label_mapping[l].torus.end());
        plan_.result = working(raw_result(spec), partial, may_form_in_place(plan_));
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
        const auto& order = plan_.order;
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

}  // namespace

const std::vector<int>& FusedPlan::labels_of(int node) const {
    const auto n = static_cast<std::size_t>(node);
    return n < inputs.size() ? inputs[n].labels : steps[n - inputs.size()].labels;
}

std::int64_t FusedPlan::places(int label) const {
    std::int64_t product = 1;
    for (int t : label_mapping[static_cast<std::size_t>(label)].torus)
        product *= grid.lengths[static_cast<std::size_t>(t)];
    return product;
}

bool FusedPlan::is_sliced(std::size_t i) const {
    return sliced_label >= 0 && contains(i < inputs.size() ? inputs[i].labels : result.labels, sliced_label);
}

std::int64_t FusedPlan::local_extent(int label, std::int64_t place, std::int64_t slice) const {
    const auto extent = spec.label_extents[static_cast<std::size_t>(label)];
    if (label != sliced_label) return count_residues(extent, place, places(label));
    return count_residues(part_begin(extent, slice + 1, slices), place, places(label)) -
           count_residues(part_begin(extent, slice, slices), place, places(label));
}

Layout FusedPlan::slice_layout(std::size_t i, std::int64_t slice) const {
    const auto& w = i < inputs.size() ? inputs[i] : result;
    if (!is_sliced(i)) return w.layout;
    std::vector<SlotMapping> mapping;
    std::vector<int> partial;
    for (int t = 0; t < w.layout.grid().dimensions(); ++t)
        if (w.layout.is_partial(t)) partial.push_back(t);
    for (int s = 0; s < w.layout.slots(); ++s) {
        mapping.push_back(w.layout.mapping(s));
        if (w.labels[static_cast<std::size_t>(w.layout.slot_dimensions(s)[0])] != sliced_label) continue;
        const auto extent = spec.label_extents[static_cast<std::size_t>(sliced_label)];
        mapping.back().begin = part_begin(extent, slice, slices);
        mapping.back().end = part_begin(extent, slice + 1, slices);
    }
    return Layout(w.layout.grid(), w.layout.extents(), w.layout.symmetry(), mapping, partial);
}

ExchangeSpec FusedPlan::movement(std::size_t i, std::int64_t slice) const {
    auto e = movement(i);
    (i < inputs.size() ? e.to : e.from) = slice_layout(i, slice);
    return e;
}

ExchangeSpec FusedPlan::movement(std::size_t i) const {
    const bool out = i == inputs.size();
    const auto& tensor = out ? spec.output : spec.factors[i];
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

FusedPlan fused_with_mapping(const Product& spec, const PairOrder& order, const RankGrid& grid, std::vector<SlotMapping> mapping,
                             const PlanOptions& options) {
    auto plan = FusedBuilder(spec, order, grid, std::move(mapping)).build();
    estimate_cost(plan, options, words_of(plan));
    return plan;
}

bool lies_right(const FusedPlan& plan, const OperandSpec& tensor) {
    const auto& layout = tensor.layout;
    if (tensor.conjugated || !(layout.grid() == plan.grid) || distinct(tensor.labels).size() != tensor.labels.size()) return false;
    for (int s = 0; s < layout.slots(); ++s) {
        if (layout.slot_dimensions(s).size() != 1) return false;
        const int label = tensor.labels[static_cast<std::size_t>(layout.slot_dimensions(s)[0])];
        if (!(layout.mapping(s) == plan.label_mapping[static_cast<std::size_t>(label)])) return false;
    }
    return true;
}

OperandSpec raw_result(const Product& spec) {
    auto result = spec.output;
    std::erase_if(result.labels, [&](int l) {
        return std::none_of(spec.factors.begin(), spec.factors.end(), [&](const auto& input) { return contains(input.labels, l); });
    });
    return result;
}

bool may_form_in_place(const FusedPlan& plan) {
    const auto& spec = plan.spec;
    for (std::size_t l = 0; l < plan.label_mapping.size(); ++l)
        if (!contains(spec.output.labels, static_cast<int>(l)) && !plan.label_mapping[l].torus.empty()) return false;
    return spec.terms.size() == 1 && raw_result(spec).labels.size() == spec.output.labels.size();
}

std::optional<std::vector<SlotMapping>> scattered_mapping(const FusedPlan& plan, const OperandSpec& tensor) {
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
    for (int t = 0; t < plan.grid.dimensions(); ++t) {
        bool used = false;
        for (const auto& m : mapping) used = used || contains(m.torus, t);
        const auto longest = std::max_element(remaining.begin(), remaining.end());
        const auto length = static_cast<double>(plan.grid.lengths[static_cast<std::size_t>(t)]);
        if (used || longest == remaining.end() || *longest < length) continue;
        mapping[static_cast<std::size_t>(longest - remaining.begin())].torus.push_back(t);
        *longest /= length;
    }
    return mapping;
}

std::optional<Layout> scattered_layout(const FusedPlan& plan, const OperandSpec& tensor) {
    auto mapping = scattered_mapping(plan, tensor);
    if (!mapping) return std::nullopt;
    return Layout(plan.grid, tensor.layout.extents(), tensor.layout.symmetry(), *std::move(mapping));
}

}  // namespace arges

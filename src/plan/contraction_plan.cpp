#include "plan/contraction_plan.hpp"

#include "base/saturate.hpp"
#include "plan/estimate_cost.hpp"
#include "plan/exchange_volume.hpp"
#include "plan/working_layouts.hpp"

#include <algorithm>

namespace arges {

ExchangeSpec ContractionPlan::movement(Operand o) const {
    const auto& tensor = o == operand_c ? spec.output : spec.factors[o];
    const auto& working = operand[o];
    ExchangeSpec e;
    e.label_extents = spec.label_extents;
    if (o == operand_c) {
        e.from = working.layout;
        e.from_labels = working.labels;
        e.to = tensor.layout;
        e.to_labels = tensor.labels;
        e.terms = spec.terms;
    } else {
        e.from = tensor.layout;
        e.from_labels = tensor.labels;
        e.to = working.layout;
        e.to_labels = working.labels;
        e.terms = {e.identity()};
    }
    return e;
}

ContractionPlan plan_with_mapping(const Product& spec, const std::vector<IndexGroup>& groups,
                                  const std::vector<SlotMapping>& mapping, const PlanOptions& options) {
    ContractionPlan plan;
    plan.spec = spec;
    plan.grid = options.whole_grid(spec.output.layout);
    WorkingLayouts layouts(spec, groups, plan.grid);
    std::vector<const WorkingLayouts::MappedGroup*> mapped;
    for (std::size_t g = 0; g < groups.size(); ++g) mapped.push_back(&layouts.map_group(g, mapping[g]));
    estimate_cost(plan, groups, options, layouts.map_groups(plan, std::move(mapped)));
    layouts.set_operands(plan);
    return plan;
}

std::int64_t panel_count(const ContractionPlan& plan) {
    std::int64_t product = 1;
    for (const auto& level : plan.panels) product *= level.count;
    return product;
}

Layout panel_layout(const ContractionPlan& plan, Operand o, std::int64_t panel) {
    const auto& w = plan.operand[o];
    std::vector<SlotMapping> mapping;
    for (int s = 0; s < w.layout.slots(); ++s) mapping.push_back(w.layout.mapping(s));
    for (const auto& level : plan.panels) {
        const auto part = panel % level.count;
        panel /= level.count;
        const auto slot = std::find(w.groups.begin(), w.groups.end(), level.group);
        if (slot == w.groups.end()) continue;
        auto& m = mapping[static_cast<std::size_t>(slot - w.groups.begin())];
        const auto size = w.layout.slot(static_cast<int>(slot - w.groups.begin())).size();
        m.begin = part_begin(size, part, level.count);
        m.end = part_begin(size, part + 1, level.count);
    }
    return Layout(w.layout.grid(), w.layout.extents(), w.layout.symmetry(), std::move(mapping));
}

std::array<Volume, 3> exact_volume(const ContractionPlan& plan, std::int64_t rank) {
    std::array<Volume, 3> result;
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (plan.operand[o].in_place || (o == operand_b && plan.unary())) continue;
        result[o] = exchange_volume(plan.movement(o), rank);
    }
    return result;
}

}  // namespace arges

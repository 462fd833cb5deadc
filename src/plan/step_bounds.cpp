#include "plan/step_bounds.hpp"

#include "arges/expression.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace arges {

namespace {

/// Words of a tensor on a rank, on average; copies count.
double owned_words(const Layout& layout) {
    return static_cast<double>(layout.packed_size()) * static_cast<double>(layout.copies()) /
           static_cast<double>(layout.grid().ranks());
}

double orbit(const Layout& layout) {
    double size = 1;
    for (const auto& slot : layout.symmetry().slots()) size *= static_cast<double>(group_size(slot));
    return size;
}

/// Adds a tensor that the step reads or writes: `uses` places of it, of `places` in all, stand for one stored word.
void add_tensor(BoundedStep& step, const OperandSpec& tensor, std::vector<int> members, double uses, double places) {
    step.space.tensors.push_back(std::move(members));
    step.owned_words += owned_words(tensor.layout);
    step.uses = std::max(step.uses, uses);
    if (uses <= 1 || places <= 0) return;
    // Places that are zero by symmetry need no word, so points at them do not count.
    const std::set<int> labels(tensor.labels.begin(), tensor.labels.end());
    const bool diagonal = labels.size() < tensor.labels.size();
    const double filled = diagonal ? 0 : std::min(1.0, static_cast<double>(tensor.layout.packed_size()) * uses / places);
    step.share = std::max(0.0, step.share - (1 - filled));
}

std::vector<int> distinct_sorted(std::vector<int> labels) {
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return labels;
}

/// The space over single labels: those of the inputs, and of the output what the inputs have.
BoundedStep over_labels(const std::vector<OperandSpec>& inputs, const OperandSpec& output,
                        const std::vector<std::int64_t>& extents, const std::vector<std::string>& names) {
    BoundedStep step;
    step.space.extents.assign(extents.begin(), extents.end());
    step.labels = names;
    std::vector<int> present;
    for (const auto& input : inputs) {
        add_tensor(step, input, distinct_sorted(input.labels), orbit(input.layout),
                   static_cast<double>(input.layout.full_size()));
        present.insert(present.end(), input.labels.begin(), input.labels.end());
    }
    auto result = distinct_sorted(output.labels);
    std::erase_if(result, [&](int l) { return std::count(present.begin(), present.end(), l) == 0; });
    add_tensor(step, output, result, orbit(output.layout), static_cast<double>(output.layout.full_size()));
    step.ranks = static_cast<double>(output.layout.grid().ranks());
    return step;
}

std::string group_label(const IndexGroup& group, const std::vector<std::string>& names) {
    std::vector<std::string> labels;
    for (int l : group.labels) labels.push_back(names[static_cast<std::size_t>(l)]);
    const auto text = Labels(labels).to_string();
    return labels.size() == 1 ? text : "(" + text + ")";
}

/// Elements of the orbits of an operand that its groups do not keep packed.
double broken_orbit(const Layout& layout, const std::vector<IndexGroup>& groups, Operand o) {
    double size = orbit(layout);
    for (const auto& g : groups)
        if (g.tree[o]) size /= static_cast<double>(group_size(*g.tree[o]));
    return std::max(1.0, size);
}

}  // namespace

BoundedStep bounded_step(const ContractionPlan& plan) {
    const auto groups = plan.groups();
    BoundedStep step;
    step.ranks = static_cast<double>(plan.grid.ranks());
    step.element_bytes = plan.spec.element_bytes;
    for (const auto& g : groups) {
        step.space.extents.push_back(static_cast<double>(g.size));
        step.labels.push_back(group_label(g, plan.spec.label_names));
    }
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (o == operand_b && plan.unary()) continue;
        std::vector<int> members;
        double places = 1;
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (groups[g].in(o)) {
                members.push_back(static_cast<int>(g));
                places *= static_cast<double>(groups[g].size);
            }
        const auto& tensor = o == operand_c ? plan.spec.output : plan.spec.factors[o];
        add_tensor(step, tensor, members, broken_orbit(tensor.layout, groups, o), places);
    }
    if (plan.rows && plan.rows->once) step.share /= 2;
    return step;
}

BoundedStep bounded_step(const FusedPlan& plan) {
    auto step = over_labels(plan.spec.factors, plan.spec.output, plan.spec.label_extents, plan.spec.label_names);
    step.ranks = static_cast<double>(plan.grid.ranks());
    step.element_bytes = plan.spec.element_bytes;
    return step;
}

BoundedStep bounded_step(const Product& spec) {
    auto step = over_labels(spec.factors, spec.output, spec.label_extents, spec.label_names);
    step.element_bytes = spec.element_bytes;
    return step;
}

StepBounds step_bounds(const BoundedStep& step, const PlanOptions& options) {
    StepBounds result;
    const auto bytes = static_cast<double>(step.element_bytes);
    const auto intensity = soap_intensity(step.space, options.machine.cache_bytes / bytes);
    result.intensity = intensity.rho;
    for (std::size_t l = 0; l < intensity.tiles.size(); ++l)
        if (std::any_of(step.space.tensors.begin(), step.space.tensors.end(),
                        [&](const auto& tensor) { return std::count(tensor.begin(), tensor.end(), static_cast<int>(l)) > 0; }))
            result.tiles.push_back({step.labels[l], intensity.tiles[l]});
    const double points = volume(step.space) * step.share;
    if (points < 1) return result;
    // Ranks beyond the number of points have nothing to do and need own nothing.
    const double active = std::min(step.ranks, points);
    const double owned = step.owned_words * step.ranks / active;
    const double memory = static_cast<double>(options.memory_limit) / bytes + owned;
    const double accessed = smallest_access(step.space, points / active).words / step.uses;
    const double needed = points / active / soap_intensity(step.space, memory * step.uses).rho / step.uses;
    // What is below the rounding of the solver is no bound.
    auto beyond_owned = [&](double words) { return words - owned > 1e-9 * words ? (words - owned) * bytes : 0.0; };
    result.memory_independent_bytes = beyond_owned(accessed);
    result.memory_dependent_bytes = beyond_owned(needed);
    return result;
}

}  // namespace arges

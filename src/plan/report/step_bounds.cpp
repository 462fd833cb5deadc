// Lower bounds of the steps of a plan, with the tensors where they lie: copies count as owned, and stored words of a symmetric tensor for
// all places they serve (SOAP: Kwasniewski et al. 2021; deinsum-2022).
#include "plan/report/step_bounds.hpp"

#include "arges/expression.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace arges {

namespace {

/// Words of a tensor on a rank, on average; copies count.
double owned_words(const Layout& layout) {
    return static_cast<double>(layout.packed_size()) * layout.copies() / static_cast<double>(layout.grid().ranks());
}

double orbit(const Layout& layout) {
    double size = 1;
    for (const auto& slot : layout.symmetry().slots()) size *= static_cast<double>(group_size(slot));
    return size;
}

/// Adds a tensor that the step reads or writes: `uses` places of it, of `places` in all, stand for one stored word.
void add_tensor(BoundedStep& step, const Operand& tensor, std::vector<int> members, double uses, double places) {
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

std::string axis_text(const Axis& axis, const std::vector<std::string>& names) {
    std::vector<std::string> labels;
    for (int l : axis.labels) labels.push_back(names[l]);
    const auto text = Labels(labels).to_string();
    return labels.size() == 1 ? text : "(" + text + ")";
}

/// Elements of the orbits of an operand that its axes do not keep packed.
double broken_orbit(const Layout& layout, const std::vector<Axis>& axes, std::size_t o) {
    double size = orbit(layout);
    for (const auto& axis : axes)
        if (axis.in(o)) size /= static_cast<double>(group_size(*axis.tree[o]));
    return std::max(1.0, size);
}

BoundedStep over_axes(const Product& spec, const std::vector<Axis>& axes) {
    BoundedStep step;
    step.element_bytes = spec.element_bytes;
    for (const auto& axis : axes) {
        step.space.extents.push_back(axis.size);
        step.labels.push_back(axis_text(axis, spec.label_names));
    }
    for (std::size_t o = 0; o <= spec.factors.size(); ++o) {
        std::vector<int> members;
        double places = 1;
        for (std::size_t a = 0; a < axes.size(); ++a)
            if (axes[a].in(o)) {
                members.push_back(a);
                places *= axes[a].size;
            }
        const auto& tensor = o < spec.factors.size() ? spec.factors[o] : spec.output;
        add_tensor(step, tensor, std::move(members), broken_orbit(tensor.layout, axes, o), places);
    }
    return step;
}

}  // namespace

BoundedStep bounded_step(const ProductPlan& plan) {
    auto step = over_axes(plan.spec, plan.axes);
    step.ranks = plan.grid.ranks();
    if (plan.rows && plan.rows->once) step.share /= 2;
    return step;
}

BoundedStep bounded_step(const Product& spec) {
    auto step = over_axes(spec, axes_of(spec));
    step.ranks = spec.output.layout.grid().ranks();
    return step;
}

StepBounds step_bounds(const BoundedStep& step, const PlanOptions& options) {
    StepBounds result;
    const double bytes = step.element_bytes;
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

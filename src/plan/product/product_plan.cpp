// The chain of local products of a plan, and the axes and windows that it implies (deinsum-2022, section IV; packed axes: cyclops-2012).
#include "plan/product/product_plan.hpp"

#include "base/math.hpp"
#include "plan/movement/movement.hpp"

#include <algorithm>

namespace arges {

namespace {

/// The axes of an operand as its labels follow each other.
std::vector<int> axes_by_labels(const std::vector<Axis>& axes, std::size_t o, const std::vector<int>& labels) {
    std::vector<int> result;
    for (int l : labels)
        for (std::size_t a = 0; a < axes.size(); ++a)
            if (axes[a].in(o) && contains(axes[a].labels, l) && !contains(result, static_cast<int>(a))) result.push_back(a);
    return result;
}

/// Sets the chain of local products.
class ChainBuilder {
public:
    explicit ChainBuilder(ProductPlan& plan) : plan_(plan) {}

    void build() {
        const auto& order = plan_.order;
        const auto inputs = plan_.result();
        for (std::size_t o = 0; o < inputs; ++o) nodes_.push_back(plan_.operands[o].axes);
        if (order.empty()) plan_.chain.push_back({0, LocalProduct::no_second, plan_.operands[inputs].axes, -1});
        std::vector<bool> used(inputs + order.size(), false);
        std::vector<int> buffer_of(inputs + order.size(), -1), free_buffers;
        for (std::size_t s = 0; s < order.size(); ++s) {
            LocalProduct step{order[s][0], order[s][1], {}, -1};
            used[step.first] = used[step.second] = true;
            const bool last = s + 1 == order.size();
            step.axes = last ? plan_.operands[inputs].axes : result_axes(step, used);
            if (!last) {
                if (free_buffers.empty()) free_buffers.push_back(plan_.buffers++);
                step.buffer = free_buffers.back();
                free_buffers.pop_back();
                buffer_of[inputs + s] = step.buffer;
            }
            for (int node : {step.first, step.second})
                if (buffer_of[node] >= 0) free_buffers.push_back(buffer_of[node]);
            nodes_.push_back(step.axes);
            plan_.chain.push_back(std::move(step));
        }
    }

private:
    double elements(const std::vector<int>& axes) const {
        double product = 1;
        for (int a : axes) product *= plan_.axes[a].size;
        return product;
    }

    bool is_kept(int axis, const std::vector<bool>& used) const {
        if (!plan_.axes[axis].is_contracted()) return true;
        for (std::size_t node = 0; node < nodes_.size(); ++node)
            if (!used[node] && contains(nodes_[node], axis)) return true;
        return false;
    }

    /// Axes of the result of a product: those of the larger factor in their order, the other's new ones where the first summed one
    /// was, so that matrix products find contiguous operands.
    std::vector<int> result_axes(const LocalProduct& step, const std::vector<bool>& used) const {
        const auto &a = nodes_[step.first], &b = nodes_[step.second];
        const bool a_larger = elements(a) >= elements(b);
        const auto &large = a_larger ? a : b, &small = a_larger ? b : a;
        std::vector<int> fresh, result;
        for (int axis : small)
            if (is_kept(axis, used) && !contains(large, axis)) fresh.push_back(axis);
        bool placed = false;
        for (int axis : large) {
            const bool summed = !is_kept(axis, used), batch = !summed && contains(small, axis);
            if ((summed || batch) && !placed) {
                result.insert(result.end(), fresh.begin(), fresh.end());
                placed = true;
            }
            if (!summed) result.push_back(axis);
        }
        if (!placed) result.insert(result.end(), fresh.begin(), fresh.end());
        return result;
    }

    ProductPlan& plan_;
    std::vector<std::vector<int>> nodes_;
};

}  // namespace

std::int64_t window_count(const std::vector<Window>& windows) {
    std::int64_t product = 1;
    for (const auto& window : windows) product *= window.count;
    return product;
}

std::int64_t windows_of(const std::vector<Window>& windows, int axis) {
    for (const auto& window : windows)
        if (window.axis == axis) return window.count;
    return 1;
}

WindowParts window_parts(const std::vector<Window>& windows, const std::vector<Axis>& axes, std::size_t o) {
    WindowParts result;
    for (std::size_t w = 0; w < windows.size(); ++w) {
        const bool cuts = axes[windows[w].axis].in(o);
        if (cuts && !result.fastest) result.fastest = w;
        if (cuts)
            result.parts *= windows[w].count;
        else if (result.fastest)
            result.repetitions *= windows[w].count;
    }
    return result;
}

const std::vector<int>& ProductPlan::axes_of_node(int node) const {
    const std::size_t n = node;
    return n < result() ? operands[n].axes : chain[n - result()].axes;
}

std::vector<int> ProductPlan::iteration_axes(const LocalProduct& product) const {
    auto all = axes_of_node(product.first);
    if (product.second != LocalProduct::no_second)
        for (int a : axes_of_node(product.second))
            if (!contains(all, a)) all.push_back(a);
    return all;
}

bool ProductPlan::is_weighted(std::size_t o) const { return contains(weighted, static_cast<int>(o)); }

void ProductPlan::move_whole_inputs_only() {
    for (std::size_t o = 0; o < stay.size(); ++o)
        if (window_that_cuts(o)) stay[o].reset();
}

Volume ProductPlan::repeated(std::size_t o, const Volume& once) const {
    const auto times = repetitions(o);
    return {once.sent * times, once.received * times};
}

bool ProductPlan::has_uneven_parts(std::size_t o) const {
    return std::any_of(windows.begin(), windows.end(), [&](const Window& window) {
        const std::size_t a = window.axis;
        return axes[a].in(o) && mapping[a].is_blocks();
    });
}

bool ProductPlan::has_halved_parts(std::size_t o) const {
    if (!window_that_cuts(o)) return false;
    const auto movement = this->movement(o);
    return std::any_of(movement.stages.begin(), movement.stages.end(), [](const RelayStage& stage) { return stage.way == RelayWay::ring; });
}

void ProductPlan::for_each_part(std::size_t o, const std::function<void(const std::vector<std::int64_t>&)>& f) const {
    std::vector<std::int64_t> range(windows.size(), 0);
    for (std::int64_t part = 0, count = parts(o); part < count; ++part) {
        auto rest = part;
        for (std::size_t w = 0; w < windows.size(); ++w) {
            if (!axes[windows[w].axis].in(o)) continue;
            range[w] = rest % windows[w].count;
            rest /= windows[w].count;
        }
        f(range);
    }
}

Layout ProductPlan::window_layout(std::size_t o, const std::vector<std::int64_t>& range) const {
    const auto& working = operands[o];
    if (!window_that_cuts(o)) return working.layout;
    std::vector<SlotMapping> slots;
    std::vector<int> partial;
    for (int t = 0; t < working.layout.grid().dimensions(); ++t)
        if (working.layout.is_partial(t)) partial.push_back(t);
    for (int s = 0; s < working.layout.slots(); ++s) {
        auto& slot = slots.emplace_back(working.layout.mapping(s));
        for (std::size_t w = 0; w < windows.size(); ++w) {
            if (windows[w].axis != working.axes[s]) continue;
            const auto size = working.layout.slot(s).size();
            slot.begin = part_begin(size, range[w], windows[w].count);
            slot.end = part_begin(size, range[w] + 1, windows[w].count);
        }
    }
    return Layout(working.layout.grid(), working.layout.extents(), working.layout.symmetry(), std::move(slots), partial);
}

Movement ProductPlan::movement(std::size_t o) const {
    const bool out = o == result();
    const auto& at_rest = tensor(o);
    const auto& working = operands[o];
    Movement e;
    e.label_extents = spec.label_extents;
    e.from = out ? working.layout : at_rest.layout;
    e.from_labels = out ? working.labels : at_rest.labels;
    e.to = out ? at_rest.layout : working.layout;
    e.to_labels = out ? at_rest.labels : working.labels;
    e.terms = out ? spec.terms : std::vector<LabelTerm>{e.identity()};
    if (!stages.empty()) e.stages = stages[o];
    e.from_bytes = spec.staged_bytes(at_rest);
    return e;
}

Movement ProductPlan::movement_to_stay(std::size_t o) const {
    const auto& working = operands[o];
    Movement e;
    e.label_extents = spec.label_extents;
    e.from = working.layout;
    e.from_labels = working.labels;
    e.to = *stay[o];
    e.to_labels = tensor(o).labels;
    e.terms = {e.identity()};
    return e;
}

Movement ProductPlan::movement(std::size_t o, const std::vector<std::int64_t>& range) const {
    auto e = movement(o);
    (o == result() ? e.from : e.to) = window_layout(o, range);
    return e;
}

ProductPlan unmapped_plan(const Product& spec, const PairOrder& order) {
    ProductPlan plan;
    plan.spec = spec;
    plan.order = order;
    plan.axes = axes_of(spec);
    plan.mapping.resize(plan.axes.size());
    plan.grid_lengths.assign(plan.axes.size(), 1);
    plan.weighted.assign(plan.axes.size(), -1);
    for (std::size_t o = 0; o <= plan.result(); ++o) {
        auto& operand = plan.operands.emplace_back();
        operand.axes = axes_by_labels(plan.axes, o, plan.tensor(o).labels);
    }
    ChainBuilder(plan).build();
    return plan;
}

Operand raw_result(const Product& spec) {
    auto result = spec.output;
    std::erase_if(result.labels, [&](int l) {
        return std::none_of(spec.factors.begin(), spec.factors.end(), [&](const auto& input) { return contains(input.labels, l); });
    });
    return result;
}

WorkingOperand working_copy(const ProductPlan& plan, std::size_t o, std::vector<int> axes, const std::vector<int>& partial) {
    WorkingOperand w;
    w.axes = std::move(axes);
    std::vector<SymmetryNode> slots;
    std::vector<SlotMapping> mapping;
    std::vector<std::int64_t> extents;
    for (int a : w.axes) {
        const auto& axis = plan.axes[a];
        slots.push_back(with_positions(*axis.tree[o], axis.labels, w.labels.size()));
        for (int l : axis.labels) {
            w.labels.push_back(l);
            extents.push_back(plan.spec.label_extents[l]);
        }
        mapping.push_back(plan.mapping[a]);
    }
    const int order = extents.size();
    w.layout = Layout(plan.grid, extents, Symmetry(order, product(slots)), mapping, partial);
    return w;
}

Volume exact_volume(const ProductPlan& plan, std::size_t o, std::int64_t rank) {
    Volume result;
    if (plan.operands[o].in_place) return result;
    const auto add = [&](const Movement& movement) {
        const auto volume = plan.repeated(o, movement_volume(movement, rank));
        result.sent += volume.sent;
        result.received += volume.received;
    };
    if (plan.has_halved_parts(o))
        plan.for_each_part(o, [&](const auto& range) { add(plan.movement(o, range)); });
    else
        add(plan.movement(o));
    return result;
}

std::vector<Volume> exact_volume(const ProductPlan& plan, std::int64_t rank) {
    std::vector<Volume> result;
    for (std::size_t o = 0; o < plan.operands.size(); ++o) result.push_back(exact_volume(plan, o, rank));
    return result;
}

}  // namespace arges

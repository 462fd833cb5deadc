// Which products of a tree run fused on one grid (deinsum-2022): all sets of kept intermediates where there are few, else single changes
// until none helps; and where intermediates lie.
#include "plan/product/plan_product.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/overloaded.hpp"
#include "base/workspace.hpp"
#include "plan/order/product_order.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/product_steps.hpp"
#include "plan/product/step_memory.hpp"
#include "plan/report/plan_report.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace arges {

namespace {

/// Which intermediates stay inside of a fused product: by step, true if its result does.
using Fusion = std::vector<bool>;

/// The steps of one fused product.
struct StepGroup {
    std::vector<int> members;  // nodes of the order that go in
    PairOrder order;           // renumbered: members first
    int result = 0;            // node that comes out
};

std::string bytes_text(std::int64_t bytes) {
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 10240 && unit < 4; ++unit) bytes = ceil_div(bytes, 1024);
    return std::to_string(bytes) + " " + units[unit];
}

class ProductPlanner {
public:
    ProductPlanner(const Product& spec, const PlanOptions& options)
        : spec_(spec), options_(options), quick_(options.computing(options.device_memory_limit.has_value())) {}

    /// The fastest plan within the memory limit; the smallest one if none is.
    PlannedProduct plan() {
        auto start = ProductSteps::forecast(spec_, options_);
        start.sum_labels_of_one_factor();
        nodes_ = start.nodes();
        if (nodes_.size() >= 2) order_ = nodes_.size() == 2 ? PairOrder{{0, 1}} : product_order(nodes_, spec_, quick_);
        auto result = best();
        // Only products on a grid take account of later runs, for the sake of tensors that stay where they are put.
        result.for_any_runs =
            order_.empty() || std::none_of(spec_.factors.begin(), spec_.factors.end(), [](const auto& f) { return f.is_lasting; });
        return result;
    }

private:
    PlannedProduct best() {
        const Fusion separate(order_.size(), false), all(order_.size(), true);
        const auto fusion = order_.empty() ? separate : best_fusion();
        const auto edges = order_.empty() ? 0 : static_cast<std::ptrdiff_t>(order_.size()) - 1;
        const auto inside = std::count(fusion.begin(), fusion.begin() + edges, true);
        const bool is_fused = inside > 0;
        BestProduct best(spec_, options_);
        // What stays packed depends on what runs together, of which the quick estimate knows little.
        if (is_fused && has_symmetry()) best.consider(steps_with(separate, Places::may_change));
        best.consider(steps_with(fusion, Places::may_change));
        // Quick estimates know nothing of messages: where these take most of the time, the other extremes are planned in full, too. Plans
        // for several runs are not compared by what the first one takes.
        const bool doubtful = edges > 0 && options_.expected_runs == 1 && is_doubtful(*best.plan(), fusion);
        const bool is_tight = !best.fits() || is_cut(*best.plan());
        if (is_fused && (doubtful || is_tight) && !has_symmetry()) best.consider(steps_with(separate, Places::may_change));
        if (doubtful && inside < edges) best.consider(steps_with(all, Places::may_change));
        if (best.fits() && !is_cut(*best.plan()) && is_on_device(*best.plan()) && (order_.size() < 2 || options_.expected_runs > 1))
            return best.take();
        // New places take memory beside the old ones, and are chosen step by step; only later runs gain surely.
        BestProduct still(spec_, options_);
        still.consider(steps_with(fusion, Places::are_fixed));
        if (is_fused) still.consider(steps_with(separate, Places::are_fixed));
        if (!best.fits() && !still.fits() && order_.size() > 1) still.consider(steps_with(all, Places::are_fixed));
        best.consider(still.take());
        return best.take();
    }

    static bool is_cut(const PlannedProduct& plan) {
        return std::any_of(plan.steps.begin(), plan.steps.end(),
                           [](const auto& step) { return step.product() != nullptr && !step.product()->windows.empty(); });
    }

    /// Is nothing computed on the host for lack of memory on the device? Without one nothing is.
    bool is_on_device(const PlannedProduct& plan) const {
        return !options_.device_memory_limit || std::all_of(plan.steps.begin(), plan.steps.end(), [](const auto& step) {
            return step.product() == nullptr || step.product()->spec.on_device;
        });
    }

    static constexpr std::size_t max_enumerated_edges = 6;

    /// Does a plan take much longer than the quick estimate of its fusion?
    bool is_doubtful(const PlannedProduct& plan, const Fusion& fusion) {
        constexpr double times_longer = 4;
        return grid().ranks() > 1 && plan.seconds(spec_.element_bytes, options_) > times_longer * estimate(fusion);
    }

    const RankGrid& grid() const { return options_.whole_grid(spec_.output.layout); }

    bool has_symmetry() const {
        auto symmetric = [](const Operand& o) { return o.layout.slots() != o.layout.order(); };
        return symmetric(spec_.output) || std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& n) { return symmetric(n.spec); });
    }

    static std::size_t position(const ProductSteps& steps, int id) {
        const auto& nodes = steps.nodes();
        return std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.id == id; }) - nodes.begin();
    }

    std::vector<StepGroup> groups_of(const Fusion& inside) const {
        std::vector<StepGroup> result;
        for (std::size_t s = 0; s < order_.size(); ++s)
            if (s + 1 == order_.size() || !inside[s]) result.push_back(group_of(s, inside));
        return result;
    }

    /// The fused product whose last step is `top`.
    StepGroup group_of(std::size_t top, const Fusion& inside) const {
        const int inputs = nodes_.size();
        std::vector<std::size_t> steps;
        StepGroup group;
        auto collect = [&](auto&& self, std::size_t s) -> void {
            for (int node : order_[s]) {
                const std::size_t producer = node - inputs;
                if (node >= inputs && inside[producer])
                    self(self, producer);
                else
                    group.members.push_back(node);
            }
            steps.push_back(s);
        };
        collect(collect, top);
        std::sort(group.members.begin(), group.members.end());
        std::map<int, int> number;
        for (int m : group.members) number.emplace(m, static_cast<int>(number.size()));
        for (auto s : steps) {
            group.order.push_back({number.at(order_[s][0]), number.at(order_[s][1])});
            number.emplace(inputs + static_cast<int>(s), static_cast<int>(number.size()));
        }
        group.result = inputs + static_cast<int>(top);
        return group;
    }

    PlannedProduct steps_with(const Fusion& inside, Places places) const {
        if (places == Places::may_change) return steps_of(spec_, options_, inside, places);
        auto still = spec_;
        still.output_is_free = false;
        auto left = options_;
        left.expected_runs = 1;
        return steps_of(still, left, inside, places);
    }

    PlannedProduct steps_of(const Product& spec, const PlanOptions& options, const Fusion& inside, Places places) const {
        auto forecast = ProductSteps::forecast(spec, options);
        take_steps(forecast, inside);
        BytesBeside beside;
        beside.add(intermediate_bytes(forecast.product(), spec.element_bytes), true);
        if (spec.output_is_free) beside.add(bytes_on_a_rank(spec.output.layout, spec.element_bytes), spec.output.on_device);
        ProductSteps steps(spec, options, places, beside);
        take_steps(steps, inside);
        return steps.take();
    }

    void take_steps(ProductSteps& steps, const Fusion& inside) const {
        steps.sum_labels_of_one_factor();
        if (order_.empty()) return steps.finish();
        std::map<int, int> id_of;
        for (std::size_t n = 0; n < steps.nodes().size(); ++n) id_of[static_cast<int>(n)] = steps.nodes()[n].id;
        for (const auto& group : groups_of(inside)) {
            std::vector<std::size_t> members;
            for (int m : group.members) members.push_back(position(steps, id_of.at(m)));
            steps.multiply(members, group.order);
            if (!steps.nodes().empty()) id_of[group.result] = steps.nodes()[*std::min_element(members.begin(), members.end())].id;
        }
    }

    /// The cheapest set of intermediates to keep inside, from quick estimates: all sets where there are few, else by changing one
    /// at a time.
    Fusion best_fusion() {
        const std::size_t edges = order_.size() - 1;
        Fusion best(order_.size(), true);
        if (edges == 0 || (grid().ranks() == 1 && !has_symmetry())) return best;
        double best_seconds = estimate(best);
        auto consider = [&](const Fusion& fusion) {
            const double seconds = estimate(fusion);
            if (seconds >= best_seconds * (1 - 1e-6)) return false;
            best = fusion;
            best_seconds = seconds;
            return true;
        };
        if (edges <= max_enumerated_edges) {
            for (std::size_t bits = 0; bits < (std::size_t{1} << edges); ++bits) {
                Fusion fusion(order_.size(), true);
                for (std::size_t e = 0; e < edges; ++e) fusion[e] = ((bits >> e) & 1U) != 0;
                consider(fusion);
            }
            return best;
        }
        consider(Fusion(order_.size(), false));
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t e = 0; e < edges; ++e) {
                auto fusion = best;
                fusion[e] = !fusion[e];
                changed = consider(fusion) || changed;
            }
        }
        return best;
    }

    double estimate(const Fusion& fusion) {
        double seconds = 0;
        for (const auto& group : groups_of(fusion)) {
            auto key = group.members;
            key.push_back(group.result);
            const auto [it, is_new] = group_seconds_.try_emplace(key, 0);
            if (is_new) it->second = quick_seconds(product_of(group), group.order, quick_);
            seconds += it->second;
        }
        return seconds;
    }

    /// A group with intermediates in balanced layouts.
    Product product_of(const StepGroup& group) {
        std::vector<Operand> factors;
        for (int m : group.members) factors.push_back(operand(m));
        const bool last = group.result + 1 == static_cast<int>(nodes_.size() + order_.size());
        return product_over_labels_of(spec_, std::move(factors), last ? spec_.output : operand(group.result));
    }

    const Operand& operand(int node) {
        const auto inputs = nodes_.size();
        if (static_cast<std::size_t>(node) < inputs) return nodes_[node].spec;
        const auto [it, is_new] = intermediate_.try_emplace(node);
        if (!is_new) return it->second;
        auto& result = intermediate_[node];
        std::set<int> inside, outside(spec_.output.labels.begin(), spec_.output.labels.end());
        std::vector<bool> below(inputs + order_.size(), false);
        below[node] = true;
        for (auto s = static_cast<std::size_t>(node) - inputs + 1; s-- > 0;)
            if (below[inputs + s])
                for (int child : order_[s]) below[child] = true;
        for (std::size_t n = 0; n < inputs; ++n) {
            auto& labels = below[n] ? inside : outside;
            labels.insert(nodes_[n].spec.labels.begin(), nodes_[n].spec.labels.end());
        }
        std::set_intersection(inside.begin(), inside.end(), outside.begin(), outside.end(), std::back_inserter(result.labels));
        std::vector<std::int64_t> extents;
        for (int l : result.labels) extents.push_back(spec_.label_extents[l]);
        const auto& pair = order_[static_cast<std::size_t>(node) - inputs];
        auto product = product_over_labels_of(spec_, {operand(pair[0]), operand(pair[1])}, {});
        product.output.labels = result.labels;
        result.layout = options_.new_layout(spec_.output.layout, extents, raw_symmetry(axes_of(product), result.labels));
        return result;
    }

    const Product& spec_;
    const PlanOptions& options_;
    const PlanOptions quick_;  // for estimates before it is known what is computed where: on the device, if there is one
    std::vector<ProductNode> nodes_;
    PairOrder order_;
    std::map<std::vector<int>, double> group_seconds_;
    std::map<int, Operand> intermediate_;
};

/// Searches within a tighter limit look at more, and may find plans that others miss. For products of many tensors, where that happens,
/// those within a half, a quarter, ... of what the plan without a limit takes are compared, a few from the limit downwards, so that more
/// memory does not take longer.
class PlanLadder {
public:
    PlanLadder(const Product& spec, const PlanOptions& options) : spec_(spec), options_(options) {}

    /// The fastest plan within the memory limit; the smallest one if none is.
    BestProduct best() const {
        BestProduct result(spec_, options_);
        result.consider(plan_within(PlanOptions::unlimited));
        if (result.fits()) return result;
        if (spec_.factors.size() <= 2) {
            result.consider(plan_within(options_.memory_limit));
            return result;
        }
        // What is faster than the plan without a limit is taken where nothing else fits only: with more memory it would not be found.
        const double least_seconds = seconds(*result.plan()) * (1 - 1e-9);
        BestProduct faster(spec_, options_);
        auto limit = bytes(*result.plan()) / 2;
        while (limit > std::max<std::int64_t>(0, options_.memory_limit)) limit /= 2;
        bool is_last = false;
        for (int rung = 0; rung < rungs && !is_last; ++rung, limit /= 2) {
            auto plan = plan_within(limit);
            is_last = bytes(plan) > limit;
            (seconds(plan) < least_seconds ? faster : result).consider(std::move(plan));
        }
        if (!result.fits() && faster.plan()) result.consider(faster.take());
        if (!result.fits()) result.consider(plan_within(0));
        return result;
    }

    /// Is there a plan within the memory limit?
    bool fits() const { return bytes(plan_within(options_.memory_limit)) <= options_.memory_limit; }

private:
    static constexpr int rungs = 2;

    PlannedProduct plan_within(std::int64_t limit) const {
        auto options = options_;
        options.memory_limit = limit;
        return ProductPlanner(spec_, options).plan();
    }

    double seconds(const PlannedProduct& plan) const { return plan.seconds(spec_.element_bytes, options_); }

    std::int64_t bytes(const PlannedProduct& plan) const {
        auto exactly = options_;
        exactly.memory_limit = 0;
        return memory_bound(plan, spec_, exactly);
    }

    const Product& spec_;
    const PlanOptions& options_;
};

/// Ways to map groups to a grid; where the best of them is wanted: all packed, each as is best for its step with packed intermediates, and
/// all in blocks.
std::vector<GroupMapping> mappings(const Product& spec, GroupMapping wanted) {
    if (wanted != GroupMapping::best) return {wanted};
    const auto has_group = [](const Operand& operand) { return operand.layout.slots() < operand.layout.order(); };
    if (!spec.may_pad || std::none_of(spec.factors.begin(), spec.factors.end(), has_group)) return {GroupMapping::packed};
    return {GroupMapping::packed, GroupMapping::best, GroupMapping::blocks};
}

/// How many ranks would do where a product does not fit, as the end of a message: the present number doubled until there is a plan
/// within the limit; empty if that does not help.
std::string ranks_advice(const Product& spec, const PlanOptions& options) {
    constexpr int most_doublings = 10;
    auto larger = spec;
    auto grid = options.whole_grid(spec.output.layout);
    auto left = options;
    left.grids.clear();
    auto double_ranks = [&](Operand& operand) {
        const auto before = operand.layout.max_local_size();
        operand.layout = default_layout(grid, operand.layout.extents(), operand.layout.symmetry());
        left.memory_limit += (before - operand.layout.max_local_size()) * spec.element_bytes;
    };
    left.links.reset();
    if (left.group_mapping == GroupMapping::best) left.group_mapping = GroupMapping::packed;
    for (int i = 0; i < most_doublings; ++i) {
        grid.lengths.push_back(2);
        for (auto& factor : larger.factors) double_ranks(factor);
        double_ranks(larger.output);
        if (PlanLadder(larger, left).fits()) return "; " + std::to_string(grid.ranks()) + " ranks would do";
    }
    return "";
}

/// The fastest plan within the memory limit; the smallest one if none is.
BestProduct best_product(const Product& spec, const PlanOptions& options) {
    BestProduct best(spec, options);
    for (const auto mapping : mappings(spec, options.group_mapping)) {
        auto mapped = options;
        mapped.group_mapping = mapping;
        best.consider(PlanLadder(spec, mapped).best().take());
    }
    return best;
}

}  // namespace

bool PlannedStep::to_device() const {
    return std::visit(Overloaded{[](const PlannedMovement& movement) { return movement.to_device; },
                                 [](const ProductPlan& product) { return product.spec.output.on_device; }},
                      work);
}

bool PlannedProduct::is_on_device(int number) const {
    return std::any_of(steps.begin(), steps.end(), [&](const auto& step) { return step.output == number && step.to_device(); });
}

double PlannedStep::seconds(std::int64_t element_bytes, const PlanOptions& options) const {
    return std::visit(Overloaded{[&](const PlannedMovement& movement) {
                                     if (!movement.from_device && !movement.to_device)
                                         return estimated_seconds(movement.spec, element_bytes, options);
                                     double seconds = estimated_seconds(movement.spec, element_bytes, options.computing(true));
                                     if (movement.from_device != movement.to_device)
                                         seconds += crossing_seconds(movement.spec.to.max_local_size(), element_bytes, options.machine);
                                     return seconds;
                                 },
                                 [](const ProductPlan& product) { return product.cost.seconds; }},
                      work);
}

double PlannedProduct::seconds(std::int64_t element_bytes, const PlanOptions& options) const {
    double sum = 0;
    for (const auto& step : steps) sum += step.seconds(element_bytes, options);
    return sum;
}

void set_names(std::vector<PlannedStep>& steps, const Product& spec) {
    const auto names = operand_names(steps, spec);
    const auto set = [&](auto& product, const PlannedStep& step) {
        product.label_names = spec.label_names;
        product.output.name = names.at(step.output);
        for (std::size_t i = 0; i < product.factors.size(); ++i) product.factors[i].name = names.at(step.inputs[i]);
    };
    for (auto& step : steps) {
        std::visit(Overloaded{[](PlannedMovement&) {}, [&](ProductPlan& product) { set(product.spec, step); }}, step.work);
    }
}

Product settled(const PlannedProduct& plan, Product spec) {
    for (const auto& step : plan.steps) {
        const auto* const product = step.product();
        if (product == nullptr) continue;
        for (std::size_t i = 0; i < product->stay.size(); ++i) {
            const std::size_t factor = step.inputs[i];
            if (factor < spec.factors.size() && product->stay[i]) spec.factors[factor].layout = *product->stay[i];
        }
        if (step.output == output_operand) spec.output.layout = product->spec.output.layout;
    }
    return spec;
}

std::int64_t bytes_on_a_rank(const Layout& layout, std::int64_t element_bytes) {
    return Workspace::padded(saturated_product(layout.max_local_size(), element_bytes));
}

std::int64_t intermediate_bytes(const PlannedProduct& plan, std::int64_t element_bytes) {
    std::int64_t sum = 0;
    for (const auto& layout : plan.intermediates) sum += bytes_on_a_rank(layout, element_bytes);
    return sum;
}

std::int64_t new_place_bytes(const PlannedProduct& plan, const Product& spec, bool on_device_only) {
    const auto after = settled(plan, spec);
    std::int64_t sum = 0;
    const auto add = [&](const Operand& now, const Operand& then) {
        if ((now.on_device || !on_device_only) && !(now.layout == then.layout)) sum += bytes_on_a_rank(then.layout, spec.element_bytes);
    };
    for (std::size_t f = 0; f < spec.factors.size(); ++f) add(spec.factors[f], after.factors[f]);
    add(spec.output, after.output);
    return sum;
}

std::optional<PlannedProduct> plan_that_fits(const Product& spec, const PlanOptions& options) {
    auto best = best_product(spec, options);
    return best.fits() ? std::optional(best.take()) : std::nullopt;
}

PlannedProduct plan_product(const Product& spec, const PlanOptions& options) {
    auto best = best_product(spec, options);
    if (best.fits()) return best.take();
    throw OutOfMemory("contraction to " + spec.output.name + ": needs at least " + bytes_text(best.bytes()) +
                      " of working memory per rank, but the limit leaves " + bytes_text(std::max<std::int64_t>(0, options.memory_limit)) +
                      "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)" + ranks_advice(spec, options));
}

}  // namespace arges

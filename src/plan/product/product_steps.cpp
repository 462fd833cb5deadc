// Steps one by one: lone labels are summed first, intermediates go where their consumer gathers least, and products with joint pair
// symmetry take the fastest of three ways.
#include "plan/product/product_steps.hpp"

#include "base/math.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/plan_candidates.hpp"
#include "plan/product/step_memory.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace arges {

namespace {

/// Bytes of the rooms on the host through which elements pass that are converted or come from another memory, at most.
std::int64_t rooms_on_host(const Product& step) {
    std::int64_t sum = 0;
    const auto add = [&](const Operand& operand) {
        const auto elements = saturated_product(operand.layout.full_size(), std::ssize(step.terms));
        sum += conversion_bytes(elements, step.staged_bytes(operand), step.element_bytes);
    };
    for (const auto& factor : step.factors) add(factor);
    add(step.output);
    return sum;
}

}  // namespace

void BestProduct::consider(PlannedProduct plan) {
    auto bytes = memory_bound(plan, *spec_, *options_);
    if (bytes > options_->memory_limit) {
        // Nobody needs inputs to stay where they were gathered.
        for (auto& step : plan.steps)
            if (auto* const product = std::get_if<ProductPlan>(&step.work)) product->stay.assign(product->result(), std::nullopt);
        bytes = memory_bound(plan, *spec_, *options_);
    }
    const double seconds = plan.seconds(spec_->element_bytes, *options_);
    const bool plan_fits = bytes <= options_->memory_limit;
    if (plan_ && (plan_fits != fits() ? fits() : plan_fits ? seconds >= seconds_ * (1 - 1e-9) : bytes >= bytes_)) return;
    plan_ = std::move(plan);
    seconds_ = seconds;
    bytes_ = bytes;
}

ProductSteps::ProductSteps(const Product& spec, const PlanOptions& options, Places places, const BytesBeside& beside)
    : spec_(spec), options_(options), places_(places), beside_(beside), next_id_(spec.factors.size()) {
    for (std::size_t f = 0; f < spec.factors.size(); ++f) nodes_.push_back({static_cast<int>(f), spec.factors[f]});
}

ProductSteps ProductSteps::forecast(const Product& spec, const PlanOptions& options) {
    ProductSteps steps(spec, options, Places::are_fixed, {});
    steps.is_forecast_ = true;
    return steps;
}

bool ProductSteps::in_output(int label) const { return std::count(spec_.output.labels.begin(), spec_.output.labels.end(), label) > 0; }

Layout ProductSteps::new_layout(const std::vector<std::int64_t>& extents, const Symmetry& symmetry) const {
    return options_.new_layout(spec_.output.layout, extents, symmetry);
}

void ProductSteps::sum_labels_of_one_factor() {
    if (nodes_.size() < 2) return;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        bool is_alone = false;
        for (int l : nodes_[n].spec.labels) {
            bool shared = in_output(l);
            for (std::size_t m = 0; m < nodes_.size(); ++m)
                shared = shared || (m != n && std::count(nodes_[m].spec.labels.begin(), nodes_[m].spec.labels.end(), l) > 0);
            is_alone = is_alone || !shared;
        }
        if (is_alone) replace({n}, intermediate({n}, {}));
    }
}

void ProductSteps::replace(const std::vector<std::size_t>& members, ProductNode node) {
    auto sorted = members;
    std::sort(sorted.begin(), sorted.end());
    nodes_[sorted[0]] = std::move(node);
    for (std::size_t i = sorted.size(); i-- > 1;) nodes_.erase(nodes_.begin() + sorted[i]);
}

/// Labels of the members that the output or another node has, by first appearance.
std::vector<int> ProductSteps::kept_labels(const std::vector<std::size_t>& members) const {
    std::set<int> needed(spec_.output.labels.begin(), spec_.output.labels.end());
    for (std::size_t n = 0; n < nodes_.size(); ++n)
        if (std::count(members.begin(), members.end(), n) == 0) needed.insert(nodes_[n].spec.labels.begin(), nodes_[n].spec.labels.end());
    std::vector<int> result;
    for (auto m : members)
        for (int l : nodes_[m].spec.labels)
            if (needed.count(l) > 0 && std::count(result.begin(), result.end(), l) == 0) result.push_back(l);
    return result;
}

/// Plans the product of nodes to an intermediate.
ProductNode ProductSteps::intermediate(const std::vector<std::size_t>& members, const PairOrder& order) {
    std::vector<ProductNode> inputs;
    for (auto m : members) inputs.push_back(nodes_[m]);
    auto spec = product_of(inputs);
    spec.output.labels = kept_labels(members);
    std::vector<std::int64_t> extents;
    for (int l : spec.output.labels) extents.push_back(spec_.label_extents[l]);
    spec.output.layout = new_layout(extents, raw_symmetry(axes_of(spec), spec.output.labels));
    const int id = next_id_++;
    if (!is_forecast_) {
        spec.output_is_free = options_.group_mapping != GroupMapping::blocks && places_ == Places::may_change;
        auto plan = planned(spec, order, true);
        spec.output.layout = plan.spec.output.layout;
        spec.output.on_device = plan.spec.output.on_device;
        for (std::size_t i = 0; i < inputs.size(); ++i) suit_consumer(inputs[i].id, i, plan);
        push_product(std::move(plan), inputs, id);
    }
    product_.intermediates.push_back(spec.output.layout);
    return {id, spec.output};
}

void ProductSteps::multiply(const std::vector<std::size_t>& members, const PairOrder& order) {
    if (members.size() < nodes_.size()) return replace(members, intermediate(members, order));
    if (is_forecast_) return nodes_.clear();
    if (const auto pairs =
            members.size() == 2 && spec_.is_field ? joint_pair(nodes_[0].spec, nodes_[1].spec, spec_.output.labels) : std::nullopt)
        multiply_joint_pair(*pairs);
    else
        multiply_at_once(order);
    nodes_.clear();
}

void ProductSteps::multiply_at_once(const PairOrder& order) {
    auto plan = planned(last_product(nodes_), order);
    for (std::size_t i = 0; i < nodes_.size(); ++i) suit_consumer(nodes_[i].id, i, plan);
    push_product(std::move(plan), nodes_, output_operand);
}

PlanOptions ProductSteps::options_of_a_step(const Product& step) const {
    auto left = options_;
    if (left.memory_limit != PlanOptions::unlimited) left.memory_limit -= beside_.all + (step.on_device ? rooms_on_host(step) : 0);
    if (left.device_memory_limit) *left.device_memory_limit -= beside_.on_device;
    return left.computing(step.on_device);
}

ProductPlan ProductSteps::planned(const Product& spec, const PairOrder& order, bool is_inside) const {
    std::optional<ProductPlan> best;
    bool best_fits = false;
    for (const bool on_device : {true, false}) {
        if (on_device && !options_.device_memory_limit) continue;
        auto there = spec;
        there.on_device = on_device;
        if (is_inside) there.output.on_device = on_device;
        const auto left = options_of_a_step(there);
        auto plan = plan_on_grid(there, order, left);
        const bool fits = !options_.device_memory_limit || workspace_bound(plan, left) <= left.memory_limit;
        if (best && (best_fits != fits ? best_fits : plan.cost.seconds >= best->cost.seconds * (1 - 1e-9))) continue;
        best = std::move(plan);
        best_fits = fits;
    }
    if (places_ == Places::are_fixed) best->stay.assign(best->result(), std::nullopt);
    return *std::move(best);
}

/// Lets the producer of an intermediate scatter it to where the consumer gathers it with the fewest bytes, if that is faster for both
/// together. `input` is the intermediate's place among the consumer's inputs.
void ProductSteps::suit_consumer(int id, std::size_t input, ProductPlan& consumer) {
    const auto producer = std::find_if(product_.steps.begin(), product_.steps.end(), [&](const auto& s) { return s.output == id; });
    const auto* const before_it = producer == product_.steps.end() ? nullptr : producer->product();
    if (before_it == nullptr || before_it->rows || consumer.rows || !consumer.windows.empty() || !consumer.stay[input]) return;
    auto make = before_it->spec;
    make.output.layout = *consumer.stay[input];
    make.output_is_free = false;
    auto use = consumer.spec;
    use.factors[input].layout = *consumer.stay[input];
    use.output_is_free = false;
    const auto planned_again = [&](const Product& spec, const ProductPlan& plan) {
        return plan_with_mapping(spec, plan.order, plan.grid, plan.mapping, options_.computing(spec.on_device));
    };
    const auto fits_in = [&](const ProductPlan& plan) {
        const auto left = options_of_a_step(plan.spec);
        return workspace_bound(plan, left) <= left.memory_limit;
    };
    auto making = planned_again(make, *before_it), using_it = planned_again(use, consumer);
    const double before = before_it->cost.seconds + consumer.cost.seconds;
    const bool fits = fits_in(making) && fits_in(using_it);
    if (!fits || !before_it->windows.empty() || making.cost.seconds + using_it.cost.seconds >= before) return;
    product_.intermediates[static_cast<std::size_t>(id) - spec_.factors.size()] = make.output.layout;
    making.stay = before_it->stay;
    using_it.stay = consumer.stay;
    making.move_whole_inputs_only();
    using_it.move_whole_inputs_only();
    using_it.spec.output_is_free = consumer.spec.output_is_free;
    producer->work = std::move(making);
    consumer = std::move(using_it);
}

void ProductSteps::finish() {
    if (nodes_.empty()) return;
    const auto& labels = nodes_[0].spec.labels;
    const bool nothing_summed = std::all_of(labels.begin(), labels.end(), [&](int l) { return in_output(l); });
    if (nothing_summed && !spec_.coefficient_inside)
        push_movement(nodes_[0], output_operand, spec_.output);
    else
        push_product(planned(last_product(nodes_), {}), nodes_, output_operand);
    nodes_.clear();
}

/// The best of R = A+ B+ + A- B-, see joint_pair(), of half of the products of an operand that stays, and their mirror image, and of the
/// product as it is.
void ProductSteps::multiply_joint_pair(const std::array<PairOperand, 2>& pairs) {
    BestProduct best(spec_, options_);
    auto parts = *this;
    parts.multiply_parts(pairs);
    best.consider(parts.take());
    const auto mirror = mirror_of(pairs, spec_.output.labels, spec_.label_extents.size());
    auto whole = last_product(nodes_);
    whole.on_device = nodes_[0].spec.on_device && nodes_[1].spec.on_device;
    if (auto half = plan_by_rows(whole, options_of_a_step(whole), mirror)) {
        auto steps = *this;
        steps.push_product(*std::move(half), nodes_, output_operand);
        best.consider(steps.take());
    }
    multiply_at_once({{0, 1}});
    best.consider(std::move(product_));
    product_ = best.take();
}

void ProductSteps::multiply_parts(const std::array<PairOperand, 2>& pairs) {
    for (const bool symmetric : {true, false})
        for (std::size_t o = 0; o < 2; ++o)
            beside_.add(bytes_on_a_rank(new_layout(nodes_[o].spec.layout.extents(), part_symmetry(nodes_[o].spec, pairs[o], symmetric)),
                                        spec_.element_bytes),
                        nodes_[o].spec.on_device);
    for (const bool symmetric : {true, false}) {
        std::vector<ProductNode> parts;
        for (std::size_t o = 0; o < 2; ++o) parts.push_back(part_of(nodes_[o], pairs[o], symmetric));
        auto spec = last_product(parts);
        spec.output_is_free = false;  // two steps write to it
        push_product(planned(spec, {{0, 1}}), parts, output_operand);
    }
}

ProductNode ProductSteps::part_of(const ProductNode& whole, const PairOperand& pair, bool symmetric) {
    ProductNode part{next_id_++, whole.spec};
    part.spec.conjugated = false;
    part.spec.element_bytes = 0;
    product_.intermediates.push_back(new_layout(whole.spec.layout.extents(), part_symmetry(whole.spec, pair, symmetric)));
    part.spec.layout = product_.intermediates.back();
    push_movement(whole, part.id, part.spec);
    auto& step = product_.steps.back();
    auto& movement = std::get<PlannedMovement>(step.work).spec;
    movement.terms = {movement.identity(), exchange_second(pair, spec_.label_extents.size(), symmetric)};
    movement.stages.clear();
    step.factor = 0.5;
    return part;
}

Product ProductSteps::product_of(const std::vector<ProductNode>& inputs) const {
    std::vector<Operand> factors;
    for (const auto& input : inputs) factors.push_back(input.spec);
    return product_over_labels_of(spec_, std::move(factors), {});
}

Product ProductSteps::last_product(const std::vector<ProductNode>& inputs) const {
    auto result = product_of(inputs);
    result.output = spec_.output;
    result.output_is_free = spec_.output_is_free;
    result.terms = spec_.terms;
    return result;
}

void ProductSteps::push_product(ProductPlan plan, const std::vector<ProductNode>& inputs, int output) {
    PlannedStep step;
    for (const auto& input : inputs) step.inputs.push_back(input.id);
    step.output = output;
    step.work = std::move(plan);
    product_.steps.push_back(std::move(step));
}

void ProductSteps::push_movement(const ProductNode& from, int output, const Operand& to) {
    PlannedStep step;
    step.inputs = {from.id};
    step.output = output;
    Movement movement;
    movement.from = from.spec.layout;
    movement.from_labels = from.spec.labels;
    movement.to = to.layout;
    movement.to_labels = to.labels;
    movement.label_extents = spec_.label_extents;
    movement.terms = spec_.terms;
    movement.from_bytes = from.spec.element_bytes;
    if (movement.from_bytes == 0 && from.spec.on_device != to.on_device) movement.from_bytes = spec_.element_bytes;
    movement.stages = fastest_stages(movement, static_cast<double>(bytes_on_a_rank(to.layout, spec_.element_bytes)), options_);
    step.work = PlannedMovement{std::move(movement), from.spec.conjugated, from.spec.on_device, to.on_device};
    product_.steps.push_back(std::move(step));
}

}  // namespace arges

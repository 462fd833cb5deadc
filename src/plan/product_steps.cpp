#include "plan/product_steps.hpp"

#include "plan/estimate_cost.hpp"
#include "plan/pair_rows.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

/// The symmetry that the raw result keeps by structure.
Symmetry raw_symmetry(const Product& spec) {
    std::vector<SymmetryNode> slots;
    const auto& labels = spec.output.labels;
    for (const auto& g : index_groups(spec))
        if (g.in(operand_c)) slots.push_back(with_positions(*g.tree[operand_c], labels));
    return Symmetry(static_cast<int>(labels.size()), product(slots));
}

}  // namespace

ProductSteps::ProductSteps(const Product& spec, const PlanOptions& options)
    : spec_(spec), options_(options), next_id_(static_cast<int>(spec.factors.size())) {
    for (std::size_t f = 0; f < spec.factors.size(); ++f) nodes_.push_back({static_cast<int>(f), spec.factors[f]});
}

bool ProductSteps::in_output(int label) const {
    return std::count(spec_.output.labels.begin(), spec_.output.labels.end(), label) > 0;
}

Layout ProductSteps::new_layout(const std::vector<std::int64_t>& extents, const Symmetry& symmetry) const {
    return options_.new_layout(spec_.output.layout, extents, symmetry);
}

void ProductSteps::sum_lonely_labels() {
    if (nodes_.size() < 2) return;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        bool lonely = false;
        for (int l : nodes_[n].spec.labels) {
            bool shared = in_output(l);
            for (std::size_t m = 0; m < nodes_.size(); ++m)
                shared = shared || (m != n && std::count(nodes_[m].spec.labels.begin(), nodes_[m].spec.labels.end(), l) > 0);
            lonely = lonely || !shared;
        }
        if (lonely) replace({n}, intermediate({nodes_[n]}, {n}));
    }
}

void ProductSteps::replace(const std::vector<std::size_t>& members, ProductNode node) {
    auto sorted = members;
    std::sort(sorted.begin(), sorted.end());
    nodes_[sorted[0]] = std::move(node);
    for (std::size_t i = sorted.size(); i-- > 1;) nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(sorted[i]));
}

void ProductSteps::multiply_pair(std::size_t a, std::size_t b) {
    replace({a, b}, intermediate({nodes_[a], nodes_[b]}, {a, b}));
}

/// Labels of the members that the output or another node has, by first appearance.
std::vector<int> ProductSteps::kept_labels(const std::vector<std::size_t>& members) const {
    std::set<int> needed(spec_.output.labels.begin(), spec_.output.labels.end());
    for (std::size_t n = 0; n < nodes_.size(); ++n)
        if (std::count(members.begin(), members.end(), n) == 0)
            needed.insert(nodes_[n].spec.labels.begin(), nodes_[n].spec.labels.end());
    std::vector<int> result;
    for (auto m : members)
        for (int l : nodes_[m].spec.labels)
            if (needed.count(l) > 0 && std::count(result.begin(), result.end(), l) == 0) result.push_back(l);
    return result;
}

ProductNode ProductSteps::intermediate(const std::vector<ProductNode>& inputs, const std::vector<std::size_t>& members) {
    auto spec = pairwise(inputs, {});
    spec.output.labels = kept_labels(members);
    std::vector<std::int64_t> extents;
    for (int l : spec.output.labels) extents.push_back(spec_.label_extents[static_cast<std::size_t>(l)]);
    product_.intermediates.push_back(new_layout(extents, raw_symmetry(spec)));
    spec.output.layout = product_.intermediates.back();
    const int id = next_id_++;
    push_contraction(spec, inputs, id);
    return {id, spec.output};
}

bool ProductSteps::multiply_fused(const std::vector<std::size_t>& members, const PairOrder& order) {
    auto spec = product_over_labels_of(spec_, {}, spec_.output);
    std::vector<int> ids;
    for (auto m : members) {
        spec.factors.push_back(nodes_[m].spec);
        ids.push_back(nodes_[m].id);
    }
    const bool last = members.size() == nodes_.size();
    if (last) {
        spec.terms = spec_.terms;
        const auto& shape = spec_.output.layout;
        spec.output_is_free = spec_.output_is_free && shape.slots() == shape.order() && shape.order() > 0;
    } else {
        spec.output = {};
        spec.output.labels = kept_labels(members);
        std::vector<std::int64_t> extents;
        for (int l : spec.output.labels) extents.push_back(spec_.label_extents[static_cast<std::size_t>(l)]);
        spec.output.layout = new_layout(extents, Symmetry::none(static_cast<int>(extents.size())));
        spec.output_is_free = true;
    }
    auto plan = plan_fused(spec, order, options_);
    if (!plan) return false;
    for (std::size_t i = 0; i < ids.size(); ++i) suit_consumer(ids[i], i, *plan);
    PlannedStep step;
    step.inputs = ids;
    if (!last) {
        spec.output.layout = plan->spec.output.layout;
        product_.intermediates.push_back(spec.output.layout);
        step.output = next_id_++;
        replace(members, {step.output, spec.output});
    }
    step.work = *std::move(plan);
    product_.steps.push_back(std::move(step));
    if (last) nodes_.clear();
    return true;
}

/// Lets the producer of an intermediate scatter it to where the consumer gathers it with the fewest bytes, if that is faster for both
/// together. `input` is the intermediate's place among the consumer's inputs.
void ProductSteps::suit_consumer(int id, std::size_t input, FusedPlan& consumer) {
    const auto producer = std::find_if(product_.steps.begin(), product_.steps.end(), [&](const auto& s) { return s.output == id; });
    const auto* const before_it = producer == product_.steps.end() ? nullptr : producer->fused();
    if (before_it == nullptr || consumer.slices > 1 || !consumer.stay[input]) return;
    auto make = before_it->spec;
    make.output.layout = *consumer.stay[input];
    make.output_is_free = false;
    auto use = consumer.spec;
    use.factors[input].layout = *consumer.stay[input];
    use.output_is_free = false;
    auto making = fused_with_mapping(make, before_it->order, before_it->grid, before_it->label_mapping, options_);
    auto using_it = fused_with_mapping(use, consumer.order, consumer.grid, consumer.label_mapping, options_);
    const double before = before_it->cost.seconds + consumer.cost.seconds;
    const bool fits = std::max(making.cost.working_bytes, using_it.cost.working_bytes) <= options_.memory_limit;
    if (!fits || before_it->slices > 1 || making.cost.seconds + using_it.cost.seconds >= before) return;
    product_.intermediates[static_cast<std::size_t>(id) - spec_.factors.size()] = make.output.layout;
    making.stay = before_it->stay;
    using_it.stay = consumer.stay;
    using_it.spec.output_is_free = consumer.spec.output_is_free;
    producer->work = std::move(making);
    consumer = std::move(using_it);
}

void ProductSteps::finish() {
    if (nodes_.empty()) return;
    if (nodes_.size() == 2 && spec_.is_field)
        if (const auto pairs = joint_pair(nodes_[0].spec, nodes_[1].spec, spec_.output.labels)) return multiply_joint_pair(*pairs);
    const auto& labels = nodes_[0].spec.labels;
    const bool nothing_summed = std::all_of(labels.begin(), labels.end(), [&](int l) { return in_output(l); });
    if (nodes_.size() == 1 && nothing_summed && !spec_.coefficient_inside)
        push_movement(nodes_[0], output_operand, spec_.output);
    else
        push_contraction(last_product(nodes_), nodes_, output_operand);
}

/// Either R = A+ B+ + A- B-, see joint_pair(), or half of the products of an operand that stays, and their mirror image.
void ProductSteps::multiply_joint_pair(const std::array<PairOperand, 2>& pairs) {
    const auto before = product_;
    multiply_parts(pairs);
    double seconds = 0;
    for (auto s = before.steps.size(); s < product_.steps.size(); ++s) seconds += product_.steps[s].seconds(spec_.element_bytes, options_.machine);
    const auto mirror = mirror_of(pairs, spec_.output.labels, spec_.label_extents.size());
    auto by_rows = plan_by_rows(last_product(nodes_), options_, mirror);
    if (!by_rows || by_rows->cost.seconds >= seconds) return;
    product_ = before;
    PlannedStep step;
    step.inputs = {nodes_[0].id, nodes_[1].id};
    step.work = *std::move(by_rows);
    product_.steps.push_back(std::move(step));
}

void ProductSteps::multiply_parts(const std::array<PairOperand, 2>& pairs) {
    for (const bool symmetric : {true, false}) {
        std::vector<ProductNode> parts;
        for (std::size_t o = 0; o < 2; ++o) parts.push_back(part_of(nodes_[o], pairs[o], symmetric));
        push_contraction(last_product(parts), parts, output_operand);
    }
}

ProductNode ProductSteps::part_of(const ProductNode& whole, const PairOperand& pair, bool symmetric) {
    ProductNode part{next_id_++, whole.spec};
    part.spec.conjugated = false;
    product_.intermediates.push_back(new_layout(whole.spec.layout.extents(), part_symmetry(whole.spec, pair, symmetric)));
    part.spec.layout = product_.intermediates.back();
    push_movement(whole, part.id, part.spec);
    auto& step = product_.steps.back();
    auto& movement = std::get<PlannedMovement>(step.work).spec;
    movement.terms = {movement.identity(), exchange_second(pair, spec_.label_extents.size(), symmetric)};
    step.factor = 0.5;
    return part;
}

Product ProductSteps::pairwise(const std::vector<ProductNode>& inputs, OperandSpec output) const {
    std::vector<OperandSpec> factors;
    for (const auto& input : inputs) factors.push_back(input.spec);
    return product_over_labels_of(spec_, std::move(factors), std::move(output));
}

Product ProductSteps::last_product(const std::vector<ProductNode>& inputs) const {
    auto result = pairwise(inputs, spec_.output);
    result.terms = spec_.terms;
    return result;
}

void ProductSteps::push_contraction(const Product& spec, const std::vector<ProductNode>& inputs, int output) {
    PlannedStep step;
    for (const auto& input : inputs) step.inputs.push_back(input.id);
    step.output = output;
    step.work = plan_contraction(spec, options_);
    product_.steps.push_back(std::move(step));
}

void ProductSteps::push_movement(const ProductNode& from, int output, const OperandSpec& to) {
    PlannedStep step;
    step.inputs = {from.id};
    step.output = output;
    ExchangeSpec movement;
    movement.from = from.spec.layout;
    movement.from_labels = from.spec.labels;
    movement.to = to.layout;
    movement.to_labels = to.labels;
    movement.label_extents = spec_.label_extents;
    movement.terms = spec_.terms;
    step.work = PlannedMovement{std::move(movement), from.spec.conjugated};
    product_.steps.push_back(std::move(step));
}

}  // namespace arges

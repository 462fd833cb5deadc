#include "interface/prepared_term.hpp"

#include "interface/check_labels.hpp"
#include "interface/tensor_state.hpp"
#include "plan/estimate_cost.hpp"
#include "plan/explain.hpp"
#include "plan/pair_rows.hpp"
#include "plan/pair_split.hpp"
#include "plan/structure.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace arges {

namespace {

/// Share of the free memory below which planning is not tried again.
constexpr double smallest_share = 0.2;

constexpr int output_id = PreparedTerm::output_id;

/// An operand of the pairwise steps.
struct Node {
    int id;
    OperandSpec spec;
};

/// Plans a product as a sequence of pairwise steps.
class TermBuilder {
public:
    TermBuilder(WorldState& world, const TermRequest& request, const CheckedLabels& labels, const PlanOptions& options)
        : world_(world), request_(request), labels_(labels), options_(options), next_id_(static_cast<int>(request.factors.size())) {
        for (std::size_t f = 0; f < request.factors.size(); ++f)
            nodes_.push_back({static_cast<int>(f), operand(request.factors[f], labels.factors[f])});
        output_ = operand(request.output, labels.output);
    }

    void build() {
        terms_ = projection_terms(structure(), request_.projection);
        sum_lonely_labels();
        while (nodes_.size() > 2) contract_cheapest_pair();
        if (nodes_.size() == 2) {
            if (const auto pairs = joint_pair(nodes_[0].spec, nodes_[1].spec, output_.labels)) {
                contract_joint_pair(*pairs);
                return;
            }
        }
        const auto& labels = nodes_[0].spec.labels;
        const bool nothing_summed = std::all_of(labels.begin(), labels.end(), [&](int l) { return in_output(l); });
        if (nodes_.size() == 1 && nothing_summed && !scaled_before_conjugation())
            push_movement(nodes_[0], output_id, output_);
        else
            push_contraction(contraction(nodes_), nodes_, output_id);
    }

    std::vector<PreparedTerm::Step> steps;
    std::vector<std::shared_ptr<const Layout>> intermediates;

private:
    static OperandSpec operand(const PlannedOperand& p, const std::vector<int>& labels) {
        return {*p.layout, labels, p.conjugated, p.name};
    }

    StructuralTerm structure() const {
        StructuralTerm term;
        for (const auto& node : nodes_)
            if (!request_.number) term.factors.push_back({node.spec.layout.symmetry(), node.spec.labels});
        term.output = {output_.layout.symmetry(), output_.labels};
        term.labels = static_cast<int>(labels_.names.size());
        term.complex = request_.complex;
        term.zero = request_.zero;
        term.real_coefficient = request_.real_coefficient;
        term.label_names = labels_.names;
        term.output_name = request_.output.name;
        return term;
    }

    /// Terms that conjugate R need its complex coefficient inside; a movement would apply it outside.
    bool scaled_before_conjugation() const {
        return request_.complex && !request_.real_coefficient &&
               std::any_of(terms_.begin(), terms_.end(), [](const auto& t) { return t.conjugate; });
    }

    bool in_output(int label) const {
        return std::count(output_.labels.begin(), output_.labels.end(), label) > 0;
    }

    /// A label that one factor alone has and that the output lacks is summed first.
    void sum_lonely_labels() {
        if (nodes_.size() < 2) return;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            bool lonely = false;
            for (int l : nodes_[n].spec.labels) {
                bool shared = in_output(l);
                for (std::size_t m = 0; m < nodes_.size(); ++m)
                    shared = shared || (m != n && std::count(nodes_[m].spec.labels.begin(), nodes_[m].spec.labels.end(), l) > 0);
                lonely = lonely || !shared;
            }
            if (!lonely) continue;
            std::vector<Node> input{nodes_[n]};
            nodes_[n] = intermediate(input, n);
        }
    }

    double cost_of(const OperandSpec& a, const OperandSpec& b) const {
        std::set<int> all(a.labels.begin(), a.labels.end());
        all.insert(b.labels.begin(), b.labels.end());
        double product = 1;
        for (int l : all) product *= static_cast<double>(labels_.extents[static_cast<std::size_t>(l)]);
        return product;
    }

    void contract_cheapest_pair() {
        std::size_t best_a = 0, best_b = 1;
        double best = -1;
        for (std::size_t a = 0; a < nodes_.size(); ++a)
            for (std::size_t b = a + 1; b < nodes_.size(); ++b) {
                const double cost = cost_of(nodes_[a].spec, nodes_[b].spec);
                if (best >= 0 && cost >= best) continue;
                best = cost;
                best_a = a;
                best_b = b;
            }
        std::vector<Node> pair{nodes_[best_a], nodes_[best_b]};
        nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(best_b));
        nodes_[best_a] = intermediate(pair, best_a);
    }

    /// Plans the contraction of one or two nodes (the first stands at `position` in the list) into a new intermediate.
    Node intermediate(const std::vector<Node>& inputs, std::size_t position) {
        std::set<int> needed(output_.labels.begin(), output_.labels.end());
        for (std::size_t n = 0; n < nodes_.size(); ++n)
            if (n != position) needed.insert(nodes_[n].spec.labels.begin(), nodes_[n].spec.labels.end());
        auto spec = contraction(inputs);
        spec.output = {};
        std::set<int> seen;
        for (const auto& input : inputs)
            for (int l : input.spec.labels)
                if (needed.count(l) > 0 && seen.insert(l).second) spec.output.labels.push_back(l);
        spec.output.name = "an intermediate for " + request_.output.name;
        std::vector<std::int64_t> extents;
        for (int l : spec.output.labels) extents.push_back(labels_.extents[static_cast<std::size_t>(l)]);
        intermediates.push_back(new_layout(world_, extents, raw_symmetry(spec)));
        spec.output.layout = *intermediates.back();
        spec.terms = {ExchangeSpec{{}, {}, {}, {}, spec.label_extents, {}, {}, {}}.identity()};
        const int id = next_id_++;
        push_contraction(spec, inputs, id);
        return {id, spec.output};
    }

    /// The symmetry that the raw result keeps by structure.
    static Symmetry raw_symmetry(const ContractionSpec& spec) {
        std::vector<SymmetryNode> slots;
        const auto& labels = spec.output.labels;
        auto to_dimensions = [&](auto&& self, const SymmetryNode& node) -> SymmetryNode {
            SymmetryNode result{node.kind, -1, {}};
            if (node.kind == NodeKind::leaf)
                result.dimension = static_cast<int>(std::find(labels.begin(), labels.end(), node.dimension) - labels.begin());
            for (const auto& child : node.children) result.children.push_back(self(self, child));
            return result;
        };
        for (const auto& g : index_groups(spec))
            if (g.in(operand_c)) slots.push_back(to_dimensions(to_dimensions, *g.tree[operand_c]));
        return Symmetry(static_cast<int>(labels.size()), product(slots));
    }

    /// Either R = A+ B+ + A- B-, see joint_pair(), or half of the products of an operand that stays, and their mirror image.
    void contract_joint_pair(const std::array<PairOperand, 2>& pairs) {
        const auto first = steps.size(), layouts = intermediates.size();
        contract_parts(pairs);
        double seconds = 0;
        for (auto s = first; s < steps.size(); ++s)
            seconds += steps[s].plan ? steps[s].plan->cost.seconds : estimated_seconds(*steps[s].movement, request_.element_bytes);
        auto by_rows = plan_by_rows(contraction(nodes_), options_, mirror_of(pairs, output_.labels, labels_.extents.size()));
        if (!by_rows || by_rows->cost.seconds >= seconds) return;
        steps.resize(first);
        intermediates.resize(layouts);
        PreparedTerm::Step step;
        step.inputs = {nodes_[0].id, nodes_[1].id};
        step.output = output_id;
        step.plan = std::move(by_rows);
        steps.push_back(std::move(step));
    }

    void contract_parts(const std::array<PairOperand, 2>& pairs) {
        const auto whole = nodes_;
        for (const bool symmetric : {true, false}) {
            std::vector<Node> parts;
            for (std::size_t o = 0; o < 2; ++o) parts.push_back(part_of(whole[o], pairs[o], symmetric));
            push_contraction(contraction(parts), parts, output_id);
        }
    }

    Node part_of(const Node& whole, const PairOperand& pair, bool symmetric) {
        Node part{next_id_++, whole.spec};
        part.spec.conjugated = false;
        intermediates.push_back(
            new_layout(world_, whole.spec.layout.extents(), part_symmetry(whole.spec, pair, symmetric)));
        part.spec.layout = *intermediates.back();
        push_movement(whole, part.id, part.spec);
        steps.back().movement->terms = {steps.back().movement->identity(),
                                        exchange_second(pair, labels_.extents.size(), symmetric)};
        steps.back().factor = 0.5;
        return part;
    }

    ContractionSpec contraction(const std::vector<Node>& inputs) const {
        ContractionSpec spec;
        for (const auto& input : inputs) spec.inputs.push_back(input.spec);
        spec.output = output_;
        spec.label_extents = labels_.extents;
        spec.label_names = labels_.names;
        spec.terms = terms_;
        spec.output_is_busy = request_.output_is_busy;
        spec.element_bytes = request_.element_bytes;
        spec.flops_per_product = request_.complex ? 8 : 2;
        return spec;
    }

    void push_contraction(const ContractionSpec& spec, const std::vector<Node>& inputs, int output) {
        PreparedTerm::Step step;
        for (const auto& input : inputs) step.inputs.push_back(input.id);
        step.output = output;
        step.plan = plan_contraction(spec, options_);
        steps.push_back(std::move(step));
    }

    void push_movement(const Node& from, int output, const OperandSpec& to) {
        PreparedTerm::Step step;
        step.inputs = {from.id};
        step.output = output;
        step.conjugated = from.spec.conjugated;
        ExchangeSpec movement;
        movement.from = from.spec.layout;
        movement.from_labels = from.spec.labels;
        movement.to = to.layout;
        movement.to_labels = to.labels;
        movement.label_extents = labels_.extents;
        movement.terms = terms_;
        step.movement = std::move(movement);
        steps.push_back(std::move(step));
    }

    WorldState& world_;
    const TermRequest& request_;
    const CheckedLabels& labels_;
    const PlanOptions& options_;
    std::vector<Node> nodes_;
    OperandSpec output_;
    std::vector<LabelTerm> terms_;
    int next_id_;
};

}  // namespace

PreparedTerm::PreparedTerm(WorldState& world, TermRequest request) : request_(std::move(request)) { build(world, 1); }

void PreparedTerm::build(WorldState& world, double share_of_memory) {
    const auto labels = check_labels(request_);
    auto options = world.plan_options();
    options.memory_limit = static_cast<std::int64_t>(static_cast<double>(options.memory_limit) * share_of_memory);
    TermBuilder builder(world, request_, labels, options);
    builder.build();
    steps_ = std::move(builder.steps);
    intermediates_ = std::move(builder.intermediates);
    label_names_ = labels.names;
}

/// Builds lists and sums up bytes. In a dry run sizes come from the plans alone.
void PreparedTerm::build_lists(WorldState& world) {
    std::int64_t held = 0, largest = 0;
    planned_bytes_ = list_bytes_ = 0;
    for (const auto& layout : intermediates_) held += Workspace::padded(layout->max_local_size() * request_.element_bytes);
    for (auto& step : steps_) {
        if (world.dry()) {
            step.workspace = step.plan ? step.plan->cost.working_bytes : 0;
        } else if (step.plan) {
            step.contraction = std::make_shared<ContractionRun>(*step.plan, world.exchange_communicator());
            step.workspace = step.contraction->workspace_bytes();
            list_bytes_ += step.contraction->list_bytes();
            planned_bytes_ += step.contraction->volume().sent * request_.element_bytes;
        } else {
            step.exchange = std::make_shared<Exchange>(world.exchange_communicator(), *step.movement, world.rank());
            const auto volume = step.exchange->volume();
            list_bytes_ += step.exchange->list_bytes();
            step.workspace = Workspace::padded(volume.sent * request_.element_bytes) +
                             Workspace::padded(volume.received * request_.element_bytes);
            planned_bytes_ += volume.sent * request_.element_bytes;
        }
        largest = std::max(largest, step.workspace);
    }
    working_bytes_ = held + largest;
}

void PreparedTerm::make_ready(WorldState& world) {
    if (ready_) return;
    const auto free_bytes = std::max<std::int64_t>(0, world.memory_limit() - world.memory_in_use());
    for (double share = 1; !ready_; share /= 2) {
        world.agree([&] { build_lists(world); });
        if (!world.dry() && world.size() > 1) {
            working_bytes_ = world.communicator().maximum(working_bytes_);
            list_bytes_ = world.communicator().maximum(list_bytes_);
        }
        ready_ = working_bytes_ <= free_bytes;
        if (ready_) return;
        if (share < smallest_share)
            throw OutOfMemory("statement for " + request_.output.name + ": needs " + std::to_string(working_bytes_) +
                              " bytes of working memory per rank, but the limit of " + std::to_string(world.memory_limit()) +
                              " leaves " + std::to_string(free_bytes) +
                              "; use more ranks or raise the limit (World::set_memory_limit, ARGES_MEMORY_LIMIT)");
        build(world, share / 2);
    }
}

std::string PreparedTerm::explain() const {
    std::string text;
    for (const auto& step : steps_)
        text += step.plan ? arges::explain(*step.plan) : explain_movement(*step.movement, label_names_, request_.element_bytes);
    return text;
}

}  // namespace arges

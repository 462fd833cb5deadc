#include "plan/pair_rows.hpp"

#include "plan/estimate_cost.hpp"
#include "plan/moved_words.hpp"
#include "plan/working_operand.hpp"

#include <algorithm>
#include <set>

namespace arges {

namespace {

/// Is the operand one complete pair node over equal children, with rows that a rank can read by themselves?
bool has_rows(const OperandSpec& operand) {
    const auto& layout = operand.layout;
    if (operand.conjugated || layout.slots() != 1) return false;
    const auto& node = layout.symmetry().slots()[0];
    const auto& slot = layout.slot(0);
    const bool by_rows = slot.is_rows() || (!slot.is_blocks() && slot.places() == 1);
    if (!by_rows || node.children.size() != 2 || node.kind == NodeKind::product || node.kind == NodeKind::hermitian) return false;
    if (slot.begin() != 0 || slot.size() != slot.node().size()) return false;
    return std::set<int>(operand.labels.begin(), operand.labels.end()).size() == operand.labels.size();
}

/// Finds the groups that the factors of the children are; true if there are at most two for each child and all are found.
class FactorFinder {
public:
    FactorFinder(const Product& spec, const std::vector<IndexGroup>& groups, Operand o) : groups_(groups), operand_(o) {
        const auto& operand = spec.factors[o];
        const auto node = with_labels(operand.layout.symmetry().slots()[0], operand.labels);
        for (std::size_t c = 0; c < 2; ++c) {
            const auto& child = node.children[c];
            if (child.kind == NodeKind::product)
                for (const auto& factor : child.children) add(c, factor);
            else
                add(c, child);
            found_ = found_ && factors[c].size() <= 2;
        }
        std::size_t present = 0;
        for (const auto& g : groups) {
            if (g.is_batch()) found_ = false;
            present += g.in(o) ? 1 : 0;
        }
        found_ = found_ && present == factors[0].size() + factors[1].size();
    }
    bool found() const { return found_; }

    std::array<std::vector<int>, 2> factors;
    bool negative = false;  ///< antisymmetric factors are ordered differently in the groups

private:
    void add(std::size_t child, const SymmetryNode& factor) {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (!groups_[g].in(operand_) || !same_tree(*groups_[g].tree[operand_], factor)) continue;
            factors[child].push_back(static_cast<int>(g));
            negative ^= odd_order(*groups_[g].tree[operand_], factor);
            return;
        }
        found_ = false;
    }

    const std::vector<IndexGroup>& groups_;
    Operand operand_;
    bool found_ = true;
};

/// The terms of `spec`, each also for the mirror image.
std::vector<LabelTerm> with_mirror(const std::vector<LabelTerm>& terms, const LabelTerm& mirror) {
    auto result = terms;
    for (const auto& term : terms) {
        auto both = term;
        for (std::size_t l = 0; l < both.image.size(); ++l)
            both.image[l] = term.image[static_cast<std::size_t>(mirror.image[l])];
        result.push_back(both);
    }
    return result;
}

std::optional<ContractionPlan> plan_for(const Product& spec, const std::vector<IndexGroup>& groups, Operand stays,
                                        const PlanOptions& options, const std::optional<LabelTerm>& mirror) {
    if (!has_rows(spec.factors[stays])) return std::nullopt;
    const FactorFinder finder(spec, groups, stays);
    if (!finder.found()) return std::nullopt;
    const auto other = stays == operand_a ? operand_b : operand_a;
    ContractionPlan plan;
    plan.spec = spec;
    if (mirror) plan.spec.terms = with_mirror(spec.terms, *mirror);
    plan.grid = spec.factors[stays].layout.grid();
    plan.rows = PairRows{stays, finder.factors, mirror.has_value()};
    plan.group_mapping.resize(groups.size());
    plan.group_places.assign(groups.size(), 1);
    if (finder.negative) plan.weight = -1;
    std::vector<int> columns;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        plan.weight *= groups[g].constant_weight();
        if (groups[g].needs_weights()) plan.weighted_operand = static_cast<int>(other);
        if (!groups[g].in(stays)) columns.push_back(static_cast<int>(g));
    }
    // The columns come first, so that each product is one of matrices with contiguous columns.
    auto summed = columns, free = columns;
    for (const auto& child : finder.factors)
        for (int g : child) (groups[static_cast<std::size_t>(g)].is_contracted() ? summed : free).push_back(g);
    const auto& layout = spec.factors[stays].layout;
    plan.operand[stays] = {{}, spec.factors[stays].labels, layout, true};
    plan.operand[other] = working_copy(plan, groups, other, summed, {});
    plan.operand[operand_c] = working_copy(plan, groups, operand_c, free, layout.mapping(0).torus);
    WorkingSizes sizes;
    for (auto o : {other, operand_c}) {
        sizes.moves[o] = true;
        sizes.block[o] = static_cast<double>(plan.operand[o].layout.max_local_size());
        sizes.words[o] = moved_words(o == operand_c ? spec.output : spec.factors[o], plan.operand[o]);
    }
    estimate_cost(plan, groups, options, sizes);
    if (plan.cost.working_bytes > options.memory_limit) return std::nullopt;
    return plan;
}

}  // namespace

std::optional<ContractionPlan> plan_by_rows(const Product& spec, const PlanOptions& options,
                                            const std::optional<LabelTerm>& mirror) {
    if (spec.factors.size() != 2 || !spec.is_field) return std::nullopt;
    const auto groups = index_groups(spec);
    std::optional<ContractionPlan> best;
    for (const auto stays : {operand_a, operand_b}) {
        auto plan = plan_for(spec, groups, stays, options, mirror);
        if (plan && (!best || plan->cost.seconds < best->cost.seconds)) best = std::move(plan);
    }
    return best;
}

}  // namespace arges

// Plans that read a pair node such as (pq|rs) by rows where it lies: the other operand is copied to all ranks, and results are summed.
#include "plan/product/plan_candidates.hpp"

#include "plan/movement/moved_words.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/step_memory.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace arges {

namespace {

/// Is the operand one complete pair node over equal children, with rows that a rank can read by themselves?
bool has_rows(const Operand& operand) {
    const auto& layout = operand.layout;
    if (operand.conjugated || operand.element_bytes != 0 || layout.slots() != 1) return false;
    const auto& node = layout.symmetry().slots()[0];
    const auto& slot = layout.slot(0);
    const bool by_rows = slot.is_rows() || (!slot.is_blocks() && slot.grid_length() == 1);
    if (!by_rows || node.children.size() != 2 || node.kind == NodeKind::product || node.kind == NodeKind::hermitian) return false;
    if (slot.begin() != 0 || slot.size() != slot.node().size()) return false;
    return std::set<int>(operand.labels.begin(), operand.labels.end()).size() == operand.labels.size();
}

/// Finds the axes that the factors of the children are; true if there are at most two for each child and all are found.
class FactorFinder {
public:
    FactorFinder(const Product& spec, const std::vector<Axis>& axes, std::size_t o) : axes_(axes), operand_(o) {
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
        for (const auto& axis : axes) {
            if (axis.in(0) && axis.in(1) && !axis.is_contracted()) found_ = false;
            present += axis.in(o) ? 1 : 0;
        }
        found_ = found_ && present == factors[0].size() + factors[1].size();
    }
    bool found() const { return found_; }

    std::array<std::vector<int>, 2> factors;
    bool negative = false;  ///< antisymmetric factors are ordered differently in the axes

private:
    void add(std::size_t child, const SymmetryNode& factor) {
        for (std::size_t a = 0; a < axes_.size(); ++a) {
            if (!axes_[a].in(operand_) || !same_tree(*axes_[a].tree[operand_], factor)) continue;
            factors[child].push_back(a);
            negative ^= odd_order(*axes_[a].tree[operand_], factor);
            return;
        }
        found_ = false;
    }

    const std::vector<Axis>& axes_;
    std::size_t operand_;
    bool found_ = true;
};

/// The terms of `spec`, each also for the mirror image.
std::vector<LabelTerm> with_mirror(const std::vector<LabelTerm>& terms, const LabelTerm& mirror) {
    auto result = terms;
    for (const auto& term : terms) {
        auto both = term;
        for (std::size_t l = 0; l < both.image.size(); ++l) both.image[l] = term.image[mirror.image[l]];
        result.push_back(both);
    }
    return result;
}

std::optional<ProductPlan> plan_for(const ProductPlan& unmapped, std::size_t stays, const PlanOptions& options,
                                    const std::optional<LabelTerm>& mirror) {
    const auto& spec = unmapped.spec;
    if (!has_rows(spec.factors[stays]) || spec.crosses(spec.factors[stays])) return std::nullopt;
    const FactorFinder finder(spec, unmapped.axes, stays);
    if (!finder.found()) return std::nullopt;
    const std::size_t other = 1 - stays;
    auto plan = unmapped;
    if (mirror) plan.spec.terms = with_mirror(spec.terms, *mirror);
    plan.spec.output_is_free = false;
    plan.grid = spec.factors[stays].layout.grid();
    plan.rows = PairRows{stays, finder.factors, options.local.threads, mirror.has_value()};
    plan.stay.resize(2);
    if (finder.negative) plan.weight = -1;
    Candidate candidate;
    candidate.operands.resize(plan.operands.size());
    candidate.operands[stays].in_place = true;
    std::vector<int> columns;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        const auto& axis = plan.axes[a];
        candidate.length.push_back(axis.size);
        plan.weight *= axis.constant_weight();
        if (axis.needs_weights()) plan.weighted[a] = other;
        if (!axis.in(stays)) columns.push_back(a);
    }
    // The columns come first, so that each product is one of matrices with contiguous columns.
    auto summed = columns, free = columns;
    for (const auto& child : finder.factors)
        for (int a : child) (plan.axes[a].is_contracted() ? summed : free).push_back(a);
    const auto& layout = spec.factors[stays].layout;
    const auto result = plan.result();
    plan.operands[stays] = {{}, spec.factors[stays].labels, layout, true};
    plan.operands[other] = working_copy(plan, other, summed, {});
    plan.operands[result] = working_copy(plan, result, free, layout.mapping(0).torus);
    plan.chain.back().axes = free;
    for (const auto o : {other, result}) {
        candidate.operands[o].moved = moved_words(plan.tensor(o), plan.operands[o]);
        if (options.links) candidate.operands[o].ways = options.links->irregular();
    }
    plan.cost = CostModel(unmapped, options.machine).cost_by_rows(plan, candidate);
    return plan;
}

}  // namespace

std::optional<ProductPlan> plan_by_rows(const Product& spec, const PlanOptions& options, const std::optional<LabelTerm>& mirror) {
    if (spec.factors.size() != 2 || !spec.is_field) return std::nullopt;
    if (!has_rows(spec.factors[0]) && !has_rows(spec.factors[1])) return std::nullopt;
    const auto unmapped = unmapped_plan(spec, {{0, 1}});
    std::optional<ProductPlan> best;
    const auto rank = [&](const ProductPlan& plan) {
        return std::pair(workspace_bound(plan, options) > options.memory_limit, plan.cost.seconds);
    };
    for (const std::size_t stays : {0U, 1U}) {
        auto plan = plan_for(unmapped, stays, options, mirror);
        if (plan && (!best || rank(*plan) < rank(*best))) best = std::move(plan);
    }
    return best;
}

}  // namespace arges

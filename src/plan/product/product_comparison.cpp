// Whether two products are equal for all elements: a backtracking search over orders of factors, permutations of their trees and
// renamings, with a fixed number of steps.
#include "plan/product/structural_sum.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

namespace {

constexpr std::int64_t max_steps = 1000000;

/// Number of permutations of a tree, about.
double freedom(const SymmetryNode& node) {
    double result = 1;
    for (const auto& child : node.children) result *= freedom(child);
    if (node.kind != NodeKind::product)
        for (std::size_t i = 2; i <= node.children.size(); ++i) result *= i;
    return std::min(result, 1e100);
}

double freedom(const StructuralFactor& factor) {
    double result = 1;
    for (const auto& slot : factor.symmetry.slots()) result = std::min(1e100, result * freedom(slot));
    return result;
}

class Search {
public:
    Search(const std::vector<bool>& is_output, bool complex, const std::vector<StructuralFactor>& a, const std::vector<StructuralFactor>& b,
           bool negative)
        : is_output_(is_output), complex_(complex), a_(a), b_(b), wanted_(negative), partner_(is_output.size(), -1),
          reverse_(is_output.size(), -1), order_(a.size()), taken_(b.size(), false) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::vector<double> freedoms;
        for (const auto& factor : a) freedoms.push_back(freedom(factor));
        std::stable_sort(order_.begin(), order_.end(), [&](auto x, auto y) { return freedoms[x] < freedoms[y]; });
    }

    Proof result() {
        Goal first;
        const bool found = run(&first);
        return found ? Proof::yes : steps_ > max_steps ? Proof::too_long : Proof::no;
    }

private:
    /// What is to be matched, and what after it.
    struct Goal {
        enum class Kind { factors, node, children, end_of_factor } kind = Kind::factors;
        const Goal* next = nullptr;
        std::size_t position = 0;  // of the factor, or the child
        const StructuralFactor *a = nullptr, *b = nullptr;
        const SymmetryNode *from = nullptr, *to = nullptr;
        std::vector<bool> used = {};  // children of `to`
    };

    bool run(const Goal* goal) {
        if (++steps_ > max_steps) return false;
        if (goal == nullptr) return negative_ == wanted_;
        switch (goal->kind) {
        case Goal::Kind::factors: return match_factor(*goal);
        case Goal::Kind::node: return match_node(*goal);
        case Goal::Kind::children: return match_child(*goal);
        case Goal::Kind::end_of_factor: break;
        }
        return !(complex_ && conjugate_ && !goal->a->is_real) && run(goal->next);
    }

    bool match_factor(const Goal& goal) {
        if (goal.position == a_.size()) return run(goal.next);
        const auto& a = a_[order_[goal.position]];
        for (std::size_t j = 0; j < b_.size(); ++j) {
            const auto& b = b_[j];
            if (taken_[j] || b.tensor != a.tensor) continue;
            Goal others{Goal::Kind::factors, goal.next, goal.position + 1};
            const Goal end{Goal::Kind::end_of_factor, &others, 0, &a};
            const auto before = conjugate_;
            taken_[j] = true;
            conjugate_ = a.conjugated != b.conjugated;
            const bool found = run_nodes(a.symmetry.slots(), b.symmetry.slots(), a, b, &end);
            conjugate_ = before;
            taken_[j] = false;
            if (found) return true;
        }
        return false;
    }

    /// Nodes with each other in their order.
    bool run_nodes(const std::vector<SymmetryNode>& from, const std::vector<SymmetryNode>& to, const StructuralFactor& a,
                   const StructuralFactor& b, const Goal* next) {
        std::vector<Goal> goals(from.size());
        for (std::size_t i = from.size(); i-- > 0;) {
            goals[i] = {Goal::Kind::node, next, 0, &a, &b, &from[i], &to[i]};
            next = &goals[i];
        }
        return run(next);
    }

    bool match_node(const Goal& goal) {
        const auto &from = *goal.from, &to = *goal.to;
        if (from.kind == NodeKind::leaf) return match_labels(goal);
        if (from.kind == NodeKind::product) return run_nodes(from.children, to.children, *goal.a, *goal.b, goal.next);
        auto children = goal;
        children.kind = Goal::Kind::children;
        children.used.assign(to.children.size(), false);
        return run(&children);
    }

    bool match_child(const Goal& goal) {
        const auto &from = *goal.from, &to = *goal.to;
        if (goal.position == from.children.size()) return run(goal.next);
        bool odd = false;  // how many children that are left stand before this one
        for (std::size_t j = 0; j < to.children.size(); ++j) {
            if (goal.used[j]) continue;
            auto others = goal;
            ++others.position;
            others.used[j] = true;
            const Goal child{Goal::Kind::node, &others, 0, goal.a, goal.b, &from.children[goal.position], &to.children[j]};
            const auto negates = odd && from.kind == NodeKind::antisymmetric, conjugates = odd && from.kind == NodeKind::hermitian;
            negative_ ^= negates;
            conjugate_ ^= conjugates;
            const bool found = run(&child);
            negative_ ^= negates;
            conjugate_ ^= conjugates;
            if (found) return true;
            odd = !odd;
        }
        return false;
    }

    bool match_labels(const Goal& goal) {
        const auto a = goal.a->labels[goal.from->dimension];
        const auto b = goal.b->labels[goal.to->dimension];
        auto &partner = partner_[a], &reverse = reverse_[b];
        if (is_output_[a] || is_output_[b]) return a == b && run(goal.next);
        if (partner >= 0 || reverse >= 0) return partner == b && reverse == a && run(goal.next);
        partner = b;
        reverse = a;
        const bool found = run(goal.next);
        partner = reverse = -1;
        return found;
    }

    const std::vector<bool>& is_output_;
    bool complex_;
    const std::vector<StructuralFactor>&a_, &b_;
    bool wanted_;
    std::vector<int> partner_, reverse_;  // of summed labels
    std::vector<std::size_t> order_;      // of a's factors
    std::vector<bool> taken_;             // b's factors
    bool negative_ = false;               // so far
    bool conjugate_ = false;              // of this factor
    std::int64_t steps_ = 0;
};

}  // namespace

Proof ProductComparison::equal(const std::vector<StructuralFactor>& a, const std::vector<StructuralFactor>& b, bool negative) const {
    const auto tensors = [](const auto& factors) {
        std::vector<std::size_t> numbers;
        for (const auto& factor : factors) numbers.push_back(factor.tensor);
        std::sort(numbers.begin(), numbers.end());
        return numbers;
    };
    if (tensors(a) != tensors(b)) return Proof::no;
    return Search(is_output_, complex_, a, b, negative).result();
}

}  // namespace arges

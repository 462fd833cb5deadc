// Subtrees of up to eight leaves are replaced by the best ones, the dearest products first (subtree reconfiguration, as in cotengra).
#include "plan/order/order_searches.hpp"

#include <algorithm>

namespace arges {

namespace {

constexpr std::size_t subtree_leaves = 8;

/// A tree whose subtrees can be exchanged.
class Tree {
public:
    Tree(const PricedNetwork& network, const PairTree& tree) : network_(network) {
        for (const auto& step : tree.steps) add(step);
    }

    bool has(OperandSet node) const { return steps_.count(node) != 0; }

    /// Products, the dearest first.
    std::vector<OperandSet> nodes() const {
        std::vector<OperandSet> result;
        for (const auto& [node, step] : steps_) result.push_back(node);
        std::stable_sort(result.begin(), result.end(), [&](OperandSet a, OperandSet b) { return cost(a) > cost(b); });
        return result;
    }

    /// Opens a product, and then always the dearest one among the factors, until there are enough leaves; sorted.
    std::vector<OperandSet> leaves_below(OperandSet root) const {
        std::vector<OperandSet> result{root};
        while (result.size() < subtree_leaves) {
            auto dearest = result.end();
            for (auto leaf = result.begin(); leaf != result.end(); ++leaf)
                if (has(*leaf) && (dearest == result.end() || cost(*dearest) < cost(*leaf))) dearest = leaf;
            if (dearest == result.end()) break;
            const auto factors = steps_.at(*dearest).factors;
            *dearest = factors[0];
            result.push_back(factors[1]);
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    /// The steps from sorted leaves to their product.
    PairTree subtree(OperandSet root, const std::vector<OperandSet>& leaves) const {
        PairTree result;
        add_steps(root, leaves, result);
        return result;
    }

    void replace(const PairTree& before, const PairTree& after) {
        for (const auto& step : before.steps) steps_.erase(step[0] | step[1]);
        for (const auto& step : after.steps) add(step);
    }

private:
    struct Step {
        std::array<OperandSet, 2> factors;
        Tally price;
    };

    double cost(OperandSet node) const { return steps_.at(node).price.cost; }

    void add(const std::array<OperandSet, 2>& step) { steps_[step[0] | step[1]] = {step, network_.price(step)}; }

    void add_steps(OperandSet node, const std::vector<OperandSet>& leaves, PairTree& result) const {
        if (std::binary_search(leaves.begin(), leaves.end(), node)) return;
        const auto& step = steps_.at(node);
        for (auto factor : step.factors) add_steps(factor, leaves, result);
        result.steps.push_back(step.factors);
        result.tally += step.price;
    }

    const PricedNetwork& network_;
    std::map<OperandSet, Step> steps_;  // by product
};

}  // namespace

PairTree OrderImprover::improved(const PairTree& tree) {
    if (tree.steps.empty()) return tree;
    Tree current(network_, tree);
    for (bool changed = true; changed && budget_ > 0;) {
        changed = false;
        for (auto root : current.nodes()) {
            if (!current.has(root) || budget_ <= 0) continue;
            const auto leaves = current.leaves_below(root);
            if (leaves.size() < 3) continue;
            const auto before = current.subtree(root, leaves);
            const auto [best, is_new] = best_.try_emplace(leaves);
            if (is_new) {
                const ConnectedPairs pairs(leaf_graph(network_, leaves));
                budget_ -= pairs.count(budget_);
                best->second = exact_order(network_, leaves, pairs, before.tally.cost).value_or(before);
            }
            if (!is_better(best->second.tally, before.tally)) continue;
            current.replace(before, best->second);
            changed = true;
        }
    }
    const auto root = tree.steps.back()[0] | tree.steps.back()[1];
    std::vector<OperandSet> operands;
    for (int o = 0; o < network_.operands(); ++o) operands.push_back(OperandSet{1} << o);
    return current.subtree(root, operands);
}

}  // namespace arges

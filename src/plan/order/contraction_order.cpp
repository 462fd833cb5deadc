// The order of pairwise products: exact over connected subsets while these are few, else greedy orders that are improved;
// disconnected parts are joined at the end.
#include "plan/order/contraction_order.hpp"

#include "plan/order/order_searches.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

namespace arges {

namespace {

constexpr int searched_completely = 8;  // operands up to which outer products are looked at everywhere

/// Operands that share labels, directly or through others, are one part.
std::vector<OperandSet> connected_parts(const std::vector<std::uint64_t>& graph) {
    std::vector<OperandSet> result;
    OperandSet seen = 0;
    for (std::size_t o = 0; o < graph.size(); ++o) {
        if (seen >> o & 1) continue;
        OperandSet part = OperandSet{1} << o, fresh = part;
        for (; fresh != 0; part |= fresh) {
            OperandSet next = 0;
            for (; fresh != 0; fresh &= fresh - 1) next |= graph[std::countr_zero(fresh)];
            fresh = next & ~part;
        }
        seen |= part;
        result.push_back(part);
    }
    return result;
}

std::vector<OperandSet> single_operands(OperandSet set) {
    std::vector<OperandSet> result;
    for (; set != 0; set &= set - 1) result.push_back(set & -set);
    return result;
}

/// Every leaf next to every other.
std::vector<std::uint64_t> complete_graph(std::size_t leaves) {
    std::vector<std::uint64_t> result;
    for (std::size_t i = 0; i < leaves; ++i) result.push_back((~std::uint64_t{0} >> (64 - leaves)) & ~(std::uint64_t{1} << i));
    return result;
}

/// Finds trees for one network.
class OrderSearch {
public:
    OrderSearch(const PricedNetwork& network, const OrderOptions& options) : network_(network), options_(options) {
        all_ = single_operands(~OperandSet{0} >> (64 - network.operands()));
        parts_ = connected_parts(leaf_graph(network, all_));
    }

    PairTree tree() {
        if (auto best = best_of_all()) return std::move(*best);
        return joined([&](OperandSet part) { return tree_of(part); });
    }

    /// Were all searches exhaustive?
    bool exact() const { return exact_; }

private:
    /// The best tree with outer products anywhere, where they are few.
    std::optional<PairTree> best_of_all() const {
        const ConnectedPairs pairs(complete_graph(all_.size()));
        if (network_.operands() > searched_completely || pairs.count(options_.pair_budget) > options_.pair_budget) return std::nullopt;
        const auto greedy = joined([&](OperandSet part) { return first_tree(part); });
        return exact_order(network_, all_, pairs, greedy.tally.cost).value_or(greedy);
    }

    /// The best tree over a connected part without outer products, or a good one.
    PairTree tree_of(OperandSet part) {
        const auto leaves = single_operands(part);
        const ConnectedPairs pairs(leaf_graph(network_, leaves));
        if (pairs.count(options_.pair_budget) <= options_.pair_budget) {
            const auto greedy = first_tree(part);
            return exact_order(network_, leaves, pairs, greedy.tally.cost).value_or(greedy);
        }
        exact_ = false;
        const auto trees = greedy_orders(network_, leaves, options_.greedy_trials, options_.seed);
        auto best = trees.front();
        OrderImprover improver(network_, options_.improvement_budget);
        int improved = 0;
        for (std::size_t t = 0; t < trees.size() && improved < options_.improved_trials; ++t) {
            if (t > 0 && trees[t].tally.cost == trees[t - 1].tally.cost) continue;
            auto tree = improver.improved(trees[t]);
            if (is_better(tree.tally, best.tally)) best = std::move(tree);
            ++improved;
        }
        return best;
    }

    /// A tree for a bound.
    PairTree first_tree(OperandSet part) const { return greedy_orders(network_, single_operands(part), 2, options_.seed).front(); }

    template <class TreeOfPart>
    PairTree joined(TreeOfPart&& tree_of_part) const {
        PairTree result;
        for (auto part : parts_) {
            const auto tree = tree_of_part(part);
            result.steps.insert(result.steps.end(), tree.steps.begin(), tree.steps.end());
            result.tally += tree.tally;
        }
        join_smallest(network_, parts_, result);
        return result;
    }

    const PricedNetwork& network_;
    const OrderOptions& options_;
    std::vector<OperandSet> all_, parts_;
    bool exact_ = true;
};

}  // namespace

ContractionOrder find_contraction_order(const Network& network, const PairCost& cost, const OrderOptions& options) {
    const PricedNetwork priced(network, cost);
    ContractionOrder result;
    result.exact = true;
    if (priced.operands() < 2) return result;
    OrderSearch search(priced, options);
    const auto tree = search.tree();
    std::map<OperandSet, int> nodes;
    for (int o = 0; o < priced.operands(); ++o) nodes[OperandSet{1} << o] = o;
    for (const auto& step : tree.steps) {
        const auto [first, second] = std::minmax(nodes.at(step[0]), nodes.at(step[1]));
        result.steps.push_back({first, second});
        result.cost += priced.price(step).cost;
        nodes[step[0] | step[1]] = priced.operands() + static_cast<int>(result.steps.size()) - 1;
    }
    result.exact = search.exact();
    return result;
}

}  // namespace arges

// Greedy orders: one by the memory freed, one by cost, the others with chance and the score of cotengra's random-greedy search (Gray and
// Kourtis, Quantum 5, 410 (2021)).
#include "plan/order/order_searches.hpp"

#include "base/splitmix.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace arges {

namespace {

/// The same numbers with every library: splitmix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// Between 0 and 1, both excluded.
    double uniform() {
        const auto z = splitmix(state_);
        state_ += splitmix_step;
        return (static_cast<double>(z >> 12) + 0.5) * 0x1p-52;
    }
    double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }
    double gumbel() { return -std::log(-std::log(uniform())); }

private:
    std::uint64_t state_;
};

/// How a trial chooses; the score of sizes is that of cotengra's random-greedy search.
struct Style {
    bool by_cost = false;
    double result_weight = 1;  ///< low: what results occupy counts more than what factors free
    double temperature = 0;    ///< of the choice among the candidates
};

/// One greedy order.
class Trial {
public:
    Trial(const PricedNetwork& network, const std::vector<OperandSet>& leaves, const Style& style, Random& random)
        : network_(network), style_(style), random_(random) {
        for (auto leaf : leaves) add({leaf, network.labels(leaf), 0});
    }

    PairTree tree() {
        const auto less = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
        while (!candidates_.empty()) join(*std::min_element(candidates_.begin(), candidates_.end(), less));
        return std::move(tree_);
    }

private:
    struct Node {
        OperandSet operands;
        LabelSet labels;
        double size;
    };
    struct Candidate {
        std::size_t first, second;
        double score;
    };

    /// A new node and its pairs with all that are left.
    void add(Node node) {
        node.size = network_.size(node.labels);
        for (std::size_t other : left_)
            if (intersects(nodes_[other].labels, node.labels)) candidates_.push_back({other, nodes_.size(), score(nodes_[other], node)});
        left_.push_back(nodes_.size());
        nodes_.push_back(std::move(node));
    }

    double score(const Node& a, const Node& b) {
        const auto labels = network_.joined(a.labels, b.labels, a.operands | b.operands);
        if (style_.by_cost) return network_.price(a.labels, b.labels, labels).cost;
        const double growth = network_.size(labels) / style_.result_weight - (a.size + b.size) * style_.result_weight;
        const double noise = style_.temperature > 0 ? style_.temperature * random_.gumbel() : 0;
        return std::copysign(std::log1p(std::abs(growth)), growth) - noise;
    }

    void join(Candidate chosen) {
        const auto &a = nodes_[chosen.first], &b = nodes_[chosen.second];
        const auto gone = [&](std::size_t node) { return node == chosen.first || node == chosen.second; };
        std::erase_if(left_, gone);
        std::erase_if(candidates_, [&](const Candidate& c) { return gone(c.first) || gone(c.second); });
        auto labels = network_.joined(a.labels, b.labels, a.operands | b.operands);
        tree_.steps.push_back({a.operands, b.operands});
        tree_.tally += network_.price(a.labels, b.labels, labels);
        add({a.operands | b.operands, std::move(labels), 0});
    }

    const PricedNetwork& network_;
    const Style style_;
    Random& random_;
    std::vector<Node> nodes_;
    std::vector<std::size_t> left_;
    std::vector<Candidate> candidates_;
    PairTree tree_;
};

}  // namespace

std::vector<PairTree> greedy_orders(const PricedNetwork& network, const std::vector<OperandSet>& leaves, int trials, std::uint64_t seed) {
    Random random(seed);
    std::vector<PairTree> result;
    result.push_back(Trial(network, leaves, {false, 1, 0}, random).tree());
    result.push_back(Trial(network, leaves, {true, 1, 0}, random).tree());
    for (int t = 2; t < trials; ++t) {
        const double weight = random.log_uniform(0.1, 4), temperature = random.log_uniform(0.001, 1);
        result.push_back(Trial(network, leaves, {false, weight, temperature}, random).tree());
    }
    const auto key = [](const PairTree& tree) { return std::tie(tree.tally.cost, tree.tally.flops, tree.tally.peak); };
    std::stable_sort(result.begin(), result.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return result;
}

void join_smallest(const PricedNetwork& network, std::vector<OperandSet> parts, PairTree& tree) {
    while (parts.size() > 1) {
        std::stable_sort(parts.begin(), parts.end(),
                         [&](OperandSet a, OperandSet b) { return network.size(network.labels(a)) < network.size(network.labels(b)); });
        const std::array<OperandSet, 2> step{parts[0], parts[1]};
        tree.steps.push_back(step);
        tree.tally += network.price(step);
        parts.erase(parts.begin());
        parts.front() = step[0] | step[1];
    }
}

}  // namespace arges

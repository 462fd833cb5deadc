#include "plan/order/contraction_order.hpp"

#include "arges/error.hpp"
#include "plan/order/connected_pairs.hpp"
#include "support/contraction_networks.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

namespace arges::test {
namespace {

double flops(const PairShape& s) { return 2 * s.batch * s.m * s.n * s.k; }
double traffic(const PairShape& s) { return s.batch * (s.m * s.k + s.k * s.n + s.m * s.n); }
double flops_and_traffic(const PairShape& s) { return flops(s) + 8 * traffic(s); }

/// The least cost of all sequences of products of the nodes.
double least_cost(const Network& network, const PairCost& cost, const std::vector<NetworkNode>& nodes) {
    if (nodes.size() < 2) return 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (std::size_t j = i + 1; j < nodes.size(); ++j) {
            const auto [node, shape] = node_product(network, nodes[i], nodes[j]);
            auto rest = nodes;
            rest[i] = node;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
            least = std::min(least, cost(shape) + least_cost(network, cost, rest));
        }
    return least;
}

OrderOptions greedy_only() {
    OrderOptions options;
    options.pair_budget = 0;
    return options;
}

TEST(ContractionOrder, OfFewOperandsIsTheBestOfAll) {
    std::mt19937_64 random(1);
    const auto check = [&](int operands) {
        const auto network = random_network(random, operands, below(2 * operands + 1, random));
        for (const PairCost& cost : {PairCost(flops), PairCost(flops_and_traffic)}) {
            const auto order = find_contraction_order(network, cost);
            replay(network, cost, order);
            EXPECT_TRUE(order.exact);
            const double least = least_cost(network, cost, network_leaves(network));
            EXPECT_NEAR(order.cost, least, 1e-9 * least);
        }
    };
    for (int operands = 2; operands <= 5; ++operands)
        for (int i = 0; i < 25; ++i) check(operands);
    for (int i = 0; i < 6; ++i) check(6);
    for (int i = 0; i < 2; ++i) check(7);
}

/// The least cost without outer products, or infinity: all ways to split a set of operands in two, remembered by set.
class LeastConnectedCost {
public:
    LeastConnectedCost(const Network& network, const PairCost& cost) : network_(network), cost_(cost) {}

    std::pair<double, NetworkNode> of(unsigned set) {
        if (std::has_single_bit(set)) return {0, network_leaves(network_)[static_cast<std::size_t>(std::countr_zero(set))]};
        if (const auto known = known_.find(set); known != known_.end()) return known->second;
        std::pair<double, NetworkNode> best{std::numeric_limits<double>::infinity(), {}};
        for (unsigned half = (set - 1) & set; half > (set ^ half); half = (half - 1) & set) {
            const auto [cost_a, a] = of(half);
            const auto [cost_b, b] = of(set ^ half);
            if (std::none_of(a.labels.begin(), a.labels.end(), [&](int l) { return b.labels.count(l) != 0; })) continue;
            const auto [node, shape] = node_product(network_, a, b);
            best = {std::min(best.first, cost_a + cost_b + cost_(shape)), node};
        }
        return known_[set] = best;
    }

private:
    const Network& network_;
    const PairCost& cost_;
    std::map<unsigned, std::pair<double, NetworkNode>> known_;
};

TEST(ContractionOrder, OfMoreOperandsIsTheBestWithoutOuterProducts) {
    std::mt19937_64 random(7);
    for (int i = 0, checked = 0; checked < 4; ++i) {
        const auto network = random_network(random, 9, 18 + i % 6);
        const PairCost cost = flops_and_traffic;
        const double least = LeastConnectedCost(network, cost).of((1u << 9) - 1).first;
        if (least == std::numeric_limits<double>::infinity()) continue;  // not connected
        const auto order = find_contraction_order(network, cost);
        replay(network, cost, order);
        EXPECT_TRUE(order.exact);
        EXPECT_NEAR(order.cost, least, 1e-9 * least);
        ++checked;
    }
}

TEST(ContractionOrder, LooksAtEachConnectedPairOnce) {
    const auto pairs_of = [](int vertices, const Steps& edges) {
        std::vector<std::uint64_t> neighbours(static_cast<std::size_t>(vertices));
        for (const auto& [a, b] : edges) {
            neighbours[static_cast<std::size_t>(a)] |= std::uint64_t{1} << b;
            neighbours[static_cast<std::size_t>(b)] |= std::uint64_t{1} << a;
        }
        return ConnectedPairs(neighbours).count(1'000'000);
    };
    EXPECT_EQ(pairs_of(30, chain_edges(30)), 4495);
    EXPECT_EQ(pairs_of(30, cycle_edges(30)), 12'615);
    EXPECT_EQ(pairs_of(16, star_edges(16)), 245'760);
    EXPECT_EQ(pairs_of(12, clique_edges(12)), 261'625);
    EXPECT_EQ(pairs_of(64, chain_edges(64)), 64 * (64 * 64 - 1) / 6);
    EXPECT_EQ(pairs_of(64, clique_edges(64)), 1'000'001);
}

TEST(ContractionOrder, OfNothingAndOfScalars) {
    EXPECT_TRUE(find_contraction_order({}, flops).steps.empty());
    const auto one = find_contraction_order(network_of("ij->i", 3), flops);
    EXPECT_TRUE(one.steps.empty());
    EXPECT_EQ(one.cost, 0);
    EXPECT_TRUE(one.exact);
    EXPECT_EQ(find_contraction_order(network_of("ij,jk->ik", 3), flops).cost, 54);
    // Both labels of one factor are summed in the only step.
    EXPECT_EQ(find_contraction_order(network_of("ix,iy->i", 3), flops).cost, 54);
    // Scalars are joined before they meet anything large.
    const auto scalars = find_contraction_order(network_of(",ij,,->ij", 3), flops);
    EXPECT_EQ(scalars.cost, 2 + 2 + 18);
    replay(network_of(",ij,,->ij", 3), flops, scalars);
    Network zero = network_of("ij,jk,kl->il", 0);
    replay(zero, flops, find_contraction_order(zero, flops));
    Network many;
    many.operands.resize(65);
    EXPECT_THROW(find_contraction_order(many, flops), InvalidArgument);
    many.operands.resize(64);
    EXPECT_EQ(find_contraction_order(many, flops).cost, 2 * 63);
}

TEST(ContractionOrder, OfLabelsWithoutEndDoesNotOverflow) {
    std::mt19937_64 random(5);
    auto network = graph_network(10, clique_edges(10), random, 12);
    for (auto& extent : network.extents) extent = 1e9;
    const auto order = find_contraction_order(network, flops);
    EXPECT_EQ(order.steps.size(), 9u);
    EXPECT_LT(order.cost, std::numeric_limits<double>::infinity());
    EXPECT_EQ(find_contraction_order(network_of("abcdefghijklmn,opqrstuvwxyzAB->", 2), flops).cost, 2 * std::exp2(28));
}

TEST(ContractionOrder, OfAMatrixChainIsTheClassicOne) {
    std::mt19937_64 random(2);
    for (int n : {2, 3, 9, 20, 30}) {
        Network chain;
        for (int i = 0; i <= n; ++i) chain.extents.push_back(static_cast<double>(1 + random() % 50));
        for (int i = 0; i < n; ++i) chain.operands.push_back({i, i + 1});
        chain.output = {0, n};
        const auto size = [&](int i) { return chain.extents[static_cast<std::size_t>(i)]; };
        std::map<std::pair<int, int>, double> best;  // of the matrices i to j - 1
        const auto at = [&](int i, int j) -> double& { return best[{i, j}]; };
        for (int width = 2; width <= n; ++width)
            for (int i = 0; i + width <= n; ++i) {
                at(i, i + width) = std::numeric_limits<double>::infinity();
                for (int j = i + 1; j < i + width; ++j)
                    at(i, i + width) = std::min(at(i, i + width), at(i, j) + at(j, i + width) + 2 * size(i) * size(j) * size(i + width));
            }
        const auto order = find_contraction_order(chain, flops);
        replay(chain, flops, order);
        EXPECT_TRUE(order.exact);
        EXPECT_DOUBLE_EQ(order.cost, at(0, n)) << n;
    }
}

TEST(ContractionOrder, OfAnMttkrpReadsTheTensorOnce) {
    const auto network = network_of("ijklm,ja,ka,la,ma->ia", 24);
    const auto order = find_contraction_order(network, traffic);
    const auto nodes = replay(network, traffic, order);
    // The tensor meets a Khatri-Rao product of two factors or more, and what comes out is smaller.
    const auto step = std::find_if(order.steps.begin(), order.steps.end(), [](const auto& s) { return s[0] == 0; });
    ASSERT_NE(step, order.steps.end());
    const auto& factors = nodes[static_cast<std::size_t>((*step)[1])];
    EXPECT_GE(factors.operands.size(), 2u);
    EXPECT_EQ(factors.labels.size(), factors.operands.size() + 1);
    const auto result = 5 + static_cast<std::size_t>(step - order.steps.begin());
    EXPECT_LT(nodes[result].labels.size(), 5u);
}

TEST(ContractionOrder, TiesGoToFewerFlopsThenSmallerIntermediates) {
    const PairCost nothing = [](const PairShape&) { return 1.0; };
    auto chain = network_of("ab,bc,cd->ad", 10);
    chain.extents = {2, 3, 5, 100};
    EXPECT_EQ(find_contraction_order(chain, nothing).steps, (Steps{{0, 1}, {2, 3}}));
    chain.extents = {100, 5, 3, 2};
    EXPECT_EQ(find_contraction_order(chain, nothing).steps, (Steps{{1, 2}, {0, 3}}));
    chain.extents = {4, 2, 6, 3};  // 2 * (48 + 72) flops and 24 elements, or 2 * (36 + 24) flops and 6 elements
    EXPECT_EQ(find_contraction_order(chain, nothing).steps, (Steps{{1, 2}, {0, 3}}));
    chain.extents = {6, 3, 2, 6};  // 2 * (36 + 72) flops either way; 12 elements, or 18
    EXPECT_EQ(find_contraction_order(chain, nothing).steps, (Steps{{0, 1}, {2, 3}}));
    chain.extents = {6, 2, 3, 6};  // 18 elements, or 12
    EXPECT_EQ(find_contraction_order(chain, nothing).steps, (Steps{{1, 2}, {0, 3}}));
}

TEST(ContractionOrder, OfDisconnectedPartsJoinsTheSmallestFirst) {
    Network network;
    for (int part = 0; part < 3; ++part) {  // chains of 4 matrices with results of 9, 4 and 1 elements
        for (int i = 0; i < 5; ++i) network.extents.push_back(i == 0 || i == 4 ? 3.0 - part : 5.0);
        for (int i = 0; i < 4; ++i) network.operands.push_back({5 * part + i, 5 * part + i + 1});
        network.output.insert(network.output.end(), {5 * part, 5 * part + 4});
    }
    const auto order = find_contraction_order(network, flops);
    const auto nodes = replay(network, flops, order);
    EXPECT_TRUE(order.exact);
    EXPECT_EQ(nodes[nodes.size() - 2].operands, (std::set<int>{4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(ContractionOrder, FoundGreedilyIsNearTheBest) {
    std::mt19937_64 random(3);
    double worst = 1;
    const auto check = [&](const Network& network) {
        const auto best = find_contraction_order(network, flops_and_traffic);
        const auto greedy = find_contraction_order(network, flops_and_traffic, greedy_only());
        replay(network, flops_and_traffic, greedy);
        EXPECT_TRUE(best.exact);
        EXPECT_GE(greedy.cost, best.cost * (1 - 1e-9));
        worst = std::max(worst, greedy.cost / best.cost);
    };
    for (int n = 3; n <= 12; ++n) {
        check(graph_network(n, random_edges(n, n / 2, random), random, n % 2));
        check(graph_network(n, random_edges(n, n, random), random));
        check(random_network(random, n, 2 * n));
    }
    std::printf("greedy orders cost at most %.3f times the best\n", worst);
    EXPECT_LT(worst, 2);
}

TEST(ContractionOrder, IsTheSameEachTime) {
    std::mt19937_64 random(4);
    for (int n : {6, 12, 30}) {
        const auto network = graph_network(n, random_edges(n, n, random), random);
        EXPECT_EQ(find_contraction_order(network, flops).steps, find_contraction_order(network, flops).steps);
        EXPECT_EQ(find_contraction_order(network, flops, greedy_only()).steps, find_contraction_order(network, flops, greedy_only()).steps);
    }
}

TEST(ContractionOrder, IsFoundInTime) {
    std::mt19937_64 random(6);
    const auto check = [](const char* name, const Network& network, bool exact) {
        const auto start = std::chrono::steady_clock::now();
        int calls = 0;
        const PairCost counted = [&](const PairShape& shape) { return ++calls, flops_and_traffic(shape); };
        const auto order = find_contraction_order(network, counted);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        std::printf("%-10s %7.4f s, %7d costs\n", name, time.count(), calls);
        replay(network, flops_and_traffic, order);
        EXPECT_EQ(order.exact, exact) << name;
        EXPECT_LT(time.count(), 2) << name;
    };
    check("three", network_of("ij,jk,kl->il", 24), true);
    check("chain 30", graph_network(30, chain_edges(30), random, 1), true);
    check("cycle 30", graph_network(30, cycle_edges(30), random, 1), true);
    check("star 16", graph_network(16, star_edges(16), random, 1), true);
    check("clique 8", graph_network(8, clique_edges(8), random), true);
    check("clique 12", graph_network(12, clique_edges(12), random), true);
    check("grid 4x4", graph_network(16, grid_edges(4, 4), random), true);
    check("grid 5x6", graph_network(30, grid_edges(5, 6), random), false);
    check("random 30", graph_network(30, random_edges(30, 30, random), random), false);
    check("hyper 30", random_network(random, 30, 120), false);
    check("random 64", graph_network(64, random_edges(64, 64, random), random), false);
}

}  // namespace
}  // namespace arges::test

/// Networks for tests of contraction orders, and the products of their tensors straight from the definition.
#pragma once

#include "plan/order/contraction_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace arges::test {

/// Pairs of nodes of a network.
using Steps = std::vector<std::array<int, 2>>;

/// A tensor on the way: the operands in it and its labels.
struct NetworkNode {
    std::set<int> operands, labels;
};

/// One node for each operand.
inline std::vector<NetworkNode> network_leaves(const Network& network) {
    std::vector<NetworkNode> result;
    for (std::size_t o = 0; o < network.operands.size(); ++o)
        result.push_back({{static_cast<int>(o)}, {network.operands[o].begin(), network.operands[o].end()}});
    return result;
}

/// The product of two nodes and its sizes, straight from the definition.
inline std::pair<NetworkNode, PairShape> node_product(const Network& network, const NetworkNode& a, const NetworkNode& b) {
    NetworkNode result{a.operands, {}};
    result.operands.insert(b.operands.begin(), b.operands.end());
    std::set<int> needed(network.output.begin(), network.output.end());
    for (std::size_t o = 0; o < network.operands.size(); ++o)
        if (!result.operands.count(static_cast<int>(o))) needed.insert(network.operands[o].begin(), network.operands[o].end());
    PairShape shape;
    for (std::size_t l = 0; l < network.extents.size(); ++l) {
        const int label = static_cast<int>(l);
        const bool in_a = a.labels.count(label) != 0, in_b = b.labels.count(label) != 0;
        if (!in_a && !in_b) continue;
        const bool kept = needed.count(label) != 0;
        if (kept) result.labels.insert(label);
        (!kept ? shape.k : in_a && in_b ? shape.batch : in_a ? shape.m : shape.n) *= network.extents[l];
    }
    return {result, shape};
}

/// Checks that an order is complete and costs what it says; all nodes.
inline std::vector<NetworkNode> replay(const Network& network, const PairCost& cost, const ContractionOrder& order) {
    auto nodes = network_leaves(network);
    std::set<int> used;
    double sum = 0;
    EXPECT_EQ(order.steps.size() + 1, std::max<std::size_t>(1, network.operands.size()));
    for (const auto& [first, second] : order.steps) {
        EXPECT_LT(first, second);
        EXPECT_LT(second, static_cast<int>(nodes.size()));
        EXPECT_TRUE(used.insert(first).second && used.insert(second).second);
        const auto [node, shape] =
            node_product(network, nodes.at(static_cast<std::size_t>(first)), nodes.at(static_cast<std::size_t>(second)));
        sum += cost(shape);
        nodes.push_back(node);
    }
    if (!order.steps.empty()) {
        EXPECT_EQ(nodes.back().operands.size(), network.operands.size());
    }
    EXPECT_NEAR(order.cost, sum, 1e-9 * sum);
    return nodes;
}

/// From 0 to n - 1.
inline int below(int n, std::mt19937_64& random) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

/// Labels that are mostly in two operands, but also in one or in several; some stay; some operands have none.
inline Network random_network(std::mt19937_64& random, int operands, int labels) {
    Network network;
    network.operands.resize(static_cast<std::size_t>(operands));
    for (int l = 0; l < labels; ++l) {
        network.extents.push_back(static_cast<double>(1 + random() % 9));
        const auto kind = random() % 10;
        const auto members = kind < 1 ? 1u : kind < 7 ? 2u : 2u + static_cast<unsigned>(random() % 3);
        std::set<std::size_t> in;
        for (unsigned i = 0; i < members; ++i) in.insert(random() % network.operands.size());
        for (auto o : in) network.operands[o].push_back(l);
        if (random() % 4 == 0) network.output.push_back(l);
    }
    return network;
}

/// A tensor for each vertex, a label for each edge; `open` labels on each tensor stay.
inline Network graph_network(int vertices, const Steps& edges, std::mt19937_64& random, int open = 0) {
    Network network;
    network.operands.resize(static_cast<std::size_t>(vertices));
    const auto new_label = [&] {
        network.extents.push_back(static_cast<double>(2 + random() % 7));
        return static_cast<int>(network.extents.size()) - 1;
    };
    for (const auto& edge : edges) {
        const int label = new_label();
        for (int v : edge) network.operands[static_cast<std::size_t>(v)].push_back(label);
    }
    for (auto& operand : network.operands)
        for (int i = 0; i < open; ++i) {
            network.output.push_back(new_label());
            operand.push_back(network.output.back());
        }
    return network;
}

/// Each vertex and the next.
inline Steps chain_edges(int n) {
    Steps edges;
    for (int i = 1; i < n; ++i) edges.push_back({i - 1, i});
    return edges;
}

/// A closed chain.
inline Steps cycle_edges(int n) {
    auto edges = chain_edges(n);
    edges.push_back({0, n - 1});
    return edges;
}

/// Vertex 0 and each other.
inline Steps star_edges(int n) {
    Steps edges;
    for (int i = 1; i < n; ++i) edges.push_back({0, i});
    return edges;
}

/// All pairs.
inline Steps clique_edges(int n) {
    Steps edges;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) edges.push_back({j, i});
    return edges;
}

/// Neighbours in rows and columns.
inline Steps grid_edges(int rows, int columns) {
    Steps edges;
    for (int i = 0; i < rows * columns; ++i) {
        if (i % columns + 1 < columns) edges.push_back({i, i + 1});
        if (i + columns < rows * columns) edges.push_back({i, i + columns});
    }
    return edges;
}

/// A random tree, and as many edges besides; some may be there twice.
inline Steps random_edges(int n, int more, std::mt19937_64& random) {
    Steps edges;
    for (int i = 1; i < n; ++i) edges.push_back({below(i, random), i});
    while (more > 0) {
        const auto a = below(n, random), b = below(n, random);
        if (a < b) edges.push_back({a, b}), --more;
    }
    return edges;
}

/// A product as text, letters for labels: "ij,jk->ik".
inline Network network_of(const std::string& text, double extent) {
    Network network;
    network.operands.emplace_back();
    std::string letters;
    bool output = false;
    for (char c : text) {
        if (c == '>') output = true;
        if (c == ',') network.operands.emplace_back();
        if (c == ',' || c == '-' || c == '>') continue;
        if (letters.find(c) == std::string::npos) letters += c;
        (output ? network.output : network.operands.back()).push_back(static_cast<int>(letters.find(c)));
    }
    network.extents.assign(letters.size(), extent);
    return network;
}

}  // namespace arges::test

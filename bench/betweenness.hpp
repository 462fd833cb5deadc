/// Betweenness of a batch of starts on a graph with lengths (Brandes 2001), by statements as in examples/19_betweenness.cpp.
#pragma once

#include "arges/arges.hpp"

#include <cstdint>

/// The length of the shortest ways, and how many there are.
struct Ways {
    std::int64_t length = std::int64_t{1} << 60;
    double number = 0;
    bool operator==(const Ways&) const = default;
};
struct Shortest {
    using value_type = Ways;
    using actor_type = double;  // lengths, whole numbers
    static constexpr Ways zero{};
    static Ways add(const Ways& a, const Ways& b) {
        return a.length < b.length ? a : b.length < a.length ? b : Ways{a.length, a.number + b.number};
    }
    static Ways act(double edge, const Ways& a) { return a == zero ? zero : Ways{a.length + static_cast<std::int64_t>(edge), a.number}; }
};

/// What a place passes back to those before it, with its distance from the start. An edge takes its length away.
struct Share {
    std::int64_t distance = -1;
    double amount = 0;
    bool operator==(const Share&) const = default;
};
struct Back {
    using value_type = Share;
    using actor_type = double;
    static constexpr Share zero{std::int64_t{-1} << 60, 0};
    static Share add(const Share& a, const Share& b) {
        return a.distance > b.distance ? a : b.distance > a.distance ? b : Share{a.distance, a.amount + b.amount};
    }
    static Share act(double edge, const Share& a) {
        return a == zero ? zero : Share{a.distance - static_cast<std::int64_t>(edge), a.amount};
    }
};

/// Where ways begin.
inline constexpr Ways at_start{0, 1};

/// Adds the part of the ways from the first vertices to `central`; gives the number of rounds.
inline int add_betweenness(const arges::Tensor<double>& central, const arges::SparseTensor<double>& graph, std::int64_t starts) {
    using arges::Tensor;
    const auto& world = central.world();
    const auto n = graph.lengths()[0];
    Tensor<Ways> start(world, {starts, n}, "start"), ways(world, {starts, n}, "ways"), before(world, {starts, n}, "before");
    Tensor<std::int64_t> changed(world, {starts, n}, "changed");
    start.fill([](arges::Index x) { return x[0] == x[1] ? at_start : Shortest::zero; });
    ways = start;
    int rounds = 0;
    do {
        before = ways;
        over<Shortest>(ways["sj"]) = start["sj"] + act(graph["ij"], before["si"]);
        changed["sj"] = map([](const Ways& a, const Ways& b) -> std::int64_t { return a == b ? 0 : 1; }, ways["sj"], before["sj"]);
        ++rounds;
    } while (changed.sum() > 0);

    Tensor<Share> passed(world, {starts, n}, "passed"), returned(world, {starts, n}, "returned");
    Tensor<double> dependency(world, {starts, n}, "dependency");
    for (int round = 0; round < rounds; ++round) {
        passed["sj"] = map(
            [](const Ways& w, double own) {
                return w == Shortest::zero ? Back::zero : Share{w.length, (1 + own) / w.number};
            },
            ways["sj"], dependency["sj"]);
        over<Back>(returned["si"]) = act(graph["ij"], passed["sj"]);
        dependency["si"] = map([](const Ways& w, const Share& share) { return share.distance == w.length ? w.number * share.amount : 0; },
                               ways["si"], returned["si"]);
    }
    update(dependency["si"], start["si"], [](double& own, const Ways& is_start) {
        if (is_start == at_start) own = 0;
    });
    central["i"] += sum("s", dependency["si"]);
    return rounds;
}

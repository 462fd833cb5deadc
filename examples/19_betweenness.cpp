// Betweenness centrality: how many of the shortest ways between two others lead over a place (Brandes 2001), for a batch of starts at once.
//   19_betweenness [graph.mtx]
#include <arges/arges.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

using namespace arges;

/// The length of the shortest ways, and how many there are.
struct Ways {
    std::int64_t length = std::int64_t{1} << 60;
    double number = 0;
    bool operator==(const Ways&) const = default;
};
/// An edge, which is a number, acts on the ways to where it begins: it makes them longer.
struct Shortest {
    using value_type = Ways;
    using actor_type = std::int64_t;
    static constexpr Ways zero{};
    static Ways add(const Ways& a, const Ways& b) {
        return a.length < b.length ? a : b.length < a.length ? b : Ways{a.length, a.number + b.number};
    }
    static Ways act(std::int64_t edge, const Ways& a) { return a == zero ? zero : Ways{a.length + edge, a.number}; }
};

/// The way back from a place: its distance from the start, and what it passes on to those before it on shortest ways. An edge takes its
/// length away. What comes back with the greatest distance has come along a shortest way.
struct Share {
    std::int64_t distance = -1;
    double amount = 0;
    bool operator==(const Share&) const = default;
};
struct Back {
    using value_type = Share;
    using actor_type = std::int64_t;
    static constexpr Share zero{std::int64_t{-1} << 60, 0};
    static Share add(const Share& a, const Share& b) {
        return a.distance > b.distance ? a : b.distance > a.distance ? b : Share{a.distance, a.amount + b.amount};
    }
    static Share act(std::int64_t edge, const Share& a) { return a == zero ? zero : Share{a.distance - edge, a.amount}; }
};

/// A place is reached from itself, without an edge.
static constexpr Ways at_start{0, 1};

/// Brandes' algorithm on one process: one start after the other.
static std::vector<double> brandes(const SparseEntries<std::int64_t>& graph, std::size_t places) {
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> edges(places);
    for (std::size_t e = 0; e < graph.values.size(); ++e)
        edges[static_cast<std::size_t>(graph.indices[0][e])].push_back({static_cast<std::size_t>(graph.indices[1][e]), graph.values[e]});
    std::vector<double> central(places, 0);
    for (std::size_t start = 0; start < places; ++start) {
        std::vector<Ways> ways(places);
        std::vector<std::size_t> order;
        std::vector<bool> is_done(places, false);
        std::priority_queue<std::pair<std::int64_t, std::size_t>, std::vector<std::pair<std::int64_t, std::size_t>>, std::greater<>> next;
        ways[start] = at_start;
        next.push({0, start});
        while (!next.empty()) {
            const auto from = next.top().second;
            next.pop();
            if (is_done[from]) continue;
            is_done[from] = true;
            order.push_back(from);
            for (const auto& [to, length] : edges[from]) {
                const auto old = ways[to].length;
                ways[to] = Shortest::add(ways[to], Shortest::act(length, ways[from]));
                if (ways[to].length < old) next.push({ways[to].length, to});
            }
        }
        std::vector<double> dependency(places, 0);
        for (auto from = order.rbegin(); from != order.rend(); ++from) {
            for (const auto& [to, length] : edges[*from])
                if (ways[to].length == ways[*from].length + length)
                    dependency[*from] += ways[*from].number / ways[to].number * (1 + dependency[to]);
            if (*from != start) central[*from] += dependency[*from];
        }
    }
    return central;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        bool right = true;
        auto graph = read_sparse<std::int64_t>(world, argc > 1 ? argv[1] : "examples/data/yago_shared.mtx").tensor;
        for (auto& value : graph.local_values()) value = 1 + 12 / value;  // what shares much is near
        const auto places = graph.lengths()[0], batch = std::min<std::int64_t>(places, 128);

        Tensor<double> central(world, {places}, "central");
        for (std::int64_t first = 0; first < places; first += batch) {
            const auto starts = std::min(batch, places - first);
            Tensor<Ways> start(world, {starts, places}, "start"), ways(world, {starts, places}, "ways"), before(world, {starts, places});
            start.fill([&](Index x) { return x[0] + first == x[1] ? at_start : Shortest::zero; });
            Tensor<std::int64_t> changed(world, {starts, places});
            ways = start;
            int rounds = 0;
            do {  // one edge on
                before = ways;
                over<Shortest>(ways["sj"]) = start["sj"] + act(graph["ij"], before["si"]);
                changed["sj"] = map([](const Ways& a, const Ways& b) -> std::int64_t { return a == b ? 0 : 1; }, ways["sj"], before["sj"]);
                ++rounds;
            } while (changed.sum() > 0);

            // Each place passes (1 + its own dependency) / (number of ways) on, first with no dependency. Again one edge in each round.
            Tensor<Share> passed(world, {starts, places}, "passed"), returned(world, {starts, places}, "returned");
            Tensor<double> dependency(world, {starts, places}, "dependency");
            for (int round = 0; round < rounds; ++round) {
                passed["sj"] = map(
                    [](const Ways& w, double own) {
                        return w == Shortest::zero ? Back::zero : Share{w.length, (1 + own) / w.number};
                    },
                    ways["sj"], dependency["sj"]);
                over<Back>(returned["si"]) = act(graph["ij"], passed["sj"]);
                dependency["si"] =
                    map([](const Ways& w, const Share& share) { return share.distance == w.length ? w.number * share.amount : 0; },
                        ways["si"], returned["si"]);
            }
            update(dependency["si"], start["si"], [](double& own, const Ways& is_start) {
                if (is_start == at_start) own = 0;
            });
            central["i"] += sum("s", dependency["si"]);
        }

        const auto found = central.gather(), expected = brandes(graph.gather(), found.size());
        std::size_t best = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            right = right && std::abs(found[i] - expected[i]) <= 1e-9 * (1 + expected[i]);
            if (found[i] > found[best]) best = i;
        }
        if (world.rank() == 0)
            std::printf("place %zu lies on most shortest ways: %.2f; as Brandes' algorithm says: %s\n", best + 1, found[best],
                        right ? "yes" : "NO");
        return right;
    });
}

// Shortest ways from one place in a graph, by statements in which plus takes the smaller one and times adds lengths.
//   16_shortest_paths [graph.mtx]
#include <arges/arges.hpp>

#include <cstdio>
#include <queue>
#include <utility>
#include <vector>

using namespace arges;
using Length = std::int64_t;

/// Lengths of ways: of two ways take the shorter one; one after the other they add up. Where there is no edge, nothing is stored: zero.
struct MinPlus {
    using value_type = Length;
    static constexpr Length zero = Length{1} << 60, one = 0;
    static Length add(Length a, Length b) { return a < b ? a : b; }
    static Length multiply(Length a, Length b) { return a == zero || b == zero ? zero : a + b; }
};

/// Dijkstra's algorithm on one process.
static std::vector<Length> dijkstra(const SparseEntries<Length>& graph, std::size_t places, std::size_t start) {
    std::vector<std::vector<std::pair<std::size_t, Length>>> edges(places);
    for (std::size_t e = 0; e < graph.values.size(); ++e)
        edges[static_cast<std::size_t>(graph.indices[0][e])].push_back({static_cast<std::size_t>(graph.indices[1][e]), graph.values[e]});
    std::vector<Length> distance(places, MinPlus::zero);
    std::priority_queue<std::pair<Length, std::size_t>, std::vector<std::pair<Length, std::size_t>>, std::greater<>> next;
    for (next.push({distance[start] = 0, start}); !next.empty();) {
        const auto [length, from] = next.top();
        next.pop();
        if (length > distance[from]) continue;
        for (const auto& [to, more] : edges[from])
            if (length + more < distance[to]) next.push({distance[to] = length + more, to});
    }
    return distance;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        auto graph = read_sparse<Length>(world, argc > 1 ? argv[1] : "examples/data/yago_shared.mtx").tensor;
        for (auto& value : graph.local_values()) value = 1 + 100 / value;  // what shares much is near
        const auto places = graph.lengths()[0];

        // The distance of the start is 0, those of the others are not known yet. Each round goes one edge on.
        Tensor<Length> distance(world, {places}, "distance"), before(world, {places}), changed(world, {places});
        distance.fill(MinPlus::zero);
        distance.write(world.rank() == 0 ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{},
                       world.rank() == 0 ? std::vector<Length>{0} : std::vector<Length>{});
        int rounds = 0;
        do {
            before = distance;
            over<MinPlus>(distance["j"]) += distance["i"] * graph["ij"];
            changed["i"] = map([](Length now, Length then) -> Length { return now == then ? 0 : 1; }, distance["i"], before["i"]);
            ++rounds;
        } while (changed.sum() > 0);

        const auto found = distance.gather();
        const bool right = found == dijkstra(graph.gather(), found.size(), 0);
        Length reached = 0, farthest = 0;
        for (auto length : found)
            if (length < MinPlus::zero) {
                ++reached;
                farthest = std::max(farthest, length);
            }
        if (world.rank() == 0)
            std::printf("%lld of %lld places are reached after %d rounds, the farthest at %lld; as Dijkstra's algorithm says: %s\n",
                        static_cast<long long>(reached), static_cast<long long>(places), rounds, static_cast<long long>(farthest),
                        right ? "yes" : "NO");
        return right;
    });
}

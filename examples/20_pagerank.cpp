// PageRank: where one is in the long run who follows edges at random, and now and then begins anywhere.
//   20_pagerank [graph.mtx]
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace arges;

constexpr double damping = 0.85, tolerance = 1e-12;

/// The same on one process, edge by edge.
static std::vector<double> serial_rank(const SparseEntries<double>& graph, std::size_t places) {
    const auto at = [&](int mode, std::size_t e) { return static_cast<std::size_t>(graph.indices[static_cast<std::size_t>(mode)][e]); };
    const auto n = static_cast<double>(places);
    std::vector<double> out(places, 0), rank(places, 1 / n);
    for (std::size_t e = 0; e < graph.values.size(); ++e) out[at(0, e)] += graph.values[e];
    for (double change = 1; change > tolerance;) {
        double lost = 0;
        for (std::size_t i = 0; i < places; ++i) lost += out[i] > 0 ? 0 : rank[i];
        std::vector<double> next(places, (1 - damping + damping * lost) / n);
        for (std::size_t e = 0; e < graph.values.size(); ++e) next[at(1, e)] += damping * rank[at(0, e)] * graph.values[e] / out[at(0, e)];
        change = 0;
        for (std::size_t i = 0; i < places; ++i) change += std::abs(next[i] - rank[i]);
        rank = next;
    }
    return rank;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        bool right = true;
        const auto graph = read_sparse<double>(world, argc > 1 ? argv[1] : "examples/data/yago_shared.mtx").tensor;
        const auto places = graph.lengths()[0];
        const auto n = static_cast<double>(places);

        // Probabilities of the steps: each row of the graph divided by its sum. From a place without edges one goes anywhere.
        Tensor<double> out(world, {places}, "out"), inverse(world, {places}), dead_end(world, {places}), anywhere(world, {places});
        out["i"] = sum("j", graph["ij"]);
        inverse["i"] = map([](double weight) { return weight > 0 ? 1 / weight : 0; }, out["i"]);
        dead_end["i"] = map([](double weight) { return weight > 0 ? 0.0 : 1.0; }, out["i"]);
        anywhere.fill(1 / n);
        SparseTensor<double> step(world, {places, places}, "step");
        step["ij"] = inverse["i"] * graph["ij"];

        Tensor<double> rank(world, {places}, "rank"), next(world, {places});
        rank.fill(1 / n);
        int rounds = 0;
        for (double change = 1; change > tolerance; ++rounds) {
            const double lost = dead_end["i"] * rank["i"];
            next["j"] = damping * rank["i"] * step["ij"] + (1 - damping + damping * lost) * anywhere["j"];
            rank["j"] -= next["j"];
            change = rank.norm1();
            std::swap(rank, next);
        }

        const auto found = rank.gather(), expected = serial_rank(graph.gather(), static_cast<std::size_t>(places));
        std::size_t best = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            right = right && std::abs(found[i] - expected[i]) < 1e-9 * expected[i];
            if (found[i] > found[best]) best = i;
        }
        if (world.rank() == 0)
            std::printf("after %d rounds place %zu is visited most, %.5f of the time; as a loop over the edges says: %s\n", rounds,
                        best + 1, found[best], right ? "yes" : "NO");
        return right;
    });
}

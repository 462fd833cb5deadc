// Triangles of a graph: a product of its matrix with itself, of which only the elements count where there is an edge.
//   18_triangles [graph.mtx]
#include <arges/arges.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace arges;
using Count = std::int64_t;

/// The triangles of each edge from i to a smaller j, by neighbours of both that are smaller still, on one process.
static Count count_triangles(const SparseEntries<Count>& edges, std::size_t places) {
    std::vector<std::vector<Count>> smaller(places);
    for (std::size_t e = 0; e < edges.values.size(); ++e)
        smaller[static_cast<std::size_t>(edges.indices[0][e])].push_back(edges.indices[1][e]);
    for (auto& list : smaller) std::sort(list.begin(), list.end());
    Count count = 0;
    for (const auto& list : smaller)
        for (auto j : list)
            for (auto k : smaller[static_cast<std::size_t>(j)]) count += std::binary_search(list.begin(), list.end(), k) ? 1 : 0;
    return count;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        const auto graph = read_sparse<Count>(world, argc > 1 ? argv[1] : "examples/data/yago_shared.mtx").tensor;

        // Each edge once, from the greater to the smaller end, with the value 1. A rank gives those that it has.
        SparseEntries<Count> mine{{{}, {}}, {}};
        for (std::size_t e = 0; e < graph.local_values().size(); ++e) {
            const auto i = graph.local_indices(0)[e], j = graph.local_indices(1)[e];
            if (i == j) continue;
            mine.indices[0].push_back(std::max(i, j));
            mine.indices[1].push_back(std::min(i, j));
            mine.values.push_back(1);
        }
        const auto L = SparseTensor<Count>::from_entries(world, graph.lengths(), mine, Duplicates::keep_first, "L");

        // An element of T is the number of triangles over an edge; it is stored where there is one.
        SparseTensor<Count> T(world, graph.lengths(), "T");
        T["ij"] = L["ij"] * L["ik"] * L["kj"];
        const Count total = L["ij"] * L["ik"] * L["kj"];
        const auto expected = count_triangles(L.gather(), static_cast<std::size_t>(graph.lengths()[0]));
        Count sum = 0, most = 0;
        for (auto count : T.gather().values) {
            sum += count;
            most = std::max(most, count);
        }
        const bool right = total == expected && sum == expected;
        const auto edges = L.nonzeros();
        if (world.rank() == 0)
            std::printf("%lld edges, %lld triangles, at most %lld of them under one edge; as a count by neighbours says: %s\n",
                        static_cast<long long>(edges), static_cast<long long>(total), static_cast<long long>(most), right ? "yes" : "NO");
        return right;
    });
}

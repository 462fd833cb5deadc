// Connected components: every place takes the smallest name among its own and those of its neighbours, until nothing changes.
//   17_connected_components [graph.mtx]
#include <arges/arges.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

using namespace arges;
using Name = std::int64_t;

/// Of several names the smallest counts; an edge has the smallest name of all, so that it lets every name through.
struct MinMax {
    using value_type = Name;
    static constexpr Name zero = Name{1} << 62, one = -1;
    static Name add(Name a, Name b) { return std::min(a, b); }
    static Name multiply(Name a, Name b) { return std::max(a, b); }
};

/// The smallest place of each component, by union and find on one process.
static std::vector<Name> united(const SparseEntries<Name>& graph, std::size_t places) {
    std::vector<Name> root(places);
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](Name place) {
        while (root[static_cast<std::size_t>(place)] != place) place = root[static_cast<std::size_t>(place)];
        return place;
    };
    for (std::size_t e = 0; e < graph.values.size(); ++e) {
        const auto a = find(graph.indices[0][e]), b = find(graph.indices[1][e]);
        root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
    for (auto& name : root) name = find(name);
    return root;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        auto graph = read_sparse<Name>(world, argc > 1 ? argv[1] : "examples/data/yago_shared.mtx").tensor;
        graph.fill(MinMax::one);
        const auto places = graph.lengths()[0];

        Tensor<Name> name(world, {places}, "name"), before(world, {places}), changed(world, {places});
        name.fill([](Index place) { return place[0]; });
        int rounds = 0;
        do {
            before = name;
            over<MinMax>(name["j"]) += name["i"] * graph["ij"] + name["i"] * graph["ji"];  // edges count in both directions
            changed["i"] = map([](Name now, Name then) -> Name { return now == then ? 0 : 1; }, name["i"], before["i"]);
            ++rounds;
        } while (changed.sum() > 0);

        const auto found = name.gather();
        const bool right = found == united(graph.gather(), found.size());
        std::vector<std::int64_t> sizes(found.size());
        for (auto component : found) ++sizes[static_cast<std::size_t>(component)];
        const auto components = std::count_if(sizes.begin(), sizes.end(), [](auto size) { return size > 0; });
        if (world.rank() == 0)
            std::printf("%lld components after %d rounds, the largest has %lld of %lld places; as union and find says: %s\n",
                        static_cast<long long>(components), rounds, static_cast<long long>(*std::max_element(sizes.begin(), sizes.end())),
                        static_cast<long long>(places), right ? "yes" : "NO");
        return right;
    });
}

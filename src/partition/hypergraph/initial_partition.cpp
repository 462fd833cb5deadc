// First bisections by greedy hypergraph growing (PaToH: Catalyurek and Aykanat 1999), and assignments by weight, the longest first (Graham
// 1969), by blocks and by stream.
#include "partition/hypergraph/initial_partition.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace arges::partition {

namespace {

constexpr int initial_passes = 6;

/// The weight of each vertex as a share of all, summed over the constraints.
std::vector<double> loads(const Hypergraph& hypergraph) {
    std::vector<double> result(hypergraph.vertices(), 0);
    for (std::size_t v = 0; v < result.size(); ++v)
        for (int c = 0; c < hypergraph.constraints(); ++c)
            if (const auto total = hypergraph.total_weights()[c]; total > 0)
                result[v] += static_cast<double>(hypergraph.weight(v, c)) / total;
    return result;
}

/// Vertices in the given order to side 0 until it has its share.
std::vector<std::uint8_t> filled(const std::vector<double>& load, const std::vector<std::uint32_t>& order, double share) {
    std::vector<std::uint8_t> sides(load.size(), 1);
    double left = share * std::accumulate(load.begin(), load.end(), 0.0);
    for (auto v : order) {
        if (load[v] / 2 > left) continue;
        sides[v] = 0;
        left -= load[v];
    }
    return sides;
}

}  // namespace

void find_bisection(const Hypergraph& hypergraph, double share, int tries, RandomNumbers& random, Bisection& bisection) {
    const auto load = loads(hypergraph);
    std::vector<std::uint32_t> order(load.size());
    std::iota(order.begin(), order.end(), 0u);
    std::vector<std::uint8_t> best_sides;
    BisectionQuality best;
    for (int i = 0; i < tries; ++i) {
        if (i == 0)
            bisection.assign(filled(load, order, share));
        else if (i % 4 == 1)
            bisection.assign(filled(load, random.permutation(hypergraph.vertices()), share));
        else
            bisection.grow(random.below(load.size()), share, random);
        bisection.refine(initial_passes);
        if (best_sides.empty() || bisection.quality() < best) {
            best = bisection.quality();
            best_sides = bisection.sides();
        }
    }
    bisection.assign(std::move(best_sides));
}

VertexParts assign_by_weight(const Hypergraph& hypergraph, const std::vector<double>& shares) {
    const auto load = loads(hypergraph);
    std::vector<std::uint32_t> order(load.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return load[a] > load[b]; });
    using Part = std::tuple<double, std::int64_t, std::size_t>;  // relative load, vertices, number
    std::priority_queue<Part, std::vector<Part>, std::greater<>> parts;
    for (std::size_t p = 0; p < shares.size(); ++p) parts.emplace(0, 0, p);
    VertexParts result(load.size());
    for (auto v : order) {
        const auto [filling, vertices, p] = parts.top();
        parts.pop();
        result[v] = p;
        parts.emplace(filling + load[v] / shares[p], vertices + 1, p);
    }
    return result;
}

VertexParts contiguous_parts(const Hypergraph& hypergraph, std::int64_t parts) {
    std::vector<double> before(hypergraph.constraints(), 0);
    VertexParts result(hypergraph.vertices());
    for (std::size_t v = 0; v < result.size(); ++v) {
        double middle = (static_cast<double>(v) + 0.5) / static_cast<double>(result.size()), heaviest = 0;
        for (std::size_t c = 0; c < before.size(); ++c) {
            const auto total = hypergraph.total_weights()[c];
            if (total == 0) continue;
            const double share = static_cast<double>(hypergraph.weight(v, c)) / total;
            if (share > heaviest) {
                heaviest = share;
                middle = before[c] + share / 2;
            }
            before[c] += share;
        }
        const auto part = static_cast<std::int64_t>(middle * static_cast<double>(parts));
        result[v] = std::min(parts - 1, part);
    }
    return result;
}

VertexParts stream_parts(const Hypergraph& hypergraph, std::int64_t parts, const std::vector<std::int64_t>& limits) {
    constexpr std::size_t remembered = 4;
    const auto constraints = limits.size();
    std::vector<std::int32_t> latest(static_cast<std::size_t>(hypergraph.nets()) * remembered, -1);
    std::vector<std::int64_t> weight(static_cast<std::size_t>(parts) * constraints, 0), score(parts, 0);
    const auto fits = [&](std::int64_t v, std::size_t p) {
        for (std::size_t c = 0; c < constraints; ++c)
            if (weight[p * constraints + c] + hypergraph.weights(v)[c] > limits[c]) return false;
        return true;
    };
    VertexParts result(hypergraph.vertices());
    std::vector<std::size_t> scored;
    std::size_t current = 0;
    for (std::int64_t v = 0; v < hypergraph.vertices(); ++v) {
        for (auto net : hypergraph.nets_of(v))
            for (std::size_t i = 0; i < remembered; ++i)
                if (const auto p = latest[net * remembered + i]; p >= 0) {
                    if (score[p] == 0) scored.push_back(p);
                    score[p] += hypergraph.cost(net);
                }
        while (current + 1 < static_cast<std::size_t>(parts) && !fits(v, current)) ++current;
        auto best = current;
        for (auto p : scored)
            if (fits(v, p) && (score[p] > score[best] || !fits(v, best))) best = p;
        for (auto p : scored) score[p] = 0;
        scored.clear();
        result[v] = best;
        for (std::size_t c = 0; c < constraints; ++c) weight[best * constraints + c] += hypergraph.weights(v)[c];
        for (auto net : hypergraph.nets_of(v)) {
            auto* first = latest.data() + net * remembered;
            auto* place = std::find(first, first + remembered - 1, static_cast<std::int32_t>(best));
            std::rotate(first, place, place + 1);
            *first = best;
        }
    }
    return result;
}

}  // namespace arges::partition

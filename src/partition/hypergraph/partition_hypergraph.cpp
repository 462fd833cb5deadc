// Partitions by recursive bisection with nets split between the sides (PaToH: Catalyurek and Aykanat 1999; hMETIS); large hypergraphs are
// coarsened once before, and refined in many parts after.
#include "partition/hypergraph/partition_hypergraph.hpp"

#include "arges/error.hpp"
#include "partition/hypergraph/coarsen.hpp"
#include "partition/hypergraph/initial_partition.hpp"
#include "partition/hypergraph/kway_refine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

namespace arges::partition {

namespace {

constexpr std::int64_t cheapest_bisection = 60;  ///< work per pin below which a bisection is not worth starting
constexpr int greedy_passes = 6;

/// Heaviest part if weights go from the heaviest down, each to the lightest part so far.
std::int64_t heaviest_part(std::vector<std::int64_t> weights, const std::vector<double>& shares) {
    std::erase(weights, 0);
    std::sort(weights.begin(), weights.end(), std::greater<>());
    using Part = std::pair<double, std::size_t>;
    std::priority_queue<Part, std::vector<Part>, std::greater<>> lightest;
    std::vector<std::int64_t> parts(shares.size(), 0);
    for (std::size_t p = 0; p < shares.size(); ++p) lightest.emplace(0, p);
    double worst = 0;
    for (auto weight : weights) {
        const auto p = lightest.top().second;
        lightest.pop();
        parts[p] += weight;
        const double filled = static_cast<double>(parts[p]) / shares[p];
        lightest.emplace(filled, p);
        worst = std::max(worst, filled);
    }
    return static_cast<std::int64_t>(std::ceil(worst * *std::min_element(shares.begin(), shares.end())));
}

std::vector<std::int64_t> weights_of(const Hypergraph& hypergraph, int constraint) {
    std::vector<std::int64_t> result(hypergraph.vertices());
    for (std::size_t v = 0; v < result.size(); ++v) result[v] = hypergraph.weight(v, constraint);
    return result;
}

/// A part of a weight, at most all of it.
std::int64_t scaled(std::int64_t weight, double factor) {
    return factor >= 1 ? weight : static_cast<std::int64_t>(std::floor(static_cast<double>(weight) * factor * (1 + 1e-12)));
}

/// The vertices of one side and the parts of nets that lie in it.
struct Side {
    Hypergraph hypergraph;
    std::vector<std::uint32_t> vertices;  ///< numbers in the whole hypergraph
};

Side side_of(const Hypergraph& hypergraph, const std::vector<std::uint32_t>& vertices, const std::vector<std::uint8_t>& sides,
             std::uint8_t side) {
    Side result;
    HypergraphData data;
    data.constraints = hypergraph.constraints();
    std::vector<std::uint32_t> number(sides.size());
    for (std::size_t v = 0; v < sides.size(); ++v) {
        if (sides[v] != side) continue;
        number[v] = result.vertices.size();
        result.vertices.push_back(vertices[v]);
        const auto weights = hypergraph.weights(v);
        data.weights.insert(data.weights.end(), weights.begin(), weights.end());
    }
    data.vertices = std::ssize(result.vertices);
    for (std::int64_t net = 0; net < hypergraph.nets(); ++net) {
        const auto begin = data.pins.size();
        for (auto pin : hypergraph.pins(net))
            if (sides[pin] == side) data.pins.push_back(number[pin]);
        if (data.pins.size() < begin + 2) {
            data.pins.resize(begin);
            continue;
        }
        data.net_begin.push_back(std::ssize(data.pins));
        data.costs.push_back(hypergraph.cost(net));
    }
    result.hypergraph = Hypergraph(std::move(data));
    return result;
}

class RecursiveBisection {
public:
    RecursiveBisection(const Hypergraph& hypergraph, std::int64_t parts, const PartitionOptions& options, std::vector<std::int64_t> limits)
        : options_(options), limits_(std::move(limits)), random_(options.seed), result_(hypergraph.vertices(), 0) {
        const auto depth = std::bit_width(static_cast<std::uint64_t>(parts - 1));
        const auto size = hypergraph.pin_count() + hypergraph.vertices();
        work_per_pin_ = static_cast<double>(options.work) / (size * depth + 1);
        std::vector<std::uint32_t> all(hypergraph.vertices());
        std::iota(all.begin(), all.end(), 0u);
        divide(hypergraph, all, 0, parts);
    }

    VertexParts take() { return std::move(result_); }

private:
    void divide(const Hypergraph& hypergraph, const std::vector<std::uint32_t>& vertices, std::int64_t first, std::int64_t parts) {
        if (parts == 1 || vertices.empty() || hypergraph.nets() == 0 || work_per_pin_ < cheapest_bisection)
            return assign(vertices, first, cheap_parts(hypergraph, parts));
        const auto half = (parts + 1) / 2;
        BisectionRequest request;
        request.share = static_cast<double>(half) / parts;
        request.limits = side_limits(hypergraph, half, parts);
        request.tries = options_.tries;
        request.cycles = options_.cycles;
        WorkBudget work(
            static_cast<std::int64_t>(std::min(9e18, work_per_pin_ * static_cast<double>(hypergraph.pin_count() + hypergraph.vertices()))));
        const auto sides = bisect(hypergraph, request, random_, work);
        for (std::uint8_t s = 0; s < 2; ++s) {
            const auto side = side_of(hypergraph, vertices, sides, s);
            divide(side.hypergraph, side.vertices, s == 0 ? first : first + half, s == 0 ? half : parts - half);
        }
    }

    /// Parts without bisection.
    VertexParts cheap_parts(const Hypergraph& hypergraph, std::int64_t parts) const {
        if (parts == 1) return VertexParts(static_cast<std::size_t>(hypergraph.vertices()), 0);
        if (hypergraph.nets() > 0) return stream_parts(hypergraph, parts, limits_);
        return assign_by_weight(hypergraph, std::vector<double>(parts, 1.0 / static_cast<double>(parts)));
    }

    void assign(const std::vector<std::uint32_t>& vertices, std::int64_t first, const VertexParts& parts) {
        for (std::size_t v = 0; v < vertices.size(); ++v) result_[vertices[v]] = first + parts[v];
    }

    /// A side may exceed its share by a factor whose power with the number of bisections that follow keeps to the limits of
    /// parts.
    SideLimits side_limits(const Hypergraph& hypergraph, std::int64_t half, std::int64_t parts) const {
        SideLimits result;
        const double depth = std::bit_width(static_cast<std::uint64_t>(parts - 1));
        const std::array<double, 2> shares{static_cast<double>(half) / parts, static_cast<double>(parts - half) / parts};
        for (std::size_t c = 0; c < limits_.size(); ++c) {
            const auto total = hypergraph.total_weights()[c];
            const double mean_part = static_cast<double>(total) / parts;
            const double room = total > 0 ? static_cast<double>(limits_[c]) / mean_part : 1;
            const double factor = std::pow(std::max(room, 1.0), 1 / depth);
            for (std::size_t s = 0; s < 2; ++s) {
                const auto side_parts = s == 0 ? half : parts - half;
                const auto most = limits_[c] > total / side_parts ? total : limits_[c] * side_parts;
                const auto mean = static_cast<std::int64_t>(std::ceil(static_cast<double>(total) * shares[s] * (1 - 1e-12)));
                result[s].push_back(std::max(mean, std::min(scaled(total, shares[s] * factor), most)));
            }
            allow_for_whole_vertices(hypergraph, c, shares, result);
        }
        return result;
    }

    static void allow_for_whole_vertices(const Hypergraph& hypergraph, std::size_t c, const std::array<double, 2>& shares,
                                         SideLimits& limits) {
        std::int64_t heaviest = 0;
        for (std::int64_t v = 0; v < hypergraph.vertices(); ++v) heaviest = std::max(heaviest, hypergraph.weights(v)[c]);
        const double total = hypergraph.total_weights()[c];
        const double room =
            std::min(static_cast<double>(limits[0][c]) - total * shares[0], static_cast<double>(limits[1][c]) - total * shares[1]);
        if (static_cast<double>(heaviest) <= room) return;
        const auto smaller = heaviest_part(weights_of(hypergraph, c), {shares[0], shares[1]});
        for (std::size_t s = 0; s < 2; ++s)
            limits[s][c] =
                std::max(limits[s][c],
                         static_cast<std::int64_t>(std::ceil(static_cast<double>(smaller) * shares[s] / std::min(shares[0], shares[1]))));
    }

    const PartitionOptions& options_;
    const std::vector<std::int64_t> limits_;
    RandomNumbers random_;
    double work_per_pin_ = 0;
    VertexParts result_;
};

/// Large hypergraphs are coarsened once for all bisections, and refined by the greedy method on the way back.
class MultilevelPartition {
public:
    MultilevelPartition(const Hypergraph& hypergraph, std::int64_t parts, const PartitionOptions& options)
        : finest_(hypergraph), parts_(parts), options_(options), limits_(part_limits(hypergraph, parts, options.imbalance)),
          random_(options.seed), work_(options.work) {}

    VertexParts run() {
        coarsen();
        auto result = RecursiveBisection(top(), parts_, options_, limits_).take();
        while (true) {
            refine_parts(top(), parts_, limits_, greedy_passes, random_, work_, result);
            if (levels_.empty()) return better_of(std::move(result), contiguous_parts(finest_, parts_));
            const auto& cluster = levels_.back().clustering.cluster;
            VertexParts finer(cluster.size());
            for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = result[cluster[v]];
            result = std::move(finer);
            levels_.pop_back();
        }
    }

private:
    const Hypergraph& top() const { return levels_.empty() ? finest_ : levels_.back().hypergraph; }

    /// `blocks` where they keep to the limits and are cut less, as the order of the vertices may know more than coarsening finds.
    VertexParts better_of(VertexParts found, VertexParts blocks) {
        const auto weights = part_weights(finest_, blocks, parts_);
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (weights[i] > limits_[i % limits_.size()]) return found;
        if (cut(finest_, blocks) >= cut(finest_, found)) return found;
        refine_parts(finest_, parts_, limits_, greedy_passes, random_, work_, blocks);
        return blocks;
    }

    void coarsen() {
        ClusterLimits limits;
        limits.weight = cluster_weights(finest_.total_weights(), parts_);
        const auto enough = enough_vertices(parts_, options_.direct);
        while (top().vertices() > enough && !work_.used_up()) {
            const auto& from = top();
            limits.fewest = std::max(enough, vertices_of_next_level(from.vertices()));
            auto clustering = cluster_vertices(from, limits, random_, work_);
            if (has_stalled(from.vertices(), clustering.count)) break;
            auto coarser = contract(from, clustering);
            levels_.push_back({std::move(clustering), std::move(coarser)});
        }
    }

    struct Level {
        Clustering clustering;
        Hypergraph hypergraph;
    };

    const Hypergraph& finest_;
    const std::int64_t parts_;
    const PartitionOptions& options_;
    const std::vector<std::int64_t> limits_;
    RandomNumbers random_;
    WorkBudget work_;
    std::list<Level> levels_;  ///< finest first
};

}  // namespace

std::vector<std::int64_t> part_limits(const Hypergraph& hypergraph, std::int64_t parts, double imbalance) {
    std::vector<std::int64_t> result;
    for (int c = 0; c < hypergraph.constraints(); ++c) {
        const auto total = hypergraph.total_weights()[c];
        auto limit = std::max(total / parts + (total % parts > 0), scaled(total, (1 + imbalance) / static_cast<double>(parts)));
        std::int64_t heaviest = 0;
        for (std::int64_t v = 0; v < hypergraph.vertices(); ++v) heaviest = std::max(heaviest, hypergraph.weight(v, c));
        if (heaviest > limit - total / parts) {
            const std::vector<double> shares(parts, 1.0 / static_cast<double>(parts));
            limit = std::max(limit, heaviest_part(weights_of(hypergraph, c), shares));
        }
        result.push_back(limit);
    }
    return result;
}

void check_partition(std::int64_t parts, const PartitionOptions& options) {
    if (parts < 1 || parts > std::numeric_limits<std::int32_t>::max())
        throw InvalidArgument("a hypergraph cannot be partitioned into " + std::to_string(parts) + " parts; ask for 1 to 2^31 - 1");
    if (!(options.imbalance >= 0))
        throw InvalidArgument("the imbalance of a partition must be 0 or more, for example 0.03 for parts up to 3 % above the mean");
}

VertexParts partition_hypergraph(const Hypergraph& hypergraph, std::int64_t parts, const PartitionOptions& options) {
    check_partition(parts, options);
    if (parts == 1 || hypergraph.vertices() == 0) return VertexParts(static_cast<std::size_t>(hypergraph.vertices()), 0);
    const auto& totals = hypergraph.total_weights();
    if (std::all_of(totals.begin(), totals.end(), [](auto total) { return total == 0; }))
        return partition_hypergraph(with_unit_weights(hypergraph), parts, options);

    return MultilevelPartition(hypergraph, parts, options).run();
}

}  // namespace arges::partition

// Heavy-connectivity clustering (PaToH: Catalyurek and Aykanat 1999; the rating as in KaHyPar); nets with the same pins become one.
#include "partition/hypergraph/coarsen.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace arges::partition {

namespace {

constexpr std::uint32_t nobody = ~0u;
constexpr std::size_t largest_whole = 400;     ///< nets up to this size, or less where many nets are as large, are looked at whole
constexpr std::size_t sample = 32;             ///< pins that are looked at of larger nets
constexpr std::int64_t vertices_of_part = 60;  ///< fewest that coarsening for many parts leaves
constexpr double shrinkage = 2.5;              ///< of vertices from level to level, at most
constexpr double stalled = 0.95;               ///< coarsening ends when a level keeps more of the vertices
constexpr std::int64_t looks = 10;             ///< at pins, for each pin

/// The size up to which nets are looked at whole by each of their pins, so that clustering stays nearly linear in the pins.
std::size_t whole_net_size(const Hypergraph& hypergraph) {
    std::array<std::int64_t, largest_whole + 1> pins_by_size{};
    for (std::int64_t net = 0; net < hypergraph.nets(); ++net)
        if (const auto size = hypergraph.pins(net).size(); size <= largest_whole) pins_by_size[size] += static_cast<std::int64_t>(size);
    auto left = looks * hypergraph.pin_count();
    std::size_t size = 0;
    while (size < largest_whole && left > 0) {
        ++size;
        left -= pins_by_size[size] * static_cast<std::int64_t>(size);
    }
    return std::max(size, sample);
}

class Clusterer {
public:
    Clusterer(const Hypergraph& hypergraph, const ClusterLimits& limits, RandomNumbers& random, WorkBudget& work)
        : hypergraph_(hypergraph), limits_(limits), random_(random), work_(work), constraints_(hypergraph.constraints()),
          leader_(hypergraph.vertices()), grown_(leader_.size(), 0), rated_as_(leader_.size()),
          weight_(leader_.size() * static_cast<std::size_t>(constraints_)), whole_net_(whole_net_size(hypergraph)) {
        for (std::size_t v = 0; v < leader_.size(); ++v) {
            leader_[v] = v;
            const auto weights = hypergraph.weights(v);
            std::copy(weights.begin(), weights.end(), weight_.begin() + (v * weights.size()));
            for (std::size_t c = 0; c < weights.size(); ++c)
                rated_as_[v].weight += static_cast<float>(weights[c]) / static_cast<float>(std::max<std::int64_t>(limits.weight[c], 1));
        }
    }

    Clustering run() {
        auto left = hypergraph_.vertices();
        for (auto v : random_.permutation(hypergraph_.vertices())) {
            if (left <= limits_.fewest || work_.used_up()) break;
            if (grown_[v]) continue;
            const auto target = best_cluster(v);
            if (target == nobody) continue;
            join(v, target);
            --left;
        }
        return numbered();
    }

private:
    struct Rating {
        float rating = 0;
        float weight = 0;  ///< as a share of the limits, summed over the constraints
    };

    /// The cluster that `v` joins, or nobody.
    std::uint32_t best_cluster(std::uint32_t v) {
        const auto nets = hypergraph_.nets_of(v);
        for (auto net : nets)
            if (const auto pins = hypergraph_.pins(net); pins.size() <= whole_net_ && pins.size() > 1) rate(v, net, pins);
        auto best = take_best(v);
        if (best != nobody) return best;
        for (auto net : nets) {
            const auto pins = hypergraph_.pins(net);
            if (pins.size() > whole_net_) rate(v, net, pins.subspan(random_.below(pins.size() - sample), sample));
        }
        return take_best(v);
    }

    void rate(std::uint32_t v, std::uint32_t net, std::span<const std::uint32_t> pins) {
        const auto size = limits_.sizes ? (*limits_.sizes)[net] : std::ssize(hypergraph_.pins(net));
        const auto score = static_cast<float>(hypergraph_.cost(net)) / static_cast<float>(size - 1);
        work_.spend(std::ssize(pins));
        // First all leaders, so that their ratings come into the cache at the same time.
        seen_.resize(pins.size());
        for (std::size_t i = 0; i < pins.size(); ++i) {
            seen_[i] = leader_[pins[i]];
            __builtin_prefetch(&rated_as_[seen_[i]], 1);
        }
        for (auto leader : seen_) {
            if (leader == v || (limits_.sides && (*limits_.sides)[leader] != (*limits_.sides)[v])) continue;
            auto& rating = rated_as_[leader].rating;
            if (rating == 0) rated_.push_back(leader);
            rating += score;
        }
    }

    /// The best rated cluster with room for `v`; forgets the ratings.
    std::uint32_t take_best(std::uint32_t v) {
        std::uint32_t best = nobody;
        float highest = 0;
        std::uint64_t ties = 1;
        for (auto leader : rated_) {
            const float rating = rated_as_[leader].rating / (rated_as_[leader].weight + 1e-9f);
            rated_as_[leader].rating = 0;
            if (rating < highest || !fits(v, leader)) continue;
            ties = rating == highest ? ties + 1 : 1;
            if (ties > 1 && random_.below(ties) != 0) continue;
            highest = rating;
            best = leader;
        }
        rated_.clear();
        return best;
    }

    bool fits(std::uint32_t v, std::uint32_t leader) const {
        const std::size_t m = constraints_;
        for (std::size_t c = 0; c < m; ++c)
            if (weight_[v * m + c] > 0 && weight_[v * m + c] + weight_[leader * m + c] > limits_.weight[c]) return false;
        return true;
    }

    void join(std::uint32_t v, std::uint32_t leader) {
        const std::size_t m = constraints_;
        leader_[v] = leader;
        grown_[v] = grown_[leader] = 1;
        rated_as_[leader].weight += rated_as_[v].weight;
        for (std::size_t c = 0; c < m; ++c) weight_[leader * m + c] += weight_[v * m + c];
    }

    Clustering numbered() const {
        Clustering result{std::vector<std::uint32_t>(leader_.size()), 0};
        for (std::size_t v = 0; v < leader_.size(); ++v)
            if (leader_[v] == v) result.cluster[v] = result.count++;
        for (std::size_t v = 0; v < leader_.size(); ++v) result.cluster[v] = result.cluster[leader_[v]];
        return result;
    }

    const Hypergraph& hypergraph_;
    const ClusterLimits& limits_;
    RandomNumbers& random_;
    WorkBudget& work_;
    const int constraints_;
    std::vector<std::uint32_t> leader_;  ///< of the vertex's cluster; a leader's is itself
    std::vector<std::uint8_t> grown_;    ///< in a cluster of two or more
    std::vector<Rating> rated_as_;       ///< of leaders
    std::vector<std::uint32_t> rated_, seen_;
    std::vector<std::int64_t> weight_;  ///< of leaders' clusters
    const std::size_t whole_net_;
};

/// Nets by their pins: finds one that is there already.
class NetTable {
public:
    NetTable(const HypergraphData& data, std::int64_t most)
        : data_(data), slots_(std::bit_ceil(static_cast<std::size_t>(most) * 2 + 2), nobody), marked_(data.vertices, 0) {}

    /// A net with the same pins as the last of data, which is `last`; itself if there is none.
    std::uint32_t find_or_add(std::uint32_t last) {
        const auto pins = pins_of(last);
        std::uint64_t hash = pins.size();
        for (auto pin : pins) hash += splitmix(pin);
        hashes_.push_back(hash);
        const auto mask = slots_.size() - 1;
        for (auto slot = splitmix(hash) & mask;; slot = (slot + 1) & mask) {
            const auto other = slots_[slot];
            if (other == nobody) return slots_[slot] = last;
            if (hashes_[other] != hash || !same(pins, pins_of(other))) continue;
            hashes_.pop_back();
            return other;
        }
    }

private:
    std::span<const std::uint32_t> pins_of(std::uint32_t net) const {
        const auto first = data_.net_begin[net], last = data_.net_begin[net + 1];
        return {data_.pins.data() + first, static_cast<std::size_t>(last - first)};
    }
    bool same(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
        if (a.size() != b.size()) return false;
        ++mark_;
        for (auto pin : a) marked_[pin] = mark_;
        return std::all_of(b.begin(), b.end(), [&](std::uint32_t pin) { return marked_[pin] == mark_; });
    }

    const HypergraphData& data_;
    std::vector<std::uint32_t> slots_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint64_t> marked_;
    std::uint64_t mark_ = 0;
};

}  // namespace

Clustering cluster_vertices(const Hypergraph& hypergraph, const ClusterLimits& limits, RandomNumbers& random, WorkBudget& work) {
    return Clusterer(hypergraph, limits, random, work).run();
}

Clustering cluster_neighbors(const Hypergraph& hypergraph, const ClusterLimits& limits) {
    Clustering result;
    result.cluster.reserve(hypergraph.vertices());
    const auto longest = (hypergraph.vertices() + limits.fewest - 1) / std::max<std::int64_t>(limits.fewest, 1);
    std::vector<std::int64_t> weight(limits.weight.size(), 0);
    std::int64_t length = 0;
    for (std::int64_t v = 0; v < hypergraph.vertices(); ++v) {
        const auto weights = hypergraph.weights(v);
        bool fits = length > 0 && length < longest;
        for (std::size_t c = 0; c < weight.size(); ++c) fits = fits && (weights[c] == 0 || weight[c] + weights[c] <= limits.weight[c]);
        if (!fits) {
            ++result.count;
            length = 0;
            std::fill(weight.begin(), weight.end(), 0);
        }
        ++length;
        for (std::size_t c = 0; c < weight.size(); ++c) weight[c] += weights[c];
        result.cluster.push_back(result.count - 1);
    }
    return result;
}

Hypergraph contract(const Hypergraph& hypergraph, const Clustering& clustering, KeptNets kept) {
    HypergraphData data;
    data.vertices = clustering.count;
    data.constraints = hypergraph.constraints();
    data.weights.assign(data.vertices * data.constraints, 0);
    for (std::int64_t v = 0; v < hypergraph.vertices(); ++v) {
        const std::int64_t first = std::int64_t{clustering.cluster[v]} * data.constraints;
        for (int c = 0; c < data.constraints; ++c) data.weights[first + c] += hypergraph.weight(v, c);
    }

    NetTable table(data, kept == KeptNets::useful ? hypergraph.nets() : 0);
    std::vector<std::int64_t> seen_in(data.vertices, -1);
    for (std::int64_t net = 0; net < hypergraph.nets(); ++net) {
        const auto begin = data.pins.size();
        for (auto pin : hypergraph.pins(net)) {
            const auto cluster = clustering.cluster[pin];
            if (std::exchange(seen_in[cluster], net) != net) data.pins.push_back(cluster);
        }
        if (kept == KeptNets::useful && data.pins.size() < begin + 2) {
            data.pins.resize(begin);
            continue;
        }
        data.net_begin.push_back(std::ssize(data.pins));
        if (kept == KeptNets::all) {
            data.costs.push_back(hypergraph.cost(net));
            continue;
        }
        const std::uint32_t last = data.costs.size();
        if (const auto equal = table.find_or_add(last); equal != last) {
            data.costs[equal] += hypergraph.cost(net);
            data.net_begin.pop_back();
            data.pins.resize(begin);
        } else {
            data.costs.push_back(hypergraph.cost(net));
        }
    }
    return Hypergraph(std::move(data));
}

std::vector<std::int64_t> cluster_weights(const std::vector<std::int64_t>& total_weights, std::int64_t parts) {
    std::vector<std::int64_t> result;
    for (auto total : total_weights) result.push_back(std::max<std::int64_t>(1, total / (vertices_of_part * parts)));
    return result;
}

std::int64_t enough_vertices(std::int64_t parts, std::int64_t direct) { return std::max(direct, 2 * vertices_of_part * parts); }

std::int64_t vertices_of_next_level(std::int64_t vertices) { return static_cast<std::int64_t>(static_cast<double>(vertices) / shrinkage); }

bool has_stalled(std::int64_t vertices, std::int64_t clusters) {
    return static_cast<double>(clusters) > stalled * static_cast<double>(vertices);
}

}  // namespace arges::partition

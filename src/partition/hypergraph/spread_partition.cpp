// Partitions by all ranks: coarsening within ranks, a partition of what is left on one, and greedy refinement by all at a time with pins
// counted anew for each turn (as parallel k-way refinement: Karypis and Kumar 1999; PHG: Devine et al. 2006).
#include "partition/hypergraph/spread_partition.hpp"

#include "base/math.hpp"
#include "base/splitmix.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace arges::partition {

namespace {

using Numbers = Team::Numbers;

constexpr int most_turns = 8;             ///< of refinement on each level
constexpr std::int64_t worthwhile = 200;  ///< a turn that lowers the cut by a smaller part is the last one

/// How good parts are: first the weight above the limits, then the cut.
struct Quality {
    std::int64_t overload = 0, cut = 0;
    auto operator<=>(const Quality&) const = default;
};

class SpreadPartition {
public:
    SpreadPartition(const Team& team, const HypergraphShare& share, std::int64_t parts, const PartitionOptions& options)
        : team_(team), share_(share), parts_(parts), options_(options), nets_(team, share),
          random_(splitmix(options.seed) + static_cast<std::uint64_t>(team.rank())), work_(options.work),
          totals_(share.hypergraph.total_weights()) {
        team_.sum(totals_);
    }

    VertexParts run() {
        coarsen();
        auto result = partition_coarsest();
        while (!levels_.empty()) {
            team_.agree([&] {
                const auto& cluster = levels_.back().clustering.cluster;
                VertexParts finer(cluster.size());
                for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = result[cluster[v]];
                result = std::move(finer);
                levels_.pop_back();
            });
            refine(result);
        }
        return result;
    }

private:
    struct Level {
        Clustering clustering;
        Hypergraph hypergraph;
    };

    const Hypergraph& top() const { return levels_.empty() ? share_.hypergraph : levels_.back().hypergraph; }

    std::int64_t sum(std::int64_t value) const {
        Numbers values{value};
        team_.sum(values);
        return values[0];
    }

    void coarsen() {
        ClusterLimits limits;
        limits.weight = cluster_weights(totals_, parts_);
        const auto enough = std::max(options_.gathered, enough_vertices(parts_, options_.direct));
        auto all = sum(top().vertices());
        bool by_nets = true;
        while (all > enough) {
            Level next;
            team_.agree([&] {
                const auto mine = top().vertices();
                limits.fewest = std::max(static_cast<std::int64_t>(Wide{mine} * enough / all), vertices_of_next_level(mine));
                next.clustering = by_nets ? cluster_vertices(top(), limits, random_, work_) : cluster_neighbors(top(), limits);
                next.hypergraph = contract(top(), next.clustering, KeptNets::all);
            });
            const auto left = sum(next.hypergraph.vertices());
            if (!has_stalled(all, left)) {
                levels_.push_back(std::move(next));
                all = left;
            } else if (!std::exchange(by_nets, false)) {
                break;
            }
        }
    }

    /// The number of the first vertex of each of the coarsest clusters.
    Numbers numbers() const {
        auto result = share_.vertices;
        for (const auto& level : levels_) {
            Numbers coarse(static_cast<std::size_t>(level.clustering.count));
            for (std::size_t v = result.size(); v-- > 0;) coarse[level.clustering.cluster[v]] = result[v];
            result = std::move(coarse);
        }
        return result;
    }

    /// Rank 0 partitions what is left, and finds the limits of parts.
    VertexParts partition_coarsest() {
        const auto whole = nets_.gathered(top(), numbers(), levels_.empty() ? KeptNets::all : KeptNets::useful);
        std::vector<Numbers> messages(static_cast<std::size_t>(team_.size()));
        team_.agree([&] {
            if (team_.rank() != 0) return;
            const auto found = partition_hypergraph(whole.hypergraph, parts_, options_);
            const auto limits = part_limits(whole.hypergraph, parts_, options_.imbalance);
            for (std::size_t r = 0; r < messages.size(); ++r) {
                messages[r] = limits;
                for (auto v : whole.vertices[r]) messages[r].push_back(found[static_cast<std::size_t>(v)]);
            }
        });
        messages = team_.all_to_all(std::move(messages));
        const auto limits_end = messages[0].begin() + static_cast<std::ptrdiff_t>(totals_.size());
        limits_.assign(messages[0].begin(), limits_end);
        return {limits_end, messages[0].end()};
    }

    Quality quality(const VertexParts& parts, PinPlaces& places) {
        places = nets_.places(top(), parts);
        auto weights = part_weights(top(), parts, parts_);
        const auto mine = weights;
        team_.sum(weights);
        Quality result{0, places.cut};
        for (std::size_t i = 0; i < weights.size(); ++i) result.overload += std::max<std::int64_t>(0, weights[i] - limits_[i % limits_.size()]);
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = counted_weight(mine[i], weights[i], i % limits_.size());
        places.others.weights = std::move(weights);
        return result;
    }

    /// What this rank counts as the weight of a part: it leaves room for this rank's share of what the part may still take, as the rank's
    /// share of all weight is; of what is too much, the rank has to take away its share of the part.
    std::int64_t counted_weight(std::int64_t mine, std::int64_t all, std::size_t constraint) const {
        const auto limit = limits_[constraint], room = limit - all;
        if (room < 0) return limit + static_cast<std::int64_t>((Wide{-room} * mine + all - 1) / all);
        const auto share = top().total_weights()[constraint];
        return limit - static_cast<std::int64_t>(Wide{room} * share / std::max<std::int64_t>(totals_[constraint], 1));
    }

    void refine(VertexParts& parts) {
        PinPlaces places;
        auto best = quality(parts, places);
        for (int turn = 0; turn < most_turns; ++turn) {
            VertexParts moved;
            team_.agree([&] {
                moved = parts;
                refine_parts(top(), parts_, limits_, 1, random_, work_, moved, &places.others);
            });
            const auto now = quality(moved, places);
            if (!(now < best)) return;
            parts = std::move(moved);
            const bool go_on = now.overload < best.overload || (best.cut - now.cut) * worthwhile > now.cut;
            best = now;
            if (!go_on) return;
        }
    }

    const Team& team_;
    const HypergraphShare& share_;
    const std::int64_t parts_;
    const PartitionOptions& options_;
    const SpreadNets nets_;
    RandomNumbers random_;
    WorkBudget work_;
    Numbers totals_;                    ///< weights of all vertices, by constraint
    std::vector<std::int64_t> limits_;  ///< of parts
    std::list<Level> levels_;           ///< finest first
};

}  // namespace

VertexParts partition_spread(const Team& team, HypergraphShare share, std::int64_t parts, const PartitionOptions& options) {
    check_partition(parts, options);
    if (parts == 1) return VertexParts(static_cast<std::size_t>(share.hypergraph.vertices()), 0);
    auto totals = share.hypergraph.total_weights();
    team.sum(totals);
    if (std::all_of(totals.begin(), totals.end(), [](auto total) { return total == 0; }))
        team.agree([&] { share.hypergraph = with_unit_weights(share.hypergraph); });
    return SpreadPartition(team, share, parts, options).run();
}

}  // namespace arges::partition

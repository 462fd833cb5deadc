// Partitions by all ranks: coarsening within ranks, a partition of what is left on one, and greedy refinement by all at a time with pins
// counted anew for each turn (as parallel k-way refinement: Karypis and Kumar 1999; PHG: Devine et al. 2006). What a rank cannot see while
// it coarsens decides how good parts become, so vertices come together before: first by their smallest nets, for rough parts, then by
// these.
#include "partition/hypergraph/spread_hypergraph.hpp"

#include "base/math.hpp"
#include "base/splitmix.hpp"
#include "partition/hypergraph/coarsen.hpp"
#include "partition/hypergraph/vertex_moves.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace arges::partition {

namespace {

using Numbers = Team::Numbers;

constexpr std::int64_t margin = 8;    ///< coarsening goes on that far below what may be gathered: the more levels, the more refinement
constexpr std::int64_t cut_back = 4;  ///< clusters keep that much fewer pins than may be gathered: rank 0 works on them alone
constexpr std::int64_t pins_of_vertex = 16;    ///< that may be gathered, for each vertex that may be
constexpr int most_turns = 8;                  ///< of refinement on each level
constexpr std::int64_t worthwhile_turn = 200;  ///< a turn that lowers the cut by a smaller part is the last one
constexpr int rough_tries = 2;                 ///< first bisections where parts are only to bring vertices together

/// How good parts are: first the weight above the limits, then the cut.
struct Quality {
    std::int64_t overload = 0, cut = 0;
    auto operator<=>(const Quality&) const = default;
};

class SpreadPartition {
public:
    SpreadPartition(const Team& team, std::int64_t parts, const PartitionOptions& options)
        : team_(team), parts_(parts), options_(options), random_(splitmix(options.seed) + static_cast<std::uint64_t>(team.rank())),
          work_(options.work) {}

    VertexParts run(const HypergraphShare& share) {
        totals_ = share.hypergraph.total_weights();
        team_.sum(totals_);
        const SpreadNets nets(team_, share);
        const auto enough = enough_vertices(parts_, options_.direct);
        if (sum(share.hypergraph.vertices()) <= std::max(options_.gathered, enough) && sum(share.hypergraph.pin_count()) <= most_pins())
            return partition_on_first(nets.gathered(), options_);
        const auto sizes = nets.sizes();
        auto to = multilevel(moved(team_, share, sizes, ranks_by_small_nets(team_, share, sizes)), Pass::rough);
        for (auto& part : to) part = static_cast<std::int32_t>(part % team_.size());
        return multilevel(moved(team_, share, sizes, std::move(to)), Pass::last);
    }

private:
    enum class Pass : std::uint8_t {
        rough,  ///< vertices move on each level, and nothing is refined
        last    ///< vertices stay
    };

    /// A hypergraph on all ranks.
    struct Level {
        Level(const Team& team, MovedShare from) : share(std::move(from.share)), moves(std::move(from.moves)), nets(team, share) {}

        const HypergraphShare share;
        const VertexMoves moves;  ///< of clusters of the level below, which are its vertices
        const SpreadNets nets;
        Clustering clustering;  ///< for the level above
    };

    std::int64_t most_pins() const { return most_gathered_pins(options_); }

    const Hypergraph& top() const { return levels_.back().share.hypergraph; }

    std::int64_t sum(std::int64_t value) const {
        Numbers values{value};
        team_.sum(values);
        return values[0];
    }

    VertexParts multilevel(MovedShare finest, Pass pass) {
        levels_.emplace_back(team_, std::move(finest));
        coarsen(pass);
        auto options = options_;
        if (pass == Pass::rough) {
            options.tries = rough_tries;
            options.cycles = 0;
        }
        auto parts = partition_on_first(levels_.back().nets.gathered(most_pins() / cut_back), options);
        while (true) {
            if (pass == Pass::last) refine(parts);
            parts = returned(team_, levels_.back().moves, parts);
            levels_.pop_back();
            if (levels_.empty()) return parts;
            team_.agree([&] {
                const auto& cluster = levels_.back().clustering.cluster;
                VertexParts finer(cluster.size());
                for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = parts[cluster[v]];
                parts = std::move(finer);
            });
        }
    }

    void coarsen(Pass pass) {
        const auto enough = std::max(options_.gathered / margin, enough_vertices(parts_, options_.direct));
        auto all = sum(top().vertices());
        bool by_nets = true;
        while (all > enough) {
            auto& level = levels_.back();
            const auto sizes = level.nets.sizes();
            MovedShare next;
            team_.agree([&] {
                const auto mine = top().vertices();
                ClusterLimits limits;
                limits.weight = cluster_weights(totals_, parts_);
                limits.fewest = std::max(static_cast<std::int64_t>(Wide{mine} * enough / all), vertices_of_next_level(mine));
                limits.sizes = &sizes;
                level.clustering = by_nets ? cluster_vertices(top(), limits, random_, work_) : cluster_neighbors(top(), limits);
                next.share = clusters(level);
            });
            const auto left = sum(next.share.hypergraph.vertices());
            if (has_stalled(all, left)) {
                if (!std::exchange(by_nets, false)) return;
                continue;
            }
            if (pass == Pass::rough) next = moved_by_small_nets(next.share);
            levels_.emplace_back(team_, std::move(next));
            all = left;
        }
    }

    /// The hypergraph of a level's clusters; a cluster has the number of its first vertex.
    static HypergraphShare clusters(const Level& level) {
        const auto& [cluster, count] = level.clustering;
        HypergraphShare result{contract(level.share.hypergraph, level.clustering, KeptNets::all), Numbers(static_cast<std::size_t>(count)),
                               level.share.nets, level.share.all_nets};
        for (std::size_t v = cluster.size(); v-- > 0;) result.vertices[cluster[v]] = level.share.vertices[v];
        return result;
    }

    MovedShare moved_by_small_nets(const HypergraphShare& share) const {
        const auto sizes = SpreadNets(team_, share).sizes();
        return moved(team_, share, sizes, ranks_by_small_nets(team_, share, sizes));
    }

    /// Rank 0 partitions what it has gathered, and finds the limits of parts.
    VertexParts partition_on_first(const GatheredHypergraph& whole, const PartitionOptions& options) {
        std::vector<Numbers> messages(team_.size());
        team_.agree([&] {
            if (team_.rank() != 0) return;
            const auto found = partition_hypergraph(whole.hypergraph, parts_, options);
            const auto limits = part_limits(whole.hypergraph, parts_, options.imbalance);
            for (std::size_t r = 0; r < messages.size(); ++r) {
                messages[r] = limits;
                for (auto v : whole.vertices[r]) messages[r].push_back(found[v]);
            }
        });
        messages = team_.all_to_all(std::move(messages));
        const auto limits_end = messages[0].begin() + totals_.size();
        limits_.assign(messages[0].begin(), limits_end);
        return {limits_end, messages[0].end()};
    }

    Quality quality(const VertexParts& parts, PinPlaces& places) {
        places = levels_.back().nets.places(parts);
        auto weights = part_weights(top(), parts, parts_);
        const auto mine = weights;
        team_.sum(weights);
        Quality result{0, places.cut};
        for (std::size_t i = 0; i < weights.size(); ++i)
            result.overload += std::max<std::int64_t>(0, weights[i] - limits_[i % limits_.size()]);
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
            const bool go_on = now.overload < best.overload || (best.cut - now.cut) * worthwhile_turn > now.cut;
            best = now;
            if (!go_on) return;
        }
    }

    const Team& team_;
    const std::int64_t parts_;
    const PartitionOptions& options_;
    RandomNumbers random_;
    WorkBudget work_;
    Numbers totals_;                    ///< weights of all vertices, by constraint
    std::vector<std::int64_t> limits_;  ///< of parts
    std::list<Level> levels_;           ///< finest first
};

}  // namespace

std::int64_t most_gathered_pins(const PartitionOptions& options) { return saturated_product(pins_of_vertex, options.gathered); }

VertexParts partition_spread(const Team& team, HypergraphShare share, std::int64_t parts, const PartitionOptions& options) {
    check_partition(parts, options);
    if (parts == 1) return VertexParts(static_cast<std::size_t>(share.hypergraph.vertices()), 0);
    auto totals = share.hypergraph.total_weights();
    team.sum(totals);
    if (std::all_of(totals.begin(), totals.end(), [](auto total) { return total == 0; }))
        team.agree([&] { share.hypergraph = with_unit_weights(share.hypergraph); });
    return SpreadPartition(team, parts, options).run(share);
}

}  // namespace arges::partition

// Multilevel bisection as in hMETIS and PaToH: coarsen, bisect the coarsest hypergraph, refine on every level on the way back (Karypis,
// Aggarwal, Kumar, Shekhar 1999; Catalyurek and Aykanat 1999).
#include "partition/hypergraph/initial_partition.hpp"

#include "partition/hypergraph/coarsen.hpp"

#include <algorithm>
#include <cmath>
#include <list>

namespace arges::partition {

namespace {

constexpr std::int64_t coarsest = 160;       ///< vertices that are bisected directly
constexpr double bisection_shrinkage = 2.2;  ///< of vertices from level to level, at most
constexpr double bisection_stalled = 0.95;   ///< coarsening ends when a level keeps more of the vertices
constexpr std::int64_t most_pins_for_cycles = 1 << 20;
constexpr int bisection_passes = 4;  ///< of FM on each level

/// A coarser hypergraph and how it came from the one below.
struct Level {
    Clustering clustering;
    Hypergraph hypergraph;
};

class MultilevelBisection {
public:
    MultilevelBisection(const Hypergraph& hypergraph, const BisectionRequest& request, RandomNumbers& random, WorkBudget& work)
        : finest_(hypergraph), request_(request), random_(random), work_(work) {}

    std::vector<std::uint8_t> run() {
        coarsen(nullptr);
        Bisection first(top(), request_.limits, work_);
        const auto tries = top().vertices() <= 8 * coarsest ? request_.tries : std::min(request_.tries, 3);
        find_bisection(top(), request_.share, tries, random_, first);
        auto sides = first.sides();
        auto quality = refine_upwards(sides);
        const int cycles = finest_.pin_count() <= most_pins_for_cycles ? request_.cycles : 0;
        for (int i = 0; i < cycles && !work_.used_up(); ++i) {
            auto again = sides;
            coarsen(&again);
            const auto better = refine_upwards(again);
            if (!(better < quality)) break;
            quality = better;
            sides = std::move(again);
        }
        return sides;
    }

private:
    const Hypergraph& top() const { return levels_.empty() ? finest_ : levels_.back().hypergraph; }

    /// Builds the levels. With sides, clusters stay within them, and sides become those of the coarsest hypergraph.
    void coarsen(std::vector<std::uint8_t>* sides) {
        levels_.clear();
        ClusterLimits limits;
        for (auto total : finest_.total_weights()) limits.weight.push_back(std::max<std::int64_t>(1, total * 3 / (2 * coarsest)));
        limits.sides = sides;
        while (top().vertices() > coarsest && !work_.used_up()) {
            const auto& from = top();
            limits.fewest = std::max(coarsest, static_cast<std::int64_t>(static_cast<double>(from.vertices()) / bisection_shrinkage));
            auto clustering = cluster_vertices(from, limits, random_, work_);
            if (static_cast<double>(clustering.count) > bisection_stalled * static_cast<double>(from.vertices())) break;
            auto coarser = contract(from, clustering);
            work_.spend(from.pin_count());
            if (sides) {
                std::vector<std::uint8_t> coarse(clustering.count);
                for (std::size_t v = 0; v < sides->size(); ++v) coarse[clustering.cluster[v]] = (*sides)[v];
                *sides = std::move(coarse);
            }
            levels_.push_back({std::move(clustering), std::move(coarser)});
        }
    }

    /// Refines on all levels from the coarsest to the finest.
    BisectionQuality refine_upwards(std::vector<std::uint8_t>& sides) {
        while (true) {
            Bisection bisection(top(), request_.limits, work_);
            bisection.assign(std::move(sides));
            bisection.refine(bisection_passes);
            sides = bisection.sides();
            if (levels_.empty()) return bisection.quality();
            const auto& cluster = levels_.back().clustering.cluster;
            std::vector<std::uint8_t> finer(cluster.size());
            for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = sides[cluster[v]];
            sides = std::move(finer);
            levels_.pop_back();
        }
    }

    const Hypergraph& finest_;
    const BisectionRequest& request_;
    RandomNumbers& random_;
    WorkBudget& work_;
    std::list<Level> levels_;  ///< finest first
};

}  // namespace

std::vector<std::uint8_t> bisect(const Hypergraph& hypergraph, const BisectionRequest& request, RandomNumbers& random, WorkBudget& work) {
    return MultilevelBisection(hypergraph, request, random, work).run();
}

}  // namespace arges::partition

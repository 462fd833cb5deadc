// The search over grids: beam search over the ways to give torus dimensions to axes (ranked_grids), the best of which are estimated in
// full.
#include "plan/product/pair_rows.hpp"
#include "plan/product/plan_candidates.hpp"
#include "plan/product/ranked_grids.hpp"

#include <algorithm>
#include <limits>

namespace arges {

namespace {

class PlanSearch {
public:
    PlanSearch(const ProductPlan& unmapped, const RankGrid& grid, const PlanOptions& options)
        : unmapped_(unmapped), options_(options), grid_(grid), targets_(grid_targets(unmapped, options.group_mapping)),
          torus_(longest_first(grid)) {}

    /// A plan, and what one of the expected runs takes on average.
    struct Found {
        ProductPlan plan;
        double average_seconds = 0;
    };

    /// None if no plan fits, or if block sizes alone take as long as `bound`.
    /// @param smallest lowered to the working memory of what does not fit
    std::optional<Found> best(double bound, std::int64_t& smallest) const {
        const auto grids = ranked_grids(unmapped_, targets_, grid_, options_, std::numeric_limits<std::size_t>::max());
        if (grids.front().seconds >= bound) return std::nullopt;
        PlanCandidates candidates(unmapped_, grid_, options_);
        std::optional<std::vector<const PlanCandidates::MappedAxis*>> found;
        double least = 0;
        std::size_t looked_at = 0;
        for (const auto& grid : grids) {
            if (looked_at++ >= max_full_estimates && found) break;
            std::vector<const PlanCandidates::MappedAxis*> axes;
            for (std::size_t a = 0; a < unmapped_.axes.size(); ++a) axes.push_back(&candidates.map_axis(a, mapping_of(a, grid)));
            if (found && candidates.least_seconds(axes) >= least * (1 - 1e-9)) continue;
            const auto bytes = candidates.look_at(axes).working_bytes;
            if (bytes > options_.memory_limit) {
                smallest = std::min(smallest, bytes);
                continue;
            }
            const double seconds = candidates.average_seconds();
            if (found && seconds >= least * (1 - 1e-9)) continue;
            least = seconds;
            found = std::move(axes);
        }
        if (!found) return std::nullopt;
        candidates.look_at(*found);
        return Found{candidates.plan(), least};
    }

private:
    static constexpr std::size_t max_full_estimates = 96;

    /// The order of torus dimensions along an axis follows an operand that has the same ones there.
    SlotMapping mapping_of(std::size_t a, const RankedGrid& candidate) const {
        const auto& axis = unmapped_.axes[a];
        std::vector<std::vector<int>> torus(axis.labels.size());
        for (int t : torus_) {
            const int i = candidate.target[static_cast<std::size_t>(t)];
            if (i < 0 || targets_[static_cast<std::size_t>(i)].axis != static_cast<int>(a)) continue;
            torus[static_cast<std::size_t>(targets_[static_cast<std::size_t>(i)].position)].push_back(t);
        }
        const bool one_target = options_.group_mapping == GroupMapping::packed || axis.labels.size() == 1;
        if (!one_target) return block_mapping(grid_, with_positions(axis.node(), axis.labels), std::move(torus));
        SlotMapping mapping;
        mapping.torus = std::move(torus[0]);
        follow_a_tensor(a, mapping);
        return mapping;
    }

    void follow_a_tensor(std::size_t a, SlotMapping& mapping) const {
        auto sorted = mapping.torus;
        std::sort(sorted.begin(), sorted.end());
        double largest = 0;
        const auto& axis = unmapped_.axes[a];
        for (std::size_t o = 0; o <= unmapped_.result(); ++o) {
            const auto& operand = unmapped_.tensor(o);
            const auto& layout = operand.layout;
            const auto size = static_cast<double>(layout.max_local_size());
            if (!(layout.grid() == grid_) || size <= largest) continue;
            for (int s = 0; s < layout.slots(); ++s) {
                const auto& dimensions = layout.slot_dimensions(s);
                if (std::find(axis.labels.begin(), axis.labels.end(), operand.labels[static_cast<std::size_t>(dimensions[0])]) ==
                    axis.labels.end())
                    continue;
                const auto& there = layout.mapping(s).torus;
                if (there.size() < sorted.size()) continue;
                auto beginning = std::vector<int>(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(sorted.size()));
                const auto order = beginning;
                std::sort(beginning.begin(), beginning.end());
                // The whole list, or its beginning: then a rank's own elements are all in its block.
                if (beginning != sorted) continue;
                largest = size;
                mapping.torus = order;
                mapping.rows = there.size() == sorted.size() && dimensions.size() == axis.labels.size() && layout.mapping(s).rows;
            }
        }
    }

    const ProductPlan& unmapped_;
    const PlanOptions& options_;
    const RankGrid& grid_;
    std::vector<GridTarget> targets_;
    std::vector<int> torus_;  // longest first
};

}  // namespace

double quick_seconds(const Product& spec, const PairOrder& order, const PlanOptions& options) {
    const auto unmapped = unmapped_plan(spec, order);
    return ranked_grids(unmapped, grid_targets(unmapped, options.group_mapping), options.whole_grid(spec.output.layout), options, 1)
        .front()
        .seconds;
}

ProductPlan plan_with_mapping(const Product& spec, const PairOrder& order, const RankGrid& grid, const std::vector<SlotMapping>& mapping,
                              const PlanOptions& options) {
    const auto unmapped = unmapped_plan(spec, order);
    PlanCandidates candidates(unmapped, grid, options);
    std::vector<const PlanCandidates::MappedAxis*> axes;
    for (std::size_t a = 0; a < mapping.size(); ++a) axes.push_back(&candidates.map_axis(a, mapping[a]));
    candidates.look_at(std::move(axes));
    return candidates.plan();
}

std::optional<ProductPlan> plan_on_grid(const Product& spec, const PairOrder& order, const PlanOptions& options, std::int64_t& least) {
    const auto unmapped = unmapped_plan(spec, order);
    const auto& whole = options.whole_grid(spec.output.layout);
    least = std::numeric_limits<std::int64_t>::max();
    auto best = plan_by_rows(spec, options);
    double seconds = best ? best->cost.seconds : std::numeric_limits<double>::infinity();
    const auto search = [&](const RankGrid& grid) {
        auto found = PlanSearch(unmapped, grid, options).best(seconds, least);
        if (!found || found->average_seconds >= seconds * (1 - 1e-9)) return;
        seconds = found->average_seconds;
        best = std::move(found->plan);
    };
    search(whole);
    for (std::size_t g = 1; g < options.grids.size(); ++g) search(options.grids[g]);
    return best;
}

}  // namespace arges

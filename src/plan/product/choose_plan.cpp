// The search over grids: beam search over the ways to give torus dimensions to axes (ranked_grids), the best of which are estimated in
// full.
#include "plan/product/plan_candidates.hpp"
#include "plan/product/ranked_grids.hpp"
#include "plan/product/step_memory.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace arges {

namespace {

/// A plan, what one of the expected runs takes on average, and a bound of its workspace.
struct Found {
    ProductPlan plan;
    double seconds = 0;
    std::int64_t bytes = 0;

    bool is_better_than(const std::optional<Found>& other, const PlanOptions& options) const {
        if (!other) return true;
        const bool fits = bytes <= options.memory_limit;
        if (fits != (other->bytes <= options.memory_limit)) return fits;
        return fits ? seconds < other->seconds * (1 - 1e-9) : bytes < other->bytes;
    }
};

/// Orders lists of dimensions, also those that are found in place.
struct Before {
    using is_transparent = void;
    bool operator()(std::span<const Dimensions> a, std::span<const Dimensions> b) const {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
};

class PlanSearch {
public:
    /// @param unmapped  it and the others must outlive this
    PlanSearch(const ProductPlan& unmapped, const AxesInBlocks& in_blocks, const RankGrid& grid, const PlanOptions& options)
        : unmapped_(unmapped), in_blocks_(in_blocks), options_(options), grid_(grid), targets_(grid_targets(unmapped, in_blocks)),
          torus_(longest_first(grid)), mapped_(unmapped.axes.size()), along_(targets_.size()) {}

    /// Replaces a plan by a better one: a faster one that fits into the memory limit, or a smaller one as long as none fits.
    void improve(std::optional<Found>& best) {
        // The beam knows links of dimensions that are decided only, so that it may lose what is best on them: what one would do by hand
        // comes first, and what is best without links counts, too.
        if (options_.links && grid_ == options_.whole_grid(unmapped_.spec.output.layout))
            for (const auto& grid : plain_grids(unmapped_, targets_, grid_, options_)) consider(best, grid);
        improve(best, grids_ranked_with(options_));
        if (!options_.links) return;
        auto without = options_;
        without.links.reset();
        improve(best, grids_ranked_with(without));
    }

private:
    std::vector<RankedGrid> grids_ranked_with(const PlanOptions& ranking) const {
        return ranked_grids(unmapped_, targets_, grid_, ranking, std::numeric_limits<std::size_t>::max());
    }

    void improve(std::optional<Found>& best, const std::vector<RankedGrid>& grids) {
        for (const auto& grid : grids) consider(best, grid);
    }

    bool fits(const std::optional<Found>& best) const { return best && best->bytes <= options_.memory_limit; }
    bool is_slower(double seconds, const std::optional<Found>& best) const { return fits(best) && seconds >= best->seconds * (1 - 1e-9); }

    /// Estimates a grid in full.
    void consider(std::optional<Found>& best, const RankedGrid& grid) {
        if (options_.links && !known_.insert(grid.target).second) return;
        if (!candidates_) candidates_.emplace(unmapped_, grid_, options_);
        const auto& axes = mapped(grid);
        if (is_slower(candidates_->least_seconds(axes), best)) return;
        auto candidate = candidates_->candidate(axes);
        if (is_slower(candidates_->average_seconds(candidate), best)) return;
        Found found;
        found.plan = candidates_->fitting_plan(candidate);
        found.bytes = workspace_bound(found.plan, options_);
        found.seconds = candidates_->average_seconds(candidate);
        if (found.is_better_than(best, options_)) best = std::move(found);
    }

    /// The mapping of each axis on a grid.
    const std::vector<MappedAxis*>& mapped(const RankedGrid& grid) {
        std::fill(along_.begin(), along_.end(), 0);
        for (int t = 0; t < grid_.dimensions(); ++t)
            if (grid.target[t] >= 0) along_[grid.target[t]] |= dimension(t);
        axes_.clear();
        for (std::size_t a = 0, first = 0; a < unmapped_.axes.size(); ++a) {
            const auto count = in_blocks_[a] ? unmapped_.axes[a].labels.size() : 1;
            const std::span<const Dimensions> along(along_.data() + first, count);
            auto found = mapped_[a].find(along);
            if (found == mapped_[a].end())
                found = mapped_[a].try_emplace({along.begin(), along.end()}, &candidates_->map_axis(a, mapping_of(a, along))).first;
            axes_.push_back(found->second);
            first += count;
        }
        return axes_;
    }

    /// The order of torus dimensions along an axis follows an operand that has the same ones there. @param along  by position of the axis
    SlotMapping mapping_of(std::size_t a, std::span<const Dimensions> along) const {
        const auto& axis = unmapped_.axes[a];
        std::vector<std::vector<int>> torus(along.size());
        for (int t : torus_)
            for (std::size_t i = 0; i < along.size(); ++i)
                if ((along[i] & dimension(t)) != 0) torus[i].push_back(t);
        if (in_blocks_[a]) return block_mapping(grid_, with_positions(axis.node(), axis.labels), std::move(torus));
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
            const double size = layout.max_local_size();
            if (!(layout.grid() == grid_) || size <= largest) continue;
            for (int s = 0; s < layout.slots(); ++s) {
                const auto& dimensions = layout.slot_dimensions(s);
                if (std::find(axis.labels.begin(), axis.labels.end(), operand.labels[dimensions[0]]) == axis.labels.end()) continue;
                const auto& there = layout.mapping(s).torus;
                if (there.size() < sorted.size()) continue;
                auto beginning = std::vector<int>(there.begin(), there.begin() + sorted.size());
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
    const AxesInBlocks& in_blocks_;
    const PlanOptions& options_;
    const RankGrid& grid_;
    std::vector<GridTarget> targets_;
    std::vector<int> torus_;                                                      // longest first
    std::optional<PlanCandidates> candidates_;                                    // made when they are needed
    std::vector<std::map<std::vector<Dimensions>, MappedAxis*, Before>> mapped_;  // by axis and dimensions along its targets
    std::vector<MappedAxis*> axes_;
    std::vector<Dimensions> along_;                 // by target: what a grid gives it
    std::set<decltype(RankedGrid::target)> known_;  // targets of the grids that have been estimated in full
};

}  // namespace

double quick_seconds(const Product& spec, const PairOrder& order, const PlanOptions& options) {
    const auto unmapped = unmapped_plan(spec, order);
    const auto in_blocks = choices_of_blocks(unmapped, options.group_mapping).front();
    return ranked_grids(unmapped, grid_targets(unmapped, in_blocks), options.whole_grid(spec.output.layout), options, 1).front().seconds;
}

ProductPlan plan_with_mapping(const Product& spec, const PairOrder& order, const RankGrid& grid, const std::vector<SlotMapping>& mapping,
                              const PlanOptions& options) {
    const auto unmapped = unmapped_plan(spec, order);
    PlanCandidates candidates(unmapped, grid, options);
    std::vector<MappedAxis*> axes;
    for (std::size_t a = 0; a < mapping.size(); ++a) axes.push_back(&candidates.map_axis(a, mapping[a]));
    return candidates.plan(candidates.candidate(std::move(axes)));
}

ProductPlan plan_on_grid(const Product& spec, const PairOrder& order, const PlanOptions& options) {
    auto unmapped = unmapped_plan(spec, order);
    std::optional<Found> best;
    if (auto rows = plan_by_rows(spec, options)) {
        const double seconds = rows->cost.seconds;
        const auto bytes = workspace_bound(*rows, options);
        best = Found{*std::move(rows), seconds, bytes};
    }
    for (const auto& in_blocks : choices_of_blocks(unmapped, options.group_mapping)) {
        // What is scattered from a working copy is packed.
        unmapped.spec.output_is_free = spec.output_is_free;
        for (std::size_t a = 0; a < in_blocks.size(); ++a)
            if (in_blocks[a] && !unmapped.axes[a].is_contracted()) unmapped.spec.output_is_free = false;
        PlanSearch(unmapped, in_blocks, options.whole_grid(spec.output.layout), options).improve(best);
        for (std::size_t g = 1; g < options.grids.size(); ++g) PlanSearch(unmapped, in_blocks, options.grids[g], options).improve(best);
    }
    return std::move(best->plan);
}

}  // namespace arges

#include "plan/fused_candidates.hpp"
#include "plan/fused_grids.hpp"
#include "plan/fused_plan.hpp"

#include <algorithm>
#include <limits>

namespace arges {

namespace {

/// A plan, and what one of the expected runs takes on average.
struct RankedPlan {
    FusedPlan plan;
    double average_seconds = 0;
};

class FusedGridSearch {
public:
    FusedGridSearch(const Product& spec, const PairOrder& order, const RankGrid& grid, const PlanOptions& options)
        : spec_(spec), order_(order), options_(options), grid_(grid) {
        for (int t = 0; t < grid.dimensions(); ++t) torus_.push_back(t);
        std::stable_sort(torus_.begin(), torus_.end(), [&](int x, int y) {
            return grid.lengths[static_cast<std::size_t>(x)] > grid.lengths[static_cast<std::size_t>(y)];
        });
    }

    /// None if no plan fits, or if block sizes alone take as long as `bound`.
    std::optional<RankedPlan> best(double bound = std::numeric_limits<double>::infinity()) const {
        std::optional<RankedPlan> sliced;
        std::optional<std::vector<SlotMapping>> whole;
        double least = 0;
        std::size_t looked_at = 0;
        const auto grids = ranked_fused_grids(spec_, order_, grid_, options_, std::numeric_limits<std::size_t>::max());
        if (grids.front().seconds >= bound) return std::nullopt;
        FusedCandidates candidates(spec_, order_, grid_, mapping_of(grids.front()), options_);
        for (const auto& grid : grids) {
            const bool any = sliced || whole;
            if (looked_at++ >= max_full_estimates && any) break;
            const auto mapping = mapping_of(grid);
            if (candidates.look_at(mapping).working_bytes > options_.memory_limit) {
                auto plan = fused_with_mapping(spec_, order_, grid_, mapping, options_);
                slice_to_fit(plan, options_);
                if (plan.cost.working_bytes > options_.memory_limit || (any && plan.cost.seconds >= least * (1 - 1e-9))) continue;
                least = plan.cost.seconds;
                whole.reset();
                sliced = {std::move(plan), least};
                continue;
            }
            const double seconds = candidates.average_seconds();
            if (any && seconds >= least * (1 - 1e-9)) continue;
            least = seconds;
            sliced.reset();
            whole = mapping;
        }
        if (!whole) return sliced;
        auto plan = fused_with_mapping(spec_, order_, grid_, *whole, options_);
        choose_where_inputs_stay(plan);
        return RankedPlan{std::move(plan), least};
    }

private:
    static constexpr std::size_t max_full_estimates = 32;

    /// The order of torus dimensions along a label follows an operand that has the same ones there.
    std::vector<SlotMapping> mapping_of(const FusedGrid& candidate) const {
        std::vector<SlotMapping> mapping(spec_.label_extents.size());
        for (int t : torus_)
            if (const int l = candidate.label[static_cast<std::size_t>(t)]; l >= 0)
                mapping[static_cast<std::size_t>(l)].torus.push_back(t);
        for (std::size_t l = 0; l < mapping.size(); ++l) adopt_order(static_cast<int>(l), mapping[l].torus);
        return mapping;
    }

    void adopt_order(int label, std::vector<int>& torus) const {
        auto sorted = torus;
        std::sort(sorted.begin(), sorted.end());
        double largest = 0;
        auto look = [&](const OperandSpec& operand) {
            if (!(operand.layout.grid() == grid_)) return;
            for (int s = 0; s < operand.layout.slots(); ++s) {
                const auto& dims = operand.layout.slot_dimensions(s);
                if (dims.size() != 1 || operand.labels[static_cast<std::size_t>(dims[0])] != label) continue;
                auto there = operand.layout.mapping(s).torus;
                auto other = there;
                std::sort(other.begin(), other.end());
                const auto size = static_cast<double>(operand.layout.max_local_size());
                if (size <= largest) continue;
                // The whole list, or its beginning: then a rank's own elements are all in its block.
                if (other == sorted || std::is_permutation(torus.begin(), torus.end(), there.begin(),
                                                           there.begin() + static_cast<std::ptrdiff_t>(
                                                                               std::min(torus.size(), there.size())))) {
                    largest = size;
                    torus.assign(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(torus.size()));
                }
            }
        };
        for (const auto& input : spec_.factors) look(input);
        look(spec_.output);
    }

    const Product& spec_;
    const PairOrder& order_;
    const PlanOptions& options_;
    const RankGrid& grid_;
    std::vector<int> torus_;  // longest first
};

}  // namespace

double quick_seconds(const Product& spec, const PairOrder& order, const PlanOptions& options) {
    return ranked_fused_grids(spec, order, options.whole_grid(spec.output.layout), options, 1).front().seconds;
}

std::optional<FusedPlan> plan_fused(const Product& spec, const PairOrder& order, const PlanOptions& options) {
    auto best = FusedGridSearch(spec, order, options.whole_grid(spec.output.layout), options).best();
    for (std::size_t g = 1; g < options.grids.size(); ++g) {
        const FusedGridSearch search(spec, order, options.grids[g], options);
        auto plan = best ? search.best(best->average_seconds) : search.best();
        if (plan && (!best || plan->average_seconds < best->average_seconds * (1 - 1e-9))) best = std::move(plan);
    }
    if (!best) return std::nullopt;
    return std::move(best->plan);
}

}  // namespace arges

#include "base/math.hpp"
#include "plan/estimate_cost.hpp"
#include "plan/fused_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace arges {

namespace {

constexpr int no_label = -1, undecided = -2;

/// An assignment of torus dimensions to labels.
struct GridState {
    std::vector<int> target;            // by torus dimension: a label, no_label or undecided
    std::vector<std::int64_t> places;   // by label
    double seconds = 0;
};

/// A plan, and what one of the expected runs takes on average.
struct RankedPlan {
    FusedPlan plan;
    double average_seconds = 0;
};

class FusedGridSearch {
public:
    FusedGridSearch(const FusedSpec& spec, const RankGrid& grid, const PlanOptions& options)
        : spec_(spec), options_(options), grid_(grid) {
        for (const auto& input : spec.inputs) operands_.push_back(describe(input));
        std::set<int> present;
        for (const auto& operand : operands_) present.insert(operand.labels.begin(), operand.labels.end());
        labels_.assign(present.begin(), present.end());
        operands_.push_back(describe(spec.output));
        std::erase_if(operands_.back().labels, [&](int l) { return present.count(l) == 0; });
        const auto inputs = spec.inputs.size();
        for (std::size_t o = 0; o < inputs; ++o) node_labels_.push_back(operands_[o].labels);
        for (const auto& step : spec.order) add_step(step);
        order_torus();
    }

    /// None if no plan fits, or if block sizes alone take as long as `bound`.
    std::optional<RankedPlan> best(double bound = std::numeric_limits<double>::infinity()) const {
        std::optional<RankedPlan> best;
        std::size_t looked_at = 0;
        const auto states = candidates();
        if (states.front().seconds >= bound) return best;
        for (const auto& state : states) {
            if (looked_at++ >= max_full_estimates && best) break;
            auto plan = fused_with_mapping(spec_, grid_, mapping_of(state), options_);
            slice_to_fit(plan, options_);
            if (plan.cost.working_bytes > options_.memory_limit) continue;
            const double seconds = average_seconds(plan);
            if (!best || seconds < best->average_seconds * (1 - 1e-9)) best = {std::move(plan), seconds};
        }
        if (best && best->plan.slices == 1) choose_where_inputs_stay(best->plan);
        return best;
    }

    double quick() const { return candidates().front().seconds; }

private:
    static constexpr std::size_t max_full_estimates = 32;
    static constexpr std::size_t beam_width = 192, variants = 6;

    /// An operand as the quick estimate sees it.
    struct Operand {
        std::set<int> labels;
        double owned = 0;                  // elements on a rank
        bool is_lasting = false;
        std::vector<std::pair<int, std::vector<int>>> spread;  // labels and the torus dimensions of their layout, in order
    };

    Operand describe(const OperandSpec& operand) const {
        Operand result;
        result.labels.insert(operand.labels.begin(), operand.labels.end());
        result.owned = static_cast<double>(operand.layout.max_local_size());
        result.is_lasting = operand.is_lasting;
        if (!(operand.layout.grid() == grid_)) return result;
        for (int s = 0; s < operand.layout.slots(); ++s)
            if (const auto& dims = operand.layout.slot_dimensions(s); dims.size() == 1)
                result.spread.emplace_back(operand.labels[static_cast<std::size_t>(dims[0])], operand.layout.mapping(s).torus);
        return result;
    }

    void add_step(const std::array<int, 2>& step) {
        auto all = node_labels_[static_cast<std::size_t>(step[0])];
        const auto& b = node_labels_[static_cast<std::size_t>(step[1])];
        all.insert(b.begin(), b.end());
        step_labels_.push_back(all);
        node_labels_[static_cast<std::size_t>(step[0])].clear();
        node_labels_[static_cast<std::size_t>(step[1])].clear();
        auto kept = std::set<int>(spec_.output.labels.begin(), spec_.output.labels.end());
        for (const auto& labels : node_labels_) kept.insert(labels.begin(), labels.end());
        std::set<int> result;
        std::set_intersection(all.begin(), all.end(), kept.begin(), kept.end(), std::inserter(result, result.begin()));
        node_labels_.push_back(result);
    }

    /// Longest torus dimensions first: the choices that matter most come first.
    void order_torus() {
        for (int t = 0; t < grid_.dimensions(); ++t) torus_.push_back(t);
        std::stable_sort(torus_.begin(), torus_.end(), [&](int x, int y) {
            return grid_.lengths[static_cast<std::size_t>(x)] > grid_.lengths[static_cast<std::size_t>(y)];
        });
    }

    std::int64_t extent(int label) const { return spec_.label_extents[static_cast<std::size_t>(label)]; }

    std::vector<GridState> candidates() const {
        std::vector<GridState> beam{{std::vector<int>(grid_.lengths.size(), undecided),
                                     std::vector<std::int64_t>(spec_.label_extents.size(), 1), 0}};
        for (int t : torus_) {
            // States with the same ranks along every label differ only in what already lies right.
            std::map<std::vector<std::int64_t>, std::vector<GridState>> next;
            const auto length = grid_.lengths[static_cast<std::size_t>(t)];
            for (const auto& state : beam)
                for (std::size_t i = 0; i <= labels_.size(); ++i) {
                    auto extended = state;
                    extended.target[static_cast<std::size_t>(t)] = no_label;
                    if (i < labels_.size()) {
                        const int label = labels_[i];
                        auto& places = extended.places[static_cast<std::size_t>(label)];
                        if (places * length > extent(label)) continue;
                        places *= length;
                        extended.target[static_cast<std::size_t>(t)] = label;
                    }
                    extended.seconds = quick_seconds(extended);
                    next[extended.places].push_back(std::move(extended));
                }
            beam.clear();
            for (auto& [places, states] : next) {
                const auto kept = std::min(states.size(), variants);
                std::partial_sort(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(kept), states.end(), faster);
                beam.insert(beam.end(), states.begin(), states.begin() + static_cast<std::ptrdiff_t>(kept));
            }
            std::stable_sort(beam.begin(), beam.end(), faster);
            if (beam.size() > beam_width) beam.resize(beam_width);
        }
        return beam;
    }

    static bool faster(const GridState& a, const GridState& b) { return a.seconds < b.seconds; }

    double block(const std::set<int>& labels, const GridState& state) const {
        double product = 1;
        for (int l : labels) product *= static_cast<double>(ceil_div(extent(l), state.places[static_cast<std::size_t>(l)]));
        return product;
    }

    /// Elements that a rank owns and has in its block. A label that is spread over (t0, t1, ...) keeps its elements if its ranks in
    /// the block are t0, or t0 and t1, and so on; every other torus dimension of the block divides what is useful.
    double useful(const Operand& operand, const GridState& state) const {
        double result = operand.owned;
        for (std::size_t t = 0; t < state.target.size(); ++t)
            if (state.target[t] >= 0 && operand.labels.count(state.target[t]) > 0) result /= static_cast<double>(grid_.lengths[t]);
        for (const auto& [label, torus] : operand.spread)
            for (int t : torus) {
                const int target = state.target[static_cast<std::size_t>(t)];
                if (target == undecided) continue;
                if (target != label) break;
                result *= static_cast<double>(grid_.lengths[static_cast<std::size_t>(t)]);
            }
        return result;
    }

    /// Elements that a rank sends or receives where each of the ranks that have a block, or parts of it, keeps its share of it.
    double scattered_words(const Operand& operand, const GridState& state) const {
        double sharing = 1;
        for (std::size_t t = 0; t < state.target.size(); ++t)
            if (state.target[t] >= 0 && operand.labels.count(state.target[t]) == 0) sharing *= static_cast<double>(grid_.lengths[t]);
        return block(operand.labels, state) * (1 - 1 / sharing);
    }

    /// Seconds of this run and of later ones, for which the inputs stay where this one leaves them.
    double average_seconds(const FusedPlan& plan) const {
        if (options_.expected_runs == 1 || plan.slices > 1) return plan.cost.seconds;
        auto settled = plan;
        choose_where_inputs_stay(settled);
        auto spec = spec_;
        for (std::size_t i = 0; i < spec.inputs.size(); ++i)
            if (spec.inputs[i].is_lasting && settled.stay[i]) spec.inputs[i].layout = *settled.stay[i];
        const auto runs = static_cast<double>(options_.expected_runs);
        const auto later = fused_with_mapping(spec, grid_, plan.label_mapping, options_).cost.seconds;
        return (plan.cost.seconds + (runs - 1) * later) / runs;
    }

    /// Seconds from block sizes, and from the share of what a rank owns that lies in its block.
    double quick_seconds(const GridState& state) const {
        const auto& machine = options_.machine;
        double products = 0, words = 0;
        for (const auto& labels : step_labels_) products += block(labels, state);
        for (const auto& operand : operands_) {
            if (spec_.output_is_free && &operand == &operands_.back()) {
                words += scattered_words(operand, state);
                continue;
            }
            const double now = std::max(0.0, block(operand.labels, state) - useful(operand, state));
            const double later = operand.is_lasting ? std::min(now, scattered_words(operand, state)) : now;
            const auto runs = static_cast<double>(options_.expected_runs);
            words += (now + (runs - 1) * later) / runs;
        }
        if (grid_.ranks() == 1) words = 0;
        const auto bytes = static_cast<double>(spec_.element_bytes);
        return products * spec_.flops_per_product / machine.flops_per_second +
               words * bytes * (1 / machine.bytes_per_second + 2 / machine.copied_bytes_per_second);
    }

    /// The order of torus dimensions along a label follows an operand that has the same ones there.
    std::vector<SlotMapping> mapping_of(const GridState& state) const {
        std::vector<SlotMapping> mapping(spec_.label_extents.size());
        for (int t : torus_)
            if (const int l = state.target[static_cast<std::size_t>(t)]; l >= 0)
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
        for (const auto& input : spec_.inputs) look(input);
        look(spec_.output);
    }

    const FusedSpec& spec_;
    const PlanOptions& options_;
    const RankGrid& grid_;
    std::vector<Operand> operands_;
    std::vector<std::set<int>> node_labels_, step_labels_;
    std::vector<int> torus_, labels_;  // labels of the inputs
};

}  // namespace

double quick_seconds(const FusedSpec& spec, const PlanOptions& options) {
    return FusedGridSearch(spec, options.whole_grid(spec.output.layout), options).quick();
}

std::optional<FusedPlan> plan_fused(const FusedSpec& spec, const PlanOptions& options) {
    auto best = FusedGridSearch(spec, options.whole_grid(spec.output.layout), options).best();
    for (std::size_t g = 1; g < options.grids.size(); ++g) {
        const FusedGridSearch search(spec, options.grids[g], options);
        auto plan = best ? search.best(best->average_seconds) : search.best();
        if (plan && (!best || plan->average_seconds < best->average_seconds * (1 - 1e-9))) best = std::move(plan);
    }
    if (!best) return std::nullopt;
    return std::move(best->plan);
}

}  // namespace arges

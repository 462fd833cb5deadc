// Grid and layers of a medium-grain distribution by the predicted time of an iteration: samples of slices rank all candidates, larger ones
// the best, and loads of the finalists are counted in full. Grids and policies: SPLATT; irregularity-aware-cpd-2023.
#include "partition/choose.hpp"

#include "arges/error.hpp"
#include "base/first_error.hpp"
#include "partition/choose_sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace arges::partition {

namespace {

/// Nonzeros for each mode in the smallest sample, and in the largest.
std::int64_t smallest_sample(std::int64_t wanted, std::int64_t ranks) { return std::max(wanted, 2 * ranks); }
std::int64_t largest_sample(std::int64_t nonzeros, std::int64_t smallest) {
    return std::clamp(nonzeros / 16, 16 * smallest, 32 * smallest);
}

struct Candidate {
    LayerRule rule;
    GridLayers layers;
    double touched = 0;  // rows, for ties
    double seconds = 0;
    std::int64_t volume = 0;  // rows of the busiest rank
    int stage = 0;            // how well both are known: the number of the sample

    const Grid& grid() const { return layers.grid; }
    bool has_layers_of(const Candidate& other) const {
        return std::equal(layers.finders.begin(), layers.finders.end(), other.layers.finders.begin(),
                          [](const auto& a, const auto& b) { return a == b || a->boundaries() == b->boundaries(); });
    }
};

/// Chooses for one number of ranks.
class Chooser {
public:
    Chooser(const Team& team, const TensorPart& tensor, std::int64_t ranks, int columns, const ChoiceOptions& options)
        : team_(team), tensor_(tensor), ranks_(ranks), columns_(columns), options_(options),
          heavy_(std::max(options.sample / 4, 4 * ranks)) {
        Team::Numbers sums{tensor.view.count()};
        for (const auto& mode : tensor.modes) {
            sums.push_back(std::ssize(mode.slices));
            std::int64_t nonzeros = 0;
            for (std::size_t i = 0; i + 1 < mode.start.size(); ++i) nonzeros += std::min(heavy_, mode.start[i + 1] - mode.start[i]);
            sums.push_back(nonzeros);
        }
        team.sum(sums);
        totals_.nonzeros = sums[0];
        for (std::size_t m = 0; m < tensor.modes.size(); ++m) {
            totals_.slices.push_back(sums[2 * m + 1]);
            light_.push_back(sums[2 * m + 2]);
        }
    }

    std::vector<MediumChoice> choose() {
        find_candidates();
        const auto sizes = sample_sizes();
        TensorSample sample(team_, tensor_, sizes);
        if (tensor_.share < 1) estimate_slices(sample, sizes.back());
        for (std::size_t stage = 0; stage < sizes.size(); ++stage) {
            if (sizes.size() > 1) sample.look_at(sizes[stage]);
            const auto count = stage == 0 ? candidates_.size() : kept(stage + least_stage(sizes));
            const auto forward = bring_forward(count);
            const bool all_nonzeros = sizes[stage].nonzeros > 1;
            const std::size_t batch = all_nonzeros ? (1 << 20) / ranks_ + 1 : count;  // whose loads are summed at once
            for (std::size_t first = 0; first < count; first += batch)
                predict(sample, all_nonzeros, forward.subspan(first, std::min(batch, count - first)));
            for (auto& c : forward) c.stage = static_cast<int>(stage) + 1;
        }
        rank();
        std::vector<MediumChoice> result;
        for (const auto& c : candidates_) {
            const bool counted = c.stage == static_cast<int>(sizes.size()) && sizes.back().is_everything();
            result.push_back({{c.grid(), c.rule, options_.rows, options_.excess}, c.seconds, c.volume, counted});
        }
        return result;
    }

private:
    /// Candidates that the second and the third of three samples are for.
    std::size_t kept(std::size_t stage) const {
        const auto all = candidates_.size();
        return std::min(all, stage == 1 ? std::clamp<std::size_t>(all / 16, 16, 64) : finalists(ranks_));
    }
    static std::size_t least_stage(const std::vector<SampleSize>& sizes) { return 3 - sizes.size(); }

    std::vector<Grid> possible_grids() const {
        const auto grids = options_.grids.empty() ? all_grids(ranks_, tensor_.order()) : options_.grids;
        std::vector<Grid> result;
        for (const auto& grid : grids) {
            bool possible = true;
            for (std::size_t n = 0; n < grid.size(); ++n) possible = possible && grid[n] <= totals_.slices[n];
            if (possible) result.push_back(grid);
        }
        return result.empty() ? grids : result;
    }

    /// Every grid with every policy that gives it other layers.
    void find_candidates() {
        const auto grids = possible_grids();
        const auto& rules = options_.rules.empty() ? all_policies() : options_.rules;
        std::set<LayerCut> needed;
        for (const auto& grid : grids)
            for (std::size_t n = 0; n < grid.size(); ++n)
                for (const auto& rule : rules) needed.insert({n, grid[n], rule});
        const std::vector<LayerCut> cuts(needed.begin(), needed.end());
        const auto boundaries = cut_modes(team_, tensor_, cuts);
        std::map<LayerCut, std::shared_ptr<const LayerFinder>> finders;
        for (std::size_t i = 0; i < cuts.size(); ++i) finders.emplace(cuts[i], std::make_shared<const LayerFinder>(boundaries[i]));
        for (const auto& grid : grids) {
            const std::ptrdiff_t first = candidates_.size();
            for (const auto& rule : rules) {
                Candidate candidate{rule, {grid, {}}, touched_rows(grid, totals_.slices)};
                for (std::size_t n = 0; n < grid.size(); ++n) candidate.layers.finders.push_back(finders.at({n, grid[n], rule}));
                const auto same = [&](const Candidate& other) { return other.has_layers_of(candidate); };
                if (std::none_of(candidates_.begin() + first, candidates_.end(), same)) candidates_.push_back(std::move(candidate));
            }
        }
    }

    /// One, two or three samples, ascending, as are needed to find the best candidates.
    std::vector<SampleSize> sample_sizes() const {
        const auto small = smallest_sample(options_.sample, ranks_);
        if (options_.largest > 0) {
            const auto largest = std::max(options_.largest, small);
            if (candidates_.size() <= kept(2) || largest == small) return {sample_of(largest)};
            return {sample_of(small), sample_of(largest)};
        }
        const double order = tensor_.order(), all = candidates_.size();
        std::vector<SampleSize> sizes;
        if (all * order * 2 * static_cast<double>(totals_.nonzeros) > options_.look_ups) {
            if (candidates_.size() > kept(1)) sizes.push_back(sample_of(small));
            if (candidates_.size() > kept(2)) sizes.push_back(sample_of(8 * small));
            sizes.push_back(sample_of(largest_sample(totals_.nonzeros, small)));
            sizes.back().nonzeros = 2;
        } else {
            sizes.push_back(sample_of(totals_.nonzeros));
        }
        return sizes;
    }

    /// A sample with about so many nonzeros for each mode. Short modes have at least some slices in it.
    SampleSize sample_of(std::int64_t nonzeros) const {
        constexpr double least_slices = 16;
        SampleSize size;
        size.slices.assign(tensor_.modes.size(), 1);
        if (nonzeros >= totals_.nonzeros) return size;
        size.heavy = heavy_;
        size.nonzeros = std::min(1.0, 2 * static_cast<double>(nonzeros) / totals_.nonzeros);
        for (std::size_t m = 0; m < size.slices.size(); ++m)
            size.slices[m] =
                std::min(1.0, std::max(static_cast<double>(nonzeros) / light_[m], least_slices / static_cast<double>(totals_.slices[m])));
        return size;
    }

    /// Nonempty slices from those of a sample, where not all were counted.
    void estimate_slices(const TensorSample& sample, const SampleSize& size) {
        const auto sampled = sample.slices();
        for (std::size_t m = 0; m < sampled.size(); ++m) totals_.slices[m] = std::llround(static_cast<double>(sampled[m]) / size.slices[m]);
    }

    /// Puts the candidates that are worth a better prediction first: half of them those with the least time, half those with
    /// the least volume of the others that are not much slower.
    std::span<Candidate> bring_forward(std::size_t count) {
        const auto by_time = [](const Candidate& a, const Candidate& b) {
            return std::tuple(a.seconds, a.touched) < std::tuple(b.seconds, b.touched);
        };
        const auto by_volume = [](const Candidate& a, const Candidate& b) {
            return std::tuple(a.volume, a.seconds) < std::tuple(b.volume, b.seconds);
        };
        if (count == candidates_.size()) return candidates_;
        std::stable_sort(candidates_.begin(), candidates_.end(), by_time);
        const auto limit = (1 + 2 * (options_.near - 1)) * candidates_[0].seconds;
        const auto rest = candidates_.begin() + (count + 1) / 2;
        const auto slow = std::find_if(rest, candidates_.end(), [&](const Candidate& c) { return c.seconds > limit; });
        std::stable_sort(rest, slow, by_volume);
        return std::span(candidates_).first(count);
    }

    /// Predicts times and volumes: each rank those of some candidates, from the sample that all have. Loads are counted by all together,
    /// where they are not estimated.
    void predict(const TensorSample& sample, bool all_nonzeros, std::span<Candidate> candidates) {
        const std::size_t members = team_.size(), me = team_.rank(), mine = (candidates.size() + members - 1 - me) / members;
        const std::size_t length = all_nonzeros ? ranks_ : 0;
        Team::Numbers loads(candidates.size() * length), results(2 * mine);
        FirstError error;
#pragma omp parallel for schedule(dynamic)
        for (std::size_t i = 0; i < (all_nonzeros ? candidates.size() : 0); ++i)
            error.run([&] { std::ranges::copy(loads_of(tensor_.view, candidates[i].layers), loads.begin() + i * length); });
        team_.agree([&] { error.rethrow(); });
        if (all_nonzeros) team_.sum(loads);
#pragma omp parallel for schedule(dynamic)
        for (std::size_t j = 0; j < mine; ++j)
            error.run([&] {
                const auto i = me + j * members;
                const auto begin = loads.begin() + i * length;
                const auto counts = sample.counts(candidates[i].layers, {begin, begin + length}, totals_, options_.rows, options_.excess);
                results[2 * j] = std::bit_cast<std::int64_t>(iteration_seconds(counts, columns_, options_.costs));
                results[2 * j + 1] = max_mean(total_volume(counts)).max;
            });
        team_.agree([&] { error.rethrow(); });
        const auto all = team_.all_gather(results);
        std::size_t next = 0;
        for (std::size_t r = 0; r < members; ++r)
            for (auto i = r; i < candidates.size(); i += members) {
                candidates[i].seconds = std::bit_cast<double>(all[next++]);
                candidates[i].volume = all[next++];
            }
    }

    /// Those known better first, then by seconds; among the best known ones that are as good as equally fast, by volume.
    void rank() {
        const auto key = [](const Candidate& c) { return std::tuple(-c.stage, c.seconds, c.touched); };
        std::stable_sort(candidates_.begin(), candidates_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
        const auto stage = candidates_[0].stage;
        const auto limit = options_.near * candidates_[0].seconds;
        const auto slower =
            std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& c) { return c.stage != stage || c.seconds > limit; });
        const auto by_volume = [](const auto& a, const auto& b) {
            return std::tuple(a.volume, a.seconds) < std::tuple(b.volume, b.seconds);
        };
        std::stable_sort(candidates_.begin(), slower, by_volume);
    }

    const Team& team_;
    const TensorPart& tensor_;
    std::int64_t ranks_;
    int columns_;
    const ChoiceOptions& options_;
    std::int64_t heavy_;  // nonzeros of a slice that samples take at most
    TensorTotals totals_;
    std::vector<std::int64_t> light_;  // by mode, nonzeros of all slices, each with at most `heavy_`
    std::vector<Candidate> candidates_;
};

}  // namespace

double iteration_seconds(const DistributionCounts& counts, int columns, const IterationCosts& costs) {
    const auto largest = [](const std::vector<std::int64_t>& by_rank) { return static_cast<double>(max_mean(by_rank).max); };
    double seconds = 0;
    for (const auto& mode : counts.modes) {
        std::int64_t volume = 0;
        for (std::size_t p = 0; p < mode.sent.size(); ++p) volume = std::max(volume, mode.volume(p));
        const double per_column = largest(mode.nonzeros) * costs.per_nonzero_column + largest(mode.owned) * costs.per_row_column +
                                  static_cast<double>(volume) * costs.bytes_per_element * costs.per_byte;
        seconds += columns * per_column + largest(mode.messages) * costs.per_message;
    }
    return seconds;
}

std::vector<MediumChoice> choose_medium(const Team& team, const TensorPart& tensor, std::int64_t ranks, int columns,
                                        const ChoiceOptions& options) {
    if (ranks < 1 || columns < 1)
        throw InvalidArgument("a distribution over " + std::to_string(ranks) + " ranks for " + std::to_string(columns) +
                              " columns cannot be chosen; there must be at least one of each");
    for (const auto& grid : options.grids)
        if (partition::ranks(grid) != ranks)
            throw InvalidArgument("the grid " + to_string(grid) + " is not one of " + std::to_string(ranks) + " ranks");
    return Chooser(team, tensor, ranks, columns, options).choose();
}

std::vector<MediumChoice> choose_medium(const IndexView& view, std::int64_t ranks, int columns, const ChoiceOptions& options) {
    return choose_medium(Team(), whole_tensor(view, SliceTable(view)), ranks, columns, options);
}

std::size_t finalists(std::int64_t ranks) { return std::clamp<std::int64_t>(ranks / 4, 8, 32); }

std::int64_t most_sampled(std::int64_t nonzeros, std::int64_t ranks) {
    return largest_sample(nonzeros, smallest_sample(ChoiceOptions().sample, ranks));
}

}  // namespace arges::partition

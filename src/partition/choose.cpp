#include "partition/choose.hpp"

#include "arges/error.hpp"
#include "partition/choose_sample.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <tuple>

namespace arges::partition {

namespace {

constexpr std::array<LayerRule, 5> policies{{{LayerPolicy::nonzeros, 1},
                                             {LayerPolicy::set, 1},
                                             {LayerPolicy::ordered, 1},
                                             {LayerPolicy::ordered, 2},
                                             {LayerPolicy::max_min, 1}}};

struct Candidate {
    Grid grid;
    std::size_t policy = 0;  // in `policies`
    std::vector<Boundaries> boundaries;
    double seconds = 0;
    int stage = 0;  // how well `seconds` is known: from the small sample, the large one, or all nonzeros
};
constexpr int small_sample = 1, large_sample = 2, all_nonzeros = 3;

std::vector<Grid> possible_grids(const SliceTable& table, std::int64_t ranks) {
    const auto grids = all_grids(ranks, table.order());
    std::vector<Grid> result;
    for (const auto& grid : grids) {
        bool possible = true;
        for (std::size_t n = 0; n < grid.size(); ++n) possible = possible && grid[n] <= table.modes[n].count();
        if (possible) result.push_back(grid);
    }
    return result.empty() ? grids : result;
}

/// Every grid with every policy that gives it other layers.
std::vector<Candidate> all_candidates(const SliceTable& table, std::int64_t ranks) {
    std::map<std::tuple<std::size_t, std::int64_t, std::size_t>, Boundaries> cuts;
    std::vector<Candidate> candidates;
    for (const auto& grid : possible_grids(table, ranks)) {
        const auto first_of_grid = candidates.size();
        for (std::size_t policy = 0; policy < policies.size(); ++policy) {
            Candidate candidate{grid, policy, {}};
            for (std::size_t n = 0; n < grid.size(); ++n) {
                const auto [cut, missing] = cuts.try_emplace({n, grid[n], policy});
                if (missing) cut->second = cut_mode(table.modes[n], policies[policy], grid[n]);
                candidate.boundaries.push_back(cut->second);
            }
            const auto same = [&](const Candidate& other) { return other.boundaries == candidate.boundaries; };
            if (std::none_of(candidates.begin() + static_cast<std::ptrdiff_t>(first_of_grid), candidates.end(), same))
                candidates.push_back(std::move(candidate));
        }
    }
    return candidates;
}

MediumGrain distribution_of(const Candidate& candidate, const ChoiceOptions& options) {
    return {candidate.grid, policies[candidate.policy], options.rows, options.excess};
}

/// Those known better first, then by seconds. Ties go to the grid with the least touched rows, then to the first grid and policy.
void rank(std::vector<Candidate>& candidates, const SliceTable& table) {
    std::vector<std::int64_t> lengths;
    for (const auto& mode : table.modes) lengths.push_back(mode.count());
    const auto key = [&](const Candidate& c) { return std::tuple(-c.stage, c.seconds, touched_rows(c.grid, lengths)); };
    std::stable_sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

void estimate(std::span<Candidate> candidates, const SliceSample& sample, int stage, int columns, const ChoiceOptions& options) {
#pragma omp parallel for schedule(dynamic)
    for (auto& c : candidates) {
        c.seconds = iteration_seconds(sample.estimate(c.grid, c.boundaries, options.rows, options.excess), columns, options.costs);
        c.stage = stage;
    }
}

/// Ranks all candidates by a small sample and the best of them by a larger one.
void rank_by_samples(std::vector<Candidate>& candidates, const SliceTable& table, std::int64_t ranks, int columns,
                     const ChoiceOptions& options) {
    const auto small = std::max<std::int64_t>(1 << 12, 4 * ranks), large = 16 * small, heavy = small;
    estimate(candidates, SliceSample(table, small, heavy), small_sample, columns, options);
    rank(candidates, table);
    const auto kept = std::min(candidates.size(), std::clamp<std::size_t>(candidates.size() / 8, 32, 128));
    estimate(std::span(candidates).first(kept), SliceSample(table, large, heavy), large_sample, columns, options);
    rank(candidates, table);
}

void count(std::span<Candidate> candidates, const SliceTable& table, int columns, const ChoiceOptions& options) {
#pragma omp parallel for schedule(dynamic)
    for (auto& c : candidates) {
        c.seconds = iteration_seconds(count_distribution(table, distribution_of(c, options)), columns, options.costs);
        c.stage = all_nonzeros;
    }
}

/// Counts ranked candidates, two at a time, until the next ones are estimated to be worse than the best one so far.
void count_first(std::span<Candidate> candidates, const SliceTable& table, int columns, const ChoiceOptions& options) {
    constexpr double near = 1.05;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < candidates.size() && candidates[i].seconds < near * best; i += 2) {
        const auto two = candidates.subspan(i, std::min<std::size_t>(2, candidates.size() - i));
        count(two, table, columns, options);
        for (const auto& c : two) best = std::min(best, c.seconds);
    }
}

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

std::vector<MediumChoice> choose_medium(const SliceTable& table, std::int64_t ranks, int columns, const ChoiceOptions& options) {
    if (ranks < 1 || columns < 1)
        throw InvalidArgument("a distribution over " + std::to_string(ranks) + " ranks for " + std::to_string(columns) +
                              " columns cannot be chosen; there must be at least one of each");
    auto candidates = all_candidates(table, ranks);
    const double order = table.order(), nonzeros = static_cast<double>(table.nonzeros);
    if (static_cast<double>(candidates.size()) * order * 2 * nonzeros > options.look_ups) {
        rank_by_samples(candidates, table, ranks, columns, options);
        const auto most = static_cast<std::size_t>(std::max(1, options.counted_in_full));
        count_first(std::span(candidates).first(std::min(candidates.size(), most)), table, columns, options);
    } else {
        count(candidates, table, columns, options);
    }
    rank(candidates, table);
    std::vector<MediumChoice> result;
    for (const auto& c : candidates) result.push_back({distribution_of(c, options), c.seconds, c.stage == all_nonzeros});
    return result;
}

std::vector<MediumChoice> choose_medium(const IndexView& view, std::int64_t ranks, int columns, const ChoiceOptions& options) {
    return choose_medium(SliceTable(view), ranks, columns, options);
}

}  // namespace arges::partition

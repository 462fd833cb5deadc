// What a choice may cost: expected iterations of a random tensor against the seconds that looking at samples takes.
#include "partition/choice_plan.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace arges::partition {

namespace {

constexpr double rounds = 120;  ///< of messages, for each doubling of the ranks
constexpr std::int64_t least_sample = 512;
constexpr std::int64_t most_sample = 1 << 14;
constexpr std::int64_t iterations = 10;
constexpr std::int64_t finalists = 4;

/// Expected holders of a row with so many nonzeros among so many ranks.
double holders(double ranks, double nonzeros) { return ranks * (1 - std::pow(1 - 1 / ranks, nonzeros)); }

std::vector<Grid> by_expectation(const std::vector<std::int64_t>& lengths, std::int64_t nonzeros, std::int64_t ranks, int columns,
                                 const ChoiceOptions& options) {
    auto grids = options.grids.empty() ? all_grids(ranks, lengths.size()) : options.grids;
    const auto too_many = [&](const Grid& grid) {
        for (std::size_t n = 0; n < grid.size(); ++n)
            if (grid[n] > lengths[n]) return true;
        return false;
    };
    std::vector<std::tuple<bool, double, Grid>> ranked;
    for (auto& grid : grids)
        ranked.emplace_back(too_many(grid), expected_seconds(grid, lengths, nonzeros, columns, options.costs), std::move(grid));
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    std::vector<Grid> result;
    for (auto& [is_too_many, seconds, grid] : ranked) result.push_back(std::move(grid));
    return result;
}

}  // namespace

double expected_seconds(const Grid& grid, const std::vector<std::int64_t>& lengths, std::int64_t nonzeros, int columns,
                        const IterationCosts& costs) {
    const double all = ranks(grid), count = nonzeros;
    double seconds = 0;
    for (std::size_t n = 0; n < grid.size(); ++n) {
        const auto length = std::max(1.0, static_cast<double>(lengths[n])), in_layer = all / static_cast<double>(grid[n]);
        const double rows = -length * std::expm1(-count / length), each = rows > 0 ? count / rows : 0;
        const double volume = 4 * rows / all * (holders(in_layer, each) - 1);  // fold and expand, sent and received
        seconds += columns * (count / all * costs.per_nonzero_column + rows / all * costs.per_row_column +
                              volume * costs.bytes_per_element * costs.per_byte);
        seconds += std::min(2 * (in_layer - 1), volume) * costs.per_message;
    }
    return seconds;
}

ChoicePlan plan_choice(const std::vector<std::int64_t>& lengths, std::int64_t nonzeros, std::int64_t ranks, int columns,
                       const ChoiceOptions& options, double share) {
    ChoicePlan plan{by_expectation(lengths, nonzeros, ranks, columns, options), options.rules.empty() ? all_policies() : options.rules};
    const double order = lengths.size(), all = ranks;
    const double iteration = expected_seconds(plan.grids.front(), lengths, nonzeros, columns, options.costs);
    const double cut = std::ranges::count_if(plan.grids.front(), [](auto layers) { return layers > 1; });
    const auto& costs = options.costs;
    const double left = share * iterations * iteration -
                        (costs.per_visit * order + costs.per_count * cut) * static_cast<double>(nonzeros) / all -
                        rounds * std::log2(all) * costs.per_message;
    // Look-ups of a mode: half for all candidates, half for the best.
    const double half = std::max(0.0, left) * all / costs.per_look_up / 2 / order;
    const auto affordable = [&](std::size_t policies) {
        const auto many = half / static_cast<double>(policies) / least_sample;
        return many >= static_cast<double>(plan.grids.size()) ? plan.grids.size() : static_cast<std::size_t>(many);
    };
    if (affordable(plan.rules.size()) < std::min<std::size_t>(3, plan.grids.size())) plan.rules.resize(1);
    const auto grids = affordable(plan.rules.size());
    if (grids < std::min<std::size_t>(2, plan.grids.size()) || grids == 0) {
        plan.grids.resize(1);
        return plan;
    }
    plan.grids.resize(grids);
    const double candidates = grids * plan.rules.size();
    const auto least = std::max(least_sample, 4 * ranks);
    plan.sample = std::clamp<std::int64_t>(static_cast<std::int64_t>(half / candidates), least, std::max(least, most_sample));
    plan.largest = std::clamp<std::int64_t>(static_cast<std::int64_t>(half / static_cast<double>(finalists)), plan.sample,
                                            std::max(plan.sample, most_sampled(nonzeros)));
    plan.share = std::min(1.0, static_cast<double>(plan.largest) / std::max<std::int64_t>(1, nonzeros));
    return plan;
}

MediumChoice choose_within(const Team& team, const IndexView& view, std::int64_t ranks, int columns, const ChoiceOptions& options,
                           double share) {
    Team::Numbers nonzeros{view.count()};
    team.sum(nonzeros);
    const auto plan = plan_choice(view.lengths, nonzeros[0], ranks, columns, options, share);
    if (plan.sample == 0) return {{plan.grids.front(), plan.rules.front(), options.rows, options.excess}};
    auto limited = options;
    limited.grids = plan.grids;
    limited.rules = plan.rules;
    limited.sample = plan.sample;
    limited.largest = plan.largest;
    return choose_medium(team, counted_tensor(team, view, plan.share), ranks, columns, limited).front();
}

}  // namespace arges::partition

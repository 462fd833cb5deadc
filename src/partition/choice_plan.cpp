// What a choice may cost: expected iterations of a random tensor against the seconds that looking at samples takes.
#include "partition/choice_plan.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace arges::partition {

namespace {

constexpr double rounds = 60;     ///< of messages of a choice, for each doubling of the ranks
constexpr double exchanges = 10;  ///< among all ranks, which prepare a run
constexpr std::int64_t least_sample = 256;
constexpr std::int64_t most_sample = 1 << 13;

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
    const auto& costs = options.costs;
    const double order = lengths.size(), each = static_cast<double>(nonzeros) / static_cast<double>(ranks);  // nonzeros of a rank
    const double iteration = expected_seconds(plan.grids.front(), lengths, nonzeros, columns, costs);
    const double cut = std::ranges::count_if(plan.grids.front(), [](auto layers) { return layers > 1; });
    const double all = ranks, irregular = std::max(1.0, std::log2(all) / 4);  // against random nonzeros
    const double run = options.iterations * irregular * iteration + costs.per_prepared * order * each + exchanges * all * costs.per_message;
    const double left =
        share * run - (costs.per_visit * order + costs.per_count * cut) * each - rounds * std::log2(all) * costs.per_message;
    const auto each_rank = [&](std::size_t candidates) { return (static_cast<std::int64_t>(candidates) + ranks - 1) / ranks; };
    const auto candidates = [&] { return plan.grids.size() * plan.rules.size(); };
    // Where a rank counts as many finalists as candidates, one sample is enough; else it takes half of the seconds.
    const auto part = [&] { return each_rank(std::min(candidates(), finalists(ranks))) == each_rank(candidates()) ? left : left / 2; };
    // Nonzeros for each mode in a sample with which so many candidates are counted in that time.
    const auto affordable = [&](std::size_t count) {
        return (part() / order / static_cast<double>(each_rank(count)) - costs.per_counted_rank * all) / costs.per_look_up;
    };
    const auto least = std::max(least_sample, 2 * ranks);
    const auto too_little = [&] { return affordable(candidates()) < static_cast<double>(least); };
    if (too_little()) plan.rules.resize(1);
    while (plan.grids.size() > 1 && too_little()) plan.grids.resize((plan.grids.size() + 1) / 2);
    if (too_little()) return plan;
    const auto within = [&](std::size_t count, std::int64_t low, std::int64_t high) {
        return static_cast<std::int64_t>(std::clamp(affordable(count), static_cast<double>(low), static_cast<double>(std::max(low, high))));
    };
    const auto most = most_sampled(nonzeros, ranks);
    plan.sample = within(candidates(), least, part() == left ? most : most_sample);
    plan.largest = within(std::min(candidates(), finalists(ranks)), plan.sample, most);
    plan.share = std::min(1.0, static_cast<double>(plan.largest) / std::max<std::int64_t>(1, nonzeros));
    return plan;
}

MediumChoice choose_within(const Team& team, const IndexView& view, std::int64_t ranks, int columns, const ChoiceOptions& options,
                           double share) {
    Team::Numbers nonzeros{view.count()};
    team.sum(nonzeros);
    const auto plan = plan_choice(view.lengths, nonzeros[0], ranks, columns, options, share);
    if (plan.sample == 0) return {{plan.grids.front(), plan.rules.front(), options.rows, options.excess}, 0, 0, false, 0};
    auto limited = options;
    limited.grids = plan.grids;
    limited.rules = plan.rules;
    limited.sample = plan.sample;
    limited.largest = plan.largest;
    auto best = choose_medium(team, counted_tensor(team, view, plan.share), ranks, columns, limited).front();
    best.sampled = plan.largest;
    return best;
}

}  // namespace arges::partition

// From a request to a distribution of nonzeros and rows: layers and grid by predicted time, by hypergraph partitions, or from a file.
// Grains and policies: SPLATT; hypertensor-sc15, section 3; irregularity-aware-cpd-2023.
#include "decompose/distribution/choose_distribution.hpp"

#include "arges/error.hpp"
#include "base/splitmix.hpp"
#include "base/stopwatch.hpp"
#include "decompose/distribution/given_parts.hpp"
#include "decompose/distribution/saved_partition.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"
#include "partition/choice_plan.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/hypergraph/spread_hypergraph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace arges::decompose {

namespace {

/// What the choice may take, of what the run is expected to take.
constexpr double share_of_run = 0.05;

/// Chooses for one kind of distribution.
class Chooser {
public:
    Chooser(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const DistributionRequest& request)
        : comm_(comm), nonzeros_(nonzeros), request_(request) {}

    ChosenDistribution choose() {
        const Stopwatch watch;
        const bool is_given = !request_.partition_file.empty();
        auto saved = is_given ? saved_partition(comm_, nonzeros_, request_.partition_file) : std::nullopt;
        comm_.agree([&] { saved ? check_saved(*saved) : check(); });
        if (saved) chosen_ = std::move(*saved);
        chosen_.plan.row_rule = partition::parse_row_rule(request_.rows);
        chosen_.rows = partition::to_string(chosen_.plan.row_rule);
        if (!saved) choose_new();
        chosen_.seconds = watch.seconds();
        return std::move(chosen_);
    }

private:
    void choose_new() {
        const auto& kind = request_.distribution;
        chosen_.distribution = kind == "auto" ? "medium" : kind;
        if (kind.starts_with("coarse"))
            choose_coarse();
        else if (kind.starts_with("fine"))
            choose_fine();
        else
            choose_medium_grain();
    }

    void check_saved(const ChosenDistribution& saved) const {
        partition::parse_row_rule(request_.rows);
        const bool is_other = request_.distribution != "auto" && request_.distribution != saved.distribution;
        if (is_other || !request_.grid.empty() || !request_.policy.empty())
            throw InvalidArgument(request_.partition_file + " has the distribution " + saved.distribution +
                                  "; leave out distribution, grid and policy");
    }

    void check() const {
        constexpr std::array kinds{"auto", "medium", "coarse", "coarse-allgather", "coarse-hypergraph", "fine", "fine-hypergraph"};
        if (std::find(kinds.begin(), kinds.end(), request_.distribution) == kinds.end())
            throw InvalidArgument("there is no distribution \"" + request_.distribution +
                                  "\"; choose auto, medium, coarse, coarse-allgather, coarse-hypergraph, fine or fine-hypergraph");
        const bool medium = request_.distribution == "auto" || request_.distribution == "medium";
        if (!medium && !(request_.grid.empty() && request_.policy.empty()))
            throw InvalidArgument("a grid and a policy are for the medium distribution, not for " + request_.distribution);
        if (!request_.partition_file.empty() && request_.distribution != "fine" && request_.distribution != "coarse")
            throw InvalidArgument(request_.partition_file +
                                  " does not say for which distribution it is; it may be for fine or coarse, not for " +
                                  request_.distribution);
        if (request_.distribution.ends_with("-hypergraph") && nonzeros_.count() >= std::numeric_limits<std::uint32_t>::max())
            throw Unsupported("the distribution " + request_.distribution +
                              " is found for less than 2^32 nonzeros on each rank, but one has " + std::to_string(nonzeros_.count()) +
                              "; use more ranks, or choose auto or medium");
        partition::parse_row_rule(request_.rows);
        if (!request_.policy.empty()) partition::parse_layer_rule(request_.policy);
        if (has_given_grid()) {
            const auto grid = partition::parse_grid(request_.grid, nonzeros_.order());
            if (partition::ranks(grid) != comm_.size())
                throw InvalidArgument("the grid " + request_.grid + " holds " + std::to_string(partition::ranks(grid)) +
                                      " ranks, but there are " + std::to_string(comm_.size()) + "; the numbers must multiply to that");
        }
    }

    bool has_given_grid() const {
        return !request_.grid.empty() && request_.grid != "best" && request_.grid != "greedy" && request_.grid != "predicted";
    }

    void choose_medium_grain() {
        partition::ChoiceOptions options;
        options.rows = chosen_.plan.row_rule;
        options.costs = request_.costs;
        options.iterations = request_.iterations;
        if (!request_.policy.empty()) options.rules = {partition::parse_layer_rule(request_.policy)};
        auto& plan = chosen_.plan;
        plan.grain = Grain::medium;
        if (comm_.size() == 1) {  // one layer in each mode by any policy
            plan.grid.assign(nonzeros_.lengths.size(), 1);
            for (auto length : nonzeros_.lengths) plan.boundaries.push_back({0, length});
            name_choice(options.rules.empty() ? partition::LayerRule{} : options.rules.front());
            return;
        }
        const RankTeam team(comm_);
        const auto view = view_of(nonzeros_);
        if (const auto grid = wanted_grid(team, view)) options.grids = {*grid};
        partition::MediumGrain best{{}, {}};
        if (options.grids.size() == 1 && options.rules.size() == 1)
            best = {options.grids.front(), options.rules.front()};
        else if (request_.grid == "best")
            best = partition::choose_medium(team, counted_tensor(team, view), comm_.size(), request_.columns, options).front().distribution;
        else {
            const auto choice = partition::choose_within(team, view, comm_.size(), request_.columns, options, share_of_run);
            best = choice.distribution;
            chosen_.sampled = choice.sampled;
        }
        plan.grid = best.grid;
        plan.boundaries = cut_grid(team, view, best.grid, best.layers);
        name_choice(best.layers);
    }

    void name_choice(const partition::LayerRule& layers) {
        chosen_.grid = partition::to_string(chosen_.plan.grid);
        chosen_.policy = partition::to_string(layers);
    }

    /// The grid that the request names or describes.
    std::optional<partition::Grid> wanted_grid(const partition::Team& team, const partition::IndexView& view) const {
        if (request_.grid == "greedy") return partition::greedy_grid(comm_.size(), nonzeros_.lengths);
        if (request_.grid == "predicted") {
            const auto tensor = counted_tensor(team, view);
            return partition::predicted_grid(comm_.size(), nonzeros_.lengths, [&](int mode, std::int64_t layers) {
                return partition::count_layers(team, tensor, mode, layers);
            });
        }
        if (has_given_grid()) return partition::parse_grid(request_.grid, nonzeros_.order());
        return std::nullopt;
    }

    void choose_coarse() {
        auto& plan = chosen_.plan;
        plan.grain = Grain::coarse;
        plan.rows_everywhere = request_.distribution == "coarse-allgather";
        plan.empty_slices = plan.rows_everywhere && request_.empty_slices;
        if (request_.distribution == "coarse-hypergraph")
            plan.owners = slices_by_hypergraph(comm_, nonzeros_, request_.coarse_weights, request_.seed);
        else if (!request_.partition_file.empty())
            plan.owners = slices_from_file(comm_, nonzeros_, request_.partition_file);
        else
            plan.boundaries = cut_grid(RankTeam(comm_), view_of(nonzeros_), partition::Grid(nonzeros_.lengths.size(), comm_.size()), {});
    }

    void choose_fine() {
        chosen_.plan.grain = Grain::fine;
        if (request_.distribution == "fine-hypergraph")
            chosen_.plan.parts = nonzeros_by_hypergraph(comm_, nonzeros_, request_.seed);
        else if (!request_.partition_file.empty())
            chosen_.plan.parts = nonzeros_from_file(comm_, nonzeros_, request_.partition_file);
        else
            random_parts();
    }

    /// A hash of the indices: the same on any number of ranks that have the nonzeros before.
    void random_parts() {
        comm_.agree([&] {
            for (std::int64_t x = 0; x < nonzeros_.count(); ++x) {
                auto hash = splitmix(request_.seed);
                for (const auto& indices : nonzeros_.indices) hash = splitmix(hash ^ static_cast<std::uint64_t>(indices[x]));
                chosen_.plan.parts.push_back(hash % static_cast<std::uint64_t>(comm_.size()));
            }
        });
    }

    const Communicator& comm_;
    const sparse::NonzeroIndices& nonzeros_;
    const DistributionRequest& request_;
    ChosenDistribution chosen_;
};

}  // namespace

double expected_iterations(int most, double tolerance) {
    const double wanted = tolerance > 0 ? std::max(1.0, -10 * std::log10(tolerance)) : most;
    return std::min<double>(most, wanted);
}

partition::IterationCosts iteration_costs(const MachineModel& machine) {
    partition::IterationCosts costs;
    costs.per_nonzero_column = machine.nonzero_column_seconds;
    costs.per_row_column = machine.row_column_seconds;
    costs.per_byte = machine.row_bytes / machine.bytes_per_second;
    costs.per_message = machine.row_messages * machine.message_seconds;
    return costs;
}

ChosenDistribution choose_distribution(const Communicator& comm, const sparse::NonzeroIndices& nonzeros,
                                       const DistributionRequest& request) {
    return Chooser(comm, nonzeros, request).choose();
}

MemoryTally choice_memory(const SparseShare& share, const std::string& distribution, bool from_file) {
    constexpr std::int64_t number = sizeof(std::int64_t), rank = sizeof(std::int32_t);
    const std::int64_t order = share.order();
    MemoryTally tally;
    const bool is_found = distribution.ends_with("-hypergraph") && !from_file;
    if (distribution.starts_with("fine") || (distribution == "auto" && from_file)) {
        tally.hold(rank * share.before);
        if (from_file) tally.pass(3 * rank * share.before * share.ranks);  // as they are read, which grows, and as messages
    }
    if (is_found) {
        // A pin for each nonzero and mode, or for each pair of modes; with one rank nothing is gathered.
        const auto pins = share.before * order * (distribution.starts_with("fine") ? 1 : order);
        const auto most = partition::most_gathered_pins(partition::distribution_options(1));
        const auto gathered = share.ranks > 1 ? std::min(pins * share.ranks, most) : 0;
        tally.pass(pins * partition::spread_bytes + gathered * partition::gathered_bytes);
    }
    const bool counts_slices = !distribution.starts_with("fine") && !is_found && (share.ranks > 1 || distribution.starts_with("coarse"));
    if (!counts_slices) return tally;
    std::int64_t lists = 0;
    for (auto length : share.lengths) {
        const auto list = slice_list_memory(share.ranks, share.before, length);
        tally.add(list);
        tally.pass(number * (std::min(share.before, length) + 1) * 2);  // where slices begin, which grows
        lists += list.held();
    }
    if (!distribution.starts_with("coarse")) {
        // Sampled nonzeros as they are found, as they come, which all ranks get, and sorted by slices. All of small tensors are taken.
        const auto all = share.before * share.ranks;
        const auto sampled = std::min(all, share.sampled >= 0 ? share.sampled : partition::most_sampled(all, share.ranks));
        tally.pass((6 * std::min(share.before, sampled) + 3 * sampled) * (order + 1) * (order + 1) * number);
    }
    tally.hold(-lists);
    if (from_file) {
        std::int64_t slices = 0;
        for (auto length : share.lengths) slices += std::min(share.before * share.ranks, length);
        tally.pass((2 * number + 3 * rank) * slices);
        tally.hold((number + rank) * slices);
    }
    return tally;
}

ChosenDistribution choose_distribution(const SparseState& source, const DistributionRequest& request) {
    auto priced = request;
    priced.costs = iteration_costs(source.world->machine());
    priced.costs.bytes_per_element = source.kernels->size;
    auto chosen = choose_distribution(source.comm(), *source.pattern(), priced);
    if (!request.save_partition.empty()) save_partition(source.comm(), *source.pattern(), chosen, request.save_partition);
    return chosen;
}

}  // namespace arges::decompose

#include "arges/sparse_statistics.hpp"

#include "arges/error.hpp"
#include "base/memory_tally.hpp"
#include "comm/collective_call.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/given_parts.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/world/call_arguments.hpp"
#include "io/file/parallel_file.hpp"
#include "partition/choose.hpp"
#include "partition/hypergraph/hmetis.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>
#include <fstream>
#include <functional>

namespace arges {

namespace {

ModeStatistics statistics_of(const partition::ModeSlices& mode) {
    ModeStatistics result{mode.length, mode.count()};
    std::vector<std::int64_t> counts;
    for (std::int64_t s = 0; s < mode.count(); ++s) {
        const std::size_t place = s;
        counts.push_back(mode.start[place + 1] - mode.start[place]);
        if (counts.back() <= result.heaviest_nonzeros) continue;
        result.heaviest_nonzeros = counts.back();
        result.heaviest = mode.slices[place];
    }
    std::sort(counts.begin(), counts.end());
    double weighted = 0, total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        weighted += static_cast<double>(i + 1) * counts[i];
        total += counts[i];
    }
    const double n = counts.size();
    if (total > 0) result.gini = 2 * weighted / (n * total) - (n + 1) / n;
    return result;
}

/// Counts all distributions on a number of ranks.
class DistributionTable {
public:
    DistributionTable(const partition::SliceTable& table, const partition::IndexView& view, const StatisticsOptions& options,
                      const MachineModel& machine)
        : table_(table), whole_(partition::whole_tensor(view, table)), view_(view), options_(options),
          costs_(decompose::iteration_costs(machine)), row_rule_(partition::parse_row_rule(options.rows)) {}

    std::vector<DistributionStatistics> rows(std::int64_t ranks) {
        rows_.clear();
        const auto coarse = partition::coarse_blocks(table_, ranks);
        add("coarse", count_distribution(table_, coarse));
        add("coarse-allgather", count_allgather(table_, coarse));
        const auto layer_counts = partition::layer_counts(table_);
        const auto greedy = partition::greedy_grid(ranks, view_.lengths),
                   predicted = partition::predicted_grid(ranks, view_.lengths, layer_counts);
        for (const auto& rule : partition::all_policies()) {
            add_medium("medium, greedy grid", greedy, rule);
            if (predicted != greedy) add_medium("medium, predicted grid", predicted, rule);
        }
        partition::ChoiceOptions choice;
        choice.rows = row_rule_;
        choice.costs = costs_;
        const auto best = partition::choose_medium(partition::Team(), whole_, ranks, options_.columns, choice).front().distribution;
        add_medium("medium, best", best.grid, best.layers);
        add("fine", count_distribution(table_, with_rule(partition::fine_random(table_.nonzeros, ranks))));
        if (options_.hypergraphs) add_hypergraphs(ranks);
        return std::move(rows_);
    }

private:
    partition::FineGrain with_rule(partition::FineGrain fine) const {
        fine.rows = row_rule_;
        return fine;
    }
    void add(const std::string& name, const partition::DistributionCounts& counts, const std::string& grid = "",
             const std::string& policy = "") {
        using partition::max_mean, partition::ModeCounts;
        rows_.push_back({name, grid, policy, imbalances(counts), max_mean(total(counts, &ModeCounts::nonzeros)),
                         max_mean(total_volume(counts)), max_mean(total(counts, &ModeCounts::owned)),
                         max_mean(total(counts, &ModeCounts::messages)), summaries(counts),
                         iteration_seconds(counts, options_.columns, costs_)});
    }
    void add_medium(const std::string& name, const partition::Grid& grid, const partition::LayerRule& layers) {
        add(name, count_distribution(table_, partition::MediumGrain{grid, layers, row_rule_}), partition::to_string(grid),
            to_string(layers));
    }
    void add_hypergraphs(std::int64_t ranks) {
        add("fine-hypergraph", count_distribution(table_, with_rule(partition::fine_by_hypergraph(table_, ranks))));
        add("coarse-hypergraph", count_distribution(table_, partition::coarse_by_hypergraph(table_, ranks)));
    }

    const partition::SliceTable& table_;
    const partition::TensorPart whole_;
    const partition::IndexView& view_;
    const StatisticsOptions& options_;
    partition::IterationCosts costs_;
    partition::RowRule row_rule_;
    std::vector<DistributionStatistics> rows_;
};

SparseStatistics statistics_of(const partition::IndexView& view, const StatisticsOptions& options, const MachineModel& machine) {
    const partition::SliceTable slices(view);
    SparseStatistics result{slices.nonzeros};
    double elements = 1;
    for (const auto& mode : slices.modes) {
        result.modes.push_back(statistics_of(mode));
        elements *= mode.length;
    }
    result.density = elements > 0 ? static_cast<double>(slices.nonzeros) / elements : 0;
    DistributionTable distributions(slices, view, options, machine);
    for (const auto ranks : options.ranks) result.distributions.push_back(distributions.rows(ranks));
    return result;
}

/// Calls f on rank 0 with all indices of a tensor. Collective.
void with_all_indices(const SparseState& tensor, const std::function<void(const partition::IndexView&)>& f) {
    const auto indices = decompose::gather_indices(tensor.comm(), *tensor.pattern());
    tensor.comm().agree([&] {
        if (tensor.comm().rank() != 0) return;
        partition::IndexView view{tensor.lengths(), {}};
        for (const auto& list : indices) view.indices.emplace_back(list);
        f(view);
    });
}

partition::Hypergraph hypergraph_of(const partition::IndexView& view, HypergraphModel model) {
    const partition::SliceTable table(view);
    if (model == HypergraphModel::fine) return partition::fine_grain_hypergraph(table);
    return partition::coarse_grain_hypergraph(table, model == HypergraphModel::coarse ? partition::CoarseWeights::by_mode
                                                                                      : partition::CoarseWeights::summed);
}

}  // namespace

SparseStatistics sparse_statistics(const AnyTensor& tensor, const StatisticsOptions& options) {
    const CollectiveCall call(ranks_of(tensor.world()), "sparse_statistics", tensor, options.ranks, options.columns, options.rows,
                              options.hypergraphs);
    const auto state = whole_state_of(tensor, "sparse_statistics");
    SparseStatistics result;
    with_all_indices(*state, [&](const partition::IndexView& view) { result = statistics_of(view, options, state->world->machine()); });
    return result;
}

std::int64_t statistics_memory(std::int64_t nonzeros, const std::vector<std::int64_t>& lengths, const StatisticsOptions& options) {
    constexpr std::int64_t number = sizeof(std::int64_t), rank = sizeof(std::int32_t);
    const auto order = std::ssize(lengths);
    MemoryTally tally;
    tally.pass(order * number * nonzeros + 2 * number * nonzeros);  // the last indices as messages
    tally.hold(order * number * nonzeros);
    std::int64_t slices = 0;
    for (auto length : lengths) {
        tally.pass(partition::counting_memory(nonzeros, length).peak() + number * nonzeros);
        slices += std::min(nonzeros, length);
        tally.hold(number * nonzeros + 2 * number * std::min(nonzeros, length));  // as SliceTable says
    }
    if (options.ranks.empty()) return tally.peak();
    tally.hold(2 * number * slices);             // slices once more, for the choice
    tally.pass((rank + 3 * number) * nonzeros);  // ranks of nonzeros, and which ranks hold the rows of a mode
    if (options.hypergraphs) tally.pass(order * partition::hypergraph_bytes * nonzeros);
    return tally.peak();
}

HypergraphReport write_hypergraph(const AnyTensor& tensor, const std::string& path, HypergraphModel model) {
    const CollectiveCall call(ranks_of(tensor.world()), "write_hypergraph", tensor, path, model);
    const auto state = whole_state_of(tensor, "write_hypergraph");
    io::OutputFile output(state->comm(), path);
    HypergraphReport done;
    with_all_indices(*state, [&](const partition::IndexView& view) {
        const auto hypergraph = hypergraph_of(view, model);
        std::ofstream file(output.temporary());
        write_hmetis(file, hypergraph);
        const std::int64_t bytes = file.tellp();
        file.close();
        if (!file) throw InvalidArgument(path + ": cannot be written; make room on the disk, or write elsewhere");
        done = {hypergraph.vertices(), hypergraph.nets(), hypergraph.pin_count(), hypergraph.constraints(), bytes};
    });
    output.commit();
    state->comm().broadcast(&done, sizeof done, 0);
    return done;
}

std::int64_t hypergraph_memory(std::int64_t nonzeros, std::int64_t order) {
    return nonzeros * order * (std::int64_t{sizeof(std::int64_t)} * 2 + partition::hypergraph_bytes);
}

}  // namespace arges

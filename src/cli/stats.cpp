// arges stats FILE: what a sparse tensor looks like, and what distributions of it would load and move.
#include "arges/error.hpp"
#include "arges/sparse_io.hpp"
#include "base/memory_tally.hpp"
#include "base/text.hpp"
#include "cli/iteration_report.hpp"
#include "cli/program.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/given_parts.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "partition/choose.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/value_counts.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

namespace arges::cli {

namespace {

using Json = nlohmann::ordered_json;
using partition::DistributionCounts;
using partition::ModeCounts;
using partition::SliceTable;

struct StatsCommand {
    std::string file;
    SparseFileOptions input{};
    std::vector<std::int64_t> parts;
    int rank = 16;
    std::string rows = "holders";
    bool hypergraph = false, json = false;
    WorldOptions world{};
};

/// The slices of a mode.
struct ModeStatistics {
    std::int64_t length = 0, nonempty = 0, heaviest = 0, heaviest_count = 0;
    double gini = 0;  ///< of the counts of nonempty slices: 0 all equal, near 1 all in one
};

ModeStatistics statistics_of(const partition::ModeSlices& mode) {
    ModeStatistics result{mode.length, mode.count(), 0, 0, 0};
    std::vector<std::int64_t> counts;
    for (std::int64_t s = 0; s < mode.count(); ++s) {
        const std::size_t place = s;
        counts.push_back(mode.start[place + 1] - mode.start[place]);
        if (counts.back() <= result.heaviest_count) continue;
        result.heaviest_count = counts.back();
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

/// A distribution on a number of ranks.
struct Row {
    std::string name, grid, policy;
    DistributionCounts counts;
    double seconds = 0;
};

/// Counts all distributions on a number of ranks.
class DistributionTable {
public:
    DistributionTable(const SliceTable& table, const partition::IndexView& view, const StatsCommand& command, const MachineModel& machine)
        : table_(table), whole_(partition::whole_tensor(view, table)), view_(view), command_(command),
          costs_(decompose::iteration_costs(machine)), row_rule_(partition::parse_row_rule(command.rows)) {}

    std::vector<Row> rows(std::int64_t ranks) {
        rows_.clear();
        const auto coarse = partition::coarse_blocks(table_, ranks);
        add("coarse", count_distribution(table_, coarse));
        add("coarse-allgather", count_allgather(table_, coarse));
        const auto layer_counts = partition::layer_counts(table_);
        const auto greedy = partition::greedy_grid(ranks, view_.lengths),
                   predicted = partition::predicted_grid(ranks, view_.lengths, layer_counts);
        for (const char* policy : {"nnz", "set", "ordered-1", "ordered-2", "max-min"}) {
            add_medium("medium, greedy grid", greedy, policy);
            if (predicted != greedy) add_medium("medium, predicted grid", predicted, policy);
        }
        partition::ChoiceOptions options;
        options.rows = row_rule_;
        options.costs = costs_;
        const auto best = partition::choose_medium(partition::Team(), whole_, ranks, command_.rank, options).front().distribution;
        add_medium("medium, best", best.grid, to_string(best.layers));
        add("fine", count_distribution(table_, with_rule(partition::fine_random(table_.nonzeros, ranks))));
        if (command_.hypergraph) add_hypergraphs(ranks);
        return std::move(rows_);
    }

private:
    partition::FineGrain with_rule(partition::FineGrain fine) const {
        fine.rows = row_rule_;
        return fine;
    }
    void add(const std::string& name, DistributionCounts counts, const std::string& grid = "", const std::string& policy = "") {
        const double seconds = iteration_seconds(counts, command_.rank, costs_);
        rows_.push_back({name, grid, policy, std::move(counts), seconds});
    }
    void add_medium(const std::string& name, const partition::Grid& grid, const std::string& policy) {
        partition::MediumGrain medium{grid, partition::parse_layer_rule(policy), row_rule_};
        add(name, count_distribution(table_, medium), partition::to_string(grid), policy);
    }
    void add_hypergraphs(std::int64_t ranks) {
        const auto rows = partition::nonempty_rows(view_);
        add("fine-hypergraph", count_distribution(table_, with_rule(partition::fine_by_hypergraph(view_, rows, ranks))));
        add("coarse-hypergraph", count_distribution(table_, partition::coarse_by_hypergraph(view_, rows, ranks)));
    }

    const SliceTable& table_;
    const partition::TensorPart whole_;
    const partition::IndexView& view_;
    const StatsCommand& command_;
    partition::IterationCosts costs_;
    partition::RowRule row_rule_;
    std::vector<Row> rows_;
};

/// @param base  what the file calls the first slice
std::string modes_text(const std::vector<ModeStatistics>& modes, std::int64_t nonzeros, int base) {
    std::vector<std::vector<std::string>> cells{{"mode", "length", "empty slices", "mean", "heaviest slice", "nonzeros", "share", "Gini"}};
    for (std::size_t m = 0; m < modes.size(); ++m) {
        const auto& mode = modes[m];
        const auto mean = mode.nonempty > 0 ? static_cast<double>(nonzeros) / mode.nonempty : 0;
        cells.push_back({std::to_string(m + 1), with_commas(mode.length), with_commas(mode.length - mode.nonempty),
                         fmt::format("{:.1f}", mean), with_commas(mode.heaviest + base), with_commas(mode.heaviest_count),
                         percent(nonzeros > 0 ? static_cast<double>(mode.heaviest_count) / nonzeros : 0),
                         fmt::format("{:.3f}", mode.gini)});
    }
    return table(cells, std::vector<bool>(8, false));
}

std::string rows_text(const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> cells{{"distribution", "grid", "layers", "r_nnz", "r_vol", "r_Ip", "nonzeros max", "mean",
                                                 "volume max", "mean", "rows max", "messages", "ms/iter"}};
    for (const auto& row : rows) {
        const auto ratios = imbalances(row.counts);
        auto loads = partition::max_mean(partition::total(row.counts, &ModeCounts::nonzeros));
        const double modes = row.counts.modes.size();
        const auto volume = partition::max_mean(partition::total_volume(row.counts));
        cells.push_back({row.name, row.grid, row.policy, fmt::format("{:.3f}", ratios.nonzeros), fmt::format("{:.3f}", ratios.volume),
                         fmt::format("{:.3f}", ratios.rows), with_commas(static_cast<std::int64_t>(static_cast<double>(loads.max) / modes)),
                         fmt::format("{:.0f}", loads.mean / modes), with_commas(volume.max), fmt::format("{:.0f}", volume.mean),
                         with_commas(partition::max_mean(partition::total(row.counts, &ModeCounts::owned)).max),
                         with_commas(partition::max_mean(partition::total(row.counts, &ModeCounts::messages)).max),
                         fmt::format("{:.2f}", 1000 * row.seconds)});
    }
    std::vector<bool> left(cells[0].size(), false);
    left[0] = left[1] = left[2] = true;
    return table(cells, left);
}

Json modes_json(const std::vector<ModeStatistics>& modes, int base) {
    auto list = Json::array();
    for (const auto& mode : modes)
        list.push_back({{"length", mode.length},
                        {"nonempty", mode.nonempty},
                        {"heaviest_slice", mode.heaviest + base},
                        {"heaviest_nonzeros", mode.heaviest_count},
                        {"gini", mode.gini}});
    return list;
}

Json row_json(const Row& row) {
    Json object;
    object["distribution"] = row.name;
    object["grid"] = row.grid;
    object["policy"] = row.policy;
    const auto ratios = imbalances(row.counts);
    object["r_nnz"] = ratios.nonzeros;
    object["r_vol"] = ratios.volume;
    object["r_Ip"] = ratios.rows;
    const auto volume = partition::max_mean(partition::total_volume(row.counts));
    object["volume_rows_max"] = volume.max;
    object["volume_rows_mean"] = volume.mean;
    object["predicted_seconds"] = row.seconds;
    auto modes = Json::array();
    const auto summary = summaries(row.counts);
    for (std::size_t m = 0; m < summary.size(); ++m) {
        const auto& s = summary[m];
        modes.push_back({{"load_max", s.nonzeros.max},
                         {"load_mean", s.nonzeros.mean},
                         {"sent_max", s.sent.max},
                         {"sent_mean", s.sent.mean},
                         {"messages_max", s.messages.max},
                         {"messages_mean", s.messages.mean},
                         {"rows_max", partition::max_mean(row.counts.modes[m].owned).max}});
    }
    object["modes"] = modes;
    return object;
}

/// The text that is printed; on rank 0, which has all indices.
std::string report(const StatsCommand& command, const MachineModel& machine, const ReadReport& read,
                   const std::vector<std::string>& warnings, const partition::IndexView& view) {
    const SliceTable slices(view);
    std::vector<ModeStatistics> modes;
    double elements = 1;
    for (const auto& mode : slices.modes) {
        modes.push_back(statistics_of(mode));
        elements *= mode.length;
    }
    const double density = elements > 0 ? static_cast<double>(slices.nonzeros) / elements : 0;
    DistributionTable distributions(slices, view, command, machine);
    if (command.json) {
        Json object;
        object["nonzeros"] = slices.nonzeros;
        object["density"] = density;
        object["index_base"] = read.index_base;
        object["duplicates"] = read.duplicates;
        object["elements_not_stored"] = "zeros";
        object["warnings"] = warnings;
        object["modes"] = modes_json(modes, read.index_base);
        object["ranks"] = Json::array();
        for (auto ranks : command.parts) {
            Json entry{{"ranks", ranks}, {"distributions", Json::array()}};
            for (const auto& row : distributions.rows(ranks)) entry["distributions"].push_back(row_json(row));
            object["ranks"].push_back(entry);
        }
        return object.dump(2) + "\n";
    }
    auto text = fmt::format("{}: {}, {} nonzeros, density {}, indices from {}", command.file, read.form, with_commas(slices.nonzeros),
                            scientific(density), read.index_base);
    text += command.input.duplicates_text(read);
    text += "\nelements that are not stored count as zeros\n\n" + modes_text(modes, slices.nonzeros, read.index_base);
    for (auto ranks : command.parts)
        text += fmt::format("\n{} ranks, rows to {}, seconds for rank {}\n", with_commas(ranks), command.rows, command.rank) +
                rows_text(distributions.rows(ranks));
    return text;
}

/// What rank 0 takes to report on so many nonzeros, beside its part of the tensor; an upper bound.
MemoryTally report_memory(const StatsCommand& command, std::int64_t nonzeros, const std::vector<std::int64_t>& lengths) {
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
    if (command.parts.empty()) return tally;
    tally.hold(2 * number * slices);             // slices once more, for the choice
    tally.pass((rank + 3 * number) * nonzeros);  // ranks of nonzeros, and which ranks hold the rows of a mode
    if (command.hypergraph) tally.pass(order * partition::hypergraph_bytes * nonzeros);
    return tally;
}

void check_report_memory(const StatsCommand& command, const World& world, std::int64_t nonzeros, const std::vector<std::int64_t>& lengths) {
    const auto bytes = current_process_memory() + report_memory(command, nonzeros, lengths).peak();
    if (bytes > world.memory_limit())
        throw OutOfMemory(
            fmt::format("{}: rank 0 looks at all {} nonzeros, for which it takes up to {}, but the limit is {}; raise --memory",
                        command.file, with_commas(nonzeros), format_bytes(bytes), format_bytes(world.memory_limit())));
}

void run(const StatsCommand& command, const Console& console) {
    const World world = command.world.make_world();
    const auto& comm = world.state()->communicator();
    command.input.is_single(world, command.file);
    const auto input = read_sparse<float>(world, command.file, command.input.read_options());
    const auto warnings = reading_warnings(input);
    print_warnings(console.err, warnings);
    const auto nonzeros = input.tensor.nonzeros();
    comm.agree([&] {
        if (comm.rank() == 0) check_report_memory(command, world, nonzeros, input.tensor.lengths());
    });
    const auto indices = decompose::gather_indices(comm, *input.tensor.state()->pattern());
    std::string text;
    comm.agree([&] {
        if (comm.rank() != 0) return;
        partition::IndexView view{input.tensor.lengths(), {}};
        for (const auto& list : indices) view.indices.emplace_back(list);
        text = report(command, world.state()->machine(), input.report, warnings, view);
    });
    comm.broadcast(text, 0);
    console.out << text << std::flush;
}

}  // namespace

Action declare_stats(CLI::App& app) {
    const auto command = std::make_shared<StatsCommand>();
    app.add_option("FILE", command->file, "sparse tensor: text (.tns, .tns.gz), MatrixMarket (.mtx) or binary")->required();
    app.add_option("--parts", command->parts, "numbers of ranks to count distributions for, as 16,256")
        ->delimiter(',')
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
    app.add_option("--rank", command->rank, "components, for the predicted seconds")->check(CLI::Range(1, 1024))->capture_default_str();
    app.add_option("--rows", command->rows, "owners of rows: holders, even or claim")
        ->check(accepted_by([](const std::string& text) { partition::parse_row_rule(text); }, "RULE"))
        ->capture_default_str();
    app.add_flag("--hypergraph", command->hypergraph, "the hypergraph distributions, too; they take minutes for millions of nonzeros");
    app.add_flag("--json", command->json, "print one JSON object instead of tables");
    command->input.declare(app);
    command->world.declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

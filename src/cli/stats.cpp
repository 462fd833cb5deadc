// arges stats FILE: what a sparse tensor looks like, and what distributions of it would load and move.
#include "arges/cpd.hpp"
#include "arges/sparse_io.hpp"
#include "arges/sparse_statistics.hpp"
#include "base/text.hpp"
#include "cli/forecast.hpp"
#include "cli/ids.hpp"
#include "cli/iteration_report.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_tables.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

namespace arges::cli {

namespace {

using Json = nlohmann::ordered_json;

struct StatsCommand : FileCommand {
    StatisticsOptions options{};
};

/// Of the heaviest slices, by mode; none where the tensor has no ids.
struct HeaviestIds {
    std::vector<std::string> names{}, ids{};
};

/// @param found  on rank 0. Collective.
HeaviestIds heaviest_ids(const World& world, const ModelIds& ids, const SparseStatistics& found, int order) {
    std::vector<std::vector<std::int64_t>> indices;
    for (std::size_t m = 0; m < static_cast<std::size_t>(order); ++m)
        indices.push_back({world.maximum(world.rank() == 0 ? found.modes[m].heaviest : 0)});
    HeaviestIds result{.names = ids.names};
    for (const auto& of_mode : ids.of(world, indices)) result.ids.push_back(of_mode.front());
    return result;
}

/// @param base  what the file calls the first slice
/// @param ids   of the heaviest slices
std::string modes_text(const std::vector<ModeStatistics>& modes, std::int64_t nonzeros, int base, const HeaviestIds& ids) {
    std::vector<std::vector<std::string>> cells{{"mode", "length", "empty slices", "mean", "heaviest slice", "nonzeros", "share", "Gini"}};
    for (std::size_t m = 0; m < modes.size(); ++m) {
        const auto& mode = modes[m];
        const auto mean = mode.nonempty > 0 ? static_cast<double>(nonzeros) / mode.nonempty : 0;
        cells.push_back({std::to_string(m + 1), with_commas(mode.length), with_commas(mode.length - mode.nonempty),
                         fmt::format("{:.1f}", mean), with_commas(mode.heaviest + base), with_commas(mode.heaviest_nonzeros),
                         percent(nonzeros > 0 ? static_cast<double>(mode.heaviest_nonzeros) / nonzeros : 0),
                         fmt::format("{:.3f}", mode.gini)});
    }
    std::vector<bool> left(cells[0].size(), false);
    if (!ids.ids.empty()) {
        cells[0].insert(cells[0].begin() + 1, "column");
        cells[0].emplace_back("id of the heaviest");
        for (std::size_t m = 0; m < modes.size(); ++m) {
            cells[m + 1].insert(cells[m + 1].begin() + 1, ids.names[m]);
            cells[m + 1].push_back(shown_id(ids.ids[m]));
        }
        left.assign(cells[0].size(), false);
        left[1] = left.back() = true;
    }
    return table(cells, left, ids.ids.empty() ? 1 : 2);
}

std::string rows_text(const std::vector<DistributionStatistics>& rows) {
    std::vector<std::vector<std::string>> cells{{"distribution", "grid", "layers", "r_nnz", "r_vol", "r_Ip", "nonzeros max", "mean",
                                                 "volume max", "mean", "rows max", "messages", "ms/iter"}};
    for (const auto& row : rows) {
        const auto& ratios = row.imbalances;
        const double modes = row.modes.size();
        cells.push_back(
            {row.name, row.grid, row.policy, fmt::format("{:.3f}", ratios.nonzeros), fmt::format("{:.3f}", ratios.volume),
             fmt::format("{:.3f}", ratios.rows), with_commas(static_cast<std::int64_t>(static_cast<double>(row.nonzeros.max) / modes)),
             fmt::format("{:.0f}", row.nonzeros.mean / modes), with_commas(row.volume.max), fmt::format("{:.0f}", row.volume.mean),
             with_commas(row.rows.max), with_commas(row.messages.max), fmt::format("{:.2f}", 1000 * row.seconds)});
    }
    std::vector<bool> left(cells[0].size(), false);
    left[0] = left[1] = left[2] = true;
    return table(cells, left, 3);
}

Json modes_json(const std::vector<ModeStatistics>& modes, int base, const HeaviestIds& ids) {
    auto list = Json::array();
    for (std::size_t m = 0; m < modes.size(); ++m) {
        const auto& mode = modes[m];
        list.push_back({{"length", mode.length},
                        {"nonempty", mode.nonempty},
                        {"heaviest_slice", mode.heaviest + base},
                        {"heaviest_nonzeros", mode.heaviest_nonzeros},
                        {"gini", mode.gini}});
        if (ids.ids.empty()) continue;
        list.back()["name"] = ids.names[m];
        list.back()["heaviest_id"] = ids.ids[m];
    }
    return list;
}

Json row_json(const DistributionStatistics& row) {
    Json object;
    object["distribution"] = row.name;
    object["grid"] = row.grid;
    object["policy"] = row.policy;
    object["r_nnz"] = row.imbalances.nonzeros;
    object["r_vol"] = row.imbalances.volume;
    object["r_Ip"] = row.imbalances.rows;
    object["volume_rows_max"] = row.volume.max;
    object["volume_rows_mean"] = row.volume.mean;
    object["predicted_seconds"] = row.seconds;
    auto modes = Json::array();
    for (const auto& mode : row.modes)
        modes.push_back({{"load_max", mode.nonzeros.max},
                         {"load_mean", mode.nonzeros.mean},
                         {"sent_max", mode.sent.max},
                         {"sent_mean", mode.sent.mean},
                         {"messages_max", mode.messages.max},
                         {"messages_mean", mode.messages.mean},
                         {"rows_max", mode.rows.max}});
    object["modes"] = modes;
    return object;
}

/// What was found. The statistics are on rank 0.
struct StatsResult {
    ReadReport read{};
    std::vector<std::string> warnings{};
    ValueStatistics values{};
    SparseStatistics tensor{};
    HeaviestIds ids{};
};

/// The text that is printed.
std::string report(const StatsCommand& command, const StatsResult& result) {
    const auto& [read, warnings, values, found, ids] = result;
    const auto& ranks = command.options.ranks;
    if (command.json) {
        Json object;
        object["nonzeros"] = found.nonzeros;
        object["density"] = found.density;
        object["index_base"] = read.index_base;
        object["duplicates"] = read.duplicates;
        object["elements_not_stored"] = command.not_stored();
        object["warnings"] = warnings;
        object["values"] = values_json(values);
        object["modes"] = modes_json(found.modes, read.index_base, ids);
        object["ranks"] = Json::array();
        for (std::size_t r = 0; r < found.distributions.size(); ++r) {
            Json entry{{"ranks", ranks[r]}, {"distributions", Json::array()}};
            for (const auto& row : found.distributions[r]) entry["distributions"].push_back(row_json(row));
            object["ranks"].push_back(entry);
        }
        return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    auto text = fmt::format("{}: {}, {} nonzeros, density {}, indices from {}", command.file, read.form, with_commas(found.nonzeros),
                            scientific(found.density), read.index_base);
    text += command.duplicates_text(read);
    text += std::string("\nelements that are not stored ") +
            (std::string(command.not_stored()) == "zeros" ? "count as zeros" : "are unknown") + "\n\n" +
            modes_text(found.modes, found.nonzeros, read.index_base, ids) + "\n" + values_text(values);
    for (std::size_t r = 0; r < found.distributions.size(); ++r)
        text += fmt::format("\n{} ranks, rows to {}, seconds for rank {}\n", with_commas(ranks[r]), command.options.rows,
                            command.options.columns) +
                rows_text(found.distributions[r]);
    return text;
}

/// Of float or double. @param read  as it was
template <class T>
void look_at(const StatsCommand& command, const Console& console, const World& world, SparseFile<T> input) {
    StatsResult result{.read = input.report, .warnings = reading_warnings(input)};
    const auto ids = model_ids(world, command.file, input.tensor.lengths());
    if (!ids.warning.empty()) result.warnings.push_back(ids.warning);
    print_warnings(console.err, result.warnings);
    require_on_first_rank(input.tensor, command.file, "looks at",
                          statistics_memory(input.tensor.nonzeros(), input.tensor.lengths(), command.options));
    result.values = value_statistics(input.tensor);
    result.tensor = sparse_statistics(input.tensor, command.options);
    result.ids = heaviest_ids(world, ids, result.tensor, input.tensor.order());
    console.out << world.from_first(world.rank() == 0 ? report(command, result) : "") << std::flush;
}

template <class T>
void read_and_look(const StatsCommand& command, const Console& console, const World& world, bool is_dense) {
    SparseFile<T> input;
    input.tensor = SparseTensor<T>(command.read_stored(world, element_type_of<T>(), is_dense, input.report));
    look_at(command, console, world, std::move(input));
}

void run(const StatsCommand& command, const Console& console) {
    const World world = command.world.make_world();
    const bool is_dense = command.is_dense(world, {}, {"--drop"});
    command.is_single(world, is_dense) ? read_and_look<float>(command, console, world, is_dense)
                                       : read_and_look<double>(command, console, world, is_dense);
}

}  // namespace

Action declare_stats(CLI::App& app) {
    const auto command = std::make_shared<StatsCommand>();
    app.add_option("FILE", command->file,
                   "sparse tensor: text (.tns, .tns.gz), MatrixMarket (.mtx) or binary; dense tensor: .npy, HDF5, file.h5:/dataset")
        ->required();
    command->declare_drop(app);
    app.add_option("--parts", command->options.ranks, "numbers of ranks to count distributions for, as 16,256")
        ->delimiter(',')
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
    app.add_option("--rank", command->options.columns, "components, for the predicted seconds")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    app.add_option("--rows", command->options.rows, "owners of rows: holders, even or claim")
        ->check(accepted_by(check_row_rule, "RULE"))
        ->capture_default_str();
    app.add_flag("--hypergraph", command->options.hypergraphs,
                 "the hypergraph distributions, too; they take minutes for millions of nonzeros");
    declare_progress(app, command->progress);
    command->declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

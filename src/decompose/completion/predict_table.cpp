// Elements of models at the ids of a table.
#include "arges/error.hpp"
#include "arges/predict.hpp"
#include "arges/table_io.hpp"
#include "base/csv_field.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "decompose/completion/model_elements.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/table/query_table.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Names of the modes. Collective.
std::vector<std::string> checked_names(const World& world, const std::string& ids, const std::vector<std::int64_t>& lengths) {
    std::vector<std::string> names;
    std::vector<std::int64_t> counts;
    for (const auto& mode : ids_outline(world, ids)) {
        names.push_back(mode.name);
        counts.push_back(mode.count);
    }
    if (names.empty())
        throw InvalidArgument(ids +
                              ": there are no ids of the model; decompose a tensor that arges convert made of a table, or give indices in "
                              "a text without columns (.tns)");
    if (counts != lengths)
        throw InvalidArgument(ids + " has ids of a tensor of " + joined(counts, " x ") + ", and the model is " + joined(lengths, " x ") +
                              "; decompose the tensor that belongs to them");
    return names;
}

/// The first mode of each column.
std::vector<std::size_t> shown_modes(const io::TableLayout& layout) {
    std::vector<std::size_t> modes;
    for (std::size_t m = 0; m < layout.modes.size(); ++m)
        if (std::none_of(modes.begin(), modes.end(), [&](auto k) { return layout.modes[k].field == layout.modes[m].field; }))
            modes.push_back(m);
    return modes;
}

}  // namespace

template <class T>
PredictionReport predict_table(const CpModel<T>& model, const std::string& path, const std::string& ids, const TableOptions& options,
                               const std::string& output) {
    const CollectiveCall call(ranks_of(model.world()), "predict_table", ModelArgument{&model}, path, ids, options.columns, options.value,
                              options.delimiter, options.header, options.has_quotes, options.skips_empty, output);
    const auto& comm = communicator_of(model.world(), "predict_table");
    const auto names = checked_names(model.world(), ids, model.lengths());
    const auto rows = io::read_query_table(comm, path, ids, names, options);
    PredictionReport report;
    report.lines = rows.lines;
    report.skipped = rows.skipped;
    report.has_values = rows.layout.value >= 0;
    report.predictions = comm.sum(rows.count());
    if (report.predictions == 0)
        throw InvalidArgument(path + ": there is no row" + (report.skipped > 0 ? " without empty fields" : "") +
                              " behind the names of the columns; give a row for each prediction");
    for (const auto& mode : rows.indices) report.unknown_ids.push_back(comm.sum(std::count(mode.begin(), mode.end(), -1)));
    std::int64_t unknown = 0;
    const auto found = decompose::elements_at(comm, model, rows.indices, unknown);
    report.unknown = comm.sum(unknown);
    if (report.has_values) report.rmse = decompose::root_mean_square(comm, rows.values.data(), found);
    const auto append_field = [&](std::string& text, std::string_view field) {
        append_csv_field(text, field, rows.layout.delimiter, rows.layout.quote);
    };
    const auto shown = shown_modes(rows.layout);
    std::string heading;
    for (auto m : shown) {
        append_field(heading, rows.layout.names[rows.layout.modes[m].field]);
        heading += rows.layout.delimiter;
    }
    if (report.has_values) {
        append_field(heading, rows.layout.names[rows.layout.value]);
        heading += rows.layout.delimiter;
    }
    heading += "predicted\n";
    const auto append = [&](std::string& text, std::int64_t x) {
        for (auto m : shown) {
            append_field(text, rows.field(m, x));
            text += rows.layout.delimiter;
        }
        if (report.has_values) {
            decompose::append_element(text, rows.values[x]);
            text += rows.layout.delimiter;
        }
        decompose::append_element(text, found[x]);
    };
    decompose::write_predictions(comm, output, heading, rows.count(), append, report);
    return report;
}

template PredictionReport predict_table(const CpModel<float>&, const std::string&, const std::string&, const TableOptions&,
                                        const std::string&);
template PredictionReport predict_table(const CpModel<double>&, const std::string&, const std::string&, const TableOptions&,
                                        const std::string&);

}  // namespace arges

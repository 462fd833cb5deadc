// Elements of models at ids: of a table, and of rows in memory.
#include "arges/error.hpp"
#include "arges/predict.hpp"
#include "arges/table_io.hpp"
#include "base/csv_field.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "decompose/completion/model_elements.hpp"
#include "decompose/completion/predict_memory.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/table/query_table.hpp"

#include <algorithm>

namespace arges {

namespace {

constexpr const char* title_of_rows = "predict";

void require_lengths(const std::string& ids, const std::vector<std::int64_t>& counts, const std::vector<std::int64_t>& lengths) {
    if (counts != lengths)
        throw InvalidArgument(ids + " has ids of a tensor of " + joined(counts, " x ") + ", and the model is " + joined(lengths, " x ") +
                              "; decompose the tensor that belongs to them");
}

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
    require_lengths(ids, counts, lengths);
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

io::FindIds ids_of_file(const Communicator& comm, const std::string& ids) {
    return [&comm, ids](const std::vector<io::IdTable>& asked) { return io::indices_of_ids(comm, ids, asked); };
}

/// What a model says of rows. Collective.
template <class T>
PredictionReport predict_rows(const Communicator& comm, const CpModel<T>& model, const io::QueryRows& rows) {
    PredictionReport report;
    report.lines = rows.lines;
    report.skipped = rows.skipped;
    report.has_values = rows.layout.value >= 0;
    report.predictions = comm.sum(rows.count());
    for (const auto& mode : rows.indices) report.unknown_ids.push_back(comm.sum(std::count(mode.begin(), mode.end(), -1)));
    if (report.predictions == 0) return report;
    std::int64_t unknown = 0;
    report.elements = decompose::elements_at(comm, model, rows.indices, unknown);
    report.unknown = comm.sum(unknown);
    if (report.has_values) report.rmse = decompose::root_mean_square(comm, rows.values.data(), report.elements);
    return report;
}

/// Refuses rows with another number of ids than the model has modes. Local.
void check_rows(const std::vector<std::vector<std::string>>& rows, std::size_t order) {
    for (std::size_t x = 0; x < rows.size(); ++x)
        if (rows[x].size() != order)
            throw InvalidArgument(std::string(title_of_rows) + ": row " + std::to_string(x + 1) + " has " + std::to_string(rows[x].size()) +
                                  " ids for the " + std::to_string(order) + " modes of the model; give one for each");
}

}  // namespace

template <class T>
PredictionReport predict_table(const CpModel<T>& model, const std::string& path, const std::string& ids, const TableOptions& options,
                               const std::string& output) {
    const CollectiveCall call(ranks_of(model.world()), "predict_table", ModelArgument{&model}, path, ids, options.columns, options.value,
                              options.delimiter, options.header, options.has_quotes, options.skips_empty, output);
    const auto& comm = communicator_of(model.world(), "predict_table");
    const auto names = checked_names(model.world(), ids, model.lengths());
    const auto rows = io::read_query_table(comm, path, ids_of_file(comm, ids), names, options);
    auto report = predict_rows(comm, model, rows);
    if (report.predictions == 0)
        throw InvalidArgument(path + ": there is no row" + (report.skipped > 0 ? " without empty fields" : "") +
                              " behind the names of the columns; give a row for each prediction");
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
        decompose::append_element(text, report.elements[x]);
    };
    decompose::write_predictions(comm, output, heading, rows.count(), append, report);
    return report;
}

template <class T>
std::int64_t prediction_bytes(const CpModel<T>& model, const std::string& path, const std::string& ids, const TableOptions& options,
                              const std::string& output) {
    const CollectiveCall call(ranks_of(model.world()), "prediction_bytes", ModelArgument{&model}, path, ids, options.columns, output);
    const auto& comm = communicator_of(model.world(), "prediction_bytes");
    const auto names = checked_names(model.world(), ids, model.lengths());
    if (path == "-") return 0;
    const auto outline = io::query_outline(comm, path, names, options);
    if (outline.rows == 0) return 0;
    return decompose::prediction_memory(decompose::shape_of(comm, model), outline, output.empty()).peak();
}

template <class T>
PredictionReport predict_ids(const CpModel<T>& model, const std::vector<std::vector<std::string>>& rows, const std::string& ids) {
    const CollectiveCall call(ranks_of(model.world()), "predict_ids", ModelArgument{&model}, rows, ids);
    const auto& comm = communicator_of(model.world(), "predict_ids");
    const auto names = checked_names(model.world(), ids, model.lengths());
    check_rows(rows, names.size());
    return predict_rows(comm, model, io::query_rows(comm, title_of_rows, rows, ids_of_file(comm, ids), names));
}

template <class T>
PredictionReport predict_ids(const CpModel<T>& model, const std::vector<std::vector<std::string>>& rows,
                             const std::vector<std::vector<std::string>>& ids) {
    const CollectiveCall call(ranks_of(model.world()), "predict_ids", ModelArgument{&model}, rows, ids);
    const auto& comm = communicator_of(model.world(), "predict_ids");
    std::vector<std::int64_t> counts;
    for (const auto& mode : ids) counts.push_back(std::ssize(mode));
    require_lengths("this list", counts, model.lengths());
    check_rows(rows, counts.size());
    const auto find = [&](const std::vector<io::IdTable>& asked) { return io::indices_of_ids(ids, asked); };
    return predict_rows(comm, model, io::query_rows(comm, title_of_rows, rows, find, std::vector<std::string>(counts.size())));
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template PredictionReport predict_table(const CpModel<T>&, const std::string&, const std::string&, const TableOptions&,                \
                                            const std::string&);                                                                           \
    template std::int64_t prediction_bytes(const CpModel<T>&, const std::string&, const std::string&, const TableOptions&,                 \
                                           const std::string&);                                                                            \
    template PredictionReport predict_ids(const CpModel<T>&, const std::vector<std::vector<std::string>>&, const std::string&);            \
    template PredictionReport predict_ids(const CpModel<T>&, const std::vector<std::vector<std::string>>&,                                 \
                                          const std::vector<std::vector<std::string>>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges

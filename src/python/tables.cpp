// Tables as tensors, and elements of CP models at their ids.
#include "python/bindings.hpp"
#include "python/models.hpp"

#include "arges/predict.hpp"
#include "arges/table_io.hpp"
#include "comm/values.hpp"
#include "interface/world/world_state.hpp"

#include <optional>

namespace arges::python {

namespace {

/// Of all ranks, as Python's texts; bytes that are no UTF-8 are kept as Python keeps them in names of files. Collective.
nb::list texts_of(const World& world, const std::vector<std::string>& mine) {
    std::vector<char> letters;
    std::vector<std::int64_t> lengths;
    outside_interpreter([&] {
        const auto& comm = communicator_of(world, "read_table");
        comm.agree([&] {
            for (const auto& text : mine) {
                letters.insert(letters.end(), text.begin(), text.end());
                lengths.push_back(std::ssize(text));
            }
        });
        letters = gathered(comm, letters);
        lengths = gathered(comm, lengths);
        return 0;
    });
    nb::list texts;
    const char* at = letters.data();
    for (auto length : lengths) {
        texts.append(nb::steal<nb::str>(PyUnicode_DecodeUTF8(at, length, "surrogateescape")));
        at += length;
    }
    return texts;
}

TableOptions table_options(const nb::dict& given) {
    TableOptions options;
    int header = 0, duplicates = static_cast<int>(options.duplicates);
    take(given, "columns", options.columns, "value", options.value, "duplicates", duplicates, "delimiter", options.delimiter, "header",
         header, "quotes", options.has_quotes, "skip_empty", options.skips_empty);
    options.header = static_cast<TableHeader>(header);
    options.duplicates = static_cast<Duplicates>(duplicates);
    return options;
}

nb::tuple read_table_of(const World& world, const std::string& path, int type, const nb::dict& given) {
    const auto options = table_options(given);
    TableReport found;
    std::vector<ModeIds> ids;
    auto tensor = outside_interpreter([&] { return read_table(static_cast<ElementType>(type), world, path, options, found, ids); });
    nb::list texts;
    for (const auto& mode : ids) texts.append(texts_of(world, mode.mine));
    return nb::make_tuple(std::move(tensor), texts, found.duplicates);
}

using Texts = std::vector<std::vector<std::string>>;

/// The bytes of texts of Python, as texts_of() makes them of bytes.
Texts texts_from(const nb::handle lists) {
    Texts texts;
    for (const auto list : lists) {
        auto& own = texts.emplace_back();
        for (const auto text : list) {
            const auto bytes = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
            if (!bytes.is_valid()) throw nb::python_error();
            own.emplace_back(bytes.c_str(), bytes.size());
        }
    }
    return texts;
}

/// That of a folder, or of an arges.CpModel. Collective.
CpModel<double> model_of(const World& world, const nb::object& model) {
    if (nb::isinstance<nb::str>(model)) {
        const auto folder = nb::cast<std::string>(model);
        return outside_interpreter([&] { return load_model<double>(world, folder); });
    }
    std::optional<CpModel<double>> made;
    world.agree([&] { made = model_from<double>(world, model); });
    return std::move(*made);
}

nb::dict load_cp_model(const World& world, const nb::object& folder) {
    const auto model = model_of(world, folder);
    return named("weights", vector_of(model.lambda()), "factors", cp_factors(model), "mean", model.mean(), "biases", cp_biases(model));
}

/// @param ids  by mode, with their names; none: the folder gets none
void save_cp_model(const World& world, const nb::object& model, const std::string& folder, const std::vector<std::string>& names,
                   const nb::object& ids) {
    const auto own = model_of(world, model);
    std::vector<ModeIds> lists;
    world.agree([&] {
        const auto texts = texts_from(ids);
        for (std::size_t m = 0; m < texts.size(); ++m) {
            auto& mode = lists.emplace_back(names.at(m), std::ssize(texts[m]));
            if (world.rank() == 0) mode.mine = texts[m];
        }
    });
    const OutsideInterpreter outside;
    save_model(own, folder);
    lists.empty() ? copy_ids(world, "", ids_path(folder)) : write_ids(world, lists, ids_path(folder));
}

/// All elements on every rank, and what was found. Collective.
nb::tuple answer(const World& world, PredictionReport report) {
    auto elements = outside_interpreter([&] { return gathered(communicator_of(world, "predict"), report.elements); });
    auto found = named("predictions", report.predictions, "in_unknown_slices", report.unknown, "unknown_ids", report.unknown_ids, "skipped",
                       report.skipped);
    if (report.has_values) found["rmse"] = report.rmse;
    return nb::make_tuple(vector_of(elements), found);
}

/// @param ids  name of their file, or lists by mode
nb::tuple predict_rows(const World& world, const nb::object& model, const nb::object& rows, const nb::object& ids) {
    const auto own = model_of(world, model);
    Texts texts, lists;
    std::string file;
    world.agree([&] {
        texts = texts_from(rows);
        nb::isinstance<nb::str>(ids) ? void(file = nb::cast<std::string>(ids)) : void(lists = texts_from(ids));
    });
    return answer(world,
                  outside_interpreter([&] { return lists.empty() ? predict_ids(own, texts, file) : predict_ids(own, texts, lists); }));
}

nb::tuple predict_table_of(const World& world, const nb::object& model, const std::string& path, const std::string& ids,
                           const std::string& output, const nb::dict& given) {
    const auto own = model_of(world, model);
    return answer(world, outside_interpreter([&] { return predict_table(own, path, ids, table_options(given), output); }));
}

}  // namespace

void bind_tables(nb::module_& module) {
    module.def("read_table", &read_table_of);
    module.def("ids_path", &ids_path);
    module.def("load_cp_model", &load_cp_model);
    module.def("save_cp_model", &save_cp_model);
    module.def("predict_ids", &predict_rows);
    module.def("predict_table", &predict_table_of);
}

}  // namespace arges::python

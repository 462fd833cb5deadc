#include "cli/model_components.hpp"

#include "arges/error.hpp"
#include "arges/forecast.hpp"
#include "arges/table_io.hpp"
#include "arges/tensor_io.hpp"
#include "base/read_number.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <system_error>

namespace arges::cli {

namespace {

/// The place of the mode that is asked for, by number or name; none: all of them. @throws InvalidArgument if there is none
std::vector<std::size_t> asked_modes(const ShownChoice& choice, const ShownModel& model) {
    std::vector<std::size_t> all(model.lengths.size());
    std::iota(all.begin(), all.end(), 0);
    if (choice.mode.empty()) return all;
    const auto named = std::find(model.ids.names.begin(), model.ids.names.end(), choice.mode);
    if (named != model.ids.names.end()) return {static_cast<std::size_t>(named - model.ids.names.begin())};
    std::size_t number = 0;
    if (read_number(choice.mode, number) && number >= 1 && number <= all.size()) return {number - 1};
    const auto nearest = nearest_word(choice.mode, model.ids.names);
    throw InvalidArgument(fmt::format("{}: there is no mode '{}'; {}", model.path, choice.mode,
                                      nearest.empty() ? fmt::format("modes are numbered from 1 to {}{}", all.size(),
                                                                    model.ids.names.empty() ? "" : ", or called " + joined(model.ids.names))
                                                      : "did you mean " + nearest + "?"));
}

/// @throws InvalidArgument if there is no component of this number
void check_component(const ShownChoice& choice, const ShownModel& shown) {
    const auto most = *std::max_element(shown.ranks.begin(), shown.ranks.end());
    if (choice.component > most)
        throw InvalidArgument(fmt::format("{}: there is no component {}; there are {}", shown.path, choice.component, most));
}

void add_components(const CpModel<double>& model, const ShownChoice& choice, ShownModel& shown) {
    double sum = 0;
    for (double weight : model.lambda()) sum += std::abs(weight);
    for (int r = 0; r < model.rank(); ++r)
        shown.components.push_back({r + 1, model.lambda()[r], sum > 0 ? std::abs(model.lambda()[r]) / sum : 0, {}});
    for (auto mode : asked_modes(choice, shown)) {
        auto items = top_items(model, static_cast<int>(mode), choice.top);
        for (auto& component : shown.components) component.modes.push_back({mode, std::move(items[component.number - 1]), {}});
    }
}

/// Norms of the slices of the core along a mode.
template <class T>
std::vector<double> slice_norms(const Tensor<T>& core, const std::vector<T>& elements, std::size_t mode) {
    const auto& extents = core.extents();
    std::int64_t stride = 1;
    for (std::size_t m = 0; m < mode; ++m) stride *= extents[m];
    std::vector<double> norms(extents[mode]);
    for (std::int64_t i = 0; i < std::ssize(elements); ++i)
        norms[i / stride % extents[mode]] += static_cast<double>(elements[i]) * static_cast<double>(elements[i]);
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
}

template <class T>
void add_components(const TuckerModel<T>& model, const ShownChoice& choice, ShownModel& shown) {
    const auto core = model.core().gather();
    for (auto mode : asked_modes(choice, shown)) {
        const auto norms = slice_norms(model.core(), core, mode);
        double sum = 0;
        for (double norm : norms) sum += norm * norm;
        auto items = top_items(model, static_cast<int>(mode), choice.top);
        for (std::size_t c = 0; c < items.size(); ++c)
            shown.components.push_back(
                {static_cast<int>(c) + 1, norms[c], sum > 0 ? norms[c] * norms[c] / sum : 0, {{mode, std::move(items[c]), {}}}});
    }
}

std::vector<std::int64_t> ranks_of_model(const CpModel<double>& model) { return {model.rank()}; }
template <class T>
std::vector<std::int64_t> ranks_of_model(const TuckerModel<T>& model) {
    return model.ranks();
}

/// Null where the file has another type, or no model: `why` gets the reason. Collective.
template <class T>
std::unique_ptr<const TuckerModel<T>> tucker_of(const World& world, const std::string& path, std::string& why) {
    try {
        return std::make_unique<const TuckerModel<T>>(load_tucker_model<T>(world, path));
    } catch (const InvalidArgument& error) {  // the same on every rank
        if (why.empty()) why = error.what();
        return {};
    }
}

/// Whether a file is one of a tensor. Collective.
bool has_tensor(const World& world, const std::string& path) {
    try {
        if (is_table_name(path)) return true;
        if (is_tensor_file(world, path)) return tensor_file_info(world, path).form != "checkpoint";
        return SparseFileForecast(world, path, ElementType::float64).is_known();
    } catch (const Error&) {  // likewise
        return false;
    }
}

/// Ids where there are some, else indices.
void add_names(const World& world, ShownModel& shown) {
    std::vector<std::vector<std::int64_t>> indices(shown.lengths.size());
    for (auto& component : shown.components)
        for (const auto& mode : component.modes)
            for (const auto& item : mode.items) indices[mode.mode].push_back(item.index);
    const auto ids = shown.ids.of(world, indices);
    std::vector<std::size_t> next(indices.size());
    for (auto& component : shown.components)
        for (auto& mode : component.modes)
            for (const auto& item : mode.items)
                mode.names.push_back(ids.empty() ? std::to_string(item.index) : ids[mode.mode][next[mode.mode]++]);
}

}  // namespace

SavedModel load_saved_model(const World& world, const std::string& path) {
    std::error_code ignored;
    const bool is_folder = world.maximum(std::filesystem::is_directory(path, ignored) ? 1 : 0) == 1;
    if (is_folder) return {.cp = std::make_unique<const CpModel<double>>(load_model<double>(world, path))};
    std::string why;
    SavedModel model;
    model.tucker = tucker_of<double>(world, path, why);
    if (!model.tucker) model.tucker_single = tucker_of<float>(world, path, why);
    if (model.tucker || model.tucker_single) return model;
    if (has_tensor(world, path))
        throw InvalidArgument(path + ": this is a tensor, and no model; see what it looks like with arges stats, and decompose it with "
                                     "arges cpd, complete or tucker and --output");
    throw InvalidArgument(why);
}

ShownModel shown_model(const World& world, const std::string& path, const SavedModel& model, const ShownChoice& choice) {
    ShownModel shown{.path = path, .kind = model.cp ? "CP" : "Tucker"};
    model.visit([&](const auto& of) {
        shown.lengths = of.lengths();
        shown.ranks = ranks_of_model(of);
        shown.ids = model_ids(world, path, shown.lengths);
        check_component(choice, shown);
        add_components(of, choice, shown);
    });
    if (choice.component > 0) std::erase_if(shown.components, [&](const auto& component) { return component.number != choice.component; });
    add_names(world, shown);
    return shown;
}

}  // namespace arges::cli

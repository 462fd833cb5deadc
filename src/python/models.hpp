/// Models of Python, whose factors every rank has whole.
#pragma once

#include "python/bindings.hpp"

#include "arges/cpd.hpp"

#include <algorithm>

namespace arges::python {

/// The whole factors on every rank, rows by components. Collective.
template <class Model>
nb::list factors_of(const Model& model, const std::function<std::int64_t(int)>& columns) {
    nb::list factors;
    for (int mode = 0; mode < model.order(); ++mode) {
        auto rows = model.gather(mode);
        // An array has its first index fastest, a factor its last: the transpose is handed over.
        factors.append(array_of(std::move(rows), {columns(mode), model.lengths()[mode]}).attr("T"));
    }
    return factors;
}

template <class T>
nb::list cp_factors(const CpModel<T>& model) {
    return factors_of(model, [&](int) { return static_cast<std::int64_t>(model.rank()); });
}

/// The whole biases on every rank, by mode; none where the model has none. Collective.
template <class T>
nb::list cp_biases(const CpModel<T>& model) {
    nb::list biases;
    for (int mode = 0; model.has_biases() && mode < model.order(); ++mode)
        biases.append(array_of(model.gather_bias(mode), {model.lengths()[mode]}));
    return biases;
}

/// The model of an arges.CpModel, its rows dealt to the ranks; those that are zero are left out, as load_model() does. Local.
template <class T>
CpModel<T> model_from(const World& world, const nb::object& given) {
    const auto lambda = nb::cast<std::vector<double>>(given.attr("weights").attr("tolist")());
    std::vector<std::vector<double>> all_biases;
    for (const auto bias : given.attr("biases")) all_biases.push_back(nb::cast<std::vector<double>>(bias.attr("tolist")()));
    Extents lengths;
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<T>> factors, biases(all_biases.size());
    for (const auto factor : given.attr("factors")) {
        const auto mode = lengths.size();
        lengths.push_back(nb::cast<std::int64_t>(factor.attr("shape")[nb::int_(0)]));
        auto& mine = rows.emplace_back();
        auto& own = factors.emplace_back();
        for (auto row = world.rank(); row < lengths[mode]; row += world.size()) {
            const auto elements = nb::cast<std::vector<double>>(factor[nb::int_(row)].attr("tolist")());
            const double bias = biases.empty() ? 0 : all_biases.at(mode).at(row);
            if (bias == 0 && std::all_of(elements.begin(), elements.end(), [](double element) { return element == 0; })) continue;
            mine.push_back(row);
            for (double element : elements) own.push_back(static_cast<T>(element));
            if (!biases.empty()) biases[mode].push_back(static_cast<T>(bias));
        }
    }
    CpModel<T> model(world, lengths, lambda, rows, factors);
    if (!biases.empty()) model.set_biases(nb::cast<double>(given.attr("mean")), std::move(biases));
    return model;
}

}  // namespace arges::python

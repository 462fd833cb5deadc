// CP and Tucker decompositions, completion.
#include "python/bindings.hpp"

#include "arges/complete.hpp"
#include "arges/cpd.hpp"
#include "arges/tucker.hpp"

namespace arges::python {

namespace {

/// The value of a key, where there is one. The package has checked the names.
template <class V>
void take(const nb::dict& options, const char* name, V& value) {
    if (options.contains(name)) value = nb::cast<V>(options[name]);
}

/// What CpOptions and CompletionOptions have in common.
template <class Options>
void take_common(const nb::dict& given, Options& options) {
    int algorithm = 0;
    take(given, "rank", options.rank);
    take(given, "algorithm", algorithm);
    options.algorithm = static_cast<decltype(options.algorithm)>(algorithm);
    take(given, "max_iterations", options.max_iterations);
    take(given, "tolerance", options.tolerance);
    take(given, "regularization", options.regularization);
    take(given, "seed", options.seed);
    take(given, "distribution", options.distribution);
}

constexpr const char* stop_reasons[] = {"tolerance", "iterations", "no_step", "zero_model", "held_out", "asked"};

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

/// Seen by Ctrl-C, and by the caller's function: called between iterations on every rank.
template <class Iteration>
void report(const World& world, const nb::object& progress, const Iteration& fields) {
    const nb::gil_scoped_acquire hold;
    raise_interruption(world);
    if (progress.is_none()) return;
    agree(world, function_of([&] { return progress(fields()); }));
}

nb::dict iteration_of(const CpIteration& now) {
    nb::dict fields;
    fields["number"] = now.number;
    fields["fit"] = now.fit;
    fields["change"] = now.change;
    fields["seconds"] = now.seconds;
    return fields;
}

template <class T>
std::optional<CpModel<T>> model_from(const World& world, const nb::object& start) {
    if (start.is_none()) return std::nullopt;
    const auto lambda = nb::cast<std::vector<double>>(start.attr("weights").attr("tolist")());
    Extents lengths;
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<T>> factors;
    for (const auto factor : start.attr("factors")) {
        const auto length = nb::cast<std::int64_t>(factor.attr("shape")[nb::int_(0)]);
        lengths.push_back(length);
        std::vector<std::int64_t> mine;
        std::vector<T> own;
        for (auto row = world.rank(); row < length; row += world.size()) {
            mine.push_back(row);
            for (double element : nb::cast<std::vector<double>>(factor[nb::int_(row)].attr("tolist")()))
                own.push_back(static_cast<T>(element));
        }
        rows.push_back(std::move(mine));
        factors.push_back(std::move(own));
    }
    return CpModel<T>(world, lengths, lambda, rows, factors);
}

nb::dict cpd(const AnyTensor& tensor, const nb::dict& given, const nb::object& progress, const nb::object& start) {
    return with_real(tensor, "cpd", [&]<template <class> class Kind, class T>(const Kind<T>& own) {
        const auto& world = own.world();
        CpOptions options;
        std::int64_t forecast = 0;
        std::optional<CpModel<T>> first;
        world.agree([&] {
            take_common(given, options);
            take(given, "grid", options.grid);
            take(given, "format", options.format);
            take(given, "pairwise_perturbation", options.pairwise_perturbation);
            first = model_from<T>(world, start);
        });
        options.planned = [&](std::int64_t bytes, std::int64_t) { forecast = bytes; };
        const auto each = [&](const CpIteration& now, const std::function<CpModel<T>()>&) {
            report(world, progress, [&] { return iteration_of(now); });
        };
        const auto result = outside_interpreter([&] { return cp_decompose(own, options, each, first ? &*first : nullptr); });
        nb::dict found;
        found["weights"] = vector_of(result.model.lambda());
        found["factors"] = cp_factors(result.model);
        found["fit"] = result.fit;
        found["fits"] = vector_of(result.fits);
        found["iterations"] = result.iterations;
        found["converged"] = result.converged;
        found["stop_reason"] = stop_reasons[static_cast<int>(result.stop_reason)];
        found["seconds_per_iteration"] = result.seconds_per_iteration;
        found["setup_seconds"] = result.setup_seconds;
        found["distribution"] = result.distribution;
        found["forecast_bytes"] = forecast;
        return found;
    });
}

nb::dict tucker(const AnyTensor& tensor, const nb::dict& given, const nb::object& progress) {
    return with_real(tensor, "tucker", [&](const auto& own) {
        const auto& world = own.world();
        TuckerOptions options;
        std::int64_t forecast = 0;
        world.agree([&] {
            int method = 0;
            take(given, "ranks", options.ranks);
            take(given, "relative_error", options.relative_error);
            take(given, "method", method);
            options.method = static_cast<TuckerMethod>(method);
            take(given, "max_iterations", options.max_iterations);
            take(given, "tolerance", options.tolerance);
            take(given, "seed", options.seed);
        });
        options.planned = [&](std::int64_t bytes) { forecast = bytes; };
        const TuckerProgress each = [&](int number, double fit) {
            report(world, progress, [&] {
                nb::dict fields;
                fields["number"] = number;
                fields["fit"] = fit;
                return fields;
            });
        };
        const auto result = outside_interpreter([&] { return tucker_decompose(own, options, each); });
        const auto& model = result.model;
        nb::dict found;
        found["core"] = AnyTensor(model.core().any_state());
        found["factors"] = factors_of(model, [&](int mode) { return model.ranks()[mode]; });
        found["fit"] = result.fit;
        found["iterations"] = result.iterations;
        found["compression"] = model.compression();
        found["forecast_bytes"] = forecast;
        return found;
    });
}

nb::dict completion(const AnyTensor& tensor, const nb::dict& given, const nb::object& progress, const nb::object& start) {
    return with_real(tensor, "complete", [&]<template <class> class Kind, class T>(const Kind<T>& own) -> nb::dict {
        if constexpr (!std::is_same_v<Kind<T>, SparseTensor<T>>) {
            throw InvalidArgument(tensor.title() +
                                  ": complete needs a sparse tensor, whose stored elements are known; make one with to_sparse()");
        } else {
            const auto& world = own.world();
            CompletionOptions options;
            std::int64_t forecast = 0;
            std::optional<CpModel<T>> first;
            world.agree([&] {
                take_common(given, options);
                take(given, "holdout", options.holdout);
                take(given, "patience", options.patience);
                take(given, "learning_rate", options.learning_rate);
                take(given, "decay", options.decay);
                take(given, "batches", options.batches);
                first = model_from<T>(world, start);
            });
            options.planned = [&](std::int64_t bytes, std::int64_t) { forecast = bytes; };
            const auto each = [&](const CompletionIteration& now, const std::function<CpModel<T>()>&) {
                report(world, progress, [&] {
                    nb::dict fields;
                    fields["number"] = now.number;
                    fields["loss"] = now.loss;
                    fields["rmse"] = now.rmse;
                    fields["held_out_rmse"] = now.held_out_rmse;
                    fields["seconds"] = now.seconds;
                    return fields;
                });
            };
            const auto result = outside_interpreter([&] { return complete(own, options, each, first ? &*first : nullptr); });
            nb::dict found;
            found["weights"] = vector_of(result.model.lambda());
            found["factors"] = cp_factors(result.model);
            found["rmse"] = result.rmse;
            found["rmses"] = vector_of(result.rmses);
            found["held_out_rmse"] = result.held_out_rmse;
            found["held_out_rmses"] = vector_of(result.held_out_rmses);
            found["losses"] = vector_of(result.losses);
            found["iterations"] = result.iterations;
            found["converged"] = result.converged;
            found["stop_reason"] = stop_reasons[static_cast<int>(result.stop_reason)];
            found["forecast_bytes"] = forecast;
            return found;
        }
    });
}

}  // namespace

void bind_decompositions(nb::module_& module) {
    module.def("cpd", &cpd, nb::arg("tensor"), nb::arg("options"), nb::arg("progress").none(), nb::arg("start").none());
    module.def("tucker", &tucker, nb::arg("tensor"), nb::arg("options"), nb::arg("progress").none());
    module.def("complete", &completion, nb::arg("tensor"), nb::arg("options"), nb::arg("progress").none(), nb::arg("start").none());
}

}  // namespace arges::python

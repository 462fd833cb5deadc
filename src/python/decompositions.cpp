// CP and Tucker decompositions, completion.
#include "python/bindings.hpp"
#include "python/models.hpp"

#include "arges/complete.hpp"
#include "arges/cp_ranks.hpp"
#include "arges/cpd.hpp"
#include "arges/known_elements.hpp"
#include "arges/tucker.hpp"

namespace arges::python {

namespace {

constexpr const char* stop_reasons[] = {"tolerance", "iterations", "no_step", "zero_model", "held_out", "asked", "seconds", "diverged"};

/// Seen by Ctrl-C, and by the caller's function: called between iterations on every rank.
template <class Iteration>
void report(const World& world, const nb::object& progress, const Iteration& fields) {
    const nb::gil_scoped_acquire hold;
    raise_interruption(world);
    if (progress.is_none()) return;
    agree(world, function_of([&] { return progress(fields()); }));
}

/// What CpOptions and CompletionOptions have in common.
template <class Options>
void take_common(const nb::dict& given, Options& options) {
    int algorithm = 0;
    take(given, "rank", options.rank, "algorithm", algorithm, "max_iterations", options.max_iterations, "tolerance", options.tolerance,
         "regularization", options.regularization, "seed", options.seed, "distribution", options.distribution, "partition_file",
         options.partition_file, "save_partition", options.save_partition, "seconds", options.seconds);
    options.algorithm = static_cast<decltype(options.algorithm)>(algorithm);
}

/// Options of cpd() and compare_ranks(). @throws InvalidArgument for texts of losses and constraints that are none
CpOptions cp_options(const nb::dict& given) {
    CpOptions options;
    take_common(given, options);
    int init = 0;
    take(given, "grid", options.grid, "format", options.format, "pairwise_perturbation", options.pairwise_perturbation, "starts",
         options.starts, "groups", options.groups, "missing", options.missing, "init", init);
    options.init = static_cast<CpInit>(init);
    std::string loss;
    take(given, "loss", loss);
    options.loss = parse_loss(loss);
    std::vector<std::string> constraints;
    take(given, "constraints", constraints);
    for (const auto& text : constraints) options.constraints.push_back(parse_constraint(text));
    return options;
}

nb::list compare_cp_ranks(const AnyTensor& tensor, int first, int last, const nb::dict& given, double holdout, const nb::object& progress) {
    return with_real(tensor, "compare_ranks", [&](const auto& own) {
        const auto& world = own.world();
        CpOptions options;
        world.agree([&] { options = cp_options(given); });
        const auto each = [&](int rank, const CpIteration& now) {
            report(world, progress, [&] {
                return named("rank", rank, "number", now.number, "fit", now.fit, "change", now.change, "seconds", now.seconds, "start",
                             now.start);
            });
        };
        const auto found = outside_interpreter([&] { return compare_ranks(own, first, last, options, holdout, each); });
        nb::list trials;
        for (const auto& trial : found.trials)
            trials.append(named("rank", trial.rank, "fit", trial.fit, "starts", trial.starts, "near_best", trial.near_best, "agreement",
                                trial.agreement, "core_consistency", trial.consistency, "held_out_rmse", trial.held_out_rmse,
                                "held_out_spread", trial.held_out_spread, "seconds", trial.seconds, "recommended",
                                trial.rank == found.recommended));
        return trials;
    });
}

nb::dict cpd(const AnyTensor& tensor, const nb::dict& given, const nb::object& progress, const nb::object& start,
             const AnyTensor* weights) {
    return with_real(tensor, "cpd", [&]<template <class> class Kind, class T>(const Kind<T>& own) {
        const auto& world = own.world();
        CpOptions options;
        std::optional<CpModel<T>> first;
        std::optional<Kind<T>> of_elements;
        world.agree([&] {
            options = cp_options(given);
            if (weights != nullptr) of_elements.emplace(*weights);
            if (!start.is_none()) first = model_from<T>(world, start);
        });
        const auto each = [&](const CpIteration& now, const auto&) {
            report(world, progress, [&] {
                return named("number", now.number, "fit", now.fit, "change", now.change, "seconds", now.seconds, "start", now.start);
            });
        };
        const auto result = outside_interpreter(
            [&] { return cp_decompose(own, options, each, first ? &*first : nullptr, of_elements ? &*of_elements : nullptr); });
        nb::list starts;
        for (const auto& one : result.starts)
            starts.append(named("seed", one.seed, "fit", one.fit, "iterations", one.iterations, "stop_reason",
                                stop_reasons[static_cast<int>(one.stop_reason)], "seconds", one.seconds, "score", one.score));
        auto found = named("weights", vector_of(result.model.lambda()), "factors", cp_factors(result.model), "fit", result.fit, "fits",
                           vector_of(result.fits), "iterations", result.iterations, "converged", result.converged, "stop_reason",
                           stop_reasons[static_cast<int>(result.stop_reason)], "starts", starts, "best_start",
                           static_cast<std::int64_t>(result.best_start), "stability", vector_of(result.stability), "groups", result.groups,
                           "seconds_per_iteration", result.seconds_per_iteration, "setup_seconds", result.setup_seconds, "distribution",
                           result.distribution, "format", result.format, "forecast_bytes", result.forecast_bytes);
        if (result.known > 0) {
            found["loss"] = result.loss;
            found["known"] = result.known;
        }
        return found;
    });
}

nb::dict tucker(const AnyTensor& tensor, const nb::dict& given, const nb::object& progress, const AnyTensor* weights) {
    return with_real(tensor, "tucker", [&]<template <class> class Kind, class T>(const Kind<T>& own) {
        const auto& world = own.world();
        TuckerOptions options;
        std::optional<Kind<T>> of_elements;
        world.agree([&] {
            int method = 0;
            if (weights != nullptr) of_elements.emplace(*weights);
            take(given, "ranks", options.ranks, "relative_error", options.relative_error, "method", method, "max_iterations",
                 options.max_iterations, "tolerance", options.tolerance, "seed", options.seed, "seconds", options.seconds, "missing",
                 options.missing);
            options.method = static_cast<TuckerMethod>(method);
        });
        const TuckerProgress each = [&](int number, double fit) {
            report(world, progress, [&] { return named("number", number, "fit", fit); });
        };
        const auto result =
            outside_interpreter([&] { return tucker_decompose(own, options, each, nullptr, of_elements ? &*of_elements : nullptr); });
        const auto& model = result.model;
        return named("core", AnyTensor(model.core().any_state()), "factors", factors_of(model, [&](int m) { return model.ranks()[m]; }),
                     "fit", result.fit, "iterations", result.iterations, "converged", result.converged, "stop_reason",
                     stop_reasons[static_cast<int>(result.stop_reason)], "compression", model.compression(), "device_ranks",
                     result.device_ranks, "forecast_bytes", result.forecast_bytes);
    });
}

nb::dict completion(const AnyTensor& tensor, const nb::dict& given, const nb::object& progress, const nb::object& start,
                    const AnyTensor* validation, const AnyTensor* weights) {
    return with_real(tensor, "complete", [&]<template <class> class Kind, class T>(const Kind<T>& own) -> nb::dict {
        if constexpr (!std::is_same_v<Kind<T>, SparseTensor<T>>) {
            throw InvalidArgument(tensor.title() +
                                  ": complete needs a sparse tensor, whose stored elements are known; make one with to_sparse()");
        } else {
            const auto& world = own.world();
            CompletionOptions options;
            std::optional<CpModel<T>> first;
            std::optional<SparseTensor<T>> held, of_elements;
            world.agree([&] {
                int biases = 0;
                take_common(given, options);
                take(given, "biases", biases);
                options.biases = static_cast<CompletionBiases>(biases);
                if (validation != nullptr) held.emplace(*validation);
                if (weights != nullptr) of_elements.emplace(*weights);
                take(given, "nonnegative", options.nonnegative, "holdout", options.holdout, "patience", options.patience, "learning_rate",
                     options.learning_rate, "decay", options.decay, "batches", options.batches);
                if (!start.is_none()) first = model_from<T>(world, start);
            });
            const auto each = [&](const CompletionIteration& now, const auto&) {
                report(world, progress, [&] {
                    return named("number", now.number, "loss", now.loss, "rmse", now.rmse, "held_out_rmse", now.held_out_rmse, "seconds",
                                 now.seconds);
                });
            };
            const auto result = outside_interpreter([&] {
                return complete(own, options, each, first ? &*first : nullptr, held ? &*held : nullptr,
                                of_elements ? &*of_elements : nullptr);
            });
            return named("weights", vector_of(result.model.lambda()), "factors", cp_factors(result.model), "mean", result.model.mean(),
                         "biases", cp_biases(result.model), "rmse", result.rmse, "rmses", vector_of(result.rmses), "held_out_rmse",
                         result.held_out_rmse, "held_out_rmses", vector_of(result.held_out_rmses), "held_out_mean_rmse",
                         result.held_out_mean_rmse, "held_out_bias_rmse", result.held_out_bias_rmse, "fitted_mean", result.fitted_mean,
                         "fitted_deviation", result.fitted_deviation, "has_biases", result.has_biases, "held_out", result.held_out,
                         "device_ranks", result.device_ranks, "losses", vector_of(result.losses), "iterations", result.iterations,
                         "converged", result.converged, "stop_reason", stop_reasons[static_cast<int>(result.stop_reason)], "forecast_bytes",
                         result.forecast_bytes);
        }
    });
}

}  // namespace

void bind_decompositions(nb::module_& module) {
    module.def("cpd", &cpd, nb::arg("tensor"), nb::arg("options"), nb::arg("progress").none(), nb::arg("start").none(),
               nb::arg("weights").none());
    module.def("masked", [](const AnyTensor& tensor, const AnyTensor& mask) {
        return with_real(tensor, "masked", [&]<template <class> class Kind, class T>(const Kind<T>& own) {
            return outside_interpreter([&]() -> AnyTensor { return masked(own, Kind<T>(mask)); });
        });
    });
    module.def("compare_ranks", &compare_cp_ranks, nb::arg("tensor"), nb::arg("first"), nb::arg("last"), nb::arg("options"),
               nb::arg("holdout"), nb::arg("progress").none());
    module.def("tucker", &tucker, nb::arg("tensor"), nb::arg("options"), nb::arg("progress").none(), nb::arg("weights").none());
    module.def("complete", &completion, nb::arg("tensor"), nb::arg("options"), nb::arg("progress").none(), nb::arg("start").none(),
               nb::arg("validation").none(), nb::arg("weights").none());
}

}  // namespace arges::python

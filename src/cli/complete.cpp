// arges complete FILE: a CP model of the stored elements of a sparse tensor only.
#include "arges/complete.hpp"
#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "base/memory_tally.hpp"
#include "base/read_number.hpp"
#include "base/text.hpp"
#include "cli/forecast.hpp"
#include "cli/interruption.hpp"
#include "cli/iteration_report.hpp"
#include "cli/model_output.hpp"
#include "cli/subcommand.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace arges::cli {

namespace {

const std::map<std::string, CompletionAlgorithm> completion_algorithms{
    {"als", CompletionAlgorithm::als}, {"ccd", CompletionAlgorithm::ccd}, {"sgd", CompletionAlgorithm::sgd}};

const std::map<std::string, CompletionBiases> bias_choices{
    {"auto", CompletionBiases::detect}, {"on", CompletionBiases::on}, {"off", CompletionBiases::off}};

struct CompleteCommand : FileCommand {
    std::string validation, weights;
    CompletionOptions completion{};
    std::string algorithm = "als", biases = "auto", rank = "10", regularization = "0.1";
    CompletionChoice choice{};  ///< where something was chosen
    ModelOutput output{};
};

std::string stop_line(const CompleteCommand& command, StopReason reason) {
    return stop_text(reason, fmt::format("the RMSE of fitted elements changed by less than {:g} of itself", command.completion.tolerance));
}

/// Whether there are biases, and why.
template <class T>
std::string biases_line(const CompleteCommand& command, const CompletionResult<T>& result) {
    const auto values = result.different_values > rating_values
                            ? fmt::format("more than {} different values", rating_values)
                            : fmt::format("{} different value{}", result.different_values, result.different_values == 1 ? "" : "s");
    const auto explained = fmt::format("RMSE of mean and biases {:.6g}, of the mean {:.6g}, fitted elements", result.fitted_bias_rmse,
                                       result.fitted_deviation);
    if (command.biases != "auto") return command.biases + (result.has_biases ? ", " + explained : "");
    if (result.has_biases) return fmt::format("on, {}; {}", values, explained);
    return fmt::format("off, {}: {}", values, result.different_values > rating_values ? "no ratings" : "they would say little");
}

template <class T>
void print_result(std::ostream& out, const CompleteCommand& command, const ReadSummary& input, const CompletionResult<T>& result,
                  std::int64_t peak, const MemoryForecast& forecast) {
    std::vector<std::vector<std::string>> rows{{"", ""}};
    const auto add = [&](const char* name, const std::string& text) { rows.push_back({name, text}); };
    add("RMSE, fitted elements", fmt::format("{:.8g} of {}", result.rmse, with_commas(result.elements)));
    if (result.held_out > 0) {
        add("RMSE, held-out elements", fmt::format("{:.8g} of {}", result.held_out_rmse, with_commas(result.held_out)));
        add("RMSE of the mean instead",
            fmt::format("{:.8g}, {:.6g} for each of them, the mean of fitted ones", result.held_out_mean_rmse, result.fitted_mean));
        add("RMSE of biases instead", fmt::format("{:.8g}, the mean and a bias for each slice", result.held_out_bias_rmse));
    }
    if (result.unknown > 0)
        add("held out in unknown slices", fmt::format("{}, where {}", with_commas(result.unknown),
                                                      result.has_biases ? "only the other slices' biases tell" : "the model is zero"));
    add("biases", biases_line(command, result));
    add("model of iteration", fmt::format("{} of {}", result.best_iteration, result.iterations));
    add("stopped because", stop_line(command, result.stop_reason));
    add("algorithm", fmt::format("{}, rank {}, regularization {:g}, seed {}", command.algorithm, command.completion.rank,
                                 command.completion.regularization, command.completion.seed));
    add("seconds", fmt::format("{:.4f} each iteration, {:.3f} to read, {:.3f} to prepare", result.seconds_per_iteration, input.seconds,
                               result.setup_seconds));
    add("distribution",
        result.distribution + (result.grid.empty() ? "" : " " + result.grid + ", layers " + result.policy) + ", rows " + result.rows);
    if (result.device_ranks > 0) add("sums over elements", fmt::format("on the device of {} ranks", result.device_ranks));
    add("elements, busiest rank", with_commas(result.elements_max));
    add("memory", fmt::format("{} at most per rank, forecast {}", format_bytes(peak), format_bytes(forecast.bytes())));
    rows.erase(rows.begin());
    out << table(rows, {true, true}) << std::flush;
}

/// What was tried, the best one marked.
std::string trials_table(const CompletionChoice& choice) {
    std::vector<std::vector<std::string>> rows{{"rank", "regularization", "held-out RMSE", "fitted RMSE", "iterations", ""}};
    for (const auto& trial : choice.trials)
        rows.push_back({std::to_string(trial.rank), fmt::format("{:g}", trial.regularization), fmt::format("{:.6g}", trial.held_out_rmse),
                        fmt::format("{:.6g}", trial.rmse), std::to_string(trial.best_iteration),
                        trial.held_out_rmse == choice.best.held_out_rmse ? "best" : ""});
    return table(rows, {false, false, false, false, false, true}) + "\n";
}

template <class T>
nlohmann::ordered_json result_json(const CompleteCommand& command, const ReadSummary& input, const CompletionResult<T>& result) {
    nlohmann::ordered_json object;
    object["rmse"] = result.rmse;
    if (result.held_out > 0) {
        object["held_out_rmse"] = result.held_out_rmse;
        object["held_out_mean_rmse"] = result.held_out_mean_rmse;
        object["held_out_bias_rmse"] = result.held_out_bias_rmse;
        object["beats_mean"] = result.held_out_rmse < result.held_out_mean_rmse;
        object["beats_biases"] = result.held_out_rmse < result.held_out_bias_rmse;
    }
    object["fitted_mean"] = result.fitted_mean;
    object["fitted_deviation"] = result.fitted_deviation;
    object["fitted_bias_rmse"] = result.fitted_bias_rmse;
    object["biases"] = result.has_biases;
    object["best_iteration"] = result.best_iteration;
    object["iterations"] = result.iterations;
    object["converged"] = result.converged;
    object["stop_reason"] = stop_name(result.stop_reason);
    object["rmses"] = result.rmses;
    object["held_out_rmses"] = result.held_out_rmses;
    object["losses"] = result.losses;
    object["warnings"] = input.warnings;
    object["elements"] = result.elements;
    object["held_out"] = result.held_out;
    object["held_out_in_unknown_slices"] = result.unknown;
    object["elements_not_stored"] = "unknown";
    if (!command.weights.empty()) object["weights"] = command.weights;
    object["seconds_per_iteration"] = result.seconds_per_iteration;
    object["communication_seconds"] = result.communication_seconds;
    object["read_seconds"] = input.seconds;
    object["setup_seconds"] = result.setup_seconds;
    object["algorithm"] = command.algorithm;
    object["rank"] = command.completion.rank;
    object["regularization"] = command.completion.regularization;
    object["seed"] = command.completion.seed;
    object["trials"] = nlohmann::json::array();
    for (const auto& trial : command.choice.trials)
        object["trials"].push_back({{"rank", trial.rank},
                                    {"regularization", trial.regularization},
                                    {"held_out_rmse", trial.held_out_rmse},
                                    {"rmse", trial.rmse},
                                    {"best_iteration", trial.best_iteration}});
    object["distribution"] = result.distribution;
    object["device_ranks"] = result.device_ranks;
    object["grid"] = result.grid;
    object["policy"] = result.policy;
    object["rows"] = result.rows;
    object["ranks"] = result.model.world().size();
    object["threads"] = omp_get_max_threads();
    object["lengths"] = input.report.lengths;
    object["duplicates"] = input.report.duplicates;
    object["elements_max"] = result.elements_max;
    return object;
}

/// Held-out elements of a file, whose indices count as those of the tensor do. Collective.
template <class T>
std::optional<SparseFile<T>> read_validation(const CompleteCommand& command, const World& world, const ReadReport& report) {
    if (command.validation.empty()) return {};
    auto options = command.read_options();
    if (report.form.ends_with("text")) options.base = report.index_base == 0 ? IndexBase::zero : IndexBase::one;
    options.lengths = report.lengths;
    return read_sparse<T>(world, command.validation, options);
}

/// Weights of the elements: of those of a dense tensor that are known, from a dense one. Collective.
template <class T>
std::optional<SparseTensor<T>> read_weights(const CompleteCommand& command, FileWork& work, const SparseTensor<T>& tensor, bool is_dense) {
    if (command.weights.empty()) return {};
    if (!is_dense) return work.read_beside(tensor, command.weights);
    ReadReport report;
    work.steps.show("reading " + command.weights);
    return SparseTensor<T>(read_known_elements(element_type_of<T>(), work.world, command.weights, MissingElements::nan, report));
}

/// What to say where a model predicts worse than something simpler does, or fits no better.
template <class T>
std::vector<std::string> prediction_warnings(const CompletionResult<T>& result) {
    constexpr double nearly = 0.999;
    if (!result.has_biases && result.fitted_deviation > 0 && result.rmse >= nearly * result.fitted_deviation)
        return {fmt::format("the model fits elements no better than their mean does (RMSE {:.6g}, mean {:.6g}): its components are nearly "
                            "zero; use a smaller --regularization (0 for exact data), or another --seed",
                            result.rmse, result.fitted_deviation)};
    const bool are_biases_worse = result.held_out_mean_rmse <= result.held_out_bias_rmse;
    const double simpler = are_biases_worse ? result.held_out_mean_rmse : result.held_out_bias_rmse;
    if (result.held_out == 0 || result.held_out_rmse < simpler) return {};
    const char* const name = are_biases_worse ? "mean" : "biases";
    return {fmt::format("the model predicts held-out elements no better than the {} (RMSE {:.6g}, {} {:.6g}), and others likely no better; "
                        "use {}fewer components (--rank), a larger --regularization, or more elements",
                        are_biases_worse ? "mean of the fitted ones does" : "mean and a bias for each slice do", result.held_out_rmse, name,
                        simpler, are_biases_worse || result.has_biases ? "" : "--biases on, ")};
}

/// Chooses what is to be chosen, and says what was tried. Collective.
template <class T>
void choose(CompleteCommand& command, const SparseTensor<T>& tensor, const SparseTensor<T>* weights, FileWork& work) {
    const bool chooses_rank = command.rank == "auto", chooses_regularization = command.regularization == "auto";
    if (!chooses_rank && !chooses_regularization) return;
    auto& options = command.completion;
    const auto show = [&](const CompletionTrial& trial) {
        work.steps.show(
            fmt::format("rank {}, regularization {:g}: held out {:.6g}", trial.rank, trial.regularization, trial.held_out_rmse));
    };
    command.choice = choose_completion(tensor, options, chooses_rank, chooses_regularization, show, weights);
    work.steps.show("");
    options.rank = command.choice.best.rank;
    options.regularization = command.choice.best.regularization;
    // Without held-out elements nothing else tells when further iterations fit the noise.
    if (command.validation.empty() && options.holdout == 0 && command.choice.best.has_passed)
        options.max_iterations = std::min(options.max_iterations, command.choice.best.best_iteration);
    if (!command.json) work.console.out << trials_table(command.choice) << std::flush;
}

template <class T>
void read_and_complete(CompleteCommand& command, const Console& console, const World& world, bool is_dense) {
    auto& options = command.completion;
    const auto& output = command.output;
    command.output.claim(world, {command.file, command.validation, command.weights, options.partition_file}, options.save_partition);
    FileWork work(world, command, console);
    auto& steps = work.steps;
    auto& forecast = work.forecast;
    const int others = command.weights.empty() ? 0 : 2;  // weights, and copies of both
    const auto taken = [&](const auto& file) { return file.bytes(options) + others * file.bytes(); };
    auto read = is_dense ? work.read_known<T>(taken) : work.read_sparse<T>(taken);
    const Stopwatch watch;
    const auto weights = read_weights(command, work, read.tensor, is_dense);
    const auto validation = read_validation<T>(command, world, read.report);
    read.seconds += watch.seconds();
    steps.show("");
    if (!command.json)
        console.out << fmt::format("{}: {}, {} elements{}; those that are {} are unknown\n", command.file,
                                   lengths_text(read.report.lengths), with_commas(read.count), command.duplicates_text(read.report),
                                   is_dense ? "NaN" : "not stored")
                    << std::flush;
    if (validation && !command.json)
        console.out << fmt::format("{}: {} elements{} to hold out\n", command.validation, with_commas(validation->tensor.nonzeros()),
                                   command.duplicates_text(validation->report))
                    << std::flush;
    if (!command.weights.empty() && !command.json) console.out << weights_text(command.weights) << std::flush;
    print_warnings(console.err, read.warnings);
    options.stop = [&] { return is_interrupted(world); };
    choose(command, read.tensor, weights ? &*weights : nullptr, work);
    const auto start = output.start<T>(world);
    options.planned = [&](std::int64_t bytes, std::int64_t model_bytes) {
        forecast.expect(command.file, std::max(read.bytes, output.with_saving(bytes, model_bytes, options.rank)));
        steps.show("making formats and factors");
    };
    const CompletionProgress<T> progress = [&](const CompletionIteration& now, const auto& model) {
        nlohmann::ordered_json numbers{{"iteration", now.number}, {"rmse", now.rmse}, {"loss", now.loss}};
        if (now.held_out_rmse > 0) numbers["held_out_rmse"] = now.held_out_rmse;
        steps.show_iteration(fmt::format("iteration {}, RMSE {:.6g}{}", now.number, now.rmse,
                                         now.held_out_rmse > 0 ? fmt::format(", held out {:.6g}", now.held_out_rmse) : ""),
                             numbers, false);
        output.after_iteration<T>(now.number, model);
    };
    steps.show("distributing elements");
    const auto result = complete(std::move(read.tensor), options, progress, start.get(), validation ? &validation->tensor : nullptr,
                                 weights ? &*weights : nullptr);
    steps.show("");
    output.save(result.model, result.best_iteration);
    for (const auto& warning : prediction_warnings(result)) {
        read.warnings.push_back(warning);
        print_warnings(console.err, {warning});
    }
    output.finish(work, "complete", result.model, result_json(command, read, result), result.best_iteration,
                  [&](std::int64_t peak) { print_result(console.out, command, read, result, peak, forecast); });
}

void run(CompleteCommand& command, const Console& console) {
    command.completion.algorithm = completion_algorithms.at(command.algorithm);
    command.completion.biases = bias_choices.at(command.biases);
    if (double rank = 0; command.rank != "auto" && read_number(command.rank, rank)) command.completion.rank = static_cast<int>(rank);
    if (command.regularization != "auto") read_number(command.regularization, command.completion.regularization);
    if (command.algorithm != "sgd")
        refuse_options(*command.app, {"--learning-rate", "--decay", "--batches"}, "this is for --algorithm sgd");
    if (command.validation.empty() && command.completion.holdout == 0)
        refuse_options(*command.app, {"--patience"}, "no elements are held out (--holdout, --validate)");
    give_freed_memory_back();
    const World world = command.world.make_world();
    const bool is_dense = command.is_dense(world, {}, {});
    command.is_single(world, is_dense) ? read_and_complete<float>(command, console, world, is_dense)
                                       : read_and_complete<double>(command, console, world, is_dense);
}

/// Accepts "auto" and numbers in a range.
CLI::Validator number_or_auto(double least, double most, bool is_whole) {
    return accepted_by(
        [=](const std::string& text) {
            double number = 0;
            if (text == "auto") return;
            if (!read_number(text, number) || !(number >= least) || !(number <= most) || (is_whole && number != std::floor(number)))
                throw InvalidArgument(fmt::format("'{}' must be auto or a {} from {:g}{}", text, is_whole ? "whole number" : "number",
                                                  least, is_whole ? fmt::format(" to {:g}", most) : " on"));
        },
        "NUMBER|auto");
}

}  // namespace

Action declare_complete(CLI::App& app) {
    const auto command = std::make_shared<CompleteCommand>();
    auto& options = command->completion;
    app.add_option(
           "FILE", command->file,
           "sparse tensor: text (.tns, .tns.gz), .mtx or binary; dense tensor, in which NaN is unknown: .npy, HDF5, file.h5:/dataset")
        ->required();
    app.add_option("--rank", command->rank, "number of components, 1 to 1024; auto: by held-out elements")
        ->check(number_or_auto(1, 1024, true))
        ->capture_default_str();
    app.add_option("--algorithm", command->algorithm, "als, ccd (CCD++) or sgd (stochastic gradient descent)")
        ->check(one_of({"als", "ccd", "sgd"}))
        ->capture_default_str();
    app.add_option("--regularization", command->regularization,
                   "penalty of the factors for each element, in any unit; 0 for exact data; auto: by held-out elements")
        ->check(number_or_auto(0, 1e300, false))
        ->capture_default_str();
    app.add_option("--biases", command->biases, "a bias for each slice beside the mean and components: on, off, or auto: for ratings")
        ->check(one_of({"auto", "on", "off"}))
        ->capture_default_str();
    app.add_flag("--nonnegative", options.nonnegative, "factors have no negative element, and there are no biases");
    app.add_option("--iterations,--max-iterations", options.max_iterations, "at most so many")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--tolerance", options.tolerance, "stop when the RMSE changes by less than this times itself; 0: never")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    auto* const holdout = app.add_option("--holdout", options.holdout, "part of the elements that is held out, 0 to below 1")
                              ->check(CLI::Range(0.0, 0.999999))
                              ->capture_default_str();
    app.add_option("--validate", command->validation, "file with elements to hold out instead")->excludes(holdout);
    declare_weights(app, command->weights, "squared residuals");
    app.add_option("--patience", options.patience, "stop when the RMSE of held-out elements has not improved for so many iterations")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "of the start, of what is held out and of batches")->capture_default_str();
    app.add_option("--learning-rate", options.learning_rate, "sgd: length of a step, above 0 and below 2")
        ->check(CLI::Range(1e-9, 1.999999))
        ->capture_default_str();
    app.add_option("--decay", options.decay, "sgd: divide the length by 1 + this times the iterations made; 0: bold driver")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--batches", options.batches, "sgd: of the elements in an iteration")
        ->check(CLI::Range(1, 65536))
        ->capture_default_str();
    app.add_option("--distribution", options.distribution, "auto, medium, coarse or fine")
        ->check(one_of({"auto", "medium", "coarse", "fine"}))
        ->capture_default_str();
    declare_distribution(app, options);
    declare_seconds(app, options.seconds);
    command->output.declare(app);
    declare_progress(app, command->progress);
    command->declare(app, "a table", "refuse");  // what is added up is no observation
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

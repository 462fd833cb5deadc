// arges tucker FILE: Tucker decomposition of a dense or a sparse tensor.
#include "arges/tucker.hpp"
#include "arges/error.hpp"
#include "arges/table_io.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/forecast.hpp"
#include "cli/interruption.hpp"
#include "cli/iteration_report.hpp"
#include "cli/outputs.hpp"
#include "cli/run_record.hpp"
#include "cli/subcommand.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <omp.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

namespace arges::cli {

namespace {

const std::map<std::string, TuckerMethod> methods{
    {"auto", TuckerMethod::automatic},         {"hosvd", TuckerMethod::hosvd}, {"st-hosvd", TuckerMethod::st_hosvd},
    {"st_hosvd", TuckerMethod::st_hosvd},      {"hooi", TuckerMethod::hooi},   {"nn", TuckerMethod::nonnegative},
    {"nonnegative", TuckerMethod::nonnegative}};
const std::map<std::string, TuckerKernel> kernels{
    {"auto", TuckerKernel::automatic}, {"gram", TuckerKernel::gram}, {"qr", TuckerKernel::qr}};

struct TuckerCommand : FileCommand {
    TuckerOptions tucker{};
    std::string ranks, order, method = "auto", kernel = "auto", output, start, weights;
    Outputs outputs{};
};

/// How well the tensor is represented, and what that took.
struct TuckerFigures {
    double error = 0, error_seconds = 0;
    std::int64_t peak = 0, forecast = 0;
};

template <class K, class V>
std::string name_in(const std::map<K, V>& names, const V& wanted) {
    for (const auto& [name, value] : names)
        if (value == wanted) return name;
    return {};
}

/// Steps of hooi are summed over its iterations, by mode.
std::vector<TuckerStep> summed(const std::vector<TuckerStep>& steps) {
    std::vector<TuckerStep> result;
    for (const auto& step : steps) {
        const auto found = std::find_if(result.begin(), result.end(),
                                        [&](const auto& s) { return s.mode == step.mode && (s.iteration > 0) == (step.iteration > 0); });
        if (found == result.end()) {
            result.push_back(step);
            continue;
        }
        auto sum = step;
        sum.move_seconds += found->move_seconds;
        sum.gram_seconds += found->gram_seconds;
        sum.solve_seconds += found->solve_seconds;
        sum.product_seconds += found->product_seconds;
        sum.planned_bytes += found->planned_bytes;
        sum.sent_bytes += found->sent_bytes;
        sum.planned_bytes_max += found->planned_bytes_max;
        sum.sent_bytes_max += found->sent_bytes_max;
        sum.bound_bytes += found->bound_bytes;
        *found = sum;
    }
    return result;
}

void print_steps(std::ostream& out, const std::vector<TuckerStep>& steps) {
    if (steps.empty()) return;
    std::vector<std::vector<std::string>> rows{
        {"step", "mode", "rank", "discarded", "kernel", "move s", "gram/qr s", "vectors s", "product s", "bytes sent", "planned", "bound"}};
    for (const auto& step : summed(steps))
        rows.push_back({step.iteration > 0 ? "hooi" : "truncate", std::to_string(step.mode + 1), std::to_string(step.rank),
                        fmt::format("{:.2e}", step.discarded), name_in(kernels, step.kernel), fmt::format("{:.4f}", step.move_seconds),
                        fmt::format("{:.4f}", step.gram_seconds), fmt::format("{:.4f}", step.solve_seconds),
                        fmt::format("{:.4f}", step.product_seconds), with_commas(step.sent_bytes_max), with_commas(step.planned_bytes_max),
                        with_commas(step.bound_bytes)});
    out << "\n" << table(rows, {true, false, false, false, true, false, false, false, false, false, false, false}, 2);
}

template <class T>
void print_result(std::ostream& out, const TuckerCommand& command, const TuckerResult<T>& result, const TuckerFigures& figures) {
    print_steps(out, result.steps);
    out << fmt::format("\n{:<28} {:.6e} (estimated {:.6e})\n", "relative error", figures.error, result.estimated_error);
    out << fmt::format("{:<28} {}\n", "core", lengths_text(result.model.ranks()));
    out << fmt::format("{:<28} {:.2f}\n", "compression", result.model.compression());
    out << fmt::format("{:<28} {}", "method", name_in(methods, result.method));
    if (result.iterations > 0)
        out << fmt::format(
            ", {} iterations, {:.4f} s each\n{:<28} {}", result.iterations, result.seconds_per_iteration, "stopped because",
            stop_text(result.stop_reason, fmt::format("the fit changed by less than {:g} of itself", command.tucker.tolerance)));
    out << fmt::format("\n{:<28} {} {}\n", "distribution", result.distribution, result.grid);
    if (result.device_ranks > 0) out << fmt::format("{:<28} on the device of {} ranks\n", "products with nonzeros", result.device_ranks);
    out << fmt::format("{:<28} {:.4f} s, {:.4f} s to compute the error\n", "seconds", result.seconds, figures.error_seconds);
    out << fmt::format("peak memory {} per rank, forecast {}\n", format_bytes(figures.peak), format_bytes(figures.forecast)) << std::flush;
}

nlohmann::ordered_json steps_json(const std::vector<TuckerStep>& steps) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& step : steps)
        list.push_back({{"mode", step.mode + 1},
                        {"iteration", step.iteration},
                        {"rank", step.rank},
                        {"discarded", step.discarded},
                        {"kernel", name_in(kernels, step.kernel)},
                        {"move_seconds", step.move_seconds},
                        {"gram_seconds", step.gram_seconds},
                        {"vectors_seconds", step.solve_seconds},
                        {"product_seconds", step.product_seconds},
                        {"planned_bytes", step.planned_bytes},
                        {"sent_bytes", step.sent_bytes},
                        {"planned_bytes_max", step.planned_bytes_max},
                        {"sent_bytes_max", step.sent_bytes_max},
                        {"bound_bytes", step.bound_bytes}});
    return list;
}

template <class T>
nlohmann::ordered_json result_json(const ReadSummary& read, const TuckerResult<T>& result, const TuckerFigures& figures, bool is_missing,
                                   const std::string& weights) {
    nlohmann::ordered_json object;
    object["error"] = figures.error;
    object["estimated_error"] = result.estimated_error;
    object["compression"] = result.model.compression();
    object["ranks"] = result.model.ranks();
    object["core_norm"] = result.model.core().norm();
    object["lengths"] = result.model.lengths();
    object["method"] = name_in(methods, result.method);
    object["iterations"] = result.iterations;
    object["converged"] = result.converged;
    object["stop_reason"] = stop_name(result.stop_reason);
    object["fits"] = result.fits;
    if (!read.is_dense) object["elements_not_stored"] = is_missing ? "missing" : "zeros";
    if (!weights.empty()) object["weights"] = weights;
    object["warnings"] = read.warnings;
    object["seconds"] = result.seconds;
    object["seconds_per_iteration"] = result.seconds_per_iteration;
    object["read_seconds"] = read.seconds;
    object["error_seconds"] = figures.error_seconds;
    object["distribution"] = result.distribution;
    object["grid"] = result.grid;
    object["device_ranks"] = result.device_ranks;
    object["steps"] = steps_json(result.steps);
    object["processes"] = result.model.world().size();
    object["threads"] = omp_get_max_threads();
    object["peak_memory_bytes"] = figures.peak;
    object["forecast_memory_bytes"] = figures.forecast;
    return object;
}

/// Saves the model, and ends the work if it was interrupted. Collective.
template <class T>
void save_result(const TuckerCommand& command, const World& world, const TuckerResult<T>& result) {
    save_model(result.model, command.output);
    copy_ids(world, ids_path(command.file), ids_path(command.output));
    const auto left = fmt::format("{} has core and factors of iteration {}, go on with --method hooi --start {}", command.output,
                                  result.iterations, command.output);
    set_interruption_note(left);
    end_if_interrupted(world, left);
}

/// For the first line.
std::string kind_of(const TuckerCommand& command, const ReadSummary& read) {
    const auto lengths = lengths_text(read.report.lengths);
    if (read.is_dense) return "dense, " + lengths + (command.tucker.missing ? " (elements that are not a number are unknown)" : "");
    return lengths + ", " + with_commas(read.count) + " nonzeros" + command.duplicates_text(read.report) +
           (command.tucker.missing ? " (elements that are not stored are unknown)" : " (elements that are not stored count as zeros)");
}

/// Decomposes what was read, and prints.
template <class T, class Input>
void decompose(TuckerCommand& command, FileWork& work, ReadFile<Input> read) {
    constexpr bool is_dense = std::is_same_v<Input, Tensor<T>>;
    const auto& world = work.world;
    auto& out = work.console.out;
    auto& steps = work.steps;
    steps.show("");
    if (!command.json) out << fmt::format("{}: {}, read in {:.3f} s\n", command.file, kind_of(command, read), read.seconds) << std::flush;
    if (!command.json && !command.weights.empty()) out << weights_text(command.weights) << std::flush;
    print_warnings(work.console.err, read.warnings);
    std::optional<Input> weights;
    if (!command.weights.empty()) weights.emplace(work.read_beside(read.tensor, command.weights));
    std::unique_ptr<const TuckerModel<T>> start;
    if (!command.start.empty()) start = std::make_unique<const TuckerModel<T>>(load_tucker_model<T>(world, command.start));
    bool is_told = false;
    command.tucker.planned = [&](std::int64_t bytes) {
        steps.show("");
        if (is_dense) return;  // nothing has become known
        work.forecast.expect(command.file, std::max(read.bytes, bytes));
        if (!command.json && !std::exchange(is_told, true)) out << work.forecast.text() << "\n" << std::flush;
        steps.show("making trees and factors");
    };
    double last = 0;
    const TuckerProgress progress = [&](int number, double fit) {
        steps.show("");
        if (!command.output.empty()) note_first_signal();
        steps.show_iteration(fmt::format("iteration {}, fit {:.8f}", number, fit), {{"iteration", number}, {"fit", fit}}, !command.json);
        if (command.json) return;
        if (number == 1) out << fmt::format("\n{:>9} {:>14} {:>11}\n", "iteration", "fit", "change");
        out << fmt::format("{:>9} {:>14.10f} {:>11.2e}\n", number, fit, number == 1 ? fit : fit - last) << std::flush;
        last = fit;
    };
    command.tucker.stop = [&] { return is_interrupted(world); };
    steps.show(is_dense ? "truncating modes" : "distributing nonzeros");
    // A dense tensor stays.
    const auto result = tucker_decompose(std::move(read.tensor), command.tucker, progress, start.get(), weights ? &*weights : nullptr);
    if (!command.output.empty()) save_result(command, world, result);
    TuckerFigures figures;
    const Stopwatch watch;
    steps.show(is_dense ? "computing the error" : "");
    if constexpr (is_dense)
        figures.error = command.tucker.missing ? result.estimated_error : relative_error(read.tensor, result.model);
    else
        figures.error = result.estimated_error;
    figures.error_seconds = watch.seconds();
    steps.show("");
    if (const double allowed = command.tucker.relative_error; allowed > 0 && figures.error > allowed * (1 + 1e-6)) {
        const char* const cure = result.stop_reason == StopReason::iterations ? "more iterations (--iterations)" : "larger ranks";
        read.warnings.push_back(
            fmt::format("the relative error is {:.6g}, above the tolerance of {:g}; allow {}", figures.error, allowed, cure));
        print_warnings(work.console.err, {read.warnings.back()});
    }
    figures.peak = world.maximum(peak_process_memory());
    figures.forecast = work.forecast.bytes();
    const auto found = result_json(read, result, figures, command.tucker.missing, command.weights);
    if (!command.output.empty()) write_run(world, command.output, "tucker", command.file, found);
    if (command.json)
        out << found.dump(2) << std::endl;
    else
        print_result(out, command, result, figures);
}

template <class T>
void read_and_decompose(TuckerCommand& command, const Console& console, const World& world, bool is_dense) {
    FileWork work(world, command, console);
    const int others = command.weights.empty() ? 0 : is_dense ? 3 : 2;  // weights, and copies of both
    const auto bytes = [&](const auto& file) { return file.bytes(command.tucker) + others * file.bytes(); };
    is_dense ? decompose<T>(command, work, work.read_dense<T>(bytes)) : decompose<T>(command, work, work.read_sparse<T>(bytes));
}

/// Whole numbers separated by commas. @throws InvalidArgument for anything else
std::vector<int> parse_numbers(const std::string& text, int least) {
    std::vector<int> result;
    for (auto number : parse_lengths(text)) {
        if (number < least || number > 1000000000)
            throw InvalidArgument("'" + text + "' must be numbers from " + std::to_string(least) + " on, separated by commas");
        result.push_back(number);
    }
    return result;
}

void run(TuckerCommand& command, const Console& console) {
    command.tucker.method = methods.at(command.method);
    command.tucker.kernel = kernels.at(command.kernel);
    if (!command.ranks.empty()) command.tucker.ranks = parse_numbers(command.ranks, 1);
    if (!command.order.empty()) command.tucker.order = parse_numbers(command.order, 1);
    for (int& mode : command.tucker.order) --mode;
    if (command.ranks.empty() && command.tucker.relative_error == 0)
        throw CLI::ValidationError("neither --ranks nor --tolerance is given; give --ranks 10,10,5 or --tolerance 1e-3");
    give_freed_memory_back();
    const World world = command.world.make_world();
    const bool is_dense = command.is_dense(world, {}, {"--kernel", "--order"});
    command.tucker.missing |= !command.weights.empty();
    if (command.tucker.missing && command.tucker.method == TuckerMethod::automatic) command.tucker.method = TuckerMethod::hooi;
    const auto method = command.tucker.method;
    if (is_dense && method != TuckerMethod::hooi && method != TuckerMethod::nonnegative)
        refuse_options(*command.app, {"--iterations", "--fit-tolerance"},
                       "this is for --method hooi and nn, the others make no iterations");
    if (is_dense && method != TuckerMethod::hooi)
        refuse_options(*command.app, {"--start"}, "this is for --method hooi, the others do not start from factors");
    if (is_dense && method != TuckerMethod::nonnegative)
        refuse_options(*command.app, {"--seed"}, command.file + " is a dense tensor, and this is for sparse ones, and --method nn");
    const bool is_single = command.is_single(world, is_dense);
    command.outputs.keep_inputs({command.file, ids_path(command.file), command.weights});
    command.outputs.claim(world, command.output);
    if (!command.output.empty())
        for (const auto& beside : {ids_path(command.output), run_path(command.output)}) command.outputs.claim(world, beside);
    is_single ? read_and_decompose<float>(command, console, world, is_dense)
              : read_and_decompose<double>(command, console, world, is_dense);
}

}  // namespace

Action declare_tucker(CLI::App& app) {
    const auto command = std::make_shared<TuckerCommand>();
    auto& tucker = command->tucker;
    const auto numbers = accepted_by([](const std::string& text) { parse_numbers(text, 1); }, "NUMBERS");
    app.add_option("FILE", command->file, "dense tensor (.npy, HDF5, file.h5:/dataset) or sparse tensor (.tns, .tns.gz, .mtx, binary)")
        ->required();
    app.add_option("--ranks", command->ranks, "length of the core by mode, e.g. 10,10,5")->check(numbers);
    app.add_option("--tolerance,--relative-error", tucker.relative_error, "largest |X - model| / |X|; chooses the ranks")
        ->check(CLI::Range(0.0, 0.999999));
    app.add_option("--method", command->method, "auto (dense: st-hosvd, sparse: hooi), hosvd, st-hosvd, hooi or nn (non-negative)")
        ->check(one_of({"auto", "hosvd", "st-hosvd", "hooi", "nn"}, {"st_hosvd", "nonnegative"}))
        ->capture_default_str();
    app.add_option("--kernel", command->kernel, "dense: singular vectors by gram or qr; auto: qr where the tolerance needs it")
        ->check(one_of({"auto", "gram", "qr"}))
        ->capture_default_str();
    app.add_option("--order", command->order, "dense: modes in the order in which they are truncated, e.g. 3,1,2; chosen if not given")
        ->check(numbers);
    app.add_option("--iterations,--max-iterations", tucker.max_iterations, "hooi, nn: at most so many")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--fit-tolerance", tucker.tolerance, "hooi, nn: stop when the fit changes by less than this times the fit; 0: never")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_flag("--missing", tucker.missing, "with --ranks: elements that are NaN or not stored are unknown; by hooi");
    declare_weights(app, command->weights, "squared residuals");
    declare_seconds(app, tucker.seconds);
    app.add_option("--seed", tucker.seed, "sparse, nn: of the start")->capture_default_str();
    app.add_option("--output", command->output, "file for core and factors (HDF5)");
    command->outputs.declare(app);
    app.add_option("--start", command->start, "hooi: file with factors to start from");
    declare_progress(app, command->progress);
    command->declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

// arges tucker FILE: Tucker decomposition of a dense or a sparse tensor.
#include "arges/tucker.hpp"
#include "arges/error.hpp"
#include "arges/sparse_io.hpp"
#include "arges/tensor_io.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/forecast.hpp"
#include "cli/interruption.hpp"
#include "cli/iteration_report.hpp"
#include "cli/outputs.hpp"
#include "cli/program.hpp"
#include "cli/sparse_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"
#include "decompose/dense_memory.hpp"
#include "decompose/sparse_memory.hpp"
#include "decompose/tucker/tucker_checks.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/dense/tensor_files.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>

namespace arges::cli {

namespace {

const std::map<std::string, TuckerMethod> methods{
    {"auto", TuckerMethod::automatic}, {"hosvd", TuckerMethod::hosvd}, {"st-hosvd", TuckerMethod::st_hosvd}, {"hooi", TuckerMethod::hooi}};
const std::map<std::string, TuckerKernel> kernels{
    {"auto", TuckerKernel::automatic}, {"gram", TuckerKernel::gram}, {"qr", TuckerKernel::qr}};

struct TuckerCommand {
    std::string file;
    SparseFileOptions input{};
    TuckerOptions tucker{};
    std::string ranks, order, method = "auto", kernel = "auto", output, start;
    bool json = false;
    const CLI::App* app = nullptr;
    Outputs outputs{};
    WorldOptions world{};
};

/// What was read, and how well it is represented.
struct TuckerFigures {
    double read_seconds = 0, error = 0, error_seconds = 0;
    std::int64_t peak = 0, forecast = 0;
    std::string kind;  ///< of the tensor, for the first line
    std::vector<std::string> warnings{};
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
    out << "\n" << table(rows, {true, false, false, false, true, false, false, false, false, false, false, false});
}

template <class T>
void print_result(std::ostream& out, const TuckerCommand& command, const TuckerResult<T>& result, const TuckerFigures& figures) {
    print_steps(out, result.steps);
    out << fmt::format("\n{:<28} {:.6e} (estimated {:.6e})\n", "relative error", figures.error, result.estimated_error);
    out << fmt::format("{:<28} {}\n", "core", lengths_text(result.model.ranks()));
    out << fmt::format("{:<28} {:.2f}\n", "compression", result.model.compression());
    out << fmt::format("{:<28} {}", "method", name_in(methods, result.method));
    if (result.iterations > 0)
        out << fmt::format(", {} iterations, {:.4f} s each\n{:<28} {}", result.iterations, result.seconds_per_iteration, "stopped because",
                           stop_text(result.stop_reason, command.tucker.tolerance));
    out << fmt::format("\n{:<28} {} {}\n", "distribution", result.distribution, result.grid);
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
void print_json(std::ostream& out, const TuckerResult<T>& result, const TuckerFigures& figures) {
    nlohmann::ordered_json object;
    object["error"] = figures.error;
    object["estimated_error"] = result.estimated_error;
    object["compression"] = result.model.compression();
    object["ranks"] = result.model.ranks();
    object["lengths"] = result.model.lengths();
    object["method"] = name_in(methods, result.method);
    object["iterations"] = result.iterations;
    object["converged"] = result.converged;
    object["stop_reason"] = stop_name(result.stop_reason);
    object["fits"] = result.fits;
    object["warnings"] = figures.warnings;
    object["seconds"] = result.seconds;
    object["seconds_per_iteration"] = result.seconds_per_iteration;
    object["read_seconds"] = figures.read_seconds;
    object["error_seconds"] = figures.error_seconds;
    object["distribution"] = result.distribution;
    object["grid"] = result.grid;
    object["steps"] = steps_json(result.steps);
    object["processes"] = result.model.world().size();
    object["threads"] = omp_get_max_threads();
    object["peak_memory_bytes"] = figures.peak;
    object["forecast_memory_bytes"] = figures.forecast;
    out << object.dump(2) << std::endl;
}

/// What has been forecast, and what the forecast has to cover beside the decomposition.
struct Forecasts {
    MemoryForecast process;
    StepLine steps;
    std::int64_t reading_bytes = 0;  ///< that reading took at most
    std::int64_t error_bytes = 0;    ///< that the error takes beside the tensor and the model

    explicit Forecasts(const World& world) : process(world), steps(world) {}
};

/// Saves the model, and ends the work if it was interrupted. Collective.
template <class T>
void save_result(const TuckerCommand& command, const Communicator& comm, const TuckerResult<T>& result) {
    save_model(result.model, command.output);
    const auto left = fmt::format("{} has core and factors of iteration {}, go on with --method hooi --start {}", command.output,
                                  result.iterations, command.output);
    set_interruption_note(left);
    if (const auto signal = comm.maximum(noted_signal()); signal > 0) throw Interrupted{static_cast<int>(signal), left};
}

/// Decomposes what was read, and prints. `error_of` gives the relative error of a result.
template <class T, class Input, class ErrorOf>
void decompose(TuckerCommand& command, const Console& console, const World& world, Input&& input, TuckerFigures figures,
               Forecasts& forecasts, ErrorOf&& error_of) {
    constexpr bool is_dense = std::is_same_v<std::remove_cvref_t<Input>, Tensor<T>>;
    const auto& comm = world.state()->communicator();
    forecasts.steps.show("");
    if (!command.json)
        console.out << fmt::format("{}: {}, read in {:.3f} s\n", command.file, figures.kind, figures.read_seconds) << std::flush;
    print_warnings(console.err, figures.warnings);
    std::unique_ptr<const TuckerModel<T>> start;
    if (!command.start.empty()) start = std::make_unique<const TuckerModel<T>>(load_tucker_model<T>(world, command.start));
    command.tucker.planned = [&](std::int64_t bytes) {
        forecasts.steps.show("");
        if (is_dense) return;  // nothing has become known
        forecasts.process.expect(command.file, std::max(forecasts.reading_bytes, bytes));
        if (!command.json) console.out << forecasts.process.text() << "\n" << std::flush;
        forecasts.steps.show("making trees and factors");
    };
    double last = 0;
    const TuckerProgress progress = [&](int number, double fit) {
        forecasts.steps.show("");
        if (!command.output.empty()) note_first_signal();
        if (command.json) return forecasts.steps.show(fmt::format("iteration {}, fit {:.8f}", number, fit));
        if (number == 1) console.out << fmt::format("\n{:>9} {:>14} {:>11}\n", "iteration", "fit", "change");
        console.out << fmt::format("{:>9} {:>14.10f} {:>11.2e}\n", number, fit, number == 1 ? fit : fit - last) << std::flush;
        last = fit;
    };
    command.tucker.stop = [&] { return comm.maximum(noted_signal()) > 0; };
    forecasts.steps.show(is_dense ? "truncating modes" : "distributing nonzeros");
    const auto result = tucker_decompose(std::forward<Input>(input), command.tucker, progress, start.get());
    if (!command.output.empty()) save_result(command, comm, result);
    Stopwatch watch;
    forecasts.steps.show(is_dense ? "computing the error" : "");
    figures.error = error_of(result);
    figures.error_seconds = watch.seconds();
    forecasts.steps.show("");
    figures.peak = comm.maximum(peak_process_memory());
    figures.forecast = forecasts.process.bytes();
    command.json ? print_json(console.out, result, figures) : print_result(console.out, command, result, figures);
}

/// Bytes that a dense tensor takes while it is read, decomposed and compared with the model. Collective.
template <class T>
std::int64_t dense_bytes(const TuckerCommand& command, const World& world) {
    const auto extents = tensor_file_info(world, command.file).extents;
    decompose::check_dense_tucker(std::filesystem::path(command.file).stem().string(), extents, command.tucker);
    const auto layout = new_layout(*world.state(), extents, Symmetry::none(extents.size()));
    const auto held = layout.max_local_size() * std::int64_t{sizeof(T)};
    const auto reading =
        held + io::tensor_reading_memory(world, command.file, sizeof(T), world.memory_limit() - world.memory_in_use() - held);
    auto ranks = extents;
    for (std::size_t m = 0; m < command.tucker.ranks.size(); ++m) ranks[m] = std::min<std::int64_t>(ranks[m], command.tucker.ranks[m]);
    const auto steps = decompose::dense_tucker_memory(element_kernels<T>(), world, layout, command.tucker, omp_get_max_threads());
    return std::max({reading, steps.peak(), steps.held() + decompose::error_memory(sizeof(T), world, layout, ranks)});
}

template <class T>
void read_and_decompose(TuckerCommand& command, const Console& console, const World& world, bool is_dense) {
    Forecasts forecasts(world);
    Stopwatch watch;
    std::ostream* const out = command.json ? nullptr : &console.out;
    if (is_dense) {
        forecasts.process.expect(command.file, dense_bytes<T>(command, world));
        if (out) *out << forecasts.process.text() << "\n" << std::flush;
        forecasts.steps.show("reading " + command.file);
        const auto tensor = read_tensor<T>(world, command.file);
        decompose<T>(command, console, world, tensor, {watch.lap(), 0, 0, 0, 0, "dense, " + lengths_text(tensor.extents()), {}}, forecasts,
                     [&](const TuckerResult<T>& result) { return relative_error(tensor, result.model); });
        return;
    }
    const auto& ranks = command.tucker.ranks;
    const auto work = [&](const decompose::SparseShare& share) {
        if (static_cast<int>(ranks.size()) != share.order()) return std::int64_t{0};  // tucker_decompose() says what is wrong
        return decompose::tucker_memory(share, command.tucker, omp_get_max_threads()).peak();
    };
    auto input = read_with_forecast<T>(world, command.file, command.input.read_options(), false,
                                       ranks.empty() ? 1 : *std::max_element(ranks.begin(), ranks.end()), work, forecasts.process,
                                       forecasts.steps, out);
    forecasts.reading_bytes = input.reading_bytes;
    auto warnings = reading_warnings(input.file);
    auto& tensor = input.file.tensor;
    const auto kind = lengths_text(tensor.lengths()) + ", " + with_commas(tensor.nonzeros()) + " nonzeros" +
                      command.input.duplicates_text(input.file.report) + " (elements that are not stored count as zeros)";
    decompose<T>(command, console, world, std::move(tensor), {watch.lap(), 0, 0, 0, 0, kind, std::move(warnings)}, forecasts,
                 [](const TuckerResult<T>& result) { return result.estimated_error; });
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
    const bool is_dense = is_tensor_file(world, command.file);
    if (is_dense)
        refuse_options(*command.app, {"--seed"}, command.file + " is a dense tensor, and this is for sparse ones");
    else
        refuse_options(*command.app, {"--tolerance", "--kernel", "--order"},
                       command.file + " is a sparse tensor, and this is for dense ones");
    if (is_dense && command.tucker.method != TuckerMethod::hooi)
        refuse_options(*command.app, {"--iterations", "--fit-tolerance", "--start"},
                       "this is for --method hooi, the others make no iterations");
    const bool is_single = is_dense ? command.input.is_single_dense(world, command.file) : command.input.is_single(world, command.file);
    command.outputs.claim(world.state()->communicator(), command.output, {command.file, command.start});
    is_single ? read_and_decompose<float>(command, console, world, is_dense)
              : read_and_decompose<double>(command, console, world, is_dense);
}

}  // namespace

Action declare_tucker(CLI::App& app) {
    const auto command = std::make_shared<TuckerCommand>();
    command->app = &app;
    auto& tucker = command->tucker;
    const auto numbers = accepted_by([](const std::string& text) { parse_numbers(text, 1); }, "NUMBERS");
    app.add_option("FILE", command->file, "dense tensor (.npy, HDF5, file.h5:/dataset) or sparse tensor (.tns, .tns.gz, .mtx, binary)")
        ->required();
    app.add_option("--ranks", command->ranks, "length of the core by mode, e.g. 10,10,5")->check(numbers);
    app.add_option("--tolerance", tucker.relative_error, "dense: largest |X - model| / |X|; chooses the ranks")
        ->check(CLI::Range(0.0, 0.999999));
    app.add_option("--method", command->method, "auto (dense: st-hosvd, sparse: hooi), hosvd, st-hosvd or hooi")
        ->check(CLI::IsMember({"auto", "hosvd", "st-hosvd", "hooi"}))
        ->capture_default_str();
    app.add_option("--kernel", command->kernel, "dense: singular vectors by gram or qr; auto: qr where the tolerance needs it")
        ->check(CLI::IsMember({"auto", "gram", "qr"}))
        ->capture_default_str();
    app.add_option("--order", command->order, "dense: modes in the order in which they are truncated, e.g. 3,1,2; chosen if not given")
        ->check(numbers);
    app.add_option("--iterations", tucker.max_iterations, "hooi: at most so many")->check(CLI::Range(1, 1000000))->capture_default_str();
    app.add_option("--fit-tolerance", tucker.tolerance, "hooi: stop when the fit changes by less than this times the fit; 0: never")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--seed", tucker.seed, "sparse: of the start")->capture_default_str();
    app.add_option("--output", command->output, "file for core and factors (HDF5)");
    command->outputs.declare(app);
    app.add_option("--start", command->start, "hooi: file with factors to start from");
    app.add_flag("--json", command->json, "print one JSON object instead of tables");
    command->input.declare(app);
    command->world.declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

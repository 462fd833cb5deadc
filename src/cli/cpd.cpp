// arges cpd FILE: CP decomposition of a sparse or a dense tensor.
#include "arges/cpd.hpp"
#include "arges/cp_ranks.hpp"
#include "arges/error.hpp"
#include "arges/tensor_io.hpp"
#include "base/memory_tally.hpp"
#include "base/text.hpp"
#include "cli/constraint_options.hpp"
#include "cli/cpd_ranks.hpp"
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

const std::map<std::string, CpAlgorithm> algorithms{{"als", CpAlgorithm::als},
                                                    {"nn", CpAlgorithm::nonnegative},
                                                    {"nonnegative", CpAlgorithm::nonnegative},
                                                    {"opt", CpAlgorithm::opt},
                                                    {"sgd", CpAlgorithm::sgd}};
const std::map<std::string, CpInit> inits{{"random", CpInit::random}, {"sketched", CpInit::sketched}, {"hosvd", CpInit::hosvd}};

struct CpdCommand : FileCommand {
    CpOptions cp{};
    std::string algorithm = "als", starts = "auto", groups = "1", init = "random", ranks, loss = "gaussian", weights;
    double holdout = 0;
    ConstraintOptions constraints{};
    ModelOutput output{};
};

void print_iteration(std::ostream& out, const CpIteration& now) {
    if (now.number == 1)
        out << fmt::format("{:>9} {:>12} {:>11} {:>10} {:>8} {:>7} {:>7} {:>7} {:>7}\n", "iteration", "fit", "change", "seconds", "mttkrp",
                           "solve", "norm", "gram", "comm");
    const char* const step = now.step == CpStep::exact ? "" : now.step == CpStep::pairs ? "  pairs made" : "  perturbed";
    auto share = [&](double seconds) { return fmt::format("{:.0f} %", now.seconds > 0 ? 100 * seconds / now.seconds : 0); };
    out << fmt::format("{:>9} {:>12.8f} {:>11.2e} {:>10.4f} {:>8} {:>7} {:>7} {:>7} {:>7}{}\n", now.number, now.fit, now.change,
                       now.seconds, share(now.mttkrp_seconds), share(now.solve_seconds), share(now.norm_seconds), share(now.gram_seconds),
                       share(now.communication_seconds), step)
        << std::flush;
}

void print_tensor(std::ostream& out, const CpdCommand& command, const ReadSummary& before) {
    out << fmt::format("{}: {}, {} {}", command.file, lengths_text(before.report.lengths), with_commas(before.count),
                       before.is_dense ? "elements" : "nonzeros");
    out << command.duplicates_text(before.report);
    out << fmt::format(", read in {:.3f} s; rank {}, seed {}{}\n", before.seconds,
                       command.ranks.empty() ? std::to_string(command.cp.rank) : command.ranks, command.cp.seed,
                       command.cp.starts == 1 ? "" : " and on");
    if (!command.weights.empty())
        out << weights_text(command.weights);
    else if (command.cp.missing)
        out << (before.is_dense ? "elements that are not a number are unknown\n" : "elements that are not stored are unknown\n");
    else if (!before.is_dense)
        out << "elements that are not stored count as zeros\n";
    if (command.cp.loss.kind != LossKind::gaussian) out << "loss " << command.loss << ", by " << command.algorithm << "\n";
    if (!command.cp.constraints.empty()) out << "constraints: " << joined(constraint_texts(command.cp.constraints)) << "\n";
    out << std::flush;
}

/// How many starts come near the best one.
std::int64_t near_best(const std::vector<CpStart>& starts, double best) {
    constexpr double near = 1e-3;
    return std::count_if(starts.begin(), starts.end(), [&](const auto& s) { return s.fit >= best - near; });
}

template <class T>
void print_starts(std::ostream& out, const CpResult<T>& result) {
    if (result.starts.size() < 2) return;
    std::vector<std::vector<std::string>> rows{{"start", "seed", "fit", "iterations", "seconds", "score", "stopped by"}};
    for (std::size_t s = 0; s < result.starts.size(); ++s) {
        const auto& start = result.starts[s];
        rows.push_back({std::to_string(s + 1), std::to_string(start.seed), fmt::format("{:.8f}", start.fit),
                        std::to_string(start.iterations), fmt::format("{:.3f}", start.seconds), fmt::format("{:.3f}", start.score),
                        stop_name(start.stop_reason) + (s == result.best_start ? ", the best" : "")});
    }
    out << table(rows, {false, false, false, false, false, false, true}, 1);
    out << fmt::format("{} of {} starts are within 0.001 of the best fit\n", near_best(result.starts, result.fit), result.starts.size());
    if (result.groups > 1) out << fmt::format("{} groups of ranks made them side by side\n", result.groups);
    out << "score of the components with their partners in the other starts, on average (1: the same):";
    for (double score : result.stability) out << fmt::format(" {:.2f}", score);
    out << "\n";
}

template <class T>
void print_dense_result(std::ostream& out, const CpResult<T>& result) {
    out << fmt::format("{:<28} dense, grid {}\n", "distribution", result.grid);
    if (result.perturbation_starts > 0)
        out << fmt::format("{:<28} started {} times\n", "pairwise perturbation", result.perturbation_starts);
    out << fmt::format("{:<28} {} sent by the busiest rank, {} planned for an exact one\n", "bytes per iteration",
                       with_commas(result.sent_bytes_max), with_commas(result.planned_bytes_max));
    out << fmt::format("{:<28} {} per iteration if the tensor stays, {} for one product by any algorithm\n", "at least",
                       with_commas(result.sweep_bound_bytes), with_commas(result.bound_bytes));
}

template <class T>
void print_sparse_result(std::ostream& out, const CpResult<T>& result) {
    out << fmt::format("{:<28} {}{}\n", "distribution", result.distribution,
                       result.grid.empty() ? "" : " " + result.grid + ", layers " + result.policy);
    out << fmt::format("{:<28} {}\n{:<28} {}\n", "rows", result.rows, "format", result.format);
    out << fmt::format("{:<28} {}\n", "nonzeros, busiest rank", with_commas(result.nonzeros_max));
    out << fmt::format("{:<28} {} busiest rank, {} sent in all\n", "rows moved per iteration", with_commas(result.volume_rows_max),
                       with_commas(result.volume_rows_total));
}

template <class T>
void print_result(std::ostream& out, const CpdCommand& command, bool is_dense, const CpResult<T>& result, std::int64_t peak,
                  const MemoryForecast& forecast) {
    print_starts(out, result);
    out << fmt::format("\nfit {:.8f} after {} iterations, {:.4f} s each, {:.3f} s to prepare\n{:<28} {}\n", result.fit, result.iterations,
                       result.seconds_per_iteration, result.setup_seconds, "stopped because",
                       stop_text(result.stop_reason, fmt::format("the fit will hardly change: by less than {:g} of itself and of 1 - fit",
                                                                 command.cp.tolerance)));
    if (result.known > 0)
        out << fmt::format("{:<28} {:.10g}, sum over {} known elements\n", "loss " + command.loss, result.loss, with_commas(result.known));
    is_dense ? print_dense_result(out, result) : print_sparse_result(out, result);
    out << fmt::format("{:<28} {} busiest rank\npeak memory {} per rank, forecast {}\n", "memory", format_bytes(result.memory_bytes_max),
                       format_bytes(peak), format_bytes(forecast.bytes()))
        << std::flush;
}

template <class T>
nlohmann::ordered_json result_json(const CpdCommand& command, const ReadSummary& before, const CpResult<T>& result) {
    nlohmann::ordered_json object;
    object["fit"] = result.fit;
    object["iterations"] = result.iterations;
    object["converged"] = result.converged;
    object["stop_reason"] = stop_name(result.stop_reason);
    object["fits"] = result.fits;
    object["warnings"] = before.warnings;
    object["seconds_per_iteration"] = result.seconds_per_iteration;
    object["mttkrp_seconds"] = result.total.mttkrp_seconds;
    object["solve_seconds"] = result.total.solve_seconds;
    object["norm_seconds"] = result.total.norm_seconds;
    object["gram_seconds"] = result.total.gram_seconds;
    object["communication_seconds"] = result.total.communication_seconds;
    object["read_seconds"] = before.seconds;
    object["setup_seconds"] = result.setup_seconds;
    object["choose_seconds"] = result.choose_seconds;
    object["algorithm"] = command.algorithm;
    object["loss"] = command.loss;
    if (result.known > 0) {
        object["loss_sum"] = result.loss;
        object["known_elements"] = result.known;
    }
    object["constraints"] = constraint_texts(command.cp.constraints);
    object["rank"] = command.cp.rank;
    object["seed"] = result.starts[result.best_start].seed;
    object["starts"] = nlohmann::ordered_json::array();
    for (const auto& start : result.starts)
        object["starts"].push_back({{"seed", start.seed},
                                    {"fit", start.fit},
                                    {"iterations", start.iterations},
                                    {"stop_reason", stop_name(start.stop_reason)},
                                    {"seconds", start.seconds},
                                    {"score", start.score}});
    object["groups"] = result.groups;
    object["stability"] = result.stability;
    object["distribution"] = result.distribution;
    object["grid"] = result.grid;
    object["policy"] = result.policy;
    object["rows"] = result.rows;
    object["format"] = result.format;
    object["ranks"] = result.model.world().size();
    object["threads"] = omp_get_max_threads();
    object["lengths"] = before.report.lengths;
    object["nonzeros"] = before.count;
    object["duplicates"] = before.report.duplicates;
    if (!before.is_dense) object["elements_not_stored"] = command.cp.missing ? "missing" : "zeros";
    if (!command.weights.empty()) object["weights"] = command.weights;
    object["nonzeros_max"] = result.nonzeros_max;
    object["volume_rows_max"] = result.volume_rows_max;
    object["volume_rows_total"] = result.volume_rows_total;
    if (before.is_dense) {
        object["bytes_sent_max"] = result.sent_bytes_max;
        object["bytes_planned_max"] = result.planned_bytes_max;
        object["bytes_bound"] = result.bound_bytes;
        object["bytes_sweep_bound"] = result.sweep_bound_bytes;
        object["perturbation_starts"] = result.perturbation_starts;
    }
    object["memory_bytes_max"] = result.memory_bytes_max;
    return object;
}

/// All ranks of a range, and which one to take.
template <class T, class Input>
void show_ranks(CpdCommand& command, FileWork& work, const ReadFile<Input>& read) {
    const auto& console = work.console;
    const auto [first, last] = parse_rank_range(command.ranks);
    command.cp.stop = [&] { return is_interrupted(work.world); };
    command.cp.planned = [&](std::int64_t bytes, std::int64_t) { work.forecast.expect(command.file, std::max(read.bytes, bytes)); };
    const auto found = compare_ranks(read.tensor, first, last, command.cp, command.holdout, [&](int rank, const CpIteration& now) {
        work.steps.show_iteration(
            fmt::format("rank {}, start {} of {}, iteration {}, fit {:.8f}", rank, now.start, now.starts, now.number, now.fit),
            {{"rank", rank}, {"start", now.start}, {"iteration", now.number}, {"fit", now.fit}}, false);
    });
    work.steps.show("");
    command.json ? console.out << ranks_json(found).dump(2) << std::endl : (print_ranks(console.out, found), console.out);
    end_if_interrupted(work.world, "no file was changed");
}

/// Decomposes what was read, and prints.
template <class T, class Input>
void decompose(CpdCommand& command, FileWork& work, ReadFile<Input> read) {
    const bool is_dense = read.is_dense;
    const auto& world = work.world;
    const auto& console = work.console;
    auto& steps = work.steps;
    auto& forecast = work.forecast;
    steps.show("");
    command.cp.constraints = command.constraints.of(read.tensor.order());
    if (!command.json) print_tensor(console.out, command, read);
    if (command.cp.algorithm == CpAlgorithm::nonnegative || command.constraints.has("nonnegative"))
        for (auto& warning : negative_values_warnings(read.tensor)) read.warnings.push_back(std::move(warning));
    print_warnings(console.err, read.warnings);
    if (!command.ranks.empty()) {
        if (!is_dense) steps.show("distributing nonzeros");
        return show_ranks<T>(command, work, read);
    }
    const auto& output = command.output;
    const auto start = output.template start<T>(world);
    command.cp.planned = [&](std::int64_t bytes, std::int64_t model_bytes) {
        forecast.expect(command.file, std::max(read.bytes, output.with_saving(bytes, model_bytes, command.cp.rank)));
        steps.show("");
        if (!command.json) console.out << (is_dense ? "\n" : forecast.text() + "\n\n") << std::flush;
        if (!is_dense) steps.show("making formats and factors");
    };
    const CpProgress<T> progress = [&](const CpIteration& now, const auto& model) {
        steps.show("");
        const bool is_alone = now.starts == 1;
        if (!command.json && is_alone) print_iteration(console.out, now);
        const auto of_start = is_alone ? "" : fmt::format("start {} of {}, ", now.start, now.starts);
        steps.show_iteration(fmt::format("{}iteration {}, fit {:.8f}", of_start, now.number, now.fit),
                             {{"start", now.start}, {"iteration", now.number}, {"fit", now.fit}, {"change", now.change}},
                             !command.json && is_alone);
        output.template after_iteration<T>(now.number, model);
    };
    command.cp.stop = [&] { return is_interrupted(world); };
    std::optional<Input> weights;
    if (!command.weights.empty()) weights.emplace(work.read_beside(read.tensor, command.weights));
    if (!is_dense) steps.show("distributing nonzeros");
    const auto result = cp_decompose(std::move(read.tensor), command.cp, progress, start.get(), weights ? &*weights : nullptr);
    steps.show("");
    output.save(result.model, result.iterations);
    if (result.stop_reason == StopReason::zero_model) {
        const bool is_nonnegative = command.cp.algorithm == CpAlgorithm::nonnegative;
        read.warnings.emplace_back("all components are zero: this is no decomposition; use " +
                                   std::string(is_nonnegative ? "--algorithm als or opt" : "another seed, or less regularization"));
        print_warnings(console.err, {read.warnings.back()});
    }
    output.finish(work, "cpd", result.model, result_json(command, read, result), result.iterations,
                  [&](std::int64_t peak) { print_result(console.out, command, is_dense, result, peak, forecast); });
}

template <class T>
void read_and_decompose(CpdCommand& command, const Console& console, const World& world, bool is_dense) {
    command.output.claim(world, {command.file, command.cp.partition_file, command.weights}, command.cp.save_partition);
    FileWork work(world, command, console);
    const int others = command.weights.empty() ? 0 : is_dense ? 3 : 2;  // weights, and copies of both
    const auto bytes = [&](const auto& file) { return file.bytes(command.cp) + others * file.bytes(); };
    is_dense ? decompose<T>(command, work, work.read_dense<T>(bytes)) : decompose<T>(command, work, work.read_sparse<T>(bytes));
}

/// A seed or a model to start from means one start, unless there are to be more.
int starts_of(const CpdCommand& command) {
    if (command.starts != "auto") return std::stoi(command.starts);
    return command.app->count("--seed") > 0 || command.app->count("--start") > 0 ? 1 : 0;
}

/// For a loss: all elements at once, or samples where zeros are not stored.
std::string algorithm_for(const CpdCommand& command, bool is_dense) {
    if (command.app->count("--algorithm") > 0 || command.cp.loss.kind == LossKind::gaussian) return command.algorithm;
    return is_dense || command.cp.missing || command.cp.loss.kind == LossKind::poisson ? "opt" : "sgd";
}

void run(CpdCommand& command, const Console& console) {
    command.cp.loss = parse_loss(command.loss);
    command.cp.starts = starts_of(command);
    command.cp.missing |= !command.weights.empty();
    command.cp.groups = command.groups == "auto" ? 0 : std::stoi(command.groups);
    command.cp.init = inits.at(command.init);
    if (!command.ranks.empty()) command.cp.rank = parse_rank_range(command.ranks).second;  // what the first forecast is for
    command.cp.constraints = command.constraints.of(ConstraintOptions::most_modes);        // the first forecast does not know the modes
    give_freed_memory_back();
    const World world = command.world.make_world();
    const bool is_dense =
        command.is_dense(world, {"--distribution", "--grid", "--policy", "--rows", "--partition", "--save-partition", "--format"},
                         {"--pairwise-perturbation"});
    command.algorithm = algorithm_for(command, is_dense);
    command.cp.algorithm = algorithms.at(command.algorithm);
    if (command.cp.algorithm == CpAlgorithm::nonnegative) command.algorithm = "nn";
    command.is_single(world, is_dense) ? read_and_decompose<float>(command, console, world, is_dense)
                                       : read_and_decompose<double>(command, console, world, is_dense);
}

/// @throws InvalidArgument unless a text is auto or a number of starts, or of groups of ranks
void check_count(const std::string& text) {
    const bool is_number = !text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos;
    if (text != "auto" && (!is_number || std::stoi(text) < 1 || std::stoi(text) > 1000))
        throw InvalidArgument("'" + text + "' must be auto or a number from 1 to 1000");
}

void declare_sparse(CLI::App& app, CpOptions& cp) {
    app.add_option("--distribution", cp.distribution, "auto, medium, coarse, coarse-allgather, coarse-hypergraph, fine or fine-hypergraph")
        ->check(one_of({"auto", "medium", "coarse", "coarse-allgather", "coarse-hypergraph", "fine", "fine-hypergraph"}))
        ->capture_default_str();
    declare_distribution(app, cp);
    app.add_option("--format", cp.format, "of nonzeros: auto, coo, csf-one, csf-two, csf-all, hicoo, linear or device")
        ->check(accepted_by(check_nonzero_format, "FORMAT"))
        ->capture_default_str();
}

}  // namespace

Action declare_cpd(CLI::App& app) {
    const auto command = std::make_shared<CpdCommand>();
    auto& cp = command->cp;
    app.add_option("FILE", command->file, "sparse tensor: text (.tns, .tns.gz), .mtx or binary; dense tensor: .npy, HDF5, file.h5:/dataset")
        ->required();
    auto* const rank = app.add_option("--rank", cp.rank, "number of components")->check(CLI::Range(1, 1024))->capture_default_str();
    auto* const ranks = app.add_option("--ranks", command->ranks, "compare all ranks from A to B: fits, starts, core consistency")
                            ->check(accepted_by([](const std::string& text) { parse_rank_range(text); }, "A:B"))
                            ->excludes(rank);
    app.add_option("--holdout", command->holdout, "with --ranks: part of the known elements that is held out, 0 to below 1")
        ->check(CLI::Range(0.0, 0.999999))
        ->needs(ranks)
        ->capture_default_str();
    app.add_option("--algorithm", command->algorithm,
                   "als, nn (no negative elements), opt (all factors at once) or sgd (likewise, by samples; sparse)")
        ->check(one_of({"als", "nn", "opt", "sgd"}, {"nonnegative"}))
        ->capture_default_str();
    app.add_option("--loss", command->loss,
                   "gaussian, poisson, poisson-log, bernoulli-odds, bernoulli-logit, gamma, rayleigh, huber=DELTA, negative-binomial=R or "
                   "beta=B; by opt, or sgd where zeros are not stored")
        ->check(accepted_by([](const std::string& text) { parse_loss(text); }, "LOSS"))
        ->capture_default_str();
    app.add_flag("--missing", cp.missing, "elements that are not stored, of dense tensors NaN, are unknown");
    declare_weights(app, command->weights, "squared residuals or losses")->excludes(ranks);
    command->constraints.declare(app);
    app.add_option("--iterations,--max-iterations", cp.max_iterations, "at most so many")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--tolerance", cp.tolerance,
                   "stop when the fit is expected to change by less than this times itself and 1 - fit; 0: never")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--regularization", cp.regularization, "weight of the squares of the factors")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--seed", cp.seed, "of the start")->capture_default_str();
    auto* const starts =
        app.add_option("--starts", command->starts, "from as many seeds, the best is kept; auto: up to 10 where these are short")
            ->check(accepted_by(check_count, "N"))
            ->capture_default_str();
    auto* const groups = app.add_option("--groups", command->groups,
                                        "so many groups of ranks, each with a copy of the tensor, make starts side by side; auto: as many "
                                        "as there are starts, ranks and memory for")
                             ->check(accepted_by(check_count, "N"))
                             ->capture_default_str();
    auto* const init = app.add_option("--init", command->init, "what the iterations begin with: random, sketched or hosvd")
                           ->check(one_of({"random", "sketched", "hosvd"}))
                           ->capture_default_str();
    declare_sparse(app, cp);
    auto* const perturbation =
        app.add_flag("--pairwise-perturbation", cp.pairwise_perturbation, "dense: approximate products while factors change little");
    app.add_option("--perturbation-threshold", cp.perturbation_threshold, "how little, relative to the norm of a factor")
        ->check(CLI::Range(1e-6, 0.999))
        ->needs(perturbation)
        ->capture_default_str();
    declare_seconds(app, cp.seconds);
    command->output.declare(app);
    app.get_option("--start")->excludes(starts)->excludes(groups)->excludes(init);
    for (const char* name : {"--start", "--output", "--save-partition"}) app.get_option(name)->excludes(ranks);
    declare_progress(app, command->progress);
    command->declare(app);
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli

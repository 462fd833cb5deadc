#include "decompose/cp/cp_driver.hpp"

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/cp_admm.hpp"
#include "decompose/cp/cp_als.hpp"
#include "decompose/cp/cp_start.hpp"
#include "decompose/cp/element_loss.hpp"
#include "decompose/stop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <typeinfo>

namespace arges::decompose {

namespace {

constexpr int max_rank = 1024, max_starts = 1000;
constexpr int most_short_starts = 10;
constexpr int settled_steps = 3;                                  // of opt and sgd: a step may be short by chance
constexpr double short_seconds = 10, seconds_per_product = 3e-9;  // all starts; of a nonzero with an element of a factor, slow machines too

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("CP decomposition: " + text); }

std::string shape_text(const std::vector<std::int64_t>& lengths, int rank) {
    std::string text;
    for (auto n : lengths) text += (text.empty() ? "" : " x ") + std::to_string(n);
    return text + " of rank " + std::to_string(rank);
}

/// Takes the rows of a given model; other ranks may have them. Collective.
template <class T>
void start_from(const CpModel<T>& model, CpData<T>& tensor, CpState<T>& state) {
    const auto& comm = tensor.comm();
    state.lambda = model.lambda();
    state.factors.take(comm, model);
    state.is_given = true;
    for (int m = 0; m < tensor.order(); ++m) state.factors.make_gram(tensor, m);
}

/// Runs the iterations and keeps times.
template <class T>
class Runner {
public:
    /// @param since_start  began with the first of all starts @param start  number of this one, from 1
    Runner(CpData<T>& tensor, const CpTask<T>& task, const CpIterations<T>& iterate, const std::function<CpModel<T>()>& model,
           const Stopwatch& since_start, int start)
        : tensor_(tensor), options_(task.options), progress_(task.progress), iterate_(iterate), model_(model), since_start_(since_start),
          start_(start), before_(tensor.seconds()) {}

    void run(CpState<T>& state, CpResult<T>& result) {
        const IterationOptions iteration{options_.max_iterations, options_.tolerance, options_.regularization};
        watch_.lap();
        iterate_(state, iteration, [&](int number, double fit) { return note(result, number, fit, state.loss); });
        result.loss = state.loss;
        result.fit = state.fit;
        if (std::all_of(state.lambda.begin(), state.lambda.end(), [](double weight) { return weight == 0; }))
            result.stop_reason = StopReason::zero_model;
        else if (state.is_stationary)
            result.stop_reason = StopReason::no_step;
        result.converged =
            result.stop_reason == StopReason::tolerance || (result.stop_reason == StopReason::no_step && options_.tolerance > 0);
    }

private:
    bool note(CpResult<T>& result, int number, double fit, double loss) {
        const auto& spent = tensor_.seconds();
        trend_.add(fit);
        CpIteration now{number,
                        fit,
                        trend_.change(),
                        watch_.lap(),
                        spent.mttkrp - before_.mttkrp,
                        spent.solve - before_.solve,
                        spent.norm - before_.norm,
                        spent.gram - before_.gram,
                        spent.communication - before_.communication,
                        tensor_.step(),
                        start_,
                        options_.starts,
                        loss};
        before_ = spent;
        auto& total = result.total;
        total.number = number;
        total.fit = fit;
        total.seconds += now.seconds;
        total.mttkrp_seconds += now.mttkrp_seconds;
        total.solve_seconds += now.solve_seconds;
        total.norm_seconds += now.norm_seconds;
        total.gram_seconds += now.gram_seconds;
        total.communication_seconds += now.communication_seconds;
        result.iterations = number;
        result.seconds_per_iteration = total.seconds / number;
        const bool exact = now.step == CpStep::exact, exact_twice = exact && was_exact_;
        was_exact_ = exact;
        result.perturbation_starts += now.step == CpStep::pairs ? 1 : 0;
        result.fits.push_back(fit);
        settled_ = exact_twice && trend_.is_settled(options_.tolerance, std::numeric_limits<T>::epsilon()) ? settled_ + 1 : 0;
        const bool is_uneven = options_.algorithm == CpAlgorithm::opt || options_.algorithm == CpAlgorithm::sgd;
        const bool is_settled = settled_ >= (is_uneven ? settled_steps : 1);
        CollectiveCall::run_callback(tensor_.comm(), [&] {
            if (progress_) progress_(now, model_);
        });
        if (is_settled)
            result.stop_reason = StopReason::tolerance;
        else
            result.stop_reason = wanted_stop(tensor_.comm(), options_, since_start_);
        watch_.lap();
        return result.stop_reason == StopReason::iterations;
    }

    CpData<T>& tensor_;
    const CpOptions& options_;
    const CpProgress<T>& progress_;
    const CpIterations<T>& iterate_;
    const std::function<CpModel<T>()>& model_;
    FitTrend trend_;
    bool was_exact_ = true;
    int settled_ = 0;  // iterations in a row
    const Stopwatch& since_start_;
    int start_;
    Seconds before_;
    Stopwatch watch_;
};

/// All starts, one after the other, over one operator.
template <class T>
class Starts {
public:
    Starts(CpData<T>& tensor, const CpTask<T>& task, const CpIterations<T>& iterate) : tensor_(tensor), task_(task), iterate_(iterate) {
        begin(0);
    }

    void run() {
        const int count = task_.options.starts;
        Stopwatch since_start;
        for (int s = 0; s < count; ++s) {
            if (s > 0) begin(s);
            run_one(since_start, s + 1);
            const auto reason = result_.starts[s].stop_reason;
            if (reason == StopReason::asked || reason == StopReason::seconds) break;
        }
        if (best_) return;
        throw Error(divergence_);
    }

    const Factors<T>& factors() const { return state_->factors; }
    /// Bytes sent in an iteration, on average.
    std::int64_t sent() const { return sent_ / iterations_; }
    CpResult<T>& result() { return result_; }
    /// The best one. Collective.
    CpResult<T> finish() && {
        if (std::ssize(result_.starts) == 1)
            tensor_.comm().agree([&] { result_.model = state_->factors.model(task_.world, task_.lengths, state_->lambda, {}, true); });
        else {
            state_.reset();
            result_.stability = compared(models_, result_);
            result_.model = std::move(*models_[result_.best_start]);
        }
        return std::move(result_);
    }

private:
    void begin(int s) {
        state_.reset();
        state_.emplace(CpState<T>{Factors<T>(tensor_, seed_of(s)), std::vector<double>(task_.options.rank, 1), 0});
        if (task_.start) start_from(*task_.start, tensor_, *state_);
        if (task_.first && task_.number + s == 0) {
            start_from(*task_.first, tensor_, *state_);
            state_->is_given = false;
        }
        if (s > 0) tensor_.forget_factors();
        auto* const products = dynamic_cast<CpOperator<T>*>(&tensor_);
        if (task_.options.init == CpInit::sketched && !task_.start && products)
            sketch_factors(*products, *state_, seed_of(s), wants_nonnegative(task_.options));
    }

    std::uint64_t seed_of(int s) const { return task_.options.seed + static_cast<std::uint64_t>(task_.number + s); }

    CpModel<T> model() { return state_->factors.model(task_.world, task_.lengths, state_->lambda, {}, false); }

    void run_one(const Stopwatch& since_start, int number) {
        CpResult<T> now{CpModel<T>(task_.world, {}, {}, {}, {})};
        const std::function<CpModel<T>()> best_so_far = [&] {
            return best_ && now.fits.back() <= result_.fit ? *models_[result_.best_start] : model();
        };
        const bool is_one_of_many = task_.options.starts > 1;
        const auto sent_before = tensor_.comm().traffic().bytes_sent;
        try {
            Runner<T>(tensor_, task_, iterate_, best_so_far, since_start, number).run(*state_, now);
        } catch (const Error& error) {
            if (!is_one_of_many || typeid(error) != typeid(Error)) throw;
            divergence_ = error.what();
            now.stop_reason = StopReason::diverged;
        }
        sent_ += tensor_.comm().traffic().bytes_sent - sent_before;
        iterations_ += std::max(1, now.iterations);
        auto starts = std::move(result_.starts);
        starts.push_back({seed_of(number - 1), now.fit, now.iterations, now.stop_reason, now.total.seconds, 1});
        models_.emplace_back();
        const bool has_model = now.stop_reason != StopReason::diverged;
        if (has_model && is_one_of_many) tensor_.comm().agree([&] { models_.back().emplace(model()); });
        if (has_model && (!best_ || now.fit > result_.fit)) {
            best_ = true;
            now.best_start = static_cast<std::size_t>(number - 1);
            result_ = std::move(now);
        }
        result_.starts = std::move(starts);
    }

    CpData<T>& tensor_;
    const CpTask<T>& task_;
    const CpIterations<T>& iterate_;
    std::optional<CpState<T>> state_;
    CpResult<T> result_{CpModel<T>(task_.world, {}, {}, {}, {})};
    std::vector<std::optional<CpModel<T>>> models_;  // of several starts
    bool best_ = false;                              // there is one
    std::string divergence_;
    std::int64_t sent_ = 0;
    int iterations_ = 0;
};

}  // namespace

template <class T>
std::vector<double> compared(const std::vector<std::optional<CpModel<T>>>& models, CpResult<T>& result) {
    const auto& best = *models[result.best_start];
    std::vector<double> sums(best.rank(), 0);
    int others = 0;
    for (std::size_t s = 0; s < models.size(); ++s) {
        if (!models[s]) continue;
        const auto match = match_components(best, *models[s]);
        result.starts[s].score = match.score;
        if (s == result.best_start) continue;
        ++others;
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += match.scores[c];
    }
    if (others == 0) return {};
    for (auto& sum : sums) sum /= others;
    return sums;
}

std::vector<std::size_t> falling_weights(const std::vector<double>& lambda) {
    std::vector<std::size_t> order(lambda.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lambda[a] > lambda[b]; });
    return order;
}

static void check_loss(const CpOptions& options) {
    make_loss(options.loss);
    const bool takes_losses = options.algorithm == CpAlgorithm::opt || options.algorithm == CpAlgorithm::sgd;
    if (options.loss.kind != LossKind::gaussian && !takes_losses)
        refuse("the loss " + to_string(options.loss) + " is for opt and sgd; als and nonnegative find least squares");
    if (options.init > CpInit::hosvd) refuse("there is no init " + std::to_string(static_cast<int>(options.init)) + "; use one of CpInit");
    if (!has_loss(options)) return;
    if (options.init != CpInit::random)
        refuse("starts by HOSVD and sketches are for squared residuals of tensors of which all elements are known; use random ones");
    if (options.pairwise_perturbation) refuse("pairwise perturbation is for tensors of which all elements are known; leave it out");
    if (options.format != "auto")
        refuse("elements with a loss, or some of which are missing, have a format of their own; leave the format out");
}

void check_cp_options(const CpOptions& options) {
    if (options.rank < 1 || options.rank > max_rank)
        refuse("the rank is " + std::to_string(options.rank) + "; it must be from 1 to " + std::to_string(max_rank));
    if (options.algorithm > CpAlgorithm::sgd)
        refuse("there is no algorithm " + std::to_string(static_cast<int>(options.algorithm)) + "; use one of CpAlgorithm");
    if (options.max_iterations < 1) refuse(std::to_string(options.max_iterations) + " iterations; there must be at least one");
    if (!(options.tolerance >= 0)) refuse("the tolerance must be 0 or a positive number");
    if (!(options.regularization >= 0) || !std::isfinite(options.regularization))
        refuse("the regularization must be 0 or a positive number");
    if (!(options.seconds >= 0)) refuse("the seconds of the iterations must be 0 or a positive number");
    if (options.starts < 0 || options.starts > max_starts)
        refuse(std::to_string(options.starts) + " starts; use from 1 to " + std::to_string(max_starts) + ", or 0 for as many as are short");
    if (options.groups < 0)
        refuse(std::to_string(options.groups) + " groups of ranks; use 1 or more, or 0 for as many as there are starts");
    if (options.pairwise_perturbation && options.starts > 1)
        refuse("pairwise perturbation is for one start; leave it out, or give one start");
    if (options.pairwise_perturbation && options.algorithm == CpAlgorithm::opt)
        refuse("pairwise perturbation is for alternating algorithms; leave it out, or choose als or nn");
    check_loss(options);
    if (!(options.perturbation_threshold > 0) || !(options.perturbation_threshold < 1))
        refuse("the threshold of pairwise perturbation must be between 0 and 1");
}

void check_dense_shape(const std::string& title, const std::vector<std::int64_t>& lengths, std::size_t least, const std::string& kind) {
    constexpr std::size_t most = 8;
    if (lengths.size() < least || lengths.size() > most)
        throw InvalidArgument(title + " has " + std::to_string(lengths.size()) + " dimensions; a " + kind +
                              " decomposition of a dense tensor needs from " + std::to_string(least) + " to " + std::to_string(most));
    const auto empty = std::find(lengths.begin(), lengths.end(), 0);
    if (empty != lengths.end())
        throw InvalidArgument(title + " has no elements, because dimension " + std::to_string(empty - lengths.begin() + 1) +
                              " has length 0");
}

std::uint64_t digest_of(const CpOptions& options) {
    Digest digest;
    digest.add(options.rank).add(options.algorithm).add(options.max_iterations).add(options.tolerance).add(options.seed);
    digest.add(options.regularization).add(options.distribution).add(options.grid).add(options.policy).add(options.rows);
    digest.add(options.format)
        .add(options.partition_file)
        .add(options.save_partition)
        .add(options.pairwise_perturbation)
        .add(options.perturbation_threshold);
    digest.add(options.stop != nullptr).add(options.seconds).add(options.starts).add(options.groups);
    digest.add(options.init);
    digest.add(options.loss.kind).add(options.loss.parameter).add(options.missing);
    for (const auto& constraint : options.constraints) digest.add(constraint.kind).add(constraint.weight);
    return digest.value();
}

CpOptions with_starts(CpOptions options, std::size_t order, std::int64_t elements, bool has_model) {
    constexpr double products_of_losses = 20;  // of an iteration: models, derivatives, steps of line searches or samples
    constexpr int usual_iterations = 50;       // more that are allowed are seldom made, and mean no fewer starts
    const double products = static_cast<double>(order) * static_cast<double>(elements) * options.rank *
                            std::min(options.max_iterations, usual_iterations) * (has_loss(options) ? products_of_losses : 1);
    const double most = short_seconds / std::max(1e-9, products * seconds_per_product);
    if (has_model)
        options.starts = 1;
    else if (options.starts == 0)
        options.starts = options.tolerance > 0 && !options.pairwise_perturbation
                             ? static_cast<int>(std::clamp(most, 1.0, double{most_short_starts}))
                             : 1;
    return options;
}

void check_cp_start(const std::vector<std::int64_t>& lengths, int rank, const std::vector<std::int64_t>& start_lengths, int start_rank) {
    if (start_lengths != lengths || start_rank != rank)
        refuse("the factors to start from are for " + shape_text(start_lengths, start_rank) + ", not for " + shape_text(lengths, rank) +
               "; give those of this tensor and rank, or start from a seed");
}

void check_finite(const std::string& title, double norm_squared) {
    if (std::isnan(norm_squared)) throw InvalidArgument(title + " has an element that is not a number (NaN); replace or remove it");
    if (!std::isfinite(norm_squared))
        throw InvalidArgument(title + ": the sum of the squares of its values is infinite; scale the values, or replace infinite ones");
}

void check_norm(const std::string& title, double norm_squared) {
    check_finite(title, norm_squared);
    if (!(norm_squared > 0))
        throw InvalidArgument(title + ": the sum of the squares of its values is zero; give some that are not zero, or scale them");
}

std::int64_t checked_forecast(const WorldState& world, const std::string& title, std::int64_t own, std::int64_t held,
                              const std::string& cures, std::int64_t model,
                              const std::function<void(std::int64_t bytes, std::int64_t model_bytes)>& planned) {
    const auto& comm = world.communicator();
    const auto forecast = comm.maximum(own);
    std::int64_t minima[] = {0};
    world.agree([&] { minima[0] = world.free_bytes() + held; }, minima);
    if (forecast > minima[0])
        throw OutOfMemory(title + ": the decomposition takes up to " + with_commas(forecast) +
                          " bytes on a rank, but the memory limit leaves " + with_commas(minima[0]) + "; " + cures +
                          ", or raise the limit (--memory, ARGES_MEMORY_LIMIT)");
    const auto model_bytes = comm.maximum(model);
    comm.agree([&] {
        if (planned) planned(forecast, model_bytes);
    });
    return forecast;
}

std::int64_t model_memory(const FactorRows& rows, int columns, std::int64_t element_bytes) {
    std::int64_t sum = 0;
    for (auto owned : rows.owned) sum += owned * (std::int64_t{sizeof(std::int64_t)} + columns * element_bytes);
    return sum;
}

MemoryTally factors_memory(const FactorRows& rows, const CpOptions& options, std::int64_t element_bytes, int threads,
                           std::int64_t dropped) {
    const std::int64_t columns = options.rank, gram = columns * columns * std::int64_t{sizeof(double)};
    const auto order = std::ssize(rows.all);
    std::int64_t owned = 0, all = 0, most = 0;
    MemoryTally tally;
    const auto models = options.starts > 1 ? options.starts * model_memory(rows, options.rank, element_bytes) : 0;
    tally.hold(models);
    for (std::size_t m = 0; m < rows.all.size(); ++m) {
        tally.hold(array_memory(rows.all[m] * columns * element_bytes));
        owned += rows.owned[m] * columns;
        all += rows.all[m] * columns;
        most = std::max(most, rows.all[m]);
    }
    tally.hold(gram * order);
    tally.pass(gram * (threads + 12));  // sums of threads, and what solvers copy
    if (const auto constraints = constraints_of(options, static_cast<int>(order)); !constraints.empty())
        tally.pass(gram * (threads + 12) + constrained_memory({rows.all, rows.owned, rows.total, rows.ranks}, constraints,
                                                              options.regularization, columns, element_bytes, threads));
    if (options.algorithm == CpAlgorithm::nonnegative) tally.pass(gram * (threads + 12) + nonnegative_memory(most, columns, element_bytes));
    if (options.algorithm == CpAlgorithm::opt)
        tally.pass(gram * (threads + 12) + opt_memory(owned, all, element_bytes, options.max_iterations));
    tally.hold(-dropped);
    for (std::size_t m = 0; m < rows.all.size(); ++m) {
        tally.hold(rows.owned[m] * (std::int64_t{sizeof(std::int64_t)} + columns * element_bytes));
        tally.hold(-array_memory(rows.all[m] * columns * element_bytes));
    }
    tally.hold(-models);
    return tally;
}

template <class T>
CpIterations<T> iterations_of(CpOperator<T>& tensor, const CpOptions& options, const std::vector<std::int64_t>& lengths) {
    return [&](CpState<T>& state, const IterationOptions& iteration, const AfterIteration& after) {
        const auto constraints = constraints_of(options, tensor.order());
        if (!constraints.empty()) return run_constrained(tensor, state, iteration, constraints, lengths, after);
        if (options.algorithm == CpAlgorithm::als) run_als(tensor, state, iteration, after);
        if (options.algorithm == CpAlgorithm::nonnegative) run_nonnegative(tensor, state, iteration, after);
        if (options.algorithm == CpAlgorithm::opt) run_opt(tensor, state, iteration, after);
    };
}

template <class T>
CpResult<T> run_cp(CpData<T>& tensor, const CpTask<T>& task, Stopwatch& setup, const CpIterations<T>& iterate,
                   const std::function<void(CpResult<T>&, const Factors<T>&, std::int64_t sent)>& finish) {
    Starts<T> starts(tensor, task, iterate);
    const double setup_seconds = setup.lap();
    starts.run();
    starts.result().setup_seconds = setup_seconds;
    finish(starts.result(), starts.factors(), starts.sent());
    return std::move(starts).finish();
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<double> compared(const std::vector<std::optional<CpModel<T>>>&, CpResult<T>&);                                    \
    template CpIterations<T> iterations_of(CpOperator<T>&, const CpOptions&, const std::vector<std::int64_t>&);                            \
    template CpResult<T> run_cp(CpData<T>&, const CpTask<T>&, Stopwatch&, const CpIterations<T>&,                                          \
                                const std::function<void(CpResult<T>&, const Factors<T>&, std::int64_t)>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose

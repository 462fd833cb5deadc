#include "arges/complete.hpp"

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/completion_options.hpp"
#include "decompose/completion/held_out.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/sparse_memory.hpp"
#include "decompose/stop.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "sparse/blocked_sum.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace arges {

namespace {

using decompose::CompletionFactors;
using decompose::CompletionMethod;
using decompose::HeldOut;

/// Runs the iterations, keeps the best model and says when it is enough.
template <class T>
class Iterations {
public:
    Iterations(const CompletionOptions& options, CompletionFactors<T>& factors, CompletionMethod<T>& method, HeldOut<T>* held_out,
               CompletionResult<T>& result)
        : options_(options), factors_(factors), method_(method), held_out_(held_out), result_(result) {}

    void run(const CompletionProgress<T>& progress, const std::function<CpModel<T>()>& model) {
        double seconds = 0;
        const Stopwatch since_start;
        for (int number = 1; result_.stop_reason == StopReason::iterations && number <= options_.max_iterations; ++number) {
            Stopwatch watch;
            const double moved_before = factors_.communication_seconds();
            CompletionIteration now;
            now.number = number;
            const double squares = method_.iterate();
            now.rmse = std::sqrt(squares / static_cast<double>(result_.elements));
            now.loss = squares + options_.regularization * factors_.squares();
            if (!std::isfinite(now.loss))
                throw Error("the completion has diverged: its loss is not a number that it can be; use a smaller rank, another seed, a "
                            "regularization, or a smaller learning rate");
            now.change = number == 1 ? now.rmse : now.rmse - result_.rmses.back();
            now.learning_rate = method_.learning_rate();
            note(now);
            now.communication_seconds = factors_.communication_seconds() - moved_before;
            now.seconds = watch.seconds();
            seconds += now.seconds;
            result_.iterations = number;
            result_.seconds_per_iteration = seconds / number;
            result_.communication_seconds += now.communication_seconds;
            CollectiveCall::run_callback(factors_.comm(), [&] {
                if (progress) progress(now, model);
            });
            if (result_.stop_reason == StopReason::iterations)
                result_.stop_reason = decompose::wanted_stop(factors_.comm(), options_, since_start);
        }
        result_.converged = result_.stop_reason == StopReason::tolerance || result_.stop_reason == StopReason::held_out;
        if (best_) factors_.take_back(*best_);
    }

private:
    /// Notes the errors, and whether they say that it is enough.
    void note(CompletionIteration& now) {
        result_.rmses.push_back(now.rmse);
        result_.losses.push_back(now.loss);
        if (now.number > 1 && method_.has_moved() && decompose::is_settled(now.rmse, now.change, options_.tolerance))
            result_.stop_reason = StopReason::tolerance;
        if (held_out_) {
            now.held_out_rmse = held_out_->rmse();
            result_.held_out_rmses.push_back(now.held_out_rmse);
            if (best_ && !(now.held_out_rmse < result_.held_out_rmse)) {
                if (now.number - result_.best_iteration >= options_.patience) result_.stop_reason = StopReason::held_out;
                return;
            }
            factors_.comm().agree([&] { best_ = factors_.copy(); });
        }
        result_.held_out_rmse = now.held_out_rmse;
        result_.rmse = now.rmse;
        result_.best_iteration = now.number;
    }

    const CompletionOptions& options_;
    CompletionFactors<T>& factors_;
    CompletionMethod<T>& method_;
    HeldOut<T>* held_out_;
    CompletionResult<T>& result_;
    std::optional<typename CompletionFactors<T>::Copy> best_;
};

/// A tensor of nonzeros of another one, where they are.
template <class T>
SparseTensor<T> tensor_of(const SparseState& like, sparse::Nonzeros<T> nonzeros) {
    SparseTensor<T> result(like.world_handle, like.lengths(), like.name);
    result.state()->replace(std::move(nonzeros), SparsePattern::Place::anywhere);
    return result;
}

/// @throws InvalidArgument on all ranks unless both are usable
template <class T>
void check_tensors(const SparseState& source, const SparseTensor<T>* validation) {
    if (source.pattern()->total == 0) throw InvalidArgument(source.title() + " has no elements; there is nothing to complete");
    if (source.order() < 2) throw InvalidArgument(source.title() + " has one mode; a completion needs at least two");
    if (!validation) return;
    const auto& held = state_of(*validation, "complete");
    if (held.world != source.world) throw InvalidArgument(held.title() + ", which is held out, is on another world than " + source.title());
    if (held.lengths() != source.lengths())
        throw InvalidArgument(held.title() + ", which is held out, has other lengths than " + source.title());
    if (held.pattern()->total == 0) throw InvalidArgument(held.title() + ", which is held out, has no elements");
}

/// Sum of the squares of the elements. Collective. @throws InvalidArgument unless that is a number
template <class T>
double checked_squares(const SparseState& state) {
    double squares = decompose::sum_of_squares(state.values_of<T>());
    state.comm().sum(&squares, 1);
    decompose::check_finite(state.title(), squares);
    return squares;
}

/// Fills in the mean of the fitted elements, and how well it predicts those that are held out. Collective.
template <class T>
void judge_mean(const SparseState& fitted, const sparse::Nonzeros<T>& held, CompletionResult<T>& result) {
    const auto values = fitted.values_of<T>();
    double sum = sparse::blocked_sum(std::ssize(values), [&](std::int64_t x) { return static_cast<double>(values[x]); });
    fitted.comm().sum(&sum, 1);
    const double mean = result.fitted_mean = sum / static_cast<double>(result.elements);
    if (result.held_out == 0) return;
    double squares = sparse::blocked_sum(held.count(), [&](std::int64_t x) {
        const double e = static_cast<double>(held.values[x]) - mean;
        return e * e;
    });
    fitted.comm().sum(&squares, 1);
    result.held_out_mean_rmse = std::sqrt(squares / static_cast<double>(result.held_out));
}

/// What is held out of a tensor, and what is left where it is not the tensor itself.
template <class T>
struct HeldOutParts {
    sparse::Nonzeros<T> held;
    SparseTensor<T> rest;
};

/// Copies what is held out, or splits it off the tensor. Collective.
template <class T>
HeldOutParts<T> hold_out(SparseState& source, bool gives_up, const CompletionOptions& options, const SparseTensor<T>* validation) {
    const auto& comm = source.comm();
    HeldOutParts<T> parts;
    if (validation) comm.agree([&] { parts.held = validation->state()->template nonzeros<T>(); });
    if (options.holdout == 0) return parts;
    sparse::Nonzeros<T> all;
    if (gives_up)
        all = source.take<T>();
    else
        comm.agree([&] { all = source.nonzeros<T>(); });
    comm.agree([&] { parts.held = decompose::split_off(all, options.holdout, options.seed); });
    parts.rest = tensor_of(source, std::move(all));
    return parts;
}

/// Brings the factors to the start: a model's, or random ones scaled to the norm of the elements. Collective.
template <class T>
void set_start(CompletionFactors<T>& factors, CompletionMethod<T>& method, const CpModel<T>* start, double squares) {
    if (start)
        factors.start_from(*start);
    else
        factors.scale(std::pow(squares / method.start_sums().model, 0.5 / factors.order()));
    factors.balance();
    method.begin();
}

/// Distributes the elements that are fitted, and fits them. Collective. @param squares of them
template <class T>
void fit(SparseState& fitted, bool gives_up, bool keeps_source, const CompletionOptions& options, const CompletionProgress<T>& progress,
         const CpModel<T>* start, double squares, sparse::Nonzeros<T> held, CompletionResult<T>& result) {
    Stopwatch watch;
    const auto& comm = fitted.comm();
    auto request = decompose::request_of(options, options.rank);
    request.distribution = decompose::completion_distribution(options, comm.size());
    auto distributed = decompose::distribute_tensor<T>(fitted, gives_up, request);
    comm.agree([&] { decompose::check_completion_distribution(distributed.chosen.distribution, options.algorithm); });
    auto& share = distributed.share;
    share.keeps_source = keeps_source;
    result.forecast_bytes = decompose::checked_forecast(
        *fitted.world, fitted.title(), decompose::completion_memory(share, options, held.count(), omp_get_max_threads()).peak(),
        keeps_source ? share.source_bytes() : 0, "use more ranks, fewer components, another distribution",
        decompose::model_memory({{}, share.owned}, options.rank, sizeof(T)), options.planned);
    auto& nonzeros = distributed.nonzeros;
    result.elements_max = comm.maximum(*std::max_element(share.nonzeros.begin(), share.nonzeros.end()));
    CompletionFactors<T> factors(comm, nonzeros.rows, options.rank, options.seed);
    const auto method = decompose::make_completion<T>(options, factors, nonzeros);
    set_start(factors, *method, start, squares);
    std::optional<HeldOut<T>> held_out;
    if (result.held_out > 0) {
        held_out.emplace(factors, std::move(held));
        result.unknown = held_out->unknown();
    }
    result.setup_seconds += watch.lap();
    const auto& chosen = distributed.chosen;
    result.distribution = chosen.distribution;
    result.grid = chosen.grid;
    result.policy = chosen.policy;
    result.rows = chosen.rows;
    const std::function<CpModel<T>()> model = [&] { return factors.model(fitted.world_handle, share.lengths); };
    Iterations<T>(options, factors, *method, held_out ? &*held_out : nullptr, result).run(progress, model);
    comm.agree([&] { result.model = model(); });
}

/// What both forms of complete() do; `gives_up`: the tensor loses its elements when they have been distributed.
template <class T>
CompletionResult<T> complete_tensor(const SparseTensor<T>& tensor, bool gives_up, const CompletionOptions& options,
                                    const CompletionProgress<T>& progress, const CpModel<T>* start, const SparseTensor<T>* validation) {
    SparseState& source = state_of(tensor, "complete");
    if (!source.symmetry.trivial()) return complete_tensor(tensor.with_symmetry({}), true, options, progress, start, validation);
    if (validation && !state_of(*validation, "complete").symmetry.trivial()) {
        const auto whole = validation->with_symmetry({});
        return complete_tensor(tensor, gives_up, options, progress, start, &whole);
    }
    const std::vector validations{validation};
    const CollectiveCall call(source.world->movement_communicator(), "complete", source, decompose::digest_of(options),
                              ModelArgument{start}, TensorArguments{validations});
    const auto& comm = source.comm();
    comm.agree([&] {
        decompose::check_completion_options(options, comm.size());
        check_tensors(source, validation);
        if (validation && options.holdout > 0)
            throw InvalidArgument("completion: elements to hold out are given, and a part of the tensor is to be held out; choose one");
        if (start) decompose::check_cp_start(source.lengths(), options.rank, start->lengths(), start->rank());
    });
    decompose::check_norm(source.title(), checked_squares<T>(source));
    if (validation) checked_squares<T>(*validation->state());
    const Stopwatch watch;
    auto parts = hold_out(source, gives_up, options, validation);
    auto& fitted = options.holdout > 0 ? *parts.rest.state() : source;
    CompletionResult<T> result{CpModel<T>(tensor.world(), {}, {}, {}, {})};
    result.elements = fitted.pattern()->total;
    const bool holds_out = validation || options.holdout > 0;
    if (holds_out) result.held_out = comm.sum(parts.held.count());
    if (holds_out && (result.elements == 0 || result.held_out == 0))
        throw InvalidArgument("completion: of " + std::to_string(result.elements + result.held_out) + " elements " +
                              (result.elements == 0 ? "all" : "none") + " would be held out; use another part or another seed");
    const double squares = checked_squares<T>(fitted);
    decompose::check_norm(source.title() + ", the elements that are fitted", squares);
    judge_mean(fitted, parts.held, result);
    result.setup_seconds = watch.seconds();
    fit(fitted, gives_up || options.holdout > 0, !gives_up, options, progress, start, squares, std::move(parts.held), result);
    return result;
}

}  // namespace

template <class T>
CompletionResult<T> complete(const SparseTensor<T>& tensor, const CompletionOptions& options,
                             const std::type_identity_t<CompletionProgress<T>>& progress, const std::type_identity_t<CpModel<T>>* start,
                             const std::type_identity_t<SparseTensor<T>>* validation) {
    return complete_tensor(tensor, false, options, progress, start, validation);
}

template <class T>
CompletionResult<T> complete(SparseTensor<T>&& tensor, const CompletionOptions& options,
                             const std::type_identity_t<CompletionProgress<T>>& progress, const std::type_identity_t<CpModel<T>>* start,
                             const std::type_identity_t<SparseTensor<T>>* validation) {
    return complete_tensor(tensor, true, options, progress, start, validation);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template CompletionResult<T> complete(const SparseTensor<T>&, const CompletionOptions&, const CompletionProgress<T>&,                  \
                                          const CpModel<T>*, const SparseTensor<T>*);                                                      \
    template CompletionResult<T> complete(SparseTensor<T>&&, const CompletionOptions&, const CompletionProgress<T>&, const CpModel<T>*,    \
                                          const SparseTensor<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges

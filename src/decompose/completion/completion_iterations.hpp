/// The iterations of a completion, whatever its algorithm.
#pragma once

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/held_out.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/stop.hpp"

#include <cmath>
#include <functional>
#include <optional>

namespace arges::decompose {

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
            now.loss = squares + options_.regularization * factors_.weighted_squares();
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
            if (result_.stop_reason == StopReason::iterations) result_.stop_reason = wanted_stop(factors_.comm(), options_, since_start);
        }
        result_.converged = result_.stop_reason == StopReason::tolerance || result_.stop_reason == StopReason::held_out;
        if (best_) factors_.take_back(*best_);
    }

private:
    /// Notes the errors, and whether they say that it is enough.
    void note(CompletionIteration& now) {
        result_.rmses.push_back(now.rmse);
        result_.losses.push_back(now.loss);
        if (now.number > 1 && method_.has_moved() && is_settled(now.rmse, now.change, options_.tolerance))
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

}  // namespace arges::decompose

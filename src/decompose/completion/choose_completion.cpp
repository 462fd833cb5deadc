// Which rank and which regularization: those whose model predicts elements best that are left out for this.
#include "arges/complete.hpp"

#include "comm/collective_call.hpp"
#include "decompose/completion/complete_parts.hpp"
#include "decompose/completion/completion_options.hpp"
#include "interface/world/call_arguments.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace arges {

namespace {

constexpr double part_to_judge_by = 0.1;
constexpr int first_rank = 10;
constexpr double regularizations[] = {0.5, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0};
constexpr int ranks_to_try[] = {1, 2, 5, 10, 20, 40};

}  // namespace

template <class T>
CompletionChoice choose_completion(const SparseTensor<T>& tensor, const CompletionOptions& options, bool chooses_rank,
                                   bool chooses_regularization, const std::function<void(const CompletionTrial&)>& progress,
                                   const std::type_identity_t<SparseTensor<T>>* weights) {
    const auto& source = state_of(tensor, "choose_completion");
    if (!source.symmetry.trivial())
        return choose_completion(tensor.with_symmetry({}), options, chooses_rank, chooses_regularization, progress, weights);
    const std::vector beside{weights};
    const CollectiveCall call(source.world->movement_communicator(), "choose_completion", source, decompose::digest_of(options),
                              chooses_rank, chooses_regularization, TensorArguments{beside});
    source.comm().agree([&] { decompose::check_completion_options(options, source.comm().size()); });
    auto rest = decompose::all_fitted(tensor, false, weights);
    if (options.holdout > 0) rest = decompose::hold_out(std::move(rest), options.holdout, options.seed);
    const auto parts = decompose::hold_out(std::move(rest), part_to_judge_by, options.seed + 1);
    auto tried = options;
    tried.holdout = 0;
    tried.planned = {};
    tried.save_partition.clear();
    CompletionChoice choice;
    choice.best = {options.rank, options.regularization};
    const auto attempt = [&](int rank, double regularization) {
        const auto same = [&](const auto& trial) { return trial.rank == rank && trial.regularization == regularization; };
        if (std::any_of(choice.trials.begin(), choice.trials.end(), same) || (tried.stop && !choice.trials.empty() && tried.stop())) return;
        tried.rank = rank;
        tried.regularization = regularization;
        // The tensor is the same one, weights and what is held out are copies.
        decompose::CompletionParts<T> own{.fitted = SparseTensor<T>(parts.fitted.state()), .keeps_source = true, .holds_out = true};
        source.comm().agree([&] {
            own.weights = parts.weights;
            own.held = parts.held;
        });
        const auto found = decompose::complete_parts<T>(source.title(), std::move(own), tried, {}, nullptr);
        const CompletionTrial trial{rank,       regularization,       found.held_out_rmse,
                                    found.rmse, found.best_iteration, found.stop_reason == StopReason::held_out};
        if (choice.trials.empty() || trial.held_out_rmse < choice.best.held_out_rmse) choice.best = trial;
        choice.trials.push_back(trial);
        CollectiveCall::run_callback(source.comm(), [&] {
            if (progress) progress(trial);
        });
    };
    const auto try_regularizations = [&](int rank) {
        for (double regularization : regularizations) attempt(rank, regularization);
    };
    if (chooses_regularization) try_regularizations(chooses_rank ? first_rank : options.rank);
    if (!chooses_rank) return choice;
    const double regularization = choice.best.regularization;
    for (int rank : ranks_to_try) attempt(rank, regularization);
    if (chooses_regularization) try_regularizations(choice.best.rank);
    return choice;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template CompletionChoice choose_completion(const SparseTensor<T>&, const CompletionOptions&, bool, bool,                              \
                                                const std::function<void(const CompletionTrial&)>&, const SparseTensor<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges

/// What CP decompositions of sparse and of dense tensors share: checks, the start, iterations with their times, the model.
#pragma once

#include "arges/cpd.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "decompose/cp/cp_als.hpp"
#include "interface/world/world_state.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace arges::decompose {

/// @throws InvalidArgument for numbers that make no sense, whatever the tensor
void check_cp_options(const CpOptions& options);

/// @param least number of modes @param kind of decomposition, for messages
/// @throws InvalidArgument unless a dense tensor has as many modes as it may have, and elements
void check_dense_shape(const std::string& title, const std::vector<std::int64_t>& lengths, std::size_t least, const std::string& kind);

/// The elements are those of a loss, or some are missing. Pure.
inline bool has_loss(const CpOptions& options) {
    return options.missing || options.loss.kind != LossKind::gaussian || options.algorithm == CpAlgorithm::sgd;
}

/// Tells options apart, for CollectiveCall.
std::uint64_t digest_of(const CpOptions& options);

/// The options with a number of starts, for a tensor of so many elements or nonzeros. Pure.
CpOptions with_starts(CpOptions options, std::size_t order, std::int64_t elements, bool has_model);

/// @throws InvalidArgument unless a model to start from has the lengths of the tensor and the rank that is wanted
void check_cp_start(const std::vector<std::int64_t>& lengths, int rank, const std::vector<std::int64_t>& start_lengths, int start_rank);

/// @throws InvalidArgument unless the norm of a tensor is a number
void check_finite(const std::string& title, double norm_squared);

/// @throws InvalidArgument unless the norm of a tensor can be divided by
void check_norm(const std::string& title, double norm_squared);

/// Order of components by falling weight.
std::vector<std::size_t> falling_weights(const std::vector<double>& lambda);

/// Compares the forecast, of which the tensor is a part, with what the memory limit leaves, and tells it where that is wanted. Collective.
/// @param own of this rank @param held by the tensor now, on the rank that has most @param cures for the message: what takes less memory,
/// by commas @param model bytes of a model on this rank
/// @throws OutOfMemory on every rank
std::int64_t checked_forecast(const WorldState& world, const std::string& title, std::int64_t own, std::int64_t held,
                              const std::string& cures, std::int64_t model,
                              const std::function<void(std::int64_t bytes, std::int64_t model_bytes)>& planned);

/// What an operator decomposes, and how.
template <class T>
struct CpTask {
    const World& world;
    std::string title;
    const std::vector<std::int64_t>& lengths;
    const CpOptions& options;
    const CpProgress<T>& progress;
    const CpModel<T>* start;           ///< null: none
    const CpModel<T>* first{nullptr};  ///< what the first start begins with instead of random factors; null: nothing
    int number{0};                     ///< of the first start, from 0: other groups of ranks may have made those before
};
/// The iterations of an algorithm.
template <class T>
using CpIterations = std::function<void(CpState<T>& state, const IterationOptions&, const AfterIteration& after)>;
/// Those of als, with constraints or without, nonnegative and opt. Local.
/// @param lengths of the tensor
template <class T>
CpIterations<T> iterations_of(CpOperator<T>& tensor, const CpOptions& options, const std::vector<std::int64_t>& lengths);

/// Runs iterations from each start. Collective.
/// @param setup    began with the call
/// @param finish   fills in what is known of the operator; so many bytes were sent in an iteration, and no product follows
template <class T>
CpResult<T> run_cp(CpData<T>& tensor, const CpTask<T>& task, Stopwatch& setup, const CpIterations<T>& iterate,
                   const std::function<void(CpResult<T>&, const Factors<T>&, std::int64_t sent)>& finish);

/// Mean scores of the components of the best model with those of the other starts, and in the result the score of each start; models of
/// starts that have diverged are missing. Collective.
template <class T>
std::vector<double> compared(const std::vector<std::optional<CpModel<T>>>& models, CpResult<T>& result);

/// Rows of the factors on a rank, by mode.
struct FactorRows {
    std::vector<std::int64_t> all, owned;
    std::vector<std::int64_t> total{};  ///< over all ranks, at most; for factors_memory()
    std::int64_t ranks = 1;
};
/// Memory of the factors, of the iterations, and of model_of() at the end, an upper bound; what it holds at the end is the model. Pure.
/// @param dropped what the tensor gives back before the model is made
MemoryTally factors_memory(const FactorRows& rows, const CpOptions& options, std::int64_t element_bytes, int threads, std::int64_t dropped);
/// Memory of a model, as progress functions get it. Pure.
std::int64_t model_memory(const FactorRows& rows, int columns, std::int64_t element_bytes);

}  // namespace arges::decompose

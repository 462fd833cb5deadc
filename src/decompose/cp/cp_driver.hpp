/// What CP decompositions of sparse and of dense tensors share: checks, the start, iterations with their times, the model.
#pragma once

#include "arges/cpd.hpp"
#include "base/memory_tally.hpp"
#include "decompose/cp/cp_als.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace arges::decompose {

/// @throws InvalidArgument for numbers that make no sense, whatever the tensor
void check_cp_options(const CpOptions& options);

/// Tells options apart, for CollectiveCall.
std::uint64_t digest_of(const CpOptions& options);

/// @throws InvalidArgument unless a model to start from has the lengths of the tensor and the rank that is wanted
void check_cp_start(const std::vector<std::int64_t>& lengths, int rank, const std::vector<std::int64_t>& start_lengths, int start_rank);

/// @throws InvalidArgument unless the norm of a tensor is a number
void check_finite(const std::string& title, double norm_squared);

/// @throws InvalidArgument unless the norm of a tensor can be divided by
void check_norm(const std::string& title, double norm_squared);

/// Order of components by falling weight.
std::vector<std::size_t> falling_weights(const std::vector<double>& lambda);

/// Takes the rows of a given model; other ranks may have them. Collective.
template <class T>
void start_from(const CpModel<T>& model, CpOperator<T>& tensor, CpState<T>& state);

/// The model as it is now, components by falling weight. Local.
/// @param releases the factors' memory, one after the other
template <class T>
CpModel<T> model_of(const World& world, const std::vector<std::int64_t>& lengths, CpOperator<T>& tensor, CpState<T>& state,
                    bool releases = false);

/// Runs the iterations of the algorithm that the options name, and fills in what they tell about fit and times. Collective.
template <class T>
void run_iterations(CpOperator<T>& tensor, CpState<T>& state, const CpOptions& options, const CpProgress<T>& progress,
                    const std::function<CpModel<T>()>& model, CpResult<T>& result);

/// Rows of the factors on a rank, by mode.
struct FactorRows {
    std::vector<std::int64_t> all, owned;
};
/// Memory of the factors, of the iterations, and of model_of() at the end, an upper bound; what it holds at the end is the model. Pure.
/// @param dropped what the tensor gives back before the model is made
MemoryTally factors_memory(const FactorRows& rows, const CpOptions& options, std::int64_t element_bytes, int threads, std::int64_t dropped);
/// Memory of a model, as progress functions get it. Pure.
std::int64_t model_memory(const FactorRows& rows, int columns, std::int64_t element_bytes);

}  // namespace arges::decompose

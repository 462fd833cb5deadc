/// A completion whose elements have been divided into those that are fitted and those that it is judged by.
#pragma once

#include "arges/complete.hpp"
#include "decompose/known_weights.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace arges::decompose {

/// What is fitted, and what is held out.
template <class T>
struct CompletionParts {
    SparseTensor<T> fitted{};
    std::optional<KnownWeights<T>> weights{};  ///< of its elements; without, all count once
    bool gives_up = false;                     ///< the tensor loses its elements when they have been distributed
    bool keeps_source = false;                 ///< they are somewhere else, too
    bool holds_out = false;                    ///< some are to be held out
    sparse::Nonzeros<T> held{};                ///< of this rank; without weights they count once
};

/// All elements of a tensor, or those with a weight above 0, to be fitted; those that it does not store stay unknown. Collective.
/// @param gives_up the tensor loses its elements when they have been distributed, with weights at once @param weights nullptr: none
/// @throws as masked(), and where no element has a weight
template <class T>
CompletionParts<T> all_fitted(const SparseTensor<T>& tensor, bool gives_up, const SparseTensor<T>* weights);

/// Holds a part of what is to be fitted out, a hash of indices says which. Collective.
template <class T>
CompletionParts<T> hold_out(CompletionParts<T> all, double part, std::uint64_t seed);

/// complete() of checked tensors. Weights of fitted elements are divided by their mean, those of others likewise. Collective.
/// @param title of the tensor @throws as complete()
template <class T>
CompletionResult<T> complete_parts(const std::string& title, CompletionParts<T> parts, const CompletionOptions& options,
                                   const CompletionProgress<T>& progress, const CpModel<T>* start);

}  // namespace arges::decompose

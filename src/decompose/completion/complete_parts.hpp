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
    SparseTensor<T> fitted;
    std::optional<KnownWeights<T>> weights{};  ///< of its elements; without, all count once
    bool gives_up = false;                     ///< the tensor loses its elements when they have been distributed
    bool keeps_source = false;                 ///< they are somewhere else, too
    bool holds_out = false;                    ///< some are to be held out
    sparse::Nonzeros<T> held{};                ///< of this rank; without weights they count once
};

/// The elements of a tensor that have a weight above 0; those that it does not store stay unknown. Collective.
/// @param gives_up the tensor loses its elements @throws as masked(), and where there is none
template <class T>
WeightedElements<T> weighted_stored(const SparseTensor<T>& tensor, bool gives_up, const SparseTensor<T>& weights);

/// Moves a part of the elements of a tensor to those that are held out, a hash of their indices says which. Collective.
/// @param weights of the tensor's elements, which follow; nullptr: none @param gives_up the tensor loses its elements
template <class T>
CompletionParts<T> hold_out(SparseState& source, KnownWeights<T>* weights, bool gives_up, double part, std::uint64_t seed);

/// complete() of checked tensors. Weights of fitted elements are divided by their mean, those of others likewise. Collective.
/// @param title of the tensor @throws as complete()
template <class T>
CompletionResult<T> complete_parts(const std::string& title, CompletionParts<T> parts, const CompletionOptions& options,
                                   const CompletionProgress<T>& progress, const CpModel<T>* start);

}  // namespace arges::decompose

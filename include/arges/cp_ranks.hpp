/// @file cp_ranks.hpp
/// Which rank a CP decomposition is to have: decompositions of several ranks, side by side.
#pragma once

#include "arges/cpd.hpp"

#include <functional>
#include <vector>

namespace arges {

/// What is known of the decompositions of one rank. Numbers that could not be found are NaN.
struct CpRankTrial {
    int rank = 0;              ///< number of components
    double fit = 0;            ///< of the best start
    int starts = 0;            ///< that were made
    int near_best = 0;         ///< of them the fit is within 0.001 of the best
    double agreement = 0;      ///< mean CpMatch::score of the best start with the others that are near
    double consistency = 0;    ///< core_consistency() of the best start, in percent; not of losses or missing elements, nor of large cores
    double held_out_rmse = 0;  ///< of elements that were held out of a decomposition like the best one
    double held_out_spread = 0;  ///< the standard error of the mean of their squared errors, as a change of held_out_rmse
    double seconds = 0;          ///< of all iterations, on this rank
};

/// Trials by ascending rank, and which rank they speak for.
struct CpRanks {
    std::vector<CpRankTrial> trials{};  ///< fewer than were asked for where CpOptions::stop has said so
    /// The largest rank whose core is consistent to 50 % at least, and whose best starts agree to 0.8 at least where there are several;
    /// where there are held-out elements, at most the smallest rank whose error of them is the least but for its spread. 0: none.
    int recommended = 0;
};

/// Decomposes with each rank of a range. Collective.
/// @param tensor   as of cp_decompose(), sparse or dense
/// @param first    the smallest rank, from 1
/// @param last     the largest one
/// @param options  as of cp_decompose(), but for the rank
/// @param holdout  part of the known elements, 0 to below 1, that is held out of one more decomposition of each rank, by a hash of the seed
///                 and their indices: of dense tensors, and of sparse ones whose other elements are missing; 0: none
/// @param progress called on every rank after each iteration of each decomposition, with the rank
/// @throws as cp_decompose(); InvalidArgument for ranks or parts that make no sense, and for elements to hold out of a tensor whose
/// elements
///         that are not stored are zeros
template <class Tensor>
CpRanks compare_ranks(const Tensor& tensor, int first, int last, const CpOptions& options, double holdout = 0,
                      const std::function<void(int rank, const CpIteration&)>& progress = {});

}  // namespace arges

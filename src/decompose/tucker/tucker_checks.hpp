/// What Tucker decompositions refuse.
#pragma once

#include "arges/error.hpp"
#include "arges/tucker.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::decompose {

/// Checks what sparse and dense tensors have in common: a rank for each mode or a relative error, iterations, tolerance, missing elements.
/// @throws InvalidArgument
void check_tucker_options(const TuckerOptions& options, const std::vector<std::int64_t>& lengths);

/// Tells options apart, for CollectiveCall.
std::uint64_t digest_of(const TuckerOptions& options);

/// @throws InvalidArgument unless the options are for a dense tensor of these lengths
void check_dense_tucker(const std::string& title, const std::vector<std::int64_t>& lengths, const TuckerOptions& options);

/// @throws InvalidArgument unless a model to start from has these lengths and, where `ranks` are given, these ranks
template <class T>
void check_tucker_start(const TuckerModel<T>& start, const std::vector<std::int64_t>& lengths, const std::vector<int>& ranks) {
    if (start.lengths() != lengths || (!ranks.empty() && start.ranks() != std::vector<std::int64_t>(ranks.begin(), ranks.end())))
        throw InvalidArgument("Tucker decomposition: the factors to start from are for another tensor or other ranks; give those of "
                              "this tensor and these ranks");
}

}  // namespace arges::decompose

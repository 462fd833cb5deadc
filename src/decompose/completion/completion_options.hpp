/// Checks of what a completion is asked for.
#pragma once

#include "arges/complete.hpp"

#include <string>

namespace arges::decompose {

/// @throws InvalidArgument for options that make no sense, whatever the tensor
void check_completion_options(const CompletionOptions& options, std::int64_t ranks);

/// @throws InvalidArgument for one that an algorithm cannot use; files of partitions may have any
void check_completion_distribution(const std::string& distribution, CompletionAlgorithm algorithm);

/// What "auto" stands for: what a partition file has; coarse where the equations of rows would have to be folded, else medium.
std::string completion_distribution(const CompletionOptions& options, std::int64_t ranks);

/// Tells options apart, for CollectiveCall.
std::uint64_t digest_of(const CompletionOptions& options);

}  // namespace arges::decompose

/// Checks of what a completion is asked for.
#pragma once

#include "arges/complete.hpp"

#include <string>

namespace arges::decompose {

/// @throws InvalidArgument for options that make no sense, whatever the tensor
void check_completion_options(const CompletionOptions& options, std::int64_t ranks);

/// What "auto" stands for: coarse where the equations of rows would have to be folded, else medium.
std::string completion_distribution(const CompletionOptions& options, std::int64_t ranks);

/// Tells options apart, for CollectiveCall.
std::uint64_t digest_of(const CompletionOptions& options);

}  // namespace arges::decompose

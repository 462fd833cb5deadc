/// Communicators of some of the ranks, or in another order.
#pragma once

#include "comm/communicator.hpp"

#include <optional>

namespace arges {

/// A communicator of the ranks for which `member` is true, in the same order; nothing on the others. Collective over `all`.
std::optional<Communicator> subset(const Communicator& all, bool member);

/// The same ranks in another order. Collective. @param rank  that this one gets: on all ranks together a permutation
Communicator reordered(const Communicator& all, std::int64_t rank);

}  // namespace arges

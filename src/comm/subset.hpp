/// Communicators of some of the ranks.
#pragma once

#include "comm/communicator.hpp"

#include <optional>

namespace arges {

/// A communicator of the ranks for which `member` is true, in the same order; nothing on the others. Collective over `all`.
std::optional<Communicator> subset(const Communicator& all, bool member);

}  // namespace arges

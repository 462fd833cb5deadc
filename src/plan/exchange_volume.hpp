/// How much a rank moves, without the list of its messages.
#pragma once

#include "plan/exchange_spec.hpp"

#include <cstdint>

namespace arges {

/// Equal to ExchangeLists(spec, rank).volume(). Where a rank has messages for most of a very large machine this is far cheaper:
/// the messages are a product over components, so only sums over each component's short lists are needed.
Volume exchange_volume(const ExchangeSpec& spec, std::int64_t rank);

/// What a movement takes on any rank at most.
struct ExchangeBound {
    Volume volume;                   ///< elements
    std::int64_t list_bytes = 0;     ///< of the lists that Exchange keeps
    std::int64_t building_bytes = 0; ///< besides, while they are built
};

/// Elements are counted where that is quick; the rest follows from extents, so that it costs nothing for any number of elements
/// and ranks.
ExchangeBound exchange_bound(const ExchangeSpec& spec);

}  // namespace arges

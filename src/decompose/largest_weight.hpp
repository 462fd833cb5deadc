/// The largest weight of elements of all ranks.
#pragma once

#include "comm/communicator.hpp"

#include <bit>
#include <cstdint>

namespace arges::decompose {

/// Of numbers that are not negative, which are ordered as their bits are. Collective. @param mine of this rank
inline double largest_weight(const Communicator& comm, double mine) {
    return std::bit_cast<double>(comm.maximum(std::bit_cast<std::int64_t>(mine)));
}

}  // namespace arges::decompose

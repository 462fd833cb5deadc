/// A hash of the indices of an element.
#pragma once

#include "base/splitmix.hpp"

#include <cstdint>
#include <span>

namespace arges::decompose {

/// The same on every rank, wherever the element is.
inline std::uint64_t element_hash(std::uint64_t seed, std::span<const std::int64_t> index) {
    auto state = splitmix(seed);
    for (auto i : index) state = splitmix(state ^ static_cast<std::uint64_t>(i));
    return state;
}

}  // namespace arges::decompose

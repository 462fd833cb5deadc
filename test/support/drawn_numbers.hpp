/// Numbers that look random and are the same on all ranks and machines.
#pragma once

#include "base/splitmix.hpp"

#include <cstdint>

namespace arges::test {

/// Number `a` of those of a seed, from -1 to 1.
inline double drawn_number(std::uint64_t seed, std::uint64_t a) { return 2 * unit_interval(splitmix(splitmix(seed) ^ a)) - 1; }

}  // namespace arges::test

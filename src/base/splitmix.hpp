/// Random numbers that are the same with every library, on every rank.
#pragma once

#include <cstdint>

namespace arges {

/// From one state to the next.
inline constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15U;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the number that follows the state `x`. Good as a hash, too.
constexpr std::uint64_t splitmix(std::uint64_t x) {
    auto z = x + splitmix_step;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

/// Maps a number to [0, 1).
constexpr double unit_interval(std::uint64_t x) { return static_cast<double>(x >> 11U) * 0x1p-53; }

}  // namespace arges

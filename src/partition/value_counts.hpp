/// Which values there are in a list, and how often. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

/// Different values, ascending, and how often each occurs.
struct ValueCounts {
    std::vector<std::int64_t> values, counts;
};

/// Counts values: by an array over their range where that is short, else by a hash table.
/// @param values from 0 on
/// @param times  how often each value counts, at least once; empty for once
ValueCounts counted(std::span<const std::int64_t> values, std::span<const std::int64_t> times = {});

/// Different values in ascending order; they are from 0 on.
std::vector<std::int64_t> distinct(std::span<const std::int64_t> values);

}  // namespace arges::partition

/// The indices of a sparse tensor's nonzeros, which values there are in a list, and how often. Pure.
#pragma once

#include "base/memory_tally.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

struct IndexView {
    std::vector<std::int64_t> lengths;                   ///< by mode
    std::vector<std::span<const std::int64_t>> indices;  ///< by mode, one for each nonzero, zero-based
    int order() const { return lengths.size(); }
    std::int64_t count() const { return indices.empty() ? 0 : std::ssize(indices[0]); }
};

/// Different values, ascending, and how often each occurs.
struct ValueCounts {
    std::vector<std::int64_t> values, counts;
};

/// Counts values: by an array over their range where that is short, else by a hash table.
/// @param values from 0 on
/// @param times  how often each value counts, at least once; empty for once
ValueCounts counted(std::span<const std::int64_t> values, std::span<const std::int64_t> times = {});

/// Memory of counted(), and, with `only_distinct`, of distinct(), an upper bound; what it holds at the end is the result. Pure.
/// @param values  how many there are
/// @param largest no value is larger
MemoryTally counting_memory(std::int64_t values, std::int64_t largest, bool only_distinct = false);

/// Different values in ascending order; they are from 0 on.
std::vector<std::int64_t> distinct(std::span<const std::int64_t> values);

}  // namespace arges::partition

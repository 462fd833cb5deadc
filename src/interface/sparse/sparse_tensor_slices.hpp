/// Which slices of a mode have nonzeros, and how many, over all ranks, without anything as long as the mode.
#pragma once

#include "base/memory_tally.hpp"
#include "comm/communicator.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges {

/// The nonempty slices of a mode in ascending order, in parts: rank r holds numbers first[r] to first[r + 1] - 1.
struct SliceList {
    std::vector<std::int64_t> mine;    ///< indices of this rank's part, ascending
    std::vector<std::int64_t> counts;  ///< nonzeros of all ranks in each of them
    std::vector<std::int64_t> first;   ///< by rank, and the number of all at the end
    std::vector<std::int64_t> bounds;  ///< rank r holds indices below bounds[r] and not below bounds[r - 1]; one fewer than ranks

    std::int64_t total() const { return first.back(); }
    /// The rank whose part has an index.
    std::size_t owner(std::int64_t index) const;
};

/// The slices that the indices of all ranks name, and how often. Collective.
SliceList nonempty_slices(const Communicator& comm, std::span<const std::int64_t> indices);

/// Memory of nonempty_slices(), an upper bound where parts of the list have at most twice the mean; what it holds at the end is the list.
/// Pure.
/// @param count  indices of a rank @param length no index is as large
MemoryTally slice_list_memory(std::int64_t ranks, std::int64_t count, std::int64_t length);

/// Each index replaced by its number in the list; all of them must be in it. Collective.
/// Example: with the list 3, 7, 8 the indices 8, 3 become 2, 0.
std::vector<std::int64_t> renumbered(const Communicator& comm, const SliceList& list, std::span<const std::int64_t> indices);

/// Memory of renumbered(), an upper bound as that of slice_list_memory(); what it holds at the end is the result. Pure.
MemoryTally renumbering_memory(std::int64_t ranks, std::int64_t count, std::int64_t length);

}  // namespace arges

/// Counts of nonzeros by slice, kept in pieces by all ranks, and layers cut from them.
#pragma once

#include "comm/communicator.hpp"
#include "partition/layers.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::decompose {

/// Slices with nonzeros, ascending, and how many they have.
struct SliceCounts {
    std::vector<std::int64_t> slices, counts;
};

/// The counts of the slices whose home is this rank: rank r has those from r * length / P on. No array is longer than the number of slices with
/// nonzeros of this rank or of its home. Collective.
/// @param indices of this rank's nonzeros in the mode
SliceCounts count_slices(const Communicator& comm, std::int64_t length, std::span<const std::int64_t> indices);

/// Sorted distinct values.
std::vector<std::int64_t> distinct(std::span<const std::int64_t> values);

/// Layers of a mode by a policy, from the counts of all ranks' nonzeros; the same on every rank. Collective.
partition::Boundaries cut_layers(const Communicator& comm, const partition::LayerRule& rule, std::int64_t length, std::int64_t layers,
                                 std::span<const std::int64_t> indices);

/// Nonzeros of each of `layers` equal layers, of all ranks. Collective.
std::vector<std::int64_t> count_equal_layers(const Communicator& comm, std::int64_t length, std::int64_t layers,
                                             std::span<const std::int64_t> indices);

}  // namespace arges::decompose

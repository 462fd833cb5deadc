/// Finding and merging nonzeros with equal coordinates, on one rank and over all ranks.
#pragma once

#include "arges/any_tensor.hpp"
#include "base/memory_tally.hpp"
#include "comm/communicator.hpp"
#include "interface/sparse/sparse_values.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace arges {

/// The indices of a nonzero.
std::vector<std::int64_t> coordinate(const sparse::NonzeroIndices& nonzeros, std::size_t i);
bool equal_coordinates(const sparse::NonzeroIndices& x, std::size_t i, const sparse::NonzeroIndices& y, std::size_t j);

/// A well mixed number from a coordinate, the same on every machine.
std::uint64_t coordinate_hash(const std::vector<std::vector<std::int64_t>>& indices, std::size_t nonzero);

/// The rank that a nonzero with this hash goes to when it is written.
inline std::int32_t home_rank(std::uint64_t hash, std::int64_t ranks) { return (hash >> 33) * static_cast<std::uint64_t>(ranks) >> 31; }

/// Home ranks of all nonzeros.
std::vector<std::int32_t> home_ranks(const sparse::NonzeroIndices& nonzeros, std::int64_t ranks);

/// What becomes of a second value for one element: it is put into the value that is kept. Null: it is an error.
using Join = std::function<void(std::byte* kept, const std::byte* second)>;

/// Refuses what is no policy, a sum of elements that have none, and a mean of elements that do not come from a file.
void check_policy(const ElementKernels& kernels, Duplicates duplicates, const std::string& title, bool in_file = false);

/// For values that are given with a policy. The kernels must outlive it.
Join join_for(const ElementKernels& kernels, Duplicates duplicates);

/// What merging found.
struct MergeReport {
    std::int64_t duplicates = 0;      ///< nonzeros that were merged into an earlier one, or would have to be
    std::int64_t first = -1;          ///< without a join: number of the nonzero that is met by another
    std::int64_t second = -1;         ///< number of that other one, the lowest such number; -1: there is none
    std::vector<std::int64_t> where;  ///< their coordinate, counted from 0
};

/// Merges nonzeros of one rank with equal coordinates into the first of them; the order stays. Without a join nothing is changed where
/// there are such, and the report names places. Local.
MergeReport merge_local(AnyNonzeros& nonzeros, const Join& join);

/// Likewise over all ranks, where the nonzeros stay: each is merged into the one with the lowest number. Only hashes and the
/// nonzeros that have equal ones are sent. The report is the same on every rank. Collective.
/// @param numbers one for each nonzero, ascending and different over all ranks: for example lines of a file
MergeReport merge_in_place(const Communicator& comm, AnyNonzeros& nonzeros, const Join& join, std::span<const std::int64_t> numbers);

/// Memory of merge_in_place() beside the nonzeros and their numbers, an upper bound for hashes that spread evenly. Pure.
/// @param count      nonzeros of the rank that has most
/// @param duplicates over all ranks, if they are known
MemoryTally merging_memory(std::int64_t ranks, int order, std::int64_t value_bytes, std::int64_t count, std::int64_t duplicates = 0);

/// "(3, 1, 2)", counted from `base`.
std::string coordinate_text(const std::vector<std::int64_t>& coordinate, std::int64_t base);

}  // namespace arges

/// Sums that only the first rank wants, and what it tells all others, in messages that plans can count.
#pragma once

#include "comm/communicator.hpp"

#include <cstdint>
#include <span>

namespace arges::decompose {

/// Sums over ranks of as many numbers on each, on the first rank; elsewhere `values` is scratch. Ranks exchange halves and add
/// (recursive halving), then the first one collects (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005).
/// No rank sends more than `values` once, and the first one gets less than twice as much. The order of additions depends on the
/// number of ranks only. Collective.
void sum_to_first(const Communicator& comm, std::span<double> values);

/// Bytes that sum_to_first() sends from a rank. Pure.
std::int64_t sum_to_first_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t count);

/// Gives every rank the bytes of the first one, as many as each has room for: by halves, which ranks then pass on to each other.
/// The first rank sends them less than three times. Collective.
void share_from_first(const Communicator& comm, std::span<std::byte> bytes);

/// Bytes that share_from_first() sends from a rank. Pure.
std::int64_t share_from_first_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t bytes);

}  // namespace arges::decompose

/// Moving nonzeros between ranks, column by column, so that no more than one column exists twice.
#pragma once

#include "base/memory_tally.hpp"
#include "comm/communicator.hpp"
#include "interface/sparse/sparse_values.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace arges {

/// Sends entry i of an array to rank to[i]. What arrives goes to the room for so many entries, by sending rank, each in its order; `drop`
/// gives the memory of the array back before. Only where there are several ranks. Collective.
void route_entries(const Communicator& comm, std::span<const std::int32_t> to, const void* entries, std::int64_t entry_bytes,
                   const std::function<void()>& drop, const std::function<void*(std::int64_t count)>& room);

/// Sends entry i of a column to rank to[i]; returns what arrives, by sending rank, each in its order. Collective.
template <class V>
std::vector<V> route_column(const Communicator& comm, std::span<const std::int32_t> to, std::vector<V> column) {
    if (comm.size() == 1) return column;
    route_entries(
        comm, to, column.data(), sizeof(V), [&] { release(column); },
        [&](std::int64_t count) -> void* {
            column.resize(count);
            return column.data();
        });
    return column;
}

/// Likewise values.
inline SparseValues route_column(const Communicator& comm, std::span<const std::int32_t> to, SparseValues values) {
    if (comm.size() == 1) return values;
    route_entries(
        comm, to, values.data(), values.element_bytes(), [&] { values.renew(0); },
        [&](std::int64_t count) -> void* {
            values.renew(count);
            return values.data();
        });
    return values;
}

/// Memory of route_column() beside `to` and the column that it is given, which is replaced by the one that it returns. Pure.
/// @param element_bytes of an entry @param sent, received entries of the rank
inline MemoryTally routing_memory(std::int64_t ranks, std::int64_t element_bytes, std::int64_t sent, std::int64_t received) {
    MemoryTally tally;
    if (ranks == 1) return tally;
    tally.pass(element_bytes * sent);
    tally.hold(element_bytes * received);
    tally.hold(-element_bytes * sent);
    tally.pass(element_bytes * received);
    return tally;
}

/// Sends nonzero i to rank to[i]; returns what arrives, by sending rank, each in its order. Collective.
/// @tparam N  sparse::Nonzeros or AnyNonzeros
template <class N>
N route(const Communicator& comm, N nonzeros, std::span<const std::int32_t> to) {
    for (auto& column : nonzeros.indices) column = route_column(comm, to, std::move(column));
    nonzeros.values = route_column(comm, to, std::move(nonzeros.values));
    return nonzeros;
}

}  // namespace arges

/// Moving nonzeros between ranks, column by column, so that no more than one column exists twice.
#pragma once

#include "base/memory_tally.hpp"
#include "base/release.hpp"
#include "comm/communicator.hpp"
#include "sparse/nonzeros.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace arges {

/// Sends entry i of a column to rank to[i]; returns what arrives, by sending rank, each in its order. Collective.
template <class V>
std::vector<V> route_column(const Communicator& comm, std::span<const std::int32_t> to, std::vector<V> column) {
    if (comm.size() == 1) return column;
    std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(comm.size()));
    comm.agree([&] {
        std::vector<std::size_t> count(out.size(), 0);
        for (auto r : to) ++count[static_cast<std::size_t>(r)];
        for (std::size_t r = 0; r < out.size(); ++r) out[r].resize(count[r] * sizeof(V));
        std::fill(count.begin(), count.end(), 0);
        for (std::size_t i = 0; i < to.size(); ++i) {
            const auto r = static_cast<std::size_t>(to[i]);
            std::memcpy(out[r].data() + count[r]++ * sizeof(V), &column[i], sizeof(V));
        }
    });
    release(column);
    const auto in = comm.all_to_all(out);
    release(out);
    comm.agree([&] {
        std::size_t bytes = 0;
        for (const auto& part : in) bytes += part.size();
        column.resize(bytes / sizeof(V));
        auto* place = reinterpret_cast<std::byte*>(column.data());
        for (const auto& part : in) {
            if (!part.empty()) std::memcpy(place, part.data(), part.size());
            place += part.size();
        }
    });
    return column;
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
template <class T>
sparse::Nonzeros<T> route(const Communicator& comm, sparse::Nonzeros<T> nonzeros, std::span<const std::int32_t> to) {
    for (auto& column : nonzeros.indices) column = route_column(comm, to, std::move(column));
    nonzeros.values = route_column(comm, to, std::move(nonzeros.values));
    return nonzeros;
}

}  // namespace arges

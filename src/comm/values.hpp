/// Collective calls on values: where a rank has no memory for them, every rank throws OutOfMemory.
#pragma once

#include "base/large_vector.hpp"
#include "base/memory_tally.hpp"
#include "base/packed.hpp"
#include "comm/communicator.hpp"

#include <type_traits>
#include <vector>

namespace arges {

/// What `find` returns on the first rank, on every rank; what it throws there, every rank throws. Files are looked into in this way, which
/// ranks may see differently. @param find  returns a value that Packed takes. Collective.
template <class F>
auto from_first_rank(const Communicator& comm, F&& find) {
    std::invoke_result_t<F> found{};
    Packed packed;
    constexpr bool is_plain = std::is_trivially_copyable_v<decltype(found)>, is_list = requires { comm.broadcast(found, 0); };
    comm.agree([&] {
        if (comm.rank() == 0) found = find();
        if constexpr (!is_plain && !is_list) packed(found);
    });
    if constexpr (is_plain) {
        comm.broadcast(&found, sizeof found, 0);
    } else if constexpr (is_list) {
        comm.broadcast(found, 0);
    } else {
        comm.broadcast(packed.bytes(), 0);
        comm.agree([&] { Packed(std::move(packed.bytes()))(found); });
    }
    return found;
}

/// The values of all ranks by rank, on every rank; `counts` gets how many each has. Collective.
template <class V>
std::vector<V> gathered(const Communicator& comm, const std::vector<V>& mine, std::vector<std::int64_t>* counts = nullptr) {
    std::vector<V> all;
    if (comm.size() == 1) {
        if (counts != nullptr) *counts = {std::ssize(mine)};
        comm.agree([&] { all = large_copy(mine); });
        return all;
    }
    constexpr std::int64_t size = sizeof(V);
    const auto room = [&](std::int64_t bytes) {
        all = large_vector<V>(static_cast<std::size_t>(bytes / size));
        return reinterpret_cast<std::byte*>(all.data());
    };
    comm.all_gather(reinterpret_cast<const std::byte*>(mine.data()), std::ssize(mine) * size, room, counts);
    for (std::size_t r = 0; counts != nullptr && r < counts->size(); ++r) (*counts)[r] /= size;
    return all;
}

/// The values of all ranks by rank, on `root`; none elsewhere. Collective.
template <class V>
std::vector<V> gathered_on(const Communicator& comm, std::int64_t root, const std::vector<V>& mine) {
    std::vector<std::byte> bytes;
    comm.agree([&] { bytes = to_bytes(mine); });
    bytes = comm.gather(bytes, root);
    std::vector<V> all;
    comm.agree([&] { all = from_bytes<V>(bytes); });
    return all;
}

/// Lists for each rank; returns those that the ranks have for this one. Collective.
template <class V>
std::vector<std::vector<V>> exchanged(const Communicator& comm, std::vector<std::vector<V>> to_rank) {
    std::vector<std::vector<std::byte>> bytes(to_rank.size());
    comm.agree([&] {
        for (std::size_t r = 0; r < to_rank.size(); ++r) {
            bytes[r] = to_bytes(to_rank[r]);
            release(to_rank[r]);
        }
    });
    bytes = comm.all_to_all(bytes);
    comm.agree([&] {
        for (std::size_t r = 0; r < to_rank.size(); ++r) to_rank[r] = from_bytes<V>(bytes[r]);
    });
    return to_rank;
}

}  // namespace arges

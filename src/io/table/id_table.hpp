/// Ids and their numbers: on one rank as they come, over all ranks in their order.
#pragma once

#include "comm/communicator.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace arges::io {

/// Ids of a rank, numbered from 0 on as they come: a hash table with linear probing over one array of text.
class IdTable {
public:
    IdTable() : slots_(64) {}

    /// What ids are found by. Pure.
    static std::uint64_t hash_of(std::string_view id);
    /// Number of an id, a new one if it has none. @throws OutOfMemory for more than 2^32 - 1
    std::int64_t number(std::string_view id) { return number(id, hash_of(id)); }
    std::int64_t number(std::string_view id, std::uint64_t hash);
    /// Has memory bring what number() will look at.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
    /// That of an id, or -1.
    std::int64_t find(std::string_view id) const;
    std::int64_t count() const { return std::ssize(ends_); }
    std::string_view id(std::int64_t number) const;
    /// Of memory.
    std::int64_t bytes() const;
    /// Of a table of so many ids, an upper bound. Pure. @param id_bytes  of an id
    static std::int64_t bytes(std::int64_t count, std::int64_t id_bytes);

private:
    static constexpr std::size_t head_bytes = 16;
    /// Half a cache line, so that short ids are found with one look into memory.
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t number = 0;                          ///< from 1; 0: none
        std::uint32_t bytes = 0;                           ///< of the id
        std::array<std::uint64_t, head_bytes / 8> head{};  ///< first letters, then zeros
    };
    static Slot slot_of(std::string_view id, std::uint64_t hash);
    bool has(const Slot& slot, const Slot& wanted, std::string_view id) const;
    void grow();

    std::vector<Slot> slots_;  ///< a power of two
    std::string text_;
    std::vector<std::size_t> ends_;  ///< of ids in the text
};

/// The ids of all ranks in ascending order.
struct SharedIds {
    std::vector<std::int64_t> numbers{};  ///< by number on this rank, that over all
    std::vector<std::string> mine{};      ///< of this rank's part; parts follow each other by rank
    std::int64_t count = 0;               ///< of all
};

/// Numbers the ids of all ranks in their order: by value where all of them are whole numbers, or all numbers, then by their bytes; an empty
/// one comes first. Each rank gets a part of the order, found from samples, so that none has all. Collective.
SharedIds shared_ids(const Communicator& comm, const IdTable& ids);

/// The indices that ids of this rank have in a file of write_ids(): by mode, in the order of their numbers; -1 for an id that is not there.
/// Every rank reads the file. Collective. @throws InvalidArgument on every rank if the file is wrong
std::vector<std::vector<std::int64_t>> indices_of_ids(const Communicator& comm, const std::string& path, const std::vector<IdTable>& ids);
/// Likewise in lists of ids, by mode and index. Local.
std::vector<std::vector<std::int64_t>> indices_of_ids(const std::vector<std::vector<std::string>>& lists, const std::vector<IdTable>& ids);

}  // namespace arges::io

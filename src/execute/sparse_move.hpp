/// Nonzeros moved to ranks that their indices name: lists are made once, then values move along them.
#pragma once

#include "base/buffer.hpp"
#include "comm/communicator.hpp"
#include "layout/sparse_layout.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace arges {

/// The indices of nonzeros on this rank, a column for each mode.
using IndexColumns = std::vector<std::vector<std::int64_t>>;
/// The same, not owned.
using IndexSpans = std::vector<std::span<const std::int64_t>>;

inline IndexSpans spans_of(const IndexColumns& columns) { return {columns.begin(), columns.end()}; }

/// What a rank asks before it takes memory, on all ranks alike. @throws OutOfMemory
using RequireBytes = std::function<void(std::int64_t bytes)>;

/// Brings each nonzero to the rank of a layout, and copies of it to others.
class SparseMove {
public:
    /// Counts what goes where; nothing is moved. Collective.
    /// @param comm       null for one rank
    /// @param columns    of the nonzeros on this rank; they stay as they are as long as the move is used, unless it stays()
    /// @param wanted     positions that are moved, ascending; null: all
    /// @param to         where they go
    /// @param copies     what is added to a rank's number for each copy; 0 comes first
    SparseMove(const Communicator* comm, const IndexSpans& columns, std::vector<std::int64_t>* wanted, const SparseLayout& to,
               const std::vector<std::int64_t>& copies);

    /// Every nonzero of every rank is where it is needed, and no copy is made: nothing moves. The same on all ranks.
    bool stays() const { return stays_; }
    /// Nonzeros that this rank has afterwards.
    std::int64_t count() const { return count_; }
    /// Nonzeros that it sends to other ranks.
    std::int64_t sent() const { return sent_; }
    /// Nonzeros that some rank has at most afterwards. The same on all ranks.
    std::int64_t most() const { return most_; }
    /// Moves indices. Collective.
    IndexColumns indices(const IndexSpans& columns) const;
    /// Moves values of so many bytes. Collective.
    Buffer<std::byte> values(const std::byte* from, std::int64_t element_bytes) const;
    /// What finding out takes for each nonzero on this rank.
    static constexpr std::int64_t listing_bytes = sizeof(std::int32_t) + sizeof(std::int64_t);
    /// Nonzeros that are put side by side while values or a column of indices move.
    std::int64_t packed() const { return in_order_ ? 0 : std::ssize(order_); }
    /// Memory of the lists, in bytes.
    std::int64_t list_bytes() const { return order_.size() * sizeof(std::int64_t); }

private:
    void move(const std::byte* from, std::byte* to, std::int64_t element_bytes) const;

    const Communicator* comm_;
    std::vector<std::int64_t> order_;  // positions by rank that they go to at first, where they are not in order
    bool in_order_ = false;
    std::vector<std::int64_t> begin_;     // of each such rank in order_, and the end
    std::vector<std::int64_t> source_;    // by rank: whose part of order_ goes there, or -1
    std::vector<std::int64_t> receives_;  // by rank: nonzeros that come from there
    std::int64_t count_ = 0, sent_ = 0, most_ = 0;
    bool stays_ = false;
};

}  // namespace arges

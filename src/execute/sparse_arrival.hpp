/// Nonzeros of a sparse operand where a step multiplies them.
#pragma once

#include "execute/sparse_move.hpp"
#include "plan/sparse/sparse_step.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace arges {

/// What an inspection asks before it takes memory, on all ranks alike.
class InspectionMemory {
public:
    /// @param comm null for one rank  @param require asked on every rank
    InspectionMemory(const Communicator* comm, const RequireBytes& require) : comm_(comm), require_(require) {}
    /// Asks for memory that is kept until the inspection ends. @throws OutOfMemory on all ranks
    void take(std::int64_t bytes) {
        taken_ += bytes;
        require_(taken_);
    }
    /// Likewise for memory that is given back before.
    void pass(std::int64_t bytes) const { require_(taken_ + bytes); }
    /// The largest number of all ranks. Collective.
    std::int64_t most(std::int64_t number) const { return comm_ == nullptr ? number : comm_->maximum(number); }
    const Communicator* comm() const { return comm_; }

private:
    const Communicator* comm_;
    const RequireBytes& require_;
    std::int64_t taken_ = 0;  // by the rank that has most
};

/// The nonzeros of an operand that are in the step's phase, moved to the ranks of a grid over labels.
class ArrivedNonzeros {
public:
    /// Moves indices. Collective. @param indices  a column for each mode, which stay as they are as long as these are used
    ArrivedNonzeros(const SparseStep& step, const LabelGrid& grid, std::size_t operand, const IndexSpans& indices,
                    InspectionMemory& memory);

    /// Each label once, and their indices.
    const std::vector<int>& labels() const { return labels_; }
    const std::span<const std::int64_t>& column(int label) const {
        return columns_[std::find(labels_.begin(), labels_.end(), label) - labels_.begin()];
    }
    IndexSpans columns(const std::vector<int>& labels) const {
        IndexSpans result;
        for (int label : labels) result.push_back(column(label));
        return result;
    }
    /// Nonzeros on this rank, and on the one that has most.
    std::int64_t count() const { return move_->count(); }
    std::int64_t most() const { return move_->most(); }
    /// All of them are where they were before. The same on all ranks.
    bool stays() const { return move_->stays(); }
    /// Bytes of values that are converted when they have arrived; 0: none are.
    std::int64_t converted_bytes() const { return converted_bytes_; }
    /// Values of the nonzeros here, as they are; `room` holds them where they have moved. Collective.
    const std::byte* values(const std::byte* from, std::vector<Buffer<std::byte>>& room) const;
    /// Bytes of indices that were sent from this rank, and of values that each run sends.
    std::int64_t inspected_bytes() const { return inspected_bytes_; }
    std::int64_t sent_bytes() const { return stays() ? 0 : move_->sent() * element_bytes_; }
    /// What values that have moved take, and while they move what is packed.
    std::int64_t moved_bytes() const { return stays() ? 0 : count() * element_bytes_; }
    std::int64_t packed_bytes() const { return stays() ? 0 : move_->packed() * element_bytes_; }
    /// Memory of the lists on this rank.
    std::int64_t list_bytes() const;

private:
    std::unique_ptr<SparseMove> move_;
    IndexColumns moved_;  // where they do not stay
    IndexSpans columns_;  // by label
    std::vector<int> labels_;
    std::int64_t element_bytes_, converted_bytes_, inspected_bytes_ = 0;
};

/// Labels of the first list that the second has, or has not.
inline std::vector<int> chosen(const std::vector<int>& labels, const std::vector<int>& others, bool in_others) {
    std::vector<int> result;
    for (int label : labels)
        if (SparseStep::has(others, label) == in_others) result.push_back(label);
    return result;
}

/// Bytes of a list.
template <class V>
std::int64_t bytes_of_list(const V& list) {
    return list.size() * sizeof(list[0]);
}

}  // namespace arges

/// The nonzeros of a sparse result of a step.
#pragma once

#include "arges/element_kernels.hpp"
#include "execute/sparse_arrival.hpp"
#include "sparse/coordinates.hpp"

#include <memory>

namespace arges {

/// Where the nonzeros are that ranks make, and how parts of sums are added up where several ranks have such.
class SparseResult {
public:
    SparseResult() = default;
    /// The nonzeros of the last sparse operand in its order: it has no indices of its own. Local.
    SparseResult(const SparseStep& step, const LabelGrid& grid, std::int64_t count)
        : made_(count), layout_(grid.layout_of(step.kept)), has_pattern_of_operand_(true) {}
    /// Nothing of the last sparse operand moves or is repeated, so that the result may have its nonzeros in its order.
    static bool may_have_pattern(const SparseStep& step, const LabelGrid& grid, const ArrivedNonzeros& last) {
        return last.stays() && step.kept == step.sparse().back().labels && grid.copies_of(step.kept).size() == 1;
    }
    /// What a nonzero of the result takes: its indices and its value.
    static std::int64_t nonzero_bytes(const SparseStep& step) {
        return std::ssize(step.kept) * std::int64_t{sizeof(std::int64_t)} + step.element_bytes;
    }
    /// Nonzeros at indices, a column for each label of the output. Collective.
    SparseResult(const SparseStep& step, const LabelGrid& grid, IndexColumns indices, InspectionMemory& memory);

    /// Nonzeros that this rank makes, before parts of sums are added up.
    std::int64_t made() const { return made_; }
    bool has_pattern_of_operand() const { return has_pattern_of_operand_; }
    /// The indices on this rank, given away.
    IndexColumns take_indices() { return std::move(indices_); }
    /// Where the nonzeros lie.
    const SparseLayout& layout() const { return layout_; }
    /// Values where the nonzeros lie. Collective. @param sums  of the nonzeros that this rank makes
    Buffer<std::byte> added_up(const Communicator* comm, const ElementKernels& kernels, Buffer<std::byte> sums) const;
    /// Nonzeros whose indices were sent from this rank, and whose values each run sends.
    std::int64_t sent() const { return merge_ ? merge_->sent() : 0; }
    std::int64_t inspected_bytes() const { return inspected_bytes_; }
    /// Nonzeros whose values a run holds at most.
    std::int64_t held() const { return made_ + (merge_ ? std::max(merge_->packed(), merged_.count()) + merge_->count() : 0); }
    /// Memory of the lists on this rank.
    std::int64_t list_bytes() const {
        return (merge_ ? merge_->list_bytes() : 0) + bytes_of_list(merged_.order) + bytes_of_list(merged_.start);
    }

private:
    std::int64_t made_ = 0;
    IndexColumns indices_;
    SparseLayout layout_;
    bool has_pattern_of_operand_ = false;
    std::unique_ptr<SparseMove> merge_;  // null: no rank has parts of another's sums
    sparse::Runs merged_;
    std::int64_t inspected_bytes_ = 0;
};

}  // namespace arges

/// A dense result of a step: where ranks make sums, and how these come to where the result lies.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/workspace.hpp"
#include "execute/dense_rows.hpp"
#include "execute/sparse_product.hpp"
#include "redistribute/movement_run.hpp"

#include <memory>

namespace arges {

/// Sums are made in the result itself, in an array that moves, or in rows that are added.
class DenseResult {
public:
    /// Local. @param labels  of the sparse factor: the result's other labels come first, so that vectors run along them
    DenseResult(const Communicator* comm, const SparseStep& step, const LabelGrid& grid, const std::vector<int>& labels);

    /// Labels of the sums, in the order of their array.
    const std::vector<int>& labels() const { return labels_; }
    /// Rows of sums are added where the result lies; set_rows() says which.
    bool is_by_rows() const { return is_by_rows_; }
    /// The layout of sums that are no rows.
    const Layout& layout() const { return sums_; }
    /// Rows of sums by their indices. Collective. @param in_row  labels with an index in `rows`, in the order of labels()
    /// @return where each row begins among the sums
    std::vector<std::int64_t> set_rows(const SparseStep& step, const std::vector<int>& in_row, const IndexColumns& rows,
                                       InspectionMemory& memory);

    /// Where sums are to be made, in the memory of the kernels: zeros, or the result, times beta. Local.
    void* begin(const ElementKernels& kernels, const void* beta, void* result, Workspace& workspace) const;
    /// Brings the sums to the result. Collective.
    void finish(const ElementKernels& kernels, const void* beta, void* sums, void* result, Workspace& workspace) const;

    /// Bytes of indices that were sent from this rank; elements that each run sends.
    std::int64_t inspected_bytes() const { return rows_ ? rows_->inspected_bytes() : 0; }
    std::int64_t sent() const { return (move_ ? move_->volume().sent : 0) + (rows_ ? rows_->received() : 0); }
    std::int64_t list_bytes() const { return (move_ ? move_->list_bytes() : 0) + (rows_ ? rows_->list_bytes() : 0); }
    void add_need(WorkspaceNeed& need, std::int64_t element_bytes) const;
    /// Sums that are made elsewhere than in the result.
    std::int64_t apart() const { return move_ || rows_ ? sums() : 0; }

private:
    std::int64_t sums() const { return rows_ ? rows_->size() : sums_.local_size(rank_); }

    const Communicator* comm_;
    std::int64_t rank_;
    std::vector<int> labels_;
    bool is_by_rows_;
    Layout sums_, result_;
    std::unique_ptr<MovementRun> move_;  // null: sums are made where the result lies, or are rows
    std::unique_ptr<DenseRows> rows_;
};

}  // namespace arges

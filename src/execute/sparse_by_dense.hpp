/// Products of one sparse factor with dense ones.
#pragma once

#include "base/first_error.hpp"
#include "execute/dense_result.hpp"
#include "execute/dense_rows.hpp"
#include "execute/sparse_product.hpp"
#include "execute/sparse_result.hpp"
#include "redistribute/movement_run.hpp"
#include "sparse/device_loop.hpp"

#include <optional>

namespace arges {

/// A dense factor where it is multiplied: as it lies, as an array that is brought, or as the rows that nonzeros need.
class DenseFactor {
public:
    /// Collective. @param factor  its number  @param nonzeros  of the sparse factor
    DenseFactor(const SparseStep& step, const LabelGrid& grid, std::size_t factor, const ArrivedNonzeros& nonzeros,
                InspectionMemory& memory);
    /// Finds where the row of each nonzero begins. Local. @param runs  which nonzero comes when
    void set_offsets(const LabelGrid& grid, const ArrivedNonzeros& nonzeros, const sparse::Runs& runs);

    /// Steps along a label that the nonzeros lack; 0 without it.
    std::int64_t stride(int label) const;
    local::NonzeroNumbers offsets() const { return offsets_.numbers(); }
    /// Elements where they are multiplied, of the type of the kernels and in their memory. Collective. @param error  of this rank, which
    /// goes on
    const void* brought(const ElementKernels& kernels, const SourceArray& from, bool conjugate, Workspace& workspace,
                        FirstError& error) const;
    std::int64_t inspected_bytes() const { return rows_ ? rows_->inspected_bytes() : 0; }
    /// Elements that each run sends.
    std::int64_t sent() const { return (move_ ? move_->volume().sent : 0) + (rows_ ? rows_->sent() : 0); }
    std::int64_t list_bytes() const { return offsets_.bytes() + (move_ ? move_->list_bytes() : 0) + (rows_ ? rows_->list_bytes() : 0); }
    void add_need(WorkspaceNeed& need, std::int64_t element_bytes, bool conjugated) const;
    /// Elements that are brought to a device. @param from, conjugate  as brought() has them
    std::int64_t brought_there(const ElementKernels& device, const SourceArray& from, bool conjugate) const {
        return lies_there(device, from, conjugate) ? 0 : size();
    }

private:
    /// Nothing is brought.
    bool lies_there(const ElementKernels& kernels, const SourceArray& from, bool conjugate) const {
        return !rows_ && !move_ && !conjugate && from.kernels_or(kernels).space == kernels.space;
    }
    void choose_rows(const SparseStep& step, const LabelGrid& grid, const Operand& from, const ArrivedNonzeros& nonzeros,
                     InspectionMemory& memory);
    std::int64_t size() const { return rows_ ? rows_->size() : layout_.local_size(rank_); }

    const Communicator* comm_;
    std::int64_t rank_;
    std::vector<int> labels_;            // of its dimensions there: those that the sparse factor lacks come first
    std::vector<std::int64_t> strides_;  // by label
    Layout layout_;
    std::int64_t from_bytes_ = 0;        // of elements that are converted; 0: none are
    std::unique_ptr<MovementRun> move_;  // null: it is used where it lies, or rows are brought
    std::unique_ptr<DenseRows> rows_;
    std::vector<std::int64_t> row_of_;  // by nonzero, until there are offsets
    NumberList offsets_;
};

/// Nonzeros in runs of one target, each times the elements of dense factors along labels that it lacks.
class SparseByDense : public SparseProduct {
public:
    /// Collective. @param result  gets the nonzeros of a sparse result
    SparseByDense(const SparseStep& step, const SparseStepPlan& plan, const std::vector<ArrivedNonzeros>& operands,
                  InspectionMemory& memory, SparseResult& result);

    void multiply(const ElementKernels& kernels, const std::vector<const std::byte*>& values, const StepElements& elements,
                  const void* alpha, void* result, Workspace& workspace) const override;
    std::int64_t products() const override { return products_; }
    std::int64_t inspected_bytes() const override;
    std::int64_t sent_bytes() const override;
    std::int64_t list_bytes() const override;
    void add_need(WorkspaceNeed& need, const std::vector<bool>& conjugated) const override;
    std::optional<DeviceNeed> device_need(const StepElements& elements) const override;
    void drop_device_lists() const override;
    const DenseResult* dense_result() const override { return out_ ? &*out_ : nullptr; }

private:
    /// The loop with its lists on the host.
    local::SparseLoop loop() const;
    void multiply_there(const ElementKernels& kernels, local::SparseLoop loop, FirstError& error) const;
    std::int64_t local_extent(const LabelGrid& grid, int label) const;
    void set_runs(const ArrivedNonzeros& nonzeros, const LabelGrid& grid, const std::vector<int>& in_rows, bool in_own_order);
    void set_axes(const ArrivedNonzeros& nonzeros, const LabelGrid& grid);
    IndexColumns indices(const ArrivedNonzeros& nonzeros, const LabelGrid& grid) const;
    IndexColumns firsts_of(const ArrivedNonzeros& nonzeros, const std::vector<int>& labels) const;

    const Communicator* comm_;
    std::int64_t rank_;
    SparseStep step_;
    bool is_idle_;  // this rank is not in the grid
    std::vector<DenseFactor> factors_;
    std::optional<DenseResult> out_;                      // of a dense result
    std::vector<std::int64_t> start_, firsts_, targets_;  // of runs: nonzeros, the first of each, and where it goes
    NumberList places_;
    std::int64_t loops_ = 1, products_ = 0;  // elements of a sparse result for each run; multiplications
    std::vector<local::SparseLoopAxis> axes_;
    mutable std::optional<sparse::DeviceLoop> there_;  // once a run on a device was looked for
};

}  // namespace arges

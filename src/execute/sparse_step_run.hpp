/// Runs a product with sparse factors: operands are brought to the ranks of a grid over labels, multiplied there, and parts of sums added
/// up.
#pragma once

#include "execute/sparse_product.hpp"
#include "execute/sparse_result.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace arges {

/// A step that was inspected: which nonzeros go where, which are multiplied, and which the result has. That holds as long as the sparse
/// operands have the same nonzeros in the same places; a run moves and multiplies values only.
class SparseStepRun {
public:
    /// Moves the indices of sparse operands, of those nonzeros that are in the step's phase, and finds the nonzeros of the result.
    /// Collective. @throws OutOfMemory on all ranks, from `require`
    /// @param comm     null for one rank
    /// @param indices  by sparse operand, a column for each mode; they stay as they are as long as the step is used
    /// @param require  asked on every rank before memory is taken
    SparseStepRun(const Communicator* comm, const SparseStep& step, const SparseStepPlan& plan, const std::vector<IndexSpans>& indices,
                  const RequireBytes& require);

    /// The values of a sparse result, for nonzeros in the order of take_indices(). Collective.
    Buffer<std::byte> run(const ElementKernels& kernels, const StepElements& elements, const void* alpha, Workspace& workspace) const;
    /// result = alpha * product + beta * result. Collective. Likewise for a dense result in its own layout.
    void run(const ElementKernels& kernels, const StepElements& elements, const void* alpha, const void* beta, void* result,
             Workspace& workspace) const;

    /// The indices of a sparse result on this rank, given away; a column for each label of the output.
    IndexColumns take_indices() { return result_.take_indices(); }
    /// The result has the nonzeros of the last sparse operand, with the same labels in the same order; it has no indices of its own.
    bool has_pattern_of_operand() const { return result_.has_pattern_of_operand(); }
    /// Where the nonzeros of a sparse result lie.
    const SparseLayout& result_layout() const { return result_.layout(); }
    /// Bytes of indices that the inspection has sent from this rank, and of values that each run sends.
    std::int64_t inspected_bytes() const;
    std::int64_t sent_bytes() const;
    /// Multiplications with nonzeros on this rank.
    std::int64_t products() const { return product_->products(); }
    /// Memory of the lists on this rank, in bytes.
    std::int64_t list_bytes() const;
    /// What a run takes from the workspace, and what it takes in all, on the host. @param conjugated  as StepElements has it, where that
    /// makes copies
    std::int64_t workspace_bytes(const std::vector<bool>& conjugated, bool on_device = false) const;
    std::int64_t working_bytes(const std::vector<bool>& conjugated, bool on_device = false) const;
    /// What a run takes on a device; none: it cannot be there, on any rank.
    std::optional<DeviceNeed> device_need(const StepElements& elements) const;
    /// Gives back the lists on the device, which the next run there copies again. Local.
    void drop_device_lists() const { product_->drop_device_lists(); }

private:
    std::vector<const std::byte*> brought(const ElementKernels& kernels, const StepElements& elements,
                                          std::vector<Buffer<std::byte>>& room) const;

    const Communicator* comm_;
    std::int64_t element_bytes_;
    std::vector<ArrivedNonzeros> operands_;
    SparseResult result_;  // of a sparse result
    std::unique_ptr<SparseProduct> product_;
};

}  // namespace arges

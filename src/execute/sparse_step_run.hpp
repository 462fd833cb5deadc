/// Runs a product with sparse factors: operands are brought to the ranks of a grid over labels, multiplied there, and parts of sums added
/// up.
#pragma once

#include "arges/element_kernels.hpp"
#include "arges/sparse_loops.hpp"
#include "base/workspace.hpp"
#include "execute/dense_rows.hpp"
#include "execute/sparse_move.hpp"
#include "plan/sparse/sparse_step.hpp"
#include "redistribute/movement_run.hpp"
#include "sparse/coordinates.hpp"
#include "sparse/row_structure.hpp"

#include <memory>
#include <vector>

namespace arges {

/// Elements of the operands of a step.
struct StepElements {
    std::vector<const std::byte*> sparse;   ///< by sparse operand: values on this rank
    std::vector<const void*> dense;         ///< by dense operand: elements in its own layout
    std::vector<bool> conjugated;           ///< by operand, sparse ones first: conjugates are meant
    const ElementKernels* actor = nullptr;  ///< of the operand that acts, if it has another type
};

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
    IndexColumns take_indices() { return std::move(result_indices_); }
    /// The result has the nonzeros of the last sparse operand, with the same labels in the same order; it has no indices of its own.
    bool has_pattern_of_operand() const { return has_pattern_of_operand_; }
    /// Where the nonzeros of a sparse result lie.
    const SparseLayout& result_layout() const { return result_layout_; }
    /// Bytes of indices that the inspection has sent from this rank, and of values that each run sends.
    std::int64_t inspected_bytes() const { return inspected_bytes_; }
    std::int64_t sent_bytes() const;
    /// Multiplications with nonzeros on this rank.
    std::int64_t products() const { return products_; }
    /// Memory of the lists on this rank, in bytes.
    std::int64_t list_bytes() const;
    /// What a run takes from the workspace, and what it takes in all. @param conjugated  as StepElements has it, where that makes copies
    std::int64_t workspace_bytes(const std::vector<bool>& conjugated) const;
    std::int64_t working_bytes(const std::vector<bool>& conjugated) const;

private:
    /// A sparse operand where it is multiplied.
    struct Arrived {
        std::unique_ptr<SparseMove> move;
        IndexColumns moved;  // where it does not stay
        IndexSpans columns;  // by distinct label
        std::vector<int> labels;
        std::int64_t count = 0;
    };
    /// A dense operand where it is multiplied.
    struct Block {
        std::vector<int> labels;  // of its dimensions there
        Layout layout;
        std::unique_ptr<MovementRun> move;  // null: it is used where it lies, or rows are brought
        std::unique_ptr<DenseRows> rows;    // only those that nonzeros need
        std::vector<std::int64_t> row_of;   // by nonzero, while offsets are made
        std::vector<std::uint32_t> narrow;  // offsets of the nonzeros
        std::vector<std::int64_t> wide;
        bool has_offsets = false;
    };
    /// Numbers below 2^32 if they are, else 64 bits.
    struct Places {
        std::vector<std::uint32_t> narrow;
        std::vector<std::int64_t> wide;
        local::NonzeroNumbers numbers() const { return {narrow.empty() ? nullptr : narrow.data(), wide.empty() ? nullptr : wide.data()}; }
    };

    std::int64_t part(int label) const { return plan_.grid.parts[label]; }
    std::int64_t coordinate(int label) const;
    std::int64_t local_extent(int label) const;
    bool is_idle() const { return rank_ >= plan_.grid.ranks(); }
    Arrived arrived(const SparseOperand& operand, const IndexSpans& indices);
    void prepare_dense_factors();
    void choose_rows();
    std::int64_t block_size(const Block& block) const { return block.rows ? block.rows->size() : block.layout.local_size(rank_); }
    std::vector<std::int64_t> block_strides(const Block& block) const;
    void prepare_with_dense();
    void prepare_rows();
    void take(std::int64_t bytes);
    void pass(std::int64_t bytes) const { require_(taken_ + bytes); }
    std::int64_t most(std::int64_t number) const { return comm_ == nullptr ? number : comm_->maximum(number); }
    bool dots_are_fewer(const std::vector<std::uint32_t>& inner_of_b, const std::vector<std::uint32_t>& column_of_b, std::int64_t inner);
    void prepare_under_mask(const std::vector<int>& rows, const std::vector<int>& columns, const sparse::Numbering& row_numbers,
                            const sparse::Numbering& column_numbers);
    void take_mask(const sparse::Numbering& rows, const sparse::Numbering& columns);
    IndexColumns indices_of_result(const std::vector<int>& rows, const std::vector<int>& columns, const sparse::Numbering& row_numbers,
                                   const sparse::Numbering& column_numbers) const;
    bool may_share_pattern() const;
    void prepare_dense_result();
    void prepare_rows_out(const std::vector<std::int64_t>& firsts);
    void add_up(IndexColumns indices);
    const std::span<const std::int64_t>& column(const Arrived& operand, int label) const;
    /// @param positions of `count` nonzeros; empty: the first ones
    std::vector<std::int64_t> offsets_in(const Layout& layout, const std::vector<int>& labels, const Arrived& operand, std::int64_t count,
                                         std::span<const std::int64_t> positions) const;
    std::vector<Buffer<std::byte>> brought(const ElementKernels& kernels, const StepElements& elements,
                                           std::vector<const std::byte*>& values) const;
    void multiply(const ElementKernels& kernels, const std::vector<const std::byte*>& values, const StepElements& elements,
                  const void* alpha, void* result, Workspace& workspace) const;

    const Communicator* comm_;
    RequireBytes require_;  // while the step is inspected
    std::int64_t rank_;
    SparseStep step_;
    SparseStepPlan plan_;
    std::vector<Arrived> sparse_;
    std::vector<Block> dense_;
    // With dense factors: nonzeros in runs of one target.
    std::vector<std::int64_t> run_start_, run_target_;
    Places places_;
    std::int64_t result_step_ = 1;
    std::vector<local::SparseLoopAxis> axes_;
    // Two sparse factors, as matrices.
    std::vector<std::int64_t> a_start_, b_start_;
    std::vector<std::uint32_t> a_columns_, b_columns_;
    Places a_places_, b_places_, mask_places_;
    std::int64_t width_ = 0, products_ = 0;
    bool by_dots_ = false;  // under a mask: inner products of rows; b is transposed
    // Where the mask's nonzeros that are reached are among those that came, unless the result has all of them in their order.
    std::vector<std::int64_t> mask_order_;
    sparse::RowStructure structure_;  // of the result
    // A dense result.
    Layout sums_;
    std::unique_ptr<MovementRun> move_out_;  // null: sums are made where the result lies
    std::unique_ptr<DenseRows> rows_out_;    // by a hash: rows of sums are added where it lies
    // A sparse result.
    std::int64_t result_count_ = 0;  // before parts of sums are added up
    IndexColumns result_indices_;
    SparseLayout result_layout_;
    bool has_pattern_of_operand_ = false;
    std::unique_ptr<SparseMove> merge_;  // null: no rank has parts of another's sums
    sparse::Runs merged_;
    std::int64_t inspected_bytes_ = 0;
    std::int64_t taken_ = 0;  // memory that the inspection has taken, of the rank that has most
};

}  // namespace arges

/// A dense tensor as algorithms for CP decompositions use it.
#pragma once

#include "decompose/cp/cp_operator.hpp"
#include "decompose/cp/dimension_tree.hpp"
#include "decompose/cp/pairwise_perturbation.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "interface/dense/tensor_state.hpp"

#include <memory>
#include <vector>

namespace arges::decompose {

/// Each rank multiplies the block of the tensor that it has. It needs the rows of the factors that belong to its block: some it
/// owns, the others come from the ranks with which it shares them, and its part of a product's rows goes back to the owners.
/// Rows of slices that are zero belong to nobody.
template <class T>
class DenseCpOperator : public CpOperator<T> {
public:
    /// @param layout    of the tensor, with plain blocks
    /// @param elements  of this rank's block, in the memory of the host; they must stay where they are
    /// @param threshold of pairwise perturbation; 0: products are always exact
    DenseCpOperator(const Communicator& comm, const Layout& layout, const T* elements, int columns, double threshold);

    const ModeRows& rows(int mode) const override { return rows_[mode]; }
    void begin_iteration(CpState<T>& state, bool exact) override;
    CpStep step() const override { return pairs_ ? pairs_->step() : CpStep::exact; }

    const BlockPosition& position() const { return position_; }
    /// Products with the whole block so far. Local.
    std::int64_t large_products() const { return tree_.large_products(); }
    /// Memory beside the tensor, in bytes. Local.
    std::int64_t bytes() const;

protected:
    void multiply(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) override;
    void factor_changes(int mode) override;
    /// The factors as columns, by mode: sizes[m] x columns, column after column, zero where nobody has a row. Local.
    std::vector<const T*> factor_columns(std::span<const sparse::RowMatrix<const T>> factors);

private:
    void find_rows(const Layout& layout, const std::vector<std::vector<char>>& used);
    void correct(int mode, sparse::RowMatrix<T> owned) override;

    BlockPosition position_;
    ModeArray<T> block_;
    std::vector<ModeRows> rows_;
    std::vector<std::vector<std::int64_t>> local_;  // by mode: index in the block of each local row
    std::vector<Buffer<T>> factors_;                // by mode: sizes[m] x columns, column after column
    std::vector<bool> is_old_;                      // by mode: factors_ has to be copied again
    DimensionTree<T> tree_;
    std::unique_ptr<PairwisePerturbation<T>> pairs_;
    Buffer<T> product_;
};

/// Memory of a DenseCpOperator beside a tensor with this layout and without empty slices, that of rows that are exchanged included, an
/// upper bound. Pure.
MemoryTally dense_operator_memory(std::int64_t element_bytes, const Layout& layout, std::int64_t rank, int columns, bool perturbs);

}  // namespace arges::decompose

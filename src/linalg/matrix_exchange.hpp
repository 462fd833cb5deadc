/// Moves elements between a tensor's layout and a block-cyclic matrix, without keys: both sides walk rows and columns in the same
/// order.
#pragma once

#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "layout/layout.hpp"
#include "linalg/matricization.hpp"
#include "linalg/matrix_kernels.hpp"
#include "linalg/matrix_layout.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace arges::linalg {

/// Offsets in ascending order of rows or columns.
struct OffsetList {
    std::vector<std::int64_t> offsets;
    std::int64_t stride = 1;  ///< of the arithmetic progression that the offsets are, else -1

    std::int64_t count() const { return std::ssize(offsets); }
    std::int64_t first() const { return offsets.empty() ? 0 : offsets[0]; }
};

/// Rows or columns: which of them a rank has on either side. A *combination* is a set of coordinates of the tensor's dimensions on
/// this side.
struct SideLists {
    std::vector<OffsetList> in_tensor;    ///< by coordinate of the matrix: offsets of this rank's elements in the tensor
    std::vector<OffsetList> in_matrix;    ///< by combination: offsets of this rank's elements in the matrix
    std::vector<std::int64_t> rank_part;  ///< by combination: what it adds to the rank
};

/// The movement between a tensor without symmetry and a matrix, prepared for one rank. A tensor that is stored several times is
/// read from the copy that shares the reader's coordinates on the torus, and all copies are written.
class MatrixExchange {
public:
    /// Local. @param comm              null for one rank
    ///        @param leading_dimension of this rank's part of the matrix
    MatrixExchange(const Communicator* comm, const Layout& tensor, const Matricization& labels, const MatrixLayout& matrix,
                   std::int64_t leading_dimension, std::int64_t rank);
    MatrixExchange(MatrixExchange&&) = default;  // blocks point into the lists
    MatrixExchange(const MatrixExchange&) = delete;

    /// Tensor to matrix, both on the host; the workspace has room for buffer_elements(). Collective.
    void gather(const MatrixKernels& kernels, const void* tensor, void* matrix, bool conjugate, Workspace& workspace) const {
        move(kernels, tensor, matrix, true, conjugate, workspace);
    }
    /// Matrix to tensor, likewise. Collective.
    void scatter(const MatrixKernels& kernels, const void* matrix, void* tensor, bool conjugate, Workspace& workspace) const {
        move(kernels, matrix, tensor, false, conjugate, workspace);
    }
    /// True if all of this rank's elements stay on it, at the same offsets.
    bool is_identity() const;
    /// Elements of buffers that gather() or scatter() takes.
    std::int64_t buffer_elements() const;
    /// Bytes of the lists of offsets.
    std::int64_t list_bytes() const;

private:
    /// A message: the product of a list of rows and a list of columns.
    struct Block {
        std::int64_t peer = 0;
        const OffsetList* rows = nullptr;
        const OffsetList* columns = nullptr;
        bool same_copy = true;  ///< the tensor's rank has the copy that the matrix's rank reads
        std::int64_t count() const { return rows->count() * columns->count(); }
    };
    void list_blocks(const Layout& tensor, const MatrixLayout& matrix);
    void move(const MatrixKernels& kernels, const void* from, void* to, bool to_matrix, bool conjugate, Workspace& workspace) const;
    std::int64_t elements(const std::vector<Block>& blocks, bool to_matrix) const;
    /// Lists of a block, that along which messages are dense first.
    std::array<const OffsetList*, 2> lists(const Block& block) const {
        return rows_first_ ? std::array{block.rows, block.columns} : std::array{block.columns, block.rows};
    }

    const Communicator* comm_;
    std::int64_t rank_;
    bool rows_first_ = true;  ///< messages have rows fastest
    SideLists rows_, columns_;
    std::vector<Block> in_tensor_, in_matrix_;  ///< parts that go to and come from other ranks, as they lie on either side
    Block own_in_tensor_, own_in_matrix_;       ///< what stays on this rank
    std::int64_t tensor_size_ = 0, matrix_size_ = 0;
};

}  // namespace arges::linalg

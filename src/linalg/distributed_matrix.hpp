/// A matrix over ranks: a layout and this rank's part; and how elements come from tensors and go to them, without keys: both sides walk
/// rows and columns in the same order.
#pragma once

#include "base/buffer.hpp"
#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "interface/dense/tensor_state.hpp"
#include "layout/layout.hpp"
#include "linalg/matricization.hpp"
#include "linalg/matrix_kernels.hpp"
#include "linalg/matrix_layout.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace arges::linalg {

/// Memory that the world's account knows of, for the time of a scope.
class MatrixMemory {
public:
    /// Collective. @param purpose of the memory, for the message
    /// @throws OutOfMemory on every rank if `bytes` (the same on every rank) are over the limit
    MatrixMemory(std::shared_ptr<WorldState> world, std::int64_t bytes, const std::string& what, const char* purpose = "a matrix");
    MatrixMemory(MatrixMemory&& other) noexcept : world_(std::move(other.world_)), bytes_(other.bytes_) {}
    MatrixMemory& operator=(MatrixMemory&& other) noexcept {
        std::swap(world_, other.world_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~MatrixMemory() {
        if (world_) world_->hold(-bytes_);
    }

private:
    std::shared_ptr<WorldState> world_;
    std::int64_t bytes_ = 0;
};

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

/// Makes room for the buffers of a movement in the world's workspace, on every rank alike, and notes them and the lists of the
/// movement. Collective. @throws OutOfMemory on every rank
void reserve_buffers(WorldState& world, const MatrixExchange& exchange, std::int64_t element_bytes, const std::string& what);

/// A rank's part of a matrix, owned or the caller's. Column-major; on ranks outside of the grid there is none.
class DistributedMatrix {
public:
    /// Not initialised. Collective. @param least_rows the local array has at least so many rows
    /// @throws OutOfMemory, Unsupported on every rank
    DistributedMatrix(const MatrixKernels& kernels, std::shared_ptr<WorldState> world, MatrixLayout layout, const std::string& what,
                      std::int64_t least_rows = 0);
    /// Takes over an array that is dense on the ranks that have a part, for a matrix on one rank. Local.
    /// @throws OutOfMemory on every rank
    DistributedMatrix(const MatrixKernels& kernels, std::shared_ptr<WorldState> world, MatrixLayout layout, Buffer<std::byte> elements,
                      const std::string& what);
    /// A view. Local.
    DistributedMatrix(const MatrixKernels& kernels, std::shared_ptr<WorldState> world, MatrixLayout layout, void* data,
                      std::int64_t leading_dimension);

    /// Of the element type.
    const MatrixKernels& kernels() const { return *kernels_; }
    const MatrixLayout& layout() const { return layout_; }
    WorldState& world() const { return *world_; }
    const std::shared_ptr<WorldState>& shared_world() const { return world_; }
    std::int64_t rows() const { return layout_.rows.extent; }
    std::int64_t columns() const { return layout_.columns.extent; }
    /// Rows and columns that this rank has.
    std::int64_t local_rows() const { return local_rows_; }
    std::int64_t local_columns() const { return local_columns_; }
    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    /// Distance of columns, in elements.
    std::int64_t distance() const { return distance_; }
    /// Address of a local element.
    std::byte* at(std::int64_t i, std::int64_t j) { return data_ + (i + j * distance_) * kernels_->size; }
    const std::byte* at(std::int64_t i, std::int64_t j) const { return data_ + (i + j * distance_) * kernels_->size; }
    /// A local column of elements of their type.
    template <class T>
    T* column(std::int64_t j) {
        return reinterpret_cast<T*>(at(0, j));
    }
    /// Coordinate of this rank on the grid, -1 outside of it.
    std::int64_t position() const { return position_; }
    bool takes_part() const { return position_ >= 0; }
    bool is_first() const { return position_ == 0; }
    /// Index of a local row or column.
    std::int64_t row(std::int64_t l) const { return layout_.rows.global(layout_.grid_row(position_), l); }
    std::int64_t column_index(std::int64_t l) const { return layout_.columns.global(layout_.grid_column(position_), l); }
    /// Number of local rows (columns) with an index below `i`.
    std::int64_t rows_below(std::int64_t i) const { return below(layout_.rows, layout_.grid_row(position_), i); }
    std::int64_t columns_below(std::int64_t j) const { return below(layout_.columns, layout_.grid_column(position_), j); }
    /// Sets `count` elements of a local column from row `i` on to zero.
    void clear(std::int64_t i, std::int64_t j, std::int64_t count) {
        if (count > 0) std::memset(at(i, j), 0, count * kernels_->size);
    }
    void clear_above_diagonal();
    void clear();
    /// Copies the elements of a matrix that lies alike. Local.
    void copy_from(const DistributedMatrix& other);
    /// Gives the array away where it is owned and dense, else an empty one. Its memory is accounted for until the matrix goes.
    Buffer<std::byte> release();

private:
    static std::int64_t below(BlockAxis axis, std::int64_t coordinate, std::int64_t i) {
        axis.extent = i;
        return axis.count(coordinate);
    }
    const MatrixKernels* kernels_;
    std::shared_ptr<WorldState> world_;
    MatrixLayout layout_;
    std::int64_t position_ = -1, local_rows_ = 0, local_columns_ = 0, distance_ = 1;
    Buffer<std::byte> own_;
    std::byte* data_ = nullptr;
    std::optional<MatrixMemory> held_;
};

/// Which elements of a matrix are read.
enum class Part : std::uint8_t { all, lower, upper };

/// A tensor as a matrix in a layout; the copy may be overwritten. With `adjoint` the layout is that of the adjoint matrix.
/// Collective.
/// @throws InvalidArgument on every rank if an element of the part is infinite or not a number
DistributedMatrix load(const TensorState& tensor, const Matricization& labels, const MatrixLayout& layout, bool adjoint = false,
                       Part part = Part::all, std::int64_t least_rows = 0);

/// A new tensor with the extents of rows, then columns (with `adjoint`: of the adjoint matrix), and the elements of a matrix,
/// which it takes over where it lies right. Collective.
AnyTensor store(const World& world, DistributedMatrix&& matrix, const std::vector<std::int64_t>& row_extents,
                const std::vector<std::int64_t>& column_extents, const std::string& name, bool adjoint = false);

/// Throws InvalidArgument on every rank if an element is infinite or not a number. Collective.
void check_finite(const DistributedMatrix& matrix, Part part, const std::string& text);

}  // namespace arges::linalg

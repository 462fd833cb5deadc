/// A matrix over ranks: a layout and this rank's part.
#pragma once

#include "base/buffer.hpp"
#include "interface/dense/tensor_state.hpp"
#include "linalg/matricization.hpp"
#include "linalg/matrix_exchange.hpp"
#include "linalg/matrix_kernels.hpp"
#include "linalg/matrix_layout.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace arges::linalg {

/// Memory that the world's account knows of, for the time of a scope.
class HeldMemory {
public:
    /// Collective. @param purpose of the memory, for the message
    /// @throws OutOfMemory on every rank if `bytes` (the same on every rank) are over the limit
    HeldMemory(std::shared_ptr<WorldState> world, std::int64_t bytes, const std::string& what, const char* purpose = "a matrix");
    HeldMemory(HeldMemory&& other) noexcept : world_(std::move(other.world_)), bytes_(other.bytes_) {}
    HeldMemory& operator=(HeldMemory&& other) noexcept {
        std::swap(world_, other.world_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~HeldMemory() {
        if (world_) world_->hold(-bytes_);
    }

private:
    std::shared_ptr<WorldState> world_;
    std::int64_t bytes_ = 0;
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
    std::optional<HeldMemory> held_;
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

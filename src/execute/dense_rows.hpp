/// Rows of a dense tensor that nonzeros need, brought from the ranks that have them, and no others; or sums of rows, brought there.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/workspace.hpp"
#include "comm/communicator.hpp"
#include "execute/sparse_move.hpp"
#include "layout/layout.hpp"
#include "redistribute/element_transfer.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Who asks whom for which rows is found once; then elements are moved along the lists. A row has all elements along the other dimensions,
/// which lie on one rank.
class DenseRows {
public:
    /// Rows lie on one rank each: the layout has no symmetry, and spreads row dimensions only.
    static bool is_possible(const Layout& from, const std::vector<int>& free_dimensions);

    /// Collective. @param comm  of several ranks
    /// @param row_dimensions   of the tensor, whose indices name a row
    /// @param free_dimensions  the others, the fastest of the result first
    /// @param rows             different rows that this rank needs, an index for each row dimension
    DenseRows(const Communicator& comm, const Layout& from, const std::vector<int>& row_dimensions, const std::vector<int>& free_dimensions,
              const IndexColumns& rows);

    /// Where each row comes to lie, in the order of the constructor; given away.
    std::vector<std::int64_t> take_places() { return std::move(places_); }
    /// Elements of a row, and of all rows of this rank.
    std::int64_t row_size() const { return row_size_; }
    std::int64_t size() const { return rows_ * row_size_; }
    /// Elements that this rank sends to others. add() sends what run() receives.
    std::int64_t sent() const { return std::ssize(from_) * row_size_ - own_ * row_size_; }
    std::int64_t received() const { return size() - own_ * row_size_; }
    /// Bytes of workspace on the host of run(), and of add(). @param from_bytes  of the tensor's elements, if they are converted, or lie or
    /// arrive on a device; else 0
    std::int64_t workspace_bytes(std::int64_t element_bytes, std::int64_t from_bytes = 0) const;
    std::int64_t inspected_bytes() const { return inspected_bytes_; }
    std::int64_t list_bytes() const { return (from_.size() + sends_.size() + receives_.size()) * sizeof(std::int64_t); }

    /// Brings the rows. Collective. @param from the tensor's elements on this rank; they are converted where they arrive, if they have
    /// another type  @param to room for size() elements in the memory of the kernels
    void run(const ElementKernels& kernels, const SourceArray& from, void* to, bool conjugate, Workspace& workspace) const;
    /// The way back: adds the rows to the tensor's elements, those of lower ranks first. Collective. The layout has no copies.
    void add(const ElementKernels& kernels, const void* rows, void* to, Workspace& workspace) const;

private:
    std::vector<local::TransferAxis> row_axes(bool from_tensor) const;
    std::int64_t packed() const { return std::ssize(from_) * row_size_; }

    const Communicator* comm_;
    std::int64_t rows_ = 0, row_size_ = 1, own_ = 0;
    std::vector<std::int64_t> places_;
    std::vector<std::int64_t> sends_, receives_;  // rows, by rank
    std::vector<std::int64_t> from_;              // offsets of rows that are sent, by rank
    std::vector<std::int64_t> sizes_, strides_;   // of the free dimensions on this rank
    std::int64_t inspected_bytes_ = 0;
};

}  // namespace arges

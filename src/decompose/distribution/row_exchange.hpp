/// Moves rows of a factor matrix between their owners and the ranks that need them.
#pragma once

#include "base/buffer.hpp"
#include "comm/communicator.hpp"
#include "sparse/row_matrix.hpp"

#include <cstdint>
#include <vector>

namespace arges::decompose {

/// The rows of one factor matrix on a rank: first those that it owns, ascending; then those that it needs of other owners, by
/// owner, ascending within each.
struct ModeRows {
    std::vector<std::int64_t> index;  ///< of each local row in the whole matrix
    std::int64_t owned = 0;

    /// Other owners and their consecutive local rows.
    struct Needed {
        std::int64_t owner = 0, begin = 0, end = 0;
    };
    std::vector<Needed> needed;

    /// Other ranks and the owned local rows that they need, ascending.
    struct Shared {
        std::int64_t rank = 0;
        std::vector<std::uint32_t> rows;
    };
    std::vector<Shared> shared;

    std::int64_t count() const { return std::ssize(index); }
    /// Memory of the lists, in bytes.
    std::int64_t bytes() const {
        return count() * std::int64_t{sizeof(std::int64_t)} + rows_shared() * std::int64_t{sizeof(std::uint32_t)};
    }
    /// Rows that an expand sends from here, and that a fold brings here.
    std::int64_t rows_shared() const;
    /// Rows that an expand brings here, and that a fold sends from here.
    std::int64_t rows_needed() const { return count() - owned; }
};

/// Finds who needs what. Collective.
/// @param held rows that this rank has nonzeros in, ascending
/// @param owner rank that owns each of them
ModeRows match_rows(const Communicator& comm, const std::vector<std::int64_t>& held, const std::vector<std::int64_t>& owner);

/// The two movements over a ModeRows, with their buffers; rows of a matrix lie one after the other. Calls on one communicator must be made
/// in the same order on all ranks.
class RowMover {
public:
    RowMover(const Communicator& comm, const ModeRows& rows, std::int64_t row_bytes)
        : comm_(comm), rows_(rows), row_bytes_(row_bytes), buffer_(rows.rows_shared() * row_bytes) {}

    /// Starts to send owned rows to the ranks that need them; the matrix must stay as it is until finish_expand().
    void start_expand(void* matrix);
    void finish_expand() { comm_.finish(pending_); }

protected:
    /// What other ranks have of the rows of `shared`, one after the other.
    const std::byte* bring_parts(void* matrix);

    const Communicator& comm_;
    const ModeRows& rows_;

private:
    std::vector<Piece> needed_pieces(void* matrix) const;
    std::vector<Piece> shared_pieces();

    std::int64_t row_bytes_;
    Buffer<std::byte> buffer_;  // rows of `shared`, one after the other
    PendingExchange pending_;
};

/// Likewise for elements of a type; the stride of the matrices is `columns`.
template <class T>
class RowExchange : public RowMover {
public:
    RowExchange(const Communicator& comm, const ModeRows& rows, int columns)
        : RowMover(comm, rows, columns * std::int64_t{sizeof(T)}), columns_(columns) {}
    void start_expand(sparse::RowMatrix<T> matrix) { RowMover::start_expand(matrix.data); }
    void expand(sparse::RowMatrix<T> matrix) {
        start_expand(matrix);
        finish_expand();
    }
    /// Adds to owned rows what other ranks have of them. Those of one row are added by ascending rank.
    void fold(sparse::RowMatrix<T> matrix) {
        const auto* in = reinterpret_cast<const T*>(bring_parts(matrix.data));
        for (const auto& s : rows_.shared)
            for (auto row : s.rows) {
                T* const to = matrix.row(row);
                for (int c = 0; c < columns_; ++c) to[c] += in[c];
                in += columns_;
            }
    }

private:
    int columns_;
};

}  // namespace arges::decompose

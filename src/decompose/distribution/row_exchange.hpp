/// Moves rows of a factor matrix between their owners and the ranks that need them.
#pragma once

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

/// The two movements over a ModeRows, with their buffers; the stride of the matrices is `columns`. Calls on one communicator
/// must be made in the same order on all ranks.
template <class T>
class RowExchange {
public:
    RowExchange(const Communicator& comm, const ModeRows& rows, int columns);
    /// Memory of the buffers, in bytes. Pure.
    static std::int64_t memory(const ModeRows& rows, int columns) { return rows.rows_shared() * columns * std::int64_t{sizeof(T)}; }

    /// Starts to send owned rows to the ranks that need them; the matrix must stay as it is until finish_expand().
    void start_expand(sparse::RowMatrix<T> matrix);
    void finish_expand();
    /// Adds to owned rows what other ranks have of them. Those of one row are added by ascending rank.
    void fold(sparse::RowMatrix<T> matrix);

private:
    std::vector<Piece> needed_pieces(sparse::RowMatrix<T> matrix) const;
    std::vector<Piece> shared_pieces();

    const Communicator& comm_;
    const ModeRows& rows_;
    int columns_;
    std::vector<T> buffer_;  // rows of `shared`, one after the other
    PendingExchange pending_;
};

}  // namespace arges::decompose

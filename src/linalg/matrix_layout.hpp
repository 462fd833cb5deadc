/// Block-cyclic layouts of matrices as ScaLAPACK has them. Pure arithmetic; no MPI, no data.
#pragma once

#include "arges/linalg.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::linalg {

/// One dimension of a matrix, distributed in blocks over coordinates. Example: extent 7, block 2, 2 coordinates: coordinate 0 has 0 1 4 5,
/// coordinate 1 has 2 3 6.
struct BlockAxis {
    std::int64_t extent = 0;
    std::int64_t block = 1;
    std::int64_t grid_length = 1;
    std::int64_t source = 0;  ///< coordinate of the first block

    std::int64_t coordinate(std::int64_t i) const { return (i / block + source) % grid_length; }
    std::int64_t local(std::int64_t i) const { return i / (block * grid_length) * block + i % block; }
    /// Index of local index `l` of a coordinate.
    std::int64_t global(std::int64_t at, std::int64_t l) const {
        return (l / block * grid_length + (at - source + grid_length) % grid_length) * block + l % block;
    }
    /// Number of indices at a coordinate.
    std::int64_t count(std::int64_t at) const;
    /// Largest number at a coordinate.
    std::int64_t max_count() const { return count(source); }
    bool operator==(const BlockAxis&) const = default;
};

/// A matrix distributed over a grid of ranks: rows over its rows, columns over its columns.
struct MatrixLayout {
    BlockAxis rows, columns;
    std::vector<std::int64_t> ranks;  ///< rank at grid row r and column c: ranks[r + rows.grid_length * c]

    /// Coordinate of a rank on the grid as r + rows.grid_length * c; -1 for a rank that is not on it.
    std::int64_t position(std::int64_t rank) const;
    std::int64_t grid_row(std::int64_t position) const { return position % rows.grid_length; }
    std::int64_t grid_column(std::int64_t position) const { return position / rows.grid_length; }
    std::int64_t rank_at(std::int64_t row, std::int64_t column) const { return ranks[row + rows.grid_length * column]; }
    bool single() const { return ranks.size() == 1; }
    std::int64_t max_local_size() const { return rows.max_count() * columns.max_count(); }
    /// A matrix of another shape on the same grid with the same blocks.
    MatrixLayout resized(std::int64_t new_rows, std::int64_t new_columns) const;
    /// Grid and blocks are the same.
    bool same_grid(const MatrixLayout& other) const;
};

/// A layout with square blocks on a grid that suits shape and number of ranks: nearly square, of fewer ranks where P has no good
/// factors (of 11 ranks, 2 x 5 work) or the matrix is small.
/// @throws InvalidArgument if what the caller wants is negative or more than there is
MatrixLayout choose_layout(std::int64_t rows, std::int64_t columns, std::int64_t ranks, const MatrixGrid& wanted);

/// The grid of a rank numbering.
std::vector<std::int64_t> grid_ranks(std::int64_t rows, std::int64_t columns, GridOrder order);

/// Throws Unsupported where a local part is too large for 32-bit indices.
void check_size(const MatrixLayout& layout, const std::string& what);

}  // namespace arges::linalg

/// Sums over nonzeros on a device, as a function of ElementKernels takes them. All arrays are in the space of the table.
#pragma once

#include <cstdint>
#include <span>

namespace arges::sparse {

constexpr int most_matrices = 15;  ///< one less than max_sparse_order

/// A matrix of which each nonzero takes a row.
struct NonzeroRows {
    const std::uint32_t* index = nullptr;    ///< the row, by nonzero
    const void* rows = nullptr;              ///< the matrix, row by row
    std::int64_t columns = 1;                ///< of the matrix
    std::int64_t repeats = 1, distinct = 1;  ///< column c of the sums takes column c / repeats % distinct of the matrix
};

/// out(i, c) = sum over the nonzeros x of row i of value(x) * product over the matrices of their elements. Nonzeros are sorted by row and
/// cut into pieces, each of one row. The sums of the pieces of a row that has several are kept, and added up in their order.
struct NonzeroSums {
    std::int64_t columns = 0;               ///< of the sums
    std::int64_t first = 0, count = 0;      ///< those that are wanted
    std::int64_t pieces = 0;                ///< at least one for each row
    const std::int64_t* begins = nullptr;   ///< first nonzero of each piece, and the end
    const std::int64_t* targets = nullptr;  ///< row of a piece that is alone; ~p, of one of several: it is number p of these
    std::int64_t cut_rows = 0;              ///< rows of several pieces
    const std::int64_t* cut = nullptr;      ///< these
    const std::int64_t* parts = nullptr;    ///< number of the first piece of each among such pieces, and the end
    void* kept = nullptr;                   ///< `count` sums for each piece of a row of several
    const void* values = nullptr;           ///< by nonzero
    std::span<const NonzeroRows> matrices;  ///< 1 to most_matrices
    void* out = nullptr;                    ///< rows of `columns` elements
};

}  // namespace arges::sparse
